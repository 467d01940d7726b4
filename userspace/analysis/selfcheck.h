// SPDX-License-Identifier: GPL-2.0
// Cross-check of the module, which searches while it records, and userspace, which searches
// the record: a finding of only one of them shows an error in one of them.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

/// Differences as text, one sentence each.
struct SelfCheck {
	/// Found by the module, and not here: the report may lack them.
	std::vector<std::string> missing;
	/// Found here, and not by the module: they were not on the console.
	std::vector<std::string> only_here;

	bool empty() const { return missing.empty() && only_here.empty(); }
};

/// @cycles: number of cycles of locks only.
SelfCheck self_check(const Model &model, const LockGraph &graph, std::size_t cycles,
		     const std::vector<Finding> &findings);

} // namespace lockscope
