// SPDX-License-Identifier: GPL-2.0
#include "cli/suppressed.h"

#include "analysis/suppression_file.h"
#include "util/date.h"
#include "util/file.h"

namespace lockscope::cli {

void add_suppression_options(CLI::App *command, SuppressionOptions &options)
{
	auto *none = command->add_flag("--no-suppressions", options.none,
				       "hide nothing because of a file");
	command->add_option("--suppressions", options.file,
			    std::string("findings to hide (default ") + kSuppressionsPath +
				    " if it exists)")
		->excludes(none);
}

void add_weights_option(CLI::App *command, std::string &weights)
{
	command->add_option("--weights", weights,
			    "points of the features of data races, \"feature = points\" a line");
}

Result<std::vector<Suppression>> suppressions_of(const SuppressionOptions &options)
{
	const std::string file = options.file.empty() ? kSuppressionsPath : options.file;
	if (options.none || (options.file.empty() && !exists(file)))
		return std::vector<Suppression>{};
	return load_suppressions(file);
}

Result<Analysis> analyse_with(const Model &model, const SuppressionOptions &options,
			      AnalysisOptions wanted, const std::string &weights,
			      const Selection &selection)
{
	if (!weights.empty()) {
		auto text = read_file(weights);
		if (!text) {
			Error error = text.error();
			error.hint = "check the path; lockscope report --list-weights -o FILE "
				     "makes such a file";
			return error;
		}
		auto parsed = RaceWeights::parse(*text, weights);
		if (!parsed)
			return parsed.error();
		wanted.weights = std::move(*parsed);
	}
	/* Read before the search: errors in the file are reported at once. */
	auto entries = suppressions_of(options);
	if (!entries)
		return entries.error();
	Analysis analysis = analyse(model, wanted);
	apply_suppressions(model, analysis, *entries, today());
	apply_selection(model, analysis, selection);
	return analysis;
}

} // namespace lockscope::cli
