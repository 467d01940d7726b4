// SPDX-License-Identifier: GPL-2.0
// What a trace has as spans of time: locks held and waits for them, on tracks where they nest.
#pragma once

#include "model/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lockscope {

enum class SliceKind : std::uint8_t { Hold, Wait, GaveUp };

struct LockSlice {
	std::uint64_t begin_ns = 0, end_ns = 0; ///< of the span, where the rest is not known
	std::uint32_t event = 0; ///< in LockTrace::events: class, instance, site, mode, CPU
	SliceKind kind = SliceKind::Hold;
	bool since_before = false; ///< held when the span began
	bool still_held = false;   ///< when it ended
};

/// Slices of one context: a task, or what interrupts it at a level on a CPU.
struct LockTrack {
	ls_level level = LS_TASK;
	std::uint32_t task = 0; ///< in LockTrace::tasks; only for LS_TASK
	std::uint16_t cpu = 0;	///< for interrupts, and idle tasks
	/// 0, or counts further tracks of the context, for slices that overlap with those before.
	std::uint32_t lane = 0;
};

/// A slice begins or ends.
struct SliceEdge {
	std::uint64_t time_ns = 0;
	std::uint32_t slice = 0, track = 0;
	bool begins = false;
};

struct TraceSlices {
	std::vector<LockSlice> slices;
	std::vector<LockTrack> tracks;
	/// In the order of time. On each track they are well nested: an end is that of the slice
	/// which began last.
	std::vector<SliceEdge> edges;
	std::size_t not_drawn = 0; ///< slices that overlap with more than a context can hold
};

/// The slices of all locks whose classes are @wanted. A hold whose acquisition is not in the
/// trace begins its hold time before its release. After a loss of events a hold is known by its
/// release alone.
TraceSlices slices_of(const LockTrace &trace, const std::function<bool(ClassId)> &wanted);

} // namespace lockscope
