// SPDX-License-Identifier: GPL-2.0
// From a model to ranked findings.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

struct Analysis {
	std::vector<Finding> findings; ///< all of them, ranked; hidden ones included
	std::size_t edges = 0;	       ///< dependencies in the lock-order graph
	/// What the module found and this search did not, or the other way
	/// round, in words: one of the two is wrong.
	std::vector<std::string> self_check;
};

/// Search @model for faults.
Analysis analyse(const Model &model);

/// Identifier of a cycle: a hash over kind and class names, the same whatever
/// class the cycle is begun with.
std::string finding_id(const Model &model, FindingKind kind, const std::vector<ClassId> &classes);

/// Class name as short as a title needs it: without the initialiser's
/// function, the cache or the enclosing struct.
std::string short_name(const LockClass &cls);

} // namespace lockscope
