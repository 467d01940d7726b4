// SPDX-License-Identifier: GPL-2.0
// Whether what was recorded is enough to call a kernel clean: nothing found in a run
// that was cut short, saw nothing or lost much says little.
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/*
 * The bounds of what a run may lose, as a share of what it should have had. Below them
 * losses are listed in the report and the verdict stands; above them a fault in what was
 * lost is too likely to be missed.
 *
 * An order is seen many times, so one acquisition in a thousand that was not judged
 * (recursion, no room for its class, chain or lock) hides few of them. A record is made
 * once, for what is new: one in a hundred may be missing. Accesses are judged as a sample
 * in the first place, and each race has many chances: one in ten may be missing.
 */
inline constexpr double kMostAcquisitionsLost = 0.001;
inline constexpr double kMostRecordsLost = 0.01;
inline constexpr double kMostAccessesLost = 0.1;

/// Why a verdict cannot be had.
struct Incomplete {
	/// "recording", "interrupted", "failed", "module-gone", "empty", "lossy",
	/// "no-module", "damaged" or "no-runs"
	std::string reason;
	std::string text; ///< one sentence, without a full stop
};

/// Nothing when all runs of @model came to their end with what they saw.
std::vector<Incomplete> incompleteness(const Model &model);

} // namespace lockscope
