// SPDX-License-Identifier: GPL-2.0
// Faults that one observation shows: violations of locking rules that did happen.
#pragma once

#include "analysis/evidence.h"
#include "analysis/finding.h"

#include <vector>

namespace lockscope {

/// One finding for every kind, lock and function; further observations add to its count. What
/// sleeps where it must not is one finding for each lock held there and function below it. Where
/// the kernel had repaired the task's preemption count, a fault is a consequence of what made
/// that necessary, and hidden.
std::vector<Finding> faults(const Model &model, const ObservationsByPlace &by_place,
			    const ObservationsByClass &by_class);

/// The places that slept in the observations of a finding, each once: "mutex m in f", or
/// functions; empty for other kinds.
std::vector<std::string> sleepers(const Model &model, const Finding &finding);

} // namespace lockscope
