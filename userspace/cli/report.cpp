// SPDX-License-Identifier: GPL-2.0
// lockscope report: the ranked findings of one or more stores.
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/selected.h"

#include "analysis/verdicts.h"
#include "report/completeness.h"
#include "report/report.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

namespace lockscope::cli {

namespace {

struct ReportArgs {
	SelectionArgs selection;
	std::string format = "text", out, fail_on = "error";
	bool list_weights = false, allow_incomplete = false;
};

/// The table of weights in the format of --weights.
std::string weights_table()
{
	std::string out;
	for (const auto &weight : RaceWeights::table()) {
		std::string line = std::string(weight.name) + " = " +
				   std::to_string(static_cast<long>(weight.points));
		line.resize(std::max<std::size_t>(line.size(), 28), ' ');
		out += line + " # " + std::string(weight.what) + "\n";
	}
	return out;
}

int run(const ReportArgs &options, const Globals &globals)
{
	if (options.list_weights)
		return deliver(weights_table(), options.out);
	auto selected = select_from_stores(options.selection);
	if (!selected)
		return fail(selected.error());
	const Model &model = selected->model;
	const Analysis &analysis = selected->analysis;
	ReportOptions wanted = selected->report;
	wanted.rules = wanted.all || globals.verbose > 0;

	const bool foreign = foreign_format(options.format) && !globals.json;
	if (foreign) {
		const CiOptions ci{wanted, parse_severity(options.fail_on),
				   options.allow_incomplete};
		if (const int status =
			    deliver_foreign(options.format, model, analysis, ci, options.out))
			return status;
	} else {
		const bool json = options.format == "json" || globals.json,
			   to_file = !options.out.empty();
		const TextStyle style{to_file ? 80 : terminal_width(STDOUT_FILENO),
				      use_color(globals.color, to_file ? -1 : STDOUT_FILENO)};
		const auto make = [&](const Sink &sink) {
			if (json)
				json_report(model, analysis, wanted, sink);
			else
				text_report(model, analysis, wanted, style, sink);
		};
		if (const int status = deliver_parts(make, options.out))
			return status;
	}
	if (options.fail_on == "none")
		return 0;
	/* Findings beyond --limit count as well. */
	wanted.limit = 0;
	const auto worst = *parse_severity(options.fail_on);
	const auto shown = select_findings(analysis, wanted);
	const bool any = std::any_of(shown.begin(), shown.end(),
				     [&](const Finding *f) { return unrefuted(*f) >= worst; });
	if (any)
		return static_cast<int>(Exit::Findings);
	const auto incomplete = incompleteness(model);
	if (incomplete.empty() || options.allow_incomplete)
		return static_cast<int>(Exit::Clean);
	return fail({0, "too incomplete to be called clean: " + incomplete.front().text,
		     "record again, or take it as it is with --allow-incomplete",
		     Exit::Environment});
}

} // namespace

void add_report_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "report", "print the ranked findings",
				    "lockscope report --min-confidence observed lockscope.db");
	auto options = std::make_shared<ReportArgs>();
	command->add_option("--format", options->format, "text, or for other programs")
		->check(CLI::IsMember(kReportFormats))
		->capture_default_str();
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	command->add_option("--fail-on", options->fail_on,
			    "exit 1 for findings this severe or worse")
		->check(CLI::IsMember({"note", "warning", "error", "none"}))
		->capture_default_str();
	command->add_flag("--allow-incomplete", options->allow_incomplete,
			  "exit 0 when nothing was found, also where a run is incomplete");
	add_selection_options(command, options->selection);
	command->add_flag(
		"--all", options->selection.all,
		"list findings hidden by filters too, the rules that locks follow, and what is "
		"never seen");
	command->add_flag("--list-weights", options->list_weights,
			  "print the weights built in, as a file for --weights")
		->configurable(false);
	set_configured_action(command, globals,
			      [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
