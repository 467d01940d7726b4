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

Result<std::size_t> find_finding(const Analysis &analysis, const std::string &id,
				 const std::string &file)
{
	std::vector<std::size_t> matches;
	for (std::size_t i = 0; i < analysis.findings.size(); i++)
		if (analysis.findings[i].id.starts_with(id))
			matches.push_back(i);
	if (matches.empty())
		return usage_error("no finding in " + file + " begins with " + id,
				   "ids are in lockscope report --all " + file);
	if (matches.size() > 1)
		return usage_error(std::to_string(matches.size()) + " findings begin with " + id,
				   "give more digits, " + analysis.findings[matches[0]].id +
					   " or " + analysis.findings[matches[1]].id);
	return matches.front();
}

} // namespace lockscope::cli
