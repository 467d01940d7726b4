// SPDX-License-Identifier: GPL-2.0
// The analysis for report and show: with suppressions applied.
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

/// The entries of the applicable file; none if it does not exist.
Result<std::vector<Suppression>> suppressions_of(const SuppressionOptions &options);

/// --weights FILE, empty: the built-in ones.
void add_weights_option(CLI::App *command, std::string &weights);

/// Search @model for findings, hide suppressed ones and leave out those that @selection does
/// not want; @weights is a file for those of @wanted, empty: none.
Result<Analysis> analyse_with(const Model &model, const SuppressionOptions &options,
			      AnalysisOptions wanted = {}, const std::string &weights = {},
			      const Selection &selection = {});

/// The one finding whose id begins with @id, as an index; @file is named when there is none.
Result<std::size_t> find_finding(const Analysis &analysis, const std::string &id,
				 const std::string &file);

} // namespace lockscope::cli
