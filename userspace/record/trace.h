// SPDX-License-Identifier: GPL-2.0
// A part of a trace on its way from the rings into a store.
#pragma once

#include "bpf/trace.h"

#include <array>
#include <cstdint>
#include <vector>

namespace lockscope {

struct TracedEvent {
	ls_trace_event event; ///< of a kind below LS_TRACE_NR_STORED; with an address
	std::uint16_t cpu = 0;
};

/// Name of a task; not ended by a zero if it is as long as that.
struct TracedTask {
	std::uint32_t pid = 0, tgid = 0;
	std::array<char, LS_COMM_LEN> comm{};
};

/// What came since the batch before.
struct TraceBatch {
	std::uint64_t begin_ns = 0, end_ns = 0; ///< CLOCK_MONOTONIC; begins where that one ended
	std::uint64_t real_ns = 0;		///< CLOCK_REALTIME at end_ns
	std::vector<TracedEvent> events;	///< in the order of time
	std::vector<TracedTask> tasks;		///< each one with an event, once
	/// Since the trace began.
	std::array<std::uint64_t, LS_TRACE_NR_LOSSES> losses{};
};

} // namespace lockscope
