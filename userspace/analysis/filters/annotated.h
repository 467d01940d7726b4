// SPDX-License-Identifier: GPL-2.0
// Annotations at a finding's acquires, as filters.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Adds annotated-nesting, nest-lock and annotated-subclass where they apply.
void apply_annotations(const Model &model, Finding &finding);

/// A lock of a cycle whose subclass is computed from the object where it is acquired or held,
/// as text; empty: none.
std::string computed_subclass(const Model &model, const Finding &finding);

/// Is the lock annotated at this acquire to nest in one of its class? Where the subclass of
/// entry @held is known, the order of the two subclasses decides.
bool declares_nesting(const Model &model, const Observation &observation, std::uint32_t held);

} // namespace lockscope
