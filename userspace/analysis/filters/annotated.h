// SPDX-License-Identifier: GPL-2.0
// What authors said of a finding's acquires, as filters.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Adds annotated-nesting, nest-lock and annotated-subclass where they apply.
void apply_annotations(const Model &model, Finding &finding);

/// A lock of a cycle whose subclass its authors compute from the object where it is taken or
/// held, in words; empty: none.
std::string computed_subclass(const Model &model, const Finding &finding);

/// Does the author say at this acquire that the lock nests in one of its class? Where the
/// subclass of entry @held of its stack is known, the order of the two decides.
bool declares_nesting(const Model &model, const Sight &sight, std::uint32_t held);

} // namespace lockscope
