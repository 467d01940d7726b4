// SPDX-License-Identifier: GPL-2.0
// In which runs of a model its findings were seen.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"

#include <cstdint>
#include <vector>

namespace lockscope {

/// Place of each run, by number, in the order in which the runs started; of equal times the
/// first in the model comes first.
std::vector<std::uint32_t> places_in_time(const Model &model);
/// Number of the run that started last; @model has one.
std::uint32_t latest_run(const Model &model);

/// Set Finding::first_run and last_run. @graph is that of all runs. Nothing to say of a single
/// run: they stay unset.
void find_history(const Model &model, const LockGraph &graph, std::vector<Finding> &findings);

} // namespace lockscope
