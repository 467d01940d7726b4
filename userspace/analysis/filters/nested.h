// SPDX-License-Identifier: GPL-2.0
// Instances of one class that nest in each other, in orders that close a ring.
#pragma once

#include "model/model.h"

#include <vector>

namespace lockscope {

/// One observation of two instances of a class, one taken inside the other.
struct NestedPair {
	std::size_t sight;	///< in Model::sights
	std::uint32_t position; ///< of the outer one in Sight::held
};

/// The observations that close a ring with the pair of @last, in order, @last at the end:
/// two for two instances taken in both orders. Only @last when no others are known that
/// no common lock keeps apart from it.
std::vector<NestedPair> ring_of(const Model &model, ClassId cls, std::size_t last);

/// Both orders of two objects followed the pointers between them: the inner one pointed
/// to the outer each time, and not the other way round.
bool follows_hierarchy(const Model &model, const std::vector<NestedPair> &ring);

} // namespace lockscope
