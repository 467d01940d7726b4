// SPDX-License-Identifier: GPL-2.0
// From a source into a store: shared by `record` and the daemon.
#pragma once

#include "log/death.h"
#include "model/stat.h"
#include "record/trace.h"
#include "source/source.h"
#include "store/writer.h"
#include "symbolize/data_names.h"
#include "symbolize/symbols.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Counters for a progress line.
struct Progress {
	std::uint64_t log_bytes = 0, classes = 0, edges = 0, findings = 0, acquisitions = 0,
		      accesses = 0, losses = 0;
};

class Recorder {
public:
	Recorder(Source &source, StoreWriter &store, SymbolSource &symbols, FieldNamer fields)
		: source_(source), store_(store), symbols_(symbols), fields_(std::move(fields))
	{
	}

	/// Use @namer for data from now on; it has to outlive this.
	void name_data_by(DataNamer &namer) { namer_ = &namer; }

	/// Check the ABI and find the log offset to continue from. @backend names the source;
	/// @build_id is the kernel's, in hex digits.
	Status attach(const std::string &backend, const std::string &boot,
		      const std::string &build_id);

	/// Store everything in the log. Each batch is one transaction together with the log
	/// offset after it.
	Status drain();

	/// Store counters, lock functions, and the counts of all classes and chains.
	Status snapshot();

	/// Store the statistics since this recorder began, added to those of earlier recorders
	/// of the run.
	Status put_stat(const StatReport &report);

	/// Store a part of a trace. Of all parts in this run only the last @most bytes are kept;
	/// what is removed is counted.
	Status put_trace(const TraceBatch &batch, std::uint64_t most);

	/// Store a verdict of lockscope confirm; it replaces one of this run on the same finding.
	Status put_verdict(const Verdict &verdict);

	/// Store how the machine of the run died; replaces an earlier record.
	Status put_death(const DeathRecord &death);
	/// Store the modules that the recording is about; they replace earlier ones.
	Status put_modules(const std::vector<OwnModule> &modules);

	/// Name of class @id of this run as the module gave it, "?" when it is not known.
	std::string class_name(std::uint32_t id) const;

	/// Counters from the last read.
	const ls_info &info() const { return info_; }
	const std::optional<ls_access_info> &access_info() const { return access_info_; }
	Progress progress() const;
	/// Counters of the run by their names in the store, see model/counters.h; from the last
	/// read, as all of these.
	std::map<std::string, std::uint64_t> counters() const;
	std::uint64_t records() const { return records_; } ///< stored by this recorder
	/// Part of the module's log that is not stored.
	std::uint64_t lag_bytes() const;
	std::int64_t started() const { return run_.started; }
	/// Refused records and those of unknown type, as text; empty when there are none.
	const std::string &problem() const { return decoder_.problem(); }
	bool resumed() const { return run_.resumed; }
	/// Row of the table run.
	std::int64_t run() const { return run_.id; }
	/// The module is unloaded: end the run.
	Status end();
	/// Store how the recording of this run ended, or that it continues.
	Status set_finish(RunEnd end, const std::string &problem = {});
	/// Undo what attach() added to the store, when nothing was to be recorded. A run that
	/// existed before is not changed.
	void forget_run();

private:
	Status store_batch(const std::vector<LogRecord> &records);
	Status put(const ClassRecord &record);
	Status put(const StackRecord &record);
	Status put(const ObservationRecord &record);
	Status put(const FindingRecord &record);
	Status put(const SymbolRecord &record);
	Status put(const ModuleRecord &record);
	Status put(const InversionRecord &record);
	Status put(const ResetRecord &record);
	Status put(const DataRecord &record);
	Status put(const AccessRecord &record);
	Status put(const RaceRecord &record);
	Status put(const SideRecord &record);
	Status put(const HistoryRecord &record);
	Status name_member(std::uint32_t data, std::uint32_t offset, ls_kind lock);
	Status name_pointee(std::uint32_t data, std::uint32_t via, std::uint32_t offset,
			    ls_kind lock);
	Status put_access_counts();
	Status name_classes();
	Result<std::uint32_t> code(std::uint64_t ip);
	std::uint64_t instance(std::uint64_t lock) const;
	std::uint64_t object(std::uint64_t lock, std::uint32_t val) const;
	Status put_counters();
	Status read_counters();
	Status begin_trace();
	Status put_events(const TraceBatch &batch);

	Source &source_;
	StoreWriter &store_;
	SymbolSource &symbols_;
	FieldNamer fields_;
	ls_info info_{};
	RunState run_;
	LogDecoder decoder_;
	std::uint64_t records_ = 0;
	std::uint64_t malformed_before_ = 0; ///< counted by an earlier recorder of this run
	std::unordered_map<std::uint64_t, std::uint32_t> code_; ///< open rows by address
	std::unordered_map<std::uint32_t, std::uint32_t>
		object_offset_; ///< class -> offset, slab and alloc only
	DataNamer *namer_ = nullptr;
	std::unordered_map<std::uint32_t, DataRecord> data_;
	std::unordered_map<std::uint32_t, ls_kind> class_kind_;
	std::unordered_map<std::uint32_t, std::string> class_name_;
	/// Members named so far, by data, offset and kind of lock.
	std::set<std::tuple<std::uint32_t, std::uint32_t, ls_kind>> named_;
	/// Locks behind pointers, by data, pointer, offset and kind.
	std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, ls_kind>> pointees_;
	/// Classes without a field so far, and modules that acquire them.
	struct Unnamed {
		ClassRecord record;
		std::set<std::string> takers;
	};
	std::map<std::uint32_t, Unnamed> unnamed_;
	std::optional<ls_access_info> access_info_;
	std::optional<StatReport> stat_before_; ///< of earlier recorders of this run
	/// The trace in the store, once there is one.
	struct Trace {
		std::uint64_t next = 0, bytes = 0; ///< see StoreWriter::TraceSize
		/// Losses of earlier recorders and for want of room, and with those of this one.
		std::array<std::uint64_t, LS_TRACE_NR_LOSSES> before, losses;
	};
	std::optional<Trace> trace_;
	std::vector<std::byte> buffer_;
};

} // namespace lockscope
