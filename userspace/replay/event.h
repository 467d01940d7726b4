// SPDX-License-Identifier: GPL-2.0
// What a line of a recorded trace says.
#pragma once

#include "lockclass/abi.h"
#include "model/symbols.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace lockscope::replay {

enum class Op : std::uint8_t { Acquire, Release, Read, Write, Fork, Join };

/// One event; what it refers to is valid while it is played.
struct Event {
	Op op = Op::Acquire;
	std::string_view thread; ///< identifies it in the trace
	std::string_view comm;	 ///< its name in reports
	std::uint32_t pid = 0, tgid = 0;
	std::uint16_t cpu = LS_CPU_UNKNOWN;
	std::uint64_t time_ns = 0; ///< 0: not known, the number of the event is used
	std::string_view object;   ///< identifies the lock, variable or thread
	std::string_view name;	   ///< that of the lock in reports
	ls_kind kind = LS_KIND_NONE;
	ls_read read = LS_EXCLUSIVE;
	bool tries = false; ///< it could not wait
	/// A lock may be acquired again by the thread that has it; else its release was missed.
	bool nests = false;
	std::span<const Location> stack; ///< innermost first, may be empty
};

} // namespace lockscope::replay
