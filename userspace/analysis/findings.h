// SPDX-License-Identifier: GPL-2.0
// From a model to ranked findings.
#pragma once

#include "analysis/faults/rawnesting.h"
#include "analysis/finding.h"
#include "analysis/races/weights.h"
#include "analysis/selection.h"
#include "analysis/selfcheck.h"
#include "analysis/suppressions.h"

namespace lockscope {

struct Analysis {
	std::vector<Finding> findings; ///< all of them, ranked; hidden ones included
	std::size_t edges = 0;	       ///< dependencies in the lock-order graph
	SelfCheck self_check;
	SuppressionReport suppressions; ///< see apply_suppressions()
	Selection selection;		///< see apply_selection()
	/// Number of the run that a finding is new from; unset with a single run.
	std::optional<std::uint32_t> new_since;
	std::optional<RawNesting> raw; ///< coverage of that test, if it was requested
};

struct AnalysisOptions {
	bool raw_nesting = false; ///< also report what only PREEMPT_RT forbids
	RaceWeights weights = {}; ///< for ranking data races
};

/// Search @model for faults.
Analysis analyse(const Model &model, const AnalysisOptions &options = {});

} // namespace lockscope
