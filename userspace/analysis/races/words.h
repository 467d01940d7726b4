// SPDX-License-Identifier: GPL-2.0
// Words that are changed without a lock by design, so that a race over them is intended.
#pragma once

#include "analysis/finding.h"
#include "analysis/rules/access_index.h"

#include <cstddef>
#include <vector>

namespace lockscope {

/// Has the function that allocates the object not returned yet?
bool in_the_making(const Model &model, const MemoryAccess &access);

/// Do the accesses @all, all accesses to the variable of @race, only count it up or down,
/// without a lock that most of them hold? Every write is one instruction that reads as well,
/// or has a read of the same bytes by the same code close by; code that only reads writes
/// nothing else, so that nothing depends on it.
bool statistics_counter(const Model &model, const AccessIndex &index, const Race &race,
			const std::vector<std::size_t> &all);

/// Add to @finding, a data race, each filter that applies to its variable.
void apply_word_filters(const Model &model, const AccessIndex &index, Finding &finding);

} // namespace lockscope
