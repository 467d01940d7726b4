// SPDX-License-Identifier: GPL-2.0
// Every acquisition, release and wait of a part of a run, with its time.
#pragma once

#include "bpf/trace.h"
#include "model/model.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

struct TraceTask {
	std::uint32_t pid = 0, tgid = 0; ///< 0, 0: the idle task of a CPU
	std::string comm;		 ///< the last one
};

struct TraceEvent {
	std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC, at most 2^63 - 1
	std::uint64_t ns = 0;	    ///< held or waited; LS_TRACE_LOST: number of events
	std::uint64_t instance = 0; ///< keyed hash; comparable within a trace, 0 unknown
	ClassId cls = kNoClass;
	CodeId at{}; ///< acquire site
	std::uint32_t val = 0;
	std::uint32_t task = 0; ///< in LockTrace::tasks
	std::uint16_t cpu = 0;
	ls_trace_kind kind = LS_TRACE_ACQUIRED;
};

/// Events without a gap between them: of one recorder.
struct TraceSpan {
	std::uint64_t begin_ns = 0, end_ns = 0; ///< no event lies outside
	std::uint64_t real_ns = 0;		///< CLOCK_REALTIME at end_ns
	std::size_t events = 0;			///< number of events
};

struct LockTrace {
	std::vector<TraceTask> tasks;	///< pairs of pid and tgid are unique
	std::vector<TraceEvent> events; ///< span by span, each in the order of time
	std::vector<TraceSpan> spans;	///< in the order of time
};

} // namespace lockscope
