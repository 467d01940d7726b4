// SPDX-License-Identifier: GPL-2.0
// The analysis as report and show see it: with the suppressions applied.
#pragma once

#include "analysis/findings.h"
#include "util/result.h"

#include <CLI/CLI.hpp>

#include <string>

namespace lockscope::cli {

struct SuppressionOptions {
	std::string file; ///< empty: the usual one, if it is there
	bool none = false;
};

void add_suppression_options(CLI::App *command, SuppressionOptions &options);

/// Search @model for faults and hide what is suppressed.
Result<Analysis> analyse_with(const Model &model, const SuppressionOptions &options,
			      const AnalysisOptions &wanted = {});

} // namespace lockscope::cli
