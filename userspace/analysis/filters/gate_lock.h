// SPDX-License-Identifier: GPL-2.0
// A lock held on two sides of a finding keeps them apart.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <vector>

namespace lockscope {

/// Add the filter gate-lock to @finding where it applies; @facts as in apply_filters().
void gate_lock(const Model &model, Finding &finding, const std::vector<ChainFacts::Kind> &facts);

} // namespace lockscope
