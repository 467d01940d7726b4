// SPDX-License-Identifier: GPL-2.0
// From a source into a store: what `record` and the daemon share.
#pragma once

#include "source/source.h"
#include "store/writer.h"
#include "symbolize/symbols.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Figures for a progress line.
struct Progress {
	std::uint64_t log_bytes = 0, classes = 0, edges = 0, findings = 0, acquisitions = 0,
		      losses = 0;
};

/// What type information says of a class; see symbolize/fields.h.
using FieldNamer = std::function<LockField(const ClassRecord &)>;

class Recorder {
public:
	Recorder(Source &source, StoreWriter &store, SymbolSource &symbols, FieldNamer fields)
		: source_(source), store_(store), symbols_(symbols), fields_(std::move(fields))
	{
	}

	/// Check the ABI and find where to go on. @backend names the source;
	/// @build_id is the kernel's, in hex digits.
	Status attach(const std::string &backend, const std::string &boot,
		      const std::string &build_id);

	/// Store everything the log holds now. Each batch is one transaction
	/// together with the log offset after it.
	Status drain();

	/// Store counters, lock functions, and the counts of all classes and chains.
	Status snapshot();

	/// Counters as last read.
	const ls_info &info() const { return info_; }
	Progress progress() const;
	/// Records refused or of unknown type, in words; empty when none.
	const std::string &problem() const { return decoder_.problem(); }
	bool resumed() const { return run_.resumed; }
	/// The module goes away: nothing can be added to this run any more.
	Status end();

private:
	Status store_batch(const std::vector<LogRecord> &records);
	Status put(const ClassRecord &record);
	Status put(const StackRecord &record);
	Status put(const SightRecord &record);
	Status put(const FindingRecord &record);
	Status put(const SymbolRecord &record);
	Status put(const InversionRecord &record);
	Status put(const ResetRecord &record);
	Result<std::uint32_t> code(std::uint64_t ip);
	std::uint64_t instance(std::uint64_t lock) const;
	std::uint64_t object(std::uint64_t lock, std::uint32_t val) const;
	Status put_counters();

	Source &source_;
	StoreWriter &store_;
	SymbolSource &symbols_;
	FieldNamer fields_;
	ls_info info_{};
	RunState run_;
	LogDecoder decoder_;
	std::uint64_t malformed_before_ = 0; ///< counted by an earlier recorder of this run
	std::unordered_map<std::uint64_t, std::uint32_t> code_; ///< open rows by address
	std::unordered_map<std::uint32_t, std::uint32_t>
		object_offset_; ///< class -> offset, slab and alloc only
	std::vector<std::byte> buffer_;
};

} // namespace lockscope
