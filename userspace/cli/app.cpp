// SPDX-License-Identifier: GPL-2.0
#include "cli/app.h"

#include "lockclass/abi.h"
#include "store/schema.h"

#include <cstdio>

namespace lockscope::cli {

namespace {

std::string version()
{
	return "lockscope " LOCKSCOPE_VERSION " (module ABI " + std::to_string(LS_ABI_MAJOR) + "." +
	       std::to_string(LS_ABI_MINOR) + ", store schema " + std::to_string(kSchemaVersion) +
	       ")";
}

Error parse_error(const CLI::App &app, const CLI::ParseError &error)
{
	std::string what = error.what(), command;
	for (char &c : what)
		if (c == '\n')
			c = ' ';
	for (const auto *sub : app.get_subcommands())
		command = " " + sub->get_name();
	return usage_error(what, "see lockscope" + command + " --help");
}

} // namespace

std::unique_ptr<CLI::App> make_app(Globals &globals)
{
	auto app = std::make_unique<CLI::App>("Lock validation for unmodified Debian kernels");
	app->name("lockscope");
	app->require_subcommand(1);
	app->set_version_flag("--version", version());
	app->add_flag("--json", globals.json, "machine-readable output where there is any");
	app->add_flag(
		"-v,--verbose", [&](auto n) { globals.verbose += static_cast<int>(n); },
		"say more");
	app->add_flag(
		"-q,--quiet", [&](auto n) { globals.verbose -= static_cast<int>(n); },
		"no progress");
	app->add_option_function<std::string>(
		   "--color",
		   [&](const std::string &mode) { globals.color = *parse_color_mode(mode); },
		   "auto, always or never")
		->check(CLI::IsMember({"auto", "always", "never"}));
	app->footer("Exit: 0 clean, 1 findings, 2 usage, 3 environment, 130 interrupted.\n"
		    "Example:\n  lockscope record -- make -C /usr/src/linux && lockscope report");
	add_record_command(*app, globals);
	add_report_command(*app, globals);
	add_show_command(*app, globals);
	add_rules_command(*app, globals);
	add_stat_command(*app, globals);
	add_top_command(*app, globals);
	add_waits_command(*app, globals);
	add_merge_command(*app, globals);
	add_suppress_command(*app, globals);
	add_instrument_command(*app, globals);
	add_doctor_command(*app, globals);
	return app;
}

int run_app(CLI::App &app, Globals &globals, int argc, const char *const *argv)
{
	try {
		app.parse(argc, argv);
	} catch (const CLI::CallForVersion &) {
		return deliver(version() + "\n", "");
	} catch (const CLI::CallForHelp &) {
		const CLI::App *asked = &app;
		for (const auto *sub : app.get_subcommands())
			asked = sub;
		return deliver(asked->help(), "");
	} catch (const CLI::ParseError &e) {
		return fail(parse_error(app, e));
	}
	return globals.exit_status;
}

} // namespace lockscope::cli
