// SPDX-License-Identifier: GPL-2.0
// Reasons to doubt a data race [RELAY 4.3, 5].
#pragma once

#include "analysis/access_index.h"
#include "analysis/finding.h"

#include <cstddef>
#include <vector>

namespace lockscope {

/// The context of the race's first side, or of the one that showed it.
Context race_context(const Model &model, const Race &race, bool second);

/// Add each filter that applies to @finding, whose race is filled in.
void apply_race_filters(const Model &model, const AccessIndex &index, Finding &finding);

/// Do the accesses @all, all there are to one variable on which @race is, only count it up
/// or down, without a lock that most of them hold? Every write is one instruction that reads as well, or has a
/// read of the same bytes by the same code close by; whoever only reads writes
/// nothing else, so that nothing depends on it.
bool statistics_counter(const Model &model, const AccessIndex &index, const Race &race,
			const std::vector<std::size_t> &all);

} // namespace lockscope
