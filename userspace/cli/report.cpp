// SPDX-License-Identifier: GPL-2.0
// lockscope report: the ranked findings of one or more stores.
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/suppressed.h"

#include "analysis/filters/annotations.h"
#include "report/completeness.h"
#include "report/report.h"
#include "store/load.h"
#include "util/text.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

namespace lockscope::cli {

namespace {

struct ReportArgs {
	std::vector<std::string> files;
	std::string format = "text", out, min_confidence = "possible", fail_on = "error";
	std::size_t limit = 0;
	bool all = false, list_weights = false, allow_incomplete = false;
	std::string weights;
	std::vector<std::string> modules, kinds, classes;
	std::string since;
	bool only_new = false;
	AnalysisOptions analysis;
	SuppressionOptions suppressions;
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

/// All but the run of --since, which takes a model.
Result<Selection> selection_of(const ReportArgs &options)
{
	Selection out;
	out.modules = options.modules;
	out.classes = options.classes;
	out.only_new = options.only_new;
	for (const auto &word : options.kinds) {
		const auto kind = parse_kind(word);
		if (!kind)
			return usage_error("--kind: there is no kind " + word,
					   "kinds are " + join(kind_names(), ", "));
		out.kinds.push_back(*kind);
	}
	return out;
}

int run(const ReportArgs &options, const Globals &globals)
{
	if (options.list_weights)
		return deliver(weights_table(), options.out);
	auto selection = selection_of(options);
	if (!selection)
		return fail(selection.error());
	auto model = load_stores(stores_or_default(options.files), Damage::Salvage);
	if (!model)
		return fail(model.error());
	if (auto status = annotations::load(*model); !status)
		return fail(status.error());
	if (model->runs.empty())
		return fail({0,
			     "nothing was recorded in " + stores_or_default(options.files).front(),
			     "record first: lockscope record -- COMMAND", Exit::Environment});
	if (!options.since.empty()) {
		auto since = parse_run(*model, options.since);
		if (!since)
			return fail(since.error());
		selection->since = *since;
	}
	auto analysed = analyse_with(*model, options.suppressions, options.analysis,
				     options.weights, *selection);
	if (!analysed)
		return fail(analysed.error());
	const Analysis &analysis = *analysed;
	ReportOptions wanted;
	wanted.min_confidence = *parse_confidence(options.min_confidence);
	wanted.all = options.all;
	wanted.rules = options.all || globals.verbose > 0;
	wanted.limit = options.limit;

	const bool foreign = foreign_format(options.format) && !globals.json;
	if (foreign) {
		const CiOptions ci{wanted, parse_severity(options.fail_on),
				   options.allow_incomplete};
		if (const int status =
			    deliver_foreign(options.format, *model, analysis, ci, options.out))
			return status;
	} else {
		const bool json = options.format == "json" || globals.json,
			   to_file = !options.out.empty();
		const TextStyle style{to_file ? 80 : terminal_width(STDOUT_FILENO),
				      use_color(globals.color, to_file ? -1 : STDOUT_FILENO)};
		const auto make = [&](const Sink &sink) {
			if (json)
				json_report(*model, analysis, wanted, sink);
			else
				text_report(*model, analysis, wanted, style, sink);
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
				     [&](const Finding *f) { return f->severity >= worst; });
	if (any)
		return static_cast<int>(Exit::Findings);
	const auto incomplete = incompleteness(*model);
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
	command->add_option("FILE", options->files,
			    "stores to read, merged when several (default lockscope.db)");
	command->add_option("--format", options->format, "text, or for other programs")
		->check(CLI::IsMember(kReportFormats))
		->capture_default_str();
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	command->add_option("--min-confidence", options->min_confidence,
			    "leave out what is less certain")
		->check(CLI::IsMember({"possible", "observed", "confirmed"}))
		->capture_default_str();
	command->add_option("--fail-on", options->fail_on,
			    "exit 1 for findings this severe or worse")
		->check(CLI::IsMember({"note", "warning", "error", "none"}))
		->capture_default_str();
	command->add_flag("--allow-incomplete", options->allow_incomplete,
			  "exit 0 when nothing was found, also where a run is incomplete");
	command->add_option("--limit", options->limit, "list at most this many, 0 for all")
		->check(kCount)
		->capture_default_str();
	command->add_option("--module", options->modules,
			    "only what has a lock, a variable or code of this module; a pattern "
			    "with * and ?; again: any of them, as for the next two")
		->allow_extra_args(false);
	command->add_option("--kind", options->kinds, "only this kind, see docs/findings.md")
		->allow_extra_args(false);
	command->add_option("--class", options->classes,
			    "only what has a lock or a variable whose name matches this pattern")
		->allow_extra_args(false);
	command->add_option("--since", options->since,
			    "only what that run or a later one shows a part of: its number, last, "
			    "or a day, YYYY-MM-DD");
	command->add_flag("--new", options->only_new,
			  "only what the runs before the last one do not show, or before that of "
			  "--since");
	command->add_flag(
		"--all", options->all,
		"list findings hidden by filters too, the rules that locks follow, and what is "
		"never seen");
	command->add_flag("--raw-nesting", options->analysis.raw_nesting,
			  "look for spinlock_t under raw_spinlock_t as well, which PREEMPT_RT "
			  "forbids");
	add_weights_option(command, options->weights);
	command->add_flag("--list-weights", options->list_weights,
			  "print the weights built in, as a file for --weights")
		->configurable(false);
	add_suppression_options(command, options->suppressions);
	set_configured_action(command, globals,
			      [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
