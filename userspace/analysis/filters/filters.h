// SPDX-License-Identifier: GPL-2.0
// Filters: reasons why a finding cannot happen, see docs/severity.md.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"

namespace lockscope {

/// Add to @finding each filter that applies. @facts are those of the edges of
/// a cycle, in order; nothing for other kinds of finding.
void apply_filters(const Model &model, Finding &finding,
		   const std::vector<ChainFacts::Kind> &facts);

} // namespace lockscope
