// SPDX-License-Identifier: GPL-2.0
// The writer of a store. All calls between begin() and commit() become visible together, with
// the log offset that belongs to them, so that a killed recorder has stored both a batch and
// its offset, or neither.
#pragma once

#include "log/death.h"
#include "log/log.h"
#include "model/model.h"
#include "model/stat.h"
#include "model/symbols.h"
#include "store/database.h"
#include "store/rows.h"
#include "util/fd.h"
#include "util/text.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// State of a run's recording.
struct RunState {
	std::int64_t id = 0;
	std::uint64_t log_offset = 0;
	std::uint32_t observations = 0; ///< ordinal of the next observation
	std::uint32_t codes = 0;	///< highest code row
	std::int64_t started = 0;	///< seconds since 1970
	HashKey key{};
	bool resumed = false;
	RunEnd finish = RunEnd::Open; ///< state left by an earlier recorder
};

/// A context at a machine's death, with its locks as stored: those held, and behind them the one
/// that it waited for, if any.
struct DeadContextRow {
	const ContextAtDeath &context;
	std::vector<HeldRow> locks;
};

/// Is the store at @path open in a StoreWriter of another process, or may it be so in a guest? Not for a store that this
/// process has open: see load_written().
bool is_being_written(const std::string &path);

class StoreWriter {
public:
	/// Open or create the store; one writer at a time.
	static Result<StoreWriter> open(const std::string &path);

	/// Its connection, for load_written().
	Database &database() { return *db_; }

	/// Find the run of this load of the module, or add one. Runs that cannot be continued,
	/// because their recorder was killed, are ended.
	Result<RunState> begin_run(const ls_info &info, const std::string &backend,
				   const std::string &boot, const std::string &build_id);

	Status begin();
	Status commit(const RunState &run);
	/// Commit rows that belong to no run.
	Status commit();
	void rollback();

	Status put_class(const RunState &run, const ClassRecord &record, const LockField &field);
	Status put_class_count(const RunState &run, const ls_class_counts &counts);
	Status put_stack(const RunState &run, std::uint32_t id,
			 const std::vector<std::uint32_t> &code);
	Status put_observation(const RunState &run, const ObservationRecord &observation,
			       std::uint32_t code, std::uint64_t lock, std::uint64_t object,
			       const std::vector<HeldRow> &held);
	Status put_finding(const RunState &run, const FindingRecord &record);
	Status put_inversion(const RunState &run, const InversionRecord &record);
	Status put_chain(const RunState &run, std::uint32_t id, const ls_chain &chain,
			 std::uint32_t code);
	Status put_counter(const RunState &run, const std::string &name, std::uint64_t value);
	Status put_primitive(const RunState &run, const ls_prim_info &primitive);
	Result<std::uint64_t> counter(const RunState &run, const std::string &name);
	/// Class id -> offset in its object, for classes in objects.
	Result<std::unordered_map<std::uint32_t, std::uint32_t>>
	object_offsets(const RunState &run);
	Result<std::unordered_map<std::uint32_t, ls_kind>> class_kinds(const RunState &run);

	/// @build_id is that of the module, empty when it is unknown.
	Status put_data(const RunState &run, const DataRecord &record, const std::string &build_id,
			const std::string &type);
	/// The member at @offset of the data: @lock is the kind of lock, or none. An empty
	/// @path is not known yet.
	Status put_member(std::int64_t run, std::uint32_t data, std::uint32_t offset, ls_kind lock,
			  const std::string &path);
	Status put_access(const RunState &run, const AccessRecord &record, std::uint32_t code,
			  const std::vector<GuardRow> &guards);
	/// The lock of that kind @offset bytes from the target of the pointer at @via of the
	/// data: "struct foo.lock", or empty.
	Status put_pointee(std::int64_t run, std::uint32_t data, std::uint32_t via,
			   std::uint32_t offset, ls_kind lock, const std::string &path);
	/// @alone: only observed while the memory was exclusive.
	Status set_access_count(const RunState &run, std::uint32_t id, std::uint32_t count,
				bool alone);
	Status put_race(const RunState &run, const RaceRecord &record, std::uint64_t granule);
	/// @locks: keyed hashes, 0: not known.
	Status put_side(const RunState &run, const SideRecord &record,
			const std::vector<std::uint64_t> &locks);
	Status put_history(const RunState &run, const HistoryRecord &record, std::uint64_t granule,
			   const std::vector<std::uint64_t> &locks);
	/// All data of the run so far, with build ids, by id.
	Result<std::unordered_map<std::uint32_t, DataRecord>> data(const RunState &run);

	/// Statistics of the run as last stored; nullopt if there are none.
	Result<std::optional<StatReport>> stat(const RunState &run);
	/// Replaces earlier ones; names and kinds are unique in @report, and so are the places
	/// of a class.
	Status put_stat(const RunState &run, const StatReport &report);

	/// Replaces an earlier one of the run about the same finding. Error: it makes no sense,
	/// see load_verdicts.h.
	Status put_verdict(const RunState &run, const Verdict &verdict);

	/// How the machine of the run died; replaces what was stored before.
	Status put_death(const RunState &run, const DeathRecord &death,
			 const std::vector<DeadContextRow> &contexts);

	/// Replaces an earlier one of that name, and its sites.
	Status put_module(const RunState &run, const OwnModule &module);

	/// Number of the run's next row of a trace, and the size of those before, in bytes of
	/// their arrays.
	struct TraceSize {
		std::uint64_t next = 0, bytes = 0;
	};
	Result<TraceSize> trace_size(const RunState &run);
	/// Row @n: @events, at most kMostTraceEvents between the times @begin_ns and @end_ns.
	Status put_trace(const RunState &run, std::uint64_t n, std::uint64_t begin_ns,
			 std::uint64_t end_ns, std::uint64_t real_ns,
			 std::span<const TraceRow> events, std::span<const TaskRow> tasks);
	/// Remove the oldest row; what it had, nullopt: there is none.
	struct TraceRemoved {
		std::uint64_t events = 0, bytes = 0;
	};
	Result<std::optional<TraceRemoved>> remove_trace(const RunState &run);

	/// The module was reset; only its classes and stacks are still valid.
	Status forget(const RunState &run);

	/// The open code row of the address with this hash.
	Result<std::optional<std::uint32_t>> find_code(const RunState &run, std::uint64_t hash);
	Result<std::uint32_t> add_code(RunState &run, std::uint64_t hash,
				       const std::optional<Location> &location);
	/// Name a row; @final closes it: the address has another meaning from now on.
	Status set_code(const RunState &run, std::uint32_t id, const Location &location,
			bool final);

	/// Rows without source lines so far, and the cache that provides them. LockScope's own
	/// frames need none: its debug information is larger than most drivers'.
	struct Unlined {
		std::string build_id, module, function;
		std::uint64_t offset = 0;
	};
	/// @again: those that were looked up without success as well.
	Result<std::vector<Unlined>> unlined(bool again = false);
	Status put_lines(const Unlined &place, const std::vector<SourceLine> &lines);

	/// Plain stores of races whose code was not read yet, and the stored constant.
	struct Store {
		std::int64_t run = 0;
		std::uint32_t access = 0, size = 0;
		Unlined at;
	};
	Result<std::vector<Store>> unread();
	Status put_stored(const Store &store, std::optional<std::uint64_t> value);

	/// Variables without a type, in modules whose debug information may have it, and the
	/// offsets in them that need a name.
	struct Untyped {
		std::int64_t run = 0;
		std::uint32_t id = 0;
		std::string module, build_id, symbol;
		std::vector<std::pair<std::uint32_t, ls_kind>> places; ///< offset, lock
	};
	Result<std::vector<Untyped>> untyped();
	Status put_type(const Untyped &data, const std::string &type);

	/// The run is over: its hash key is erased.
	Status end_run(const RunState &run);
	/// How its recording ended, or RunEnd::Open while it continues.
	Status set_finish(const RunState &run, RunEnd end, const std::string &problem = {});
	/// Remove a run that is to leave nothing behind.
	Status remove_run(const RunState &run);
	/// Did open() create the file?
	bool created() const { return created_; }
	/// Close the store and delete its files; no other call may follow.
	void remove();

private:
	Result<Statement *> cached(const char *sql);
	Status take_crash_note();
	Status end_others(const RunState &run, const std::string &backend, const std::string &boot);

	/* Declared before the database: the lock is released last. */
	Fd lock_;
	std::optional<Database> db_;
	bool created_ = false;
	std::deque<std::pair<const char *, Statement>> statements_; // addresses stay
};

/// Source lines in the format of the column line.frames (JSON), and back; damaged text gives
/// no lines.
std::string encode_lines(const std::vector<SourceLine> &lines);
std::vector<SourceLine> decode_lines(const std::string &text);

} // namespace lockscope
