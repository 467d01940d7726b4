// SPDX-License-Identifier: GPL-2.0
// The findings that report and export are about: which stores, and which findings of them.
#pragma once

#include "cli/suppressed.h"

#include "report/report.h"
#include "util/result.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockscope::cli {

struct SelectionArgs {
	std::vector<std::string> files;
	std::string min_confidence = "possible", since, weights;
	std::size_t limit = 0;
	bool all = false, only_new = false;
	std::vector<std::string> modules, kinds, classes;
	AnalysisOptions analysis;
	SuppressionOptions suppressions;
};

void add_selection_options(CLI::App *command, SelectionArgs &args);

struct Selected {
	Model model; ///< all stores merged; at least one run
	Analysis analysis;
	ReportOptions report;
};

/// Load the stores and search them. What is wrong with the options is an error before that.
Result<Selected> select_from_stores(const SelectionArgs &args);

} // namespace lockscope::cli
