// SPDX-License-Identifier: GPL-2.0
// lockscope suppress: hide a finding in future reports.
#include "cli/cli.h"

#include "analysis/suppression_file.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

namespace lockscope::cli {

namespace {

struct SuppressArgs {
	std::string id, kind, cls, reason, until, file = kSuppressionsPath;
};

Result<Suppression> entry_of(const SuppressArgs &options)
{
	Suppression entry;
	entry.id = options.id;
	std::transform(entry.id.begin(), entry.id.end(), entry.id.begin(),
		       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	entry.cls = options.cls;
	entry.reason = options.reason;
	entry.until = options.until;
	if (!options.kind.empty()) {
		entry.kind = parse_kind(options.kind);
		if (!entry.kind)
			return usage_error("unknown kind " + options.kind,
					   "kinds are in lockscope report --json");
	}
	/* The error is on the command line, not in a file. */
	if (auto checked = check_suppression(entry); !checked)
		return usage_error(checked.error().what,
				   "ids are in lockscope report; see lockscope suppress --help");
	return entry;
}

int run(const SuppressArgs &options, const Globals &globals)
{
	auto entry = entry_of(options);
	if (!entry)
		return fail(entry.error());
	auto added = add_suppression(options.file, *entry);
	if (!added)
		return fail(added.error());
	if (globals.verbose >= 0)
		std::fprintf(stderr, "lockscope: %s added to %s\n", describe(*entry).c_str(),
			     options.file.c_str());
	return 0;
}

} // namespace

void add_suppress_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "suppress", "leave a finding out of reports from now on",
		"lockscope suppress 61216259aa30e51c --reason \"fixed in 6.2\" --until 2027-01-31");
	auto options = std::make_shared<SuppressArgs>();
	command->add_option("ID", options->id, "id of the finding, all 16 digits");
	command->add_option(
		"--kind", options->kind,
		"instead of an id: findings of this kind, as in lockscope report --json");
	command->add_option("--class", options->cls,
			    "instead of an id: findings with a lock class of this name; * and ? "
			    "as in a shell");
	command->add_option("--reason", options->reason, "why; printed with the finding")
		->required();
	command->add_option("--until", options->until, "last day, YYYY-MM-DD");
	command->add_option("--suppressions", options->file, "file to add it to")
		->capture_default_str();
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
