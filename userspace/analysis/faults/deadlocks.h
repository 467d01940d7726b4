// SPDX-License-Identifier: GPL-2.0
// Deadlocked tasks that the module observed.
#pragma once

#include "analysis/evidence.h"
#include "analysis/finding.h"

namespace lockscope {

/// A finding for each ring of waiting tasks that the module found, in the form of a cycle:
/// each side holds the lock that the previous one waits for.
std::vector<Finding> deadlocks(const Model &model, const ObservationsByPlace &by_place);

} // namespace lockscope
