// SPDX-License-Identifier: GPL-2.0
// Data races that the module reported, as findings.
#pragma once

#include "analysis/finding.h"
#include "analysis/races/weights.h"

#include <vector>

namespace lockscope {

/// The races of @model, merged by variable and pair of functions. Two marked accesses are no
/// race, nor are two reads.
std::vector<Finding> data_races(const Model &model, const RaceWeights &weights);

/// "read", "write" or "read-write"
const char *op_name(const MemoryAccess &access);

} // namespace lockscope
