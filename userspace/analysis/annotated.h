// SPDX-License-Identifier: GPL-2.0
// What authors said of a finding's acquires, as filters.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Adds annotated-nesting, nest-lock and annotated-subclass where they apply.
void apply_annotations(const Model &model, Finding &finding);

} // namespace lockscope
