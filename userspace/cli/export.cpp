// SPDX-License-Identifier: GPL-2.0
// lockscope export: findings, statistics and traces of a store, for other people's tools.
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/selected.h"

#include "report/formats.h"
#include "report/perfetto.h"
#include "report/stat.h"
#include "stat/stat.h"
#include "store/load.h"
#include "util/text.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>

namespace lockscope::cli {

namespace {

struct ExportArgs {
	SelectionArgs selection;
	std::string format, out, fail_on = "error";
	bool allow_incomplete = false;
	std::string origin = KcidbOptions{}.origin, build;
};

/// Statistics and traces have classes, but neither findings nor modules.
Status check_no_findings(const ExportArgs &options)
{
	const auto &wanted = options.selection;
	if (wanted.modules.empty() && wanted.kinds.empty() && wanted.since.empty() &&
	    !wanted.only_new)
		return success();
	return usage_error(
		"--module, --kind, --since and --new choose findings, which " + options.format +
			" does not get",
		"its classes are chosen by --class" +
			std::string(options.format == "speedscope" ? " and --limit" : ""));
}

bool is_wanted(const SelectionArgs &selection, const std::string &cls)
{
	return selection.classes.empty() ||
	       std::any_of(selection.classes.begin(), selection.classes.end(),
			   [&](const auto &glob) { return glob_matches(glob, cls); });
}

int export_profiles(const ExportArgs &options)
{
	const auto &wanted = options.selection;
	if (auto status = check_no_findings(options); !status)
		return fail(status.error());
	auto model = load_stores(stores_or_default(wanted.files));
	if (!model)
		return fail(model.error());
	StatReport report = stat_of(*model);
	if (!report.exact)
		return fail(
			{0, "there are no statistics in " + stores_or_default(wanted.files).front(),
			 "record them: lockscope record --stat -- COMMAND", Exit::Environment});
	std::erase_if(report.classes,
		      [&](const StatClass &cls) { return !is_wanted(wanted, cls.name); });
	arrange(report, stat_orders().front().name, "");
	return deliver(speedscope_stat(report, wanted.limit), options.out);
}

/// The trace of the last run that has one: times of two runs have nothing in common.
int export_trace(const ExportArgs &options)
{
	if (auto status = check_no_findings(options); !status)
		return fail(status.error());
	if (options.out.empty() && ::isatty(STDOUT_FILENO))
		return fail(usage_error("the format perfetto is no text",
					"write to a file with -o FILE"));
	const auto files = stores_or_default(options.selection.files);
	auto model = load_stores(files, Damage::Refuse, Traces::Load);
	if (!model)
		return fail(model.error());
	const auto run = std::find_if(model->runs.rbegin(), model->runs.rend(),
				      [](const Run &one) { return one.trace != nullptr; });
	if (run == model->runs.rend())
		return fail({0, "there is no trace in " + files.front(),
			     "record one: lockscope record --trace -- COMMAND", Exit::Environment});
	const auto wanted = [&](ClassId cls) {
		return is_wanted(options.selection, cls == kNoClass ? "?" : (*model)[cls].name);
	};
	return deliver_parts([&](const Sink &sink) { perfetto_trace(*model, *run, wanted, sink); },
			     options.out);
}

Status check_kcidb(const ExportArgs &options)
{
	if (!is_kcidb_origin(options.origin))
		return usage_error("--origin " + options.origin + " is no name of a CI system",
				   "it has small letters, digits and _");
	if (!options.build.empty() && !is_kcidb_id(options.build))
		return usage_error("--build " + options.build + " is no id of a build",
				   "an id is ORIGIN:REST, as in kernelci:64c0b2a1");
	return success();
}

int run_export(const ExportArgs &options)
{
	if (options.format == "speedscope")
		return export_profiles(options);
	if (options.format == "perfetto")
		return export_trace(options);
	if (auto status = check_kcidb(options); !status)
		return fail(status.error());
	auto selected = select_from_stores(options.selection);
	if (!selected)
		return fail(selected.error());
	const CiOptions ci{selected->report, parse_severity(options.fail_on),
			   options.allow_incomplete};
	if (options.format != "kcidb")
		return deliver_foreign(options.format, selected->model, selected->analysis, ci,
				       options.out);
	std::set<std::pair<std::string, std::string>> kernels;
	for (const auto &run : selected->model.runs)
		kernels.insert({run.release, run.build_id});
	if (!options.build.empty() && kernels.size() > 1)
		return fail(usage_error("--build names one build, the runs are of " +
						counted(kernels.size(), "kernel"),
					"export their stores one by one"));
	return deliver(kcidb_report(selected->model, selected->analysis,
				    {ci, options.origin, options.build}),
		       options.out);
}

} // namespace

void add_export_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "export", "write findings, statistics or a trace for other people's tools",
		"lockscope export --format kcidb --origin my_ci -o report.kcidb.json\n"
		"  lockscope export --format syzkaller --module my_driver -o crashes\n"
		"  lockscope export --format speedscope -o locks.speedscope.json\n"
		"  lockscope export --format perfetto -o locks.pftrace");
	auto options = std::make_shared<ExportArgs>();
	command->add_option("--format", options->format,
			    "kcidb and junit are for CI, syzkaller is a folder of crashes, "
			    "speedscope has the times of record --stat, perfetto the events of "
			    "record --trace")
		->check(CLI::IsMember({"kcidb", "junit", "syzkaller", "speedscope", "perfetto"}))
		->required();
	command->add_option("-o,--output", options->out,
			    "write here instead of standard output; for syzkaller a folder");
	command->add_option("--fail-on", options->fail_on,
			    "for kcidb and junit: findings this severe or worse fail a test")
		->check(CLI::IsMember({"note", "warning", "error", "none"}))
		->capture_default_str();
	command->add_flag("--allow-incomplete", options->allow_incomplete,
			  "for kcidb and junit: a run that is incomplete passes as well");
	command->add_option("--origin", options->origin,
			    "for kcidb: the CI system, as KCIDB names it")
		->capture_default_str();
	command->add_option("--build", options->build,
			    "for kcidb: id of the build that was tested; none: one for each kernel "
			    "is in the file")
		->type_name("ID");
	add_selection_options(command, options->selection);
	command->add_flag("--all", options->selection.all,
			  "findings hidden by filters too: as skipped tests, and invalid issues");
	set_action(command, globals, [options] { return run_export(*options); });
}

} // namespace lockscope::cli
