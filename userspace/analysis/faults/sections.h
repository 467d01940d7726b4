// SPDX-License-Identifier: GPL-2.0
// Critical sections without any access: an error of the code, or of this analysis [RacerX
// 8.6].
#pragma once

#include "analysis/finding.h"

#include <vector>

namespace lockscope {

/// Locks that code of an instrumented module acquires, often enough to be significant, while
/// no access was observed with the lock held from that acquire site. Hidden notes: the section
/// may work on memory that other code accesses. Only runs that watched all accesses count.
std::vector<Finding> empty_sections(const Model &model);

} // namespace lockscope
