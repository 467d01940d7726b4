// SPDX-License-Identifier: GPL-2.0
// Findings that have one cause are one thing to look at.
#pragma once

#include "analysis/finding.h"

#include <string>
#include <vector>

namespace lockscope {

/// Give deadlocks that share their rarest dependency, and those that are not proven and
/// whose rarest dependencies have a lock in common, the one ranked first as their cause.
/// @findings are ranked.
void find_causes(const Model &model, std::vector<Finding> &findings);

} // namespace lockscope
