// SPDX-License-Identifier: GPL-2.0
// Findings with a common cause are grouped.
#pragma once

#include "analysis/finding.h"

#include <string>
#include <vector>

namespace lockscope {

/// Group deadlocks that share their rarest dependency, longer cycles with what shows one of
/// their dependencies as well, unproven ones whose rarest dependencies share a lock,
/// those among the objects of one structure, and those of one call that a module makes in an
/// interrupt: the one ranked first is the cause of the others.
/// @findings are ranked.
void find_causes(const Model &model, std::vector<Finding> &findings);

} // namespace lockscope
