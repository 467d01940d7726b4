// SPDX-License-Identifier: GPL-2.0
// What authors said of a finding's acquires, as filters.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Adds annotated-nesting, nest-lock, annotated-subclass and computed-subclass where they apply.
void apply_annotations(const Model &model, Finding &finding);

/// Does the author say at this acquire that the lock nests in one of its class? Where the
/// subclass of entry @held of its stack is known, the order of the two decides.
bool declares_nesting(const Model &model, const Sight &sight, std::uint32_t held);

} // namespace lockscope
