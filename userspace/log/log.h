// SPDX-License-Identifier: GPL-2.0
// The module's log, decoded. Every byte is untrusted: lengths, types, counts, ids and string
// ends are checked before anything is used.
#pragma once

#include "lockclass/abi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lockscope {

struct ClassRecord {
	std::uint32_t id = 0, canonical = 0;
	std::uint8_t kind = 0, origin = 0;
	std::uint32_t offset = 0, object_size = 0;
	std::string module, name;
};

struct StackRecord {
	std::uint32_t id = 0;
	std::vector<std::uint64_t> ip; ///< innermost first
};

struct HeldRecord {
	std::uint32_t val = 0; ///< LS_VAL_*
	std::uint64_t ip = 0, lock = 0;
	std::uint32_t passed = 0; ///< see ls_held_rec
};

struct ObservationRecord {
	std::uint64_t time_ns = 0, new_mask = 0, ip = 0, lock = 0;
	std::uint32_t val = 0, chain = 0, stack = 0, pid = 0, tgid = 0, task_flags = 0;
	std::uint16_t cpu = 0;
	std::string comm;
	std::vector<HeldRecord> held;	       ///< oldest first
	std::uint32_t what = LS_SIGHT_ACQUIRE; ///< LS_SIGHT_* or enum ls_finding_kind
	std::uint64_t extra = 0;
	bool valid = false; ///< false: placeholder for a malformed one
};

/// Is @what a valid type of observation?
inline bool valid_observation(std::uint64_t what)
{
	return what == LS_SIGHT_ACQUIRE || what == LS_SIGHT_RELEASE || what == LS_SIGHT_COMPLETE ||
	       (LS_SIGHT_IS_FAULT(what) && what < LS_NR_FINDINGS);
}

struct FindingRecord {
	std::uint32_t id = 0;
	std::uint16_t kind = 0;
	std::vector<ls_finding_edge> edges;
};

struct SymbolRecord {
	std::uint64_t ip = 0;
	std::uint32_t offset = 0, size = 0;
	std::string function, module;
};

struct ModuleRecord {
	std::uint32_t state = 0; ///< enum ls_module_state
	std::uint64_t text = 0, text_end = 0, init = 0, init_end = 0;
	std::string module;
};

struct InversionRecord {
	std::uint32_t class_id = 0;
	bool same_instance = false;
	std::uint32_t first = 0, second = 0; ///< observation ordinals
};

struct ResetRecord {};

struct DataRecord {
	std::uint32_t id = 0, object_size = 0;
	std::uint8_t kind = 0; ///< enum ls_data_kind
	std::string module, name;
};

struct GuardRecord {
	std::uint32_t val = 0; ///< LS_VAL_*; the class may be 0, not known
	std::uint16_t relation = 0, via = 0;
	std::uint32_t lock_offset = 0;
	std::uint64_t ip = 0, lock = 0;
};

struct AccessRecord {
	std::uint32_t id = 0, data = 0, offset = 0;
	std::uint16_t size = 0, op = 0; ///< bytes; LS_ACC_*
	std::uint64_t ip = 0, time_ns = 0;
	std::uint32_t where = 0, stack = 0, pid = 0, tgid = 0, task_flags = 0;
	std::uint16_t cpu = 0;
	std::string comm;
	std::vector<GuardRecord> guards; ///< oldest first
};

struct RaceRecord {
	std::uint32_t id = 0, flags = 0, first = 0, second = 0, first_pid = 0, second_pid = 0;
	std::uint64_t addr = 0, time_ns = 0;
	std::vector<ls_history_rec> history; ///< oldest first
};

/// One side of a race (ls_rec_side).
struct SideRecord {
	std::uint32_t race = 0, flags = 0; ///< LS_SIDE_*
	std::uint64_t time_ns = 0;	   ///< of the race's record
	std::uint32_t access = 0, stack = 0, pid = 0, tgid = 0, task_flags = 0;
	std::uint16_t cpu = 0; ///< LS_CPU_UNKNOWN
	std::string comm;
	std::vector<std::uint64_t> locks; ///< of the site's guards: addresses, 0: not known
};

struct HistoryRecord {
	std::uint64_t addr = 0, time_ns = 0;
	std::uint32_t access = 0;
	std::uint8_t before = 0, after = 0; ///< enum ls_shadow_state
	std::uint16_t context = 0;
	std::uint32_t candidates = 0, pid = 0;
	std::vector<std::uint64_t> locks; ///< addresses, without empty slots
};

using LogRecord = std::variant<ClassRecord, StackRecord, ObservationRecord, FindingRecord,
			       SymbolRecord, InversionRecord, ResetRecord, DataRecord, AccessRecord,
			       RaceRecord, HistoryRecord, ModuleRecord, SideRecord>;

/// Longest record a reader accepts, in bytes; a full observation is under 2 KiB.
inline constexpr std::uint32_t kMaxRecordBytes = 65536;

/// Decodes a sequence of whole records.
class LogDecoder {
public:
	/// Append the records in @bytes to @out and return how many bytes were used. Less than
	/// all of them when a record's length is invalid: then the position of the next record
	/// is not known, and broken() returns true. Malformed records are skipped and counted;
	/// a malformed observation becomes an empty one, because later records refer to
	/// observations by their number.
	std::size_t decode(std::span<const std::byte> bytes, std::vector<LogRecord> &out);

	/// Malformed records that were skipped.
	std::uint64_t malformed() const { return malformed_; }
	/// Records of types this program does not know (a newer minor ABI).
	std::uint64_t unknown() const { return unknown_; }
	/// The first problem, as text; empty when there was none.
	const std::string &problem() const { return problem_; }
	/// The framing is broken: the rest cannot be read.
	bool broken() const { return broken_; }

private:
	void note(std::string what);

	std::uint64_t malformed_ = 0;
	std::uint64_t unknown_ = 0;
	bool broken_ = false;
	std::string problem_;
};

} // namespace lockscope
