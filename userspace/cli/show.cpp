// SPDX-License-Identifier: GPL-2.0
// lockscope show: one finding in full.
#include "cli/cli.h"
#include "cli/suppressed.h"

#include "analysis/filters/annotations.h"
#include "report/report.h"
#include "store/load.h"

#include <unistd.h>

#include <memory>

namespace lockscope::cli {

namespace {

struct ShowArgs {
	std::string id;
	std::vector<std::string> files;
	AnalysisOptions analysis;
	std::string weights, format = "text";
	SuppressionOptions suppressions;
};

int run(const ShowArgs &options, const Globals &globals)
{
	const auto files = stores_or_default(options.files);
	auto model = load_stores(files);
	if (!model)
		return fail(model.error());
	if (auto status = annotations::load(*model); !status)
		return fail(status.error());
	auto analysed =
		analyse_with(*model, options.suppressions, options.analysis, options.weights);
	if (!analysed)
		return fail(analysed.error());
	const Analysis &analysis = *analysed;
	const auto chosen = find_finding(analysis, options.id, files.front());
	if (!chosen)
		return fail(chosen.error());
	const Finding &finding = analysis.findings[*chosen];
	const std::string text = globals.json || options.format == "json"
					 ? json_finding(*model, finding, *chosen + 1)
					 : text_finding(*model, finding,
							{terminal_width(STDOUT_FILENO),
							 use_color(globals.color, STDOUT_FILENO)});
	return deliver(text, "");
}

} // namespace

void add_show_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "show", "print one finding in full",
				    "lockscope show 61216259 lockscope.db");
	auto options = std::make_shared<ShowArgs>();
	command->add_option("ID", options->id, "id of the finding, or the first digits of it")
		->required();
	command->add_option("FILE", options->files, "stores to read (default lockscope.db)");
	command->add_flag("--raw-nesting", options->analysis.raw_nesting,
			  "the finding is one of report --raw-nesting");
	command->add_option("--format", options->format, "text or json")
		->check(CLI::IsMember({"text", "json"}))
		->capture_default_str();
	add_weights_option(command, options->weights);
	add_suppression_options(command, options->suppressions);
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
