// SPDX-License-Identifier: GPL-2.0
// Is a record complete enough to call a kernel clean? An empty report of a run that was cut
// short, observed nothing or lost much means little.
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/*
 * Bounds of losses, as a share of all events. Below them losses are listed in the report and
 * the verdict is valid; above them it is too likely that a fault was lost.
 *
 * A dependency is observed many times, so one acquisition in a thousand that was not checked
 * (recursion, no room for its class, chain or lock) hides few of them. A record is written
 * once, for something new: one in a hundred may be lost. Accesses are sampled anyway, and each
 * race has many chances: one in ten may be lost. Events of a trace are drawn, not judged: a run
 * that lost any of them is as complete as before.
 */
inline constexpr double kMostAcquisitionsLost = 0.001;
inline constexpr double kMostRecordsLost = 0.01;
inline constexpr double kMostAccessesLost = 0.1;

/// Why there is no verdict.
struct Incomplete {
	/// "recording", "interrupted", "crashed", "failed", "module-gone", "died", "empty",
	/// "lossy",
	/// "no-module", "damaged" or "no-runs"
	std::string reason;
	std::string text; ///< one sentence, without a full stop
};

/// Empty if all runs of @model finished with all of their observations.
std::vector<Incomplete> incompleteness(const Model &model);
/// The same of one run, by its number. A damaged file counts for all of them.
std::vector<Incomplete> incompleteness(const Model &model, std::uint32_t run);

/// What was lost in all runs of @model, "lost_stacks 12", so that findings may be missing; empty:
/// nothing.
std::vector<std::string> losses_of(const Model &model);
/// What is missing in their traces, "12 events (a ring was full)"; no finding depends on it.
std::vector<std::string> trace_losses_of(const Model &model);

} // namespace lockscope
