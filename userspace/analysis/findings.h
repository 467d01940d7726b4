// SPDX-License-Identifier: GPL-2.0
// From a model to ranked findings.
#pragma once

#include "analysis/faults/rawnesting.h"
#include "analysis/finding.h"
#include "analysis/races/weights.h"
#include "analysis/suppressions.h"

namespace lockscope {

struct Analysis {
	std::vector<Finding> findings; ///< all of them, ranked; hidden ones included
	std::size_t edges = 0;	       ///< dependencies in the lock-order graph
	/// What the module found and this search did not, or the other way
	/// round, in words: one of the two is wrong.
	std::vector<std::string> self_check;
	SuppressionReport suppressions; ///< see apply_suppressions()
	std::optional<RawNesting> raw;	///< how far that could be looked at, if it was
};

struct AnalysisOptions {
	bool raw_nesting = false; ///< what only PREEMPT_RT forbids, too
	RaceWeights weights = {}; ///< rank data races
};

/// Search @model for faults.
Analysis analyse(const Model &model, const AnalysisOptions &options = {});

} // namespace lockscope
