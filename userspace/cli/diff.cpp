// SPDX-License-Identifier: GPL-2.0
// lockscope diff: what is new, worse, gone and better between two lists of findings.
#include "cli/cli.h"
#include "cli/suppressed.h"

#include "analysis/comparison.h"
#include "analysis/filters/annotations.h"
#include "report/completeness.h"
#include "report/diff.h"
#include "report/listing.h"
#include "store/load.h"
#include "store/schema.h"
#include "util/file.h"
#include "util/text.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

namespace lockscope::cli {

namespace {

struct DiffArgs {
	std::vector<std::string> files;
	std::string format = "text", out, fail_on = "error", write_baseline;
	bool allow_incomplete = false;
	std::string weights;
	AnalysisOptions analysis;
	SuppressionOptions suppressions;
};

Result<Listing> listing_of_store(const std::string &file, const DiffArgs &options)
{
	auto model = load_stores({file}, Damage::Salvage);
	if (!model)
		return model.error();
	LS_TRY_STATUS(annotations::load(*model));
	auto analysed =
		analyse_with(*model, options.suppressions, options.analysis, options.weights);
	if (!analysed)
		return analysed.error();
	Listing out = listing_of(*model, *analysed);
	out.file = file;
	for (const auto &why : incompleteness(*model))
		out.incomplete.push_back(why.text);
	return out;
}

/// Two stores this large, in bytes, are read one after the other: analyses take five times as
/// much memory.
constexpr std::uintmax_t kMostAtOnce = 512u << 20;

bool at_once(const std::vector<std::string> &files)
{
	std::uintmax_t bytes = 0;
	for (const auto &file : files) {
		std::error_code error;
		const auto size = std::filesystem::file_size(file, error);
		bytes += error ? 0 : size;
	}
	return files.size() > 1 && bytes < kMostAtOnce;
}

/// A store, a report as JSON or a baseline: by its content.
Result<Listing> listing_of_file(const std::string &file, const DiffArgs &options)
{
	struct stat status {};
	const bool known = ::stat(file.c_str(), &status) == 0;
	/* A pipe can only be read once. */
	if (!known || S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && is_store(file)))
		return listing_of_store(file, options);
	std::ifstream in(file, std::ios::binary);
	if (!in)
		return os_error(errno, "cannot read " + file);
	return read_listing(in, file);
}

Status write_baseline(const Listing &listing, const std::string &path, const Globals &globals)
{
	LS_TRY_STATUS(write_file(path, baseline_of(listing)));
	if (globals.verbose >= 0)
		std::fprintf(stderr, "lockscope: %s written to %s\n",
			     counted(listing.shown(), "finding").c_str(), path.c_str());
	return success();
}

int verdict(const Comparison &comparison, const Listing &now, const DiffArgs &options)
{
	if (options.fail_on == "none")
		return static_cast<int>(Exit::Clean);
	if (comparison.any(*parse_severity(options.fail_on)))
		return static_cast<int>(Exit::Findings);
	if (now.incomplete.empty() || options.allow_incomplete)
		return static_cast<int>(Exit::Clean);
	return fail(
		{0,
		 now.file +
			 " is too incomplete to say that nothing is new: " + now.incomplete.front(),
		 "record again, or take it as it is with --allow-incomplete", Exit::Environment});
}

int run(const DiffArgs &options, const Globals &globals)
{
	const auto &files = options.files;
	if (files.size() != 2 && (files.size() != 1 || options.write_baseline.empty()))
		return fail(usage_error(
			"diff compares two files, and " +
				(files.empty() ? "none is"
					       : counted(files.size(), "file") +
							 (files.size() == 1 ? " is" : " are")) +
				" given",
			"lockscope diff OLD NEW; with --write-baseline FILE one "
			"store is enough"));
	auto first = std::async(at_once(files) ? std::launch::async | std::launch::deferred
					       : std::launch::deferred,
				[&] { return listing_of_file(files.front(), options); });
	auto now = listing_of_file(files.back(), options);
	if (!now)
		return fail(now.error());
	if (files.size() == 2) {
		auto old = first.get();
		if (!old)
			return fail(old.error());
		const Comparison comparison = compare(*old, *now);
		const bool to_file = !options.out.empty();
		const std::string text =
			options.format == "json" || globals.json
				? json_diff(*old, *now, comparison)
				: text_diff(
					  *old, *now, comparison, globals.verbose > 0,
					  {to_file ? 80 : terminal_width(STDOUT_FILENO),
					   use_color(globals.color, to_file ? -1 : STDOUT_FILENO)});
		if (const int status = deliver(text, options.out))
			return status;
		if (options.write_baseline.empty())
			return verdict(comparison, *now, options);
		if (auto written = write_baseline(*now, options.write_baseline, globals); !written)
			return fail(written.error());
		return verdict(comparison, *now, options);
	}
	auto written = write_baseline(*now, options.write_baseline, globals);
	return written ? static_cast<int>(Exit::Clean) : fail(written.error());
}

} // namespace

void add_diff_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "diff", "compare two lists of findings: new, worse, gone, better",
			    "lockscope diff old.db new.db\n"
			    "  lockscope diff --write-baseline known.json good.db && "
			    "lockscope diff known.json new.db");
	auto options = std::make_shared<DiffArgs>();
	command->add_option("FILE", options->files,
			    "OLD and NEW: a store, a report of --format json, or a baseline");
	command->add_option("--format", options->format, "text or json")
		->check(CLI::IsMember({"text", "json"}))
		->capture_default_str();
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	command->add_option("--fail-on", options->fail_on,
			    "exit 1 for new or worse findings this severe or worse")
		->check(CLI::IsMember({"note", "warning", "error", "none"}))
		->capture_default_str();
	command->add_flag("--allow-incomplete", options->allow_incomplete,
			  "exit 0 when nothing is new, also where NEW is incomplete");
	command->add_option("--write-baseline", options->write_baseline,
			    "write the findings of NEW there, as an OLD for later");
	command->add_flag("--raw-nesting", options->analysis.raw_nesting,
			  "look for spinlock_t under raw_spinlock_t as well");
	add_weights_option(command, options->weights);
	add_suppression_options(command, options->suppressions);
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
