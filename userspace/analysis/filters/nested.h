// SPDX-License-Identifier: GPL-2.0
// Instances of one class that nest in each other, in orders that close a ring.
#pragma once

#include "analysis/evidence.h"
#include "model/model.h"

#include <vector>

namespace lockscope {

/// One observation of two nested instances of a class.
struct NestedPair {
	std::size_t observation; ///< in Model::observations
	std::uint32_t position;	 ///< of the outer one in Observation::held
};

/// The lock that a side of @ring has passed, so that another side is never there
/// (passed_before() in instances.h), as its class.
ClassId passed_in(const Model &model, const std::vector<NestedPair> &ring);

/// The observations that close a ring with the pair of @last, in order, @last at the end: two
/// for two instances acquired in both orders; if possible, those without passed_in(). Only @last
/// if there are none without a common gate.
std::vector<NestedPair> ring_of(const Model &model, ClassId cls, std::size_t last,
				const ObservationsByClass &by_class);

/// Both orders of two objects followed the pointers between them: the inner one pointed to the
/// outer one each time, and not vice versa.
bool follows_hierarchy(const Model &model, const std::vector<NestedPair> &ring);

} // namespace lockscope
