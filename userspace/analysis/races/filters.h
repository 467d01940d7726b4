// SPDX-License-Identifier: GPL-2.0
// Reasons to doubt a data race [RELAY 4.3, 5].
#pragma once

#include "analysis/finding.h"
#include "analysis/rules/access_index.h"

namespace lockscope {

/// The context of the race's first side, or of the one that showed it.
Context race_context(const Model &model, const AccessIndex &index, const Race &race, bool second);

/// The stack of that side, or of the first access at its site if that is all there is.
const std::vector<CodeId> &race_stack(const Model &model, const Race &race, bool second);

/// Add each filter that applies to @finding, whose race is filled in.
void apply_race_filters(const Model &model, const AccessIndex &index, Finding &finding);

} // namespace lockscope
