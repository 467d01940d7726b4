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

Error unknown_command(const std::string &name, const std::string &command)
{
	return usage_error("there is no subcommand " + name,
			   "lockscope" + command + " --help lists them");
}

/// The innermost subcommand that the arguments name; @name gets its words.
const CLI::App &subcommand_of(const CLI::App &app, std::string &name)
{
	const CLI::App *at = &app;
	for (auto subs = at->get_subcommands(); !subs.empty(); subs = at->get_subcommands()) {
		at = subs.front();
		name += " " + at->get_name();
	}
	return *at;
}

Error parse_error(const CLI::App &app, const CLI::ParseError &error)
{
	std::string what = error.what(), command;
	for (char &c : what)
		if (c == '\n')
			c = ' ';
	const CLI::App &at = subcommand_of(app, command);
	/* CLI11 reports an unknown subcommand only as a missing one. */
	if (at.get_require_subcommand_min() > 0)
		for (const auto &word : app.remaining(true))
			if (!word.starts_with('-'))
				return unknown_command(word, command);
	return usage_error(what, "see lockscope" + command + " --help");
}

std::string help_of(const CLI::App &command, const std::string &name)
{
	/* App::help() would print that of the running subcommand. */
	return command.get_formatter()->make_help(&command, "lockscope" + name,
						  CLI::AppFormatMode::Normal);
}

/// lockscope help: like --help after the words.
void add_help_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "help", "print what a subcommand takes", "lockscope help record");
	auto words = std::make_shared<std::vector<std::string>>();
	command->add_option("SUBCOMMAND", *words, "which one; none: what there is");
	set_action(command, globals, [&app, words] {
		const CLI::App *at = &app;
		std::string name;
		for (const auto &word : *words) {
			const auto found = at->get_subcommands(
				[&](const CLI::App *sub) { return sub->get_name() == word; });
			if (found.empty())
				return fail(unknown_command(word, name));
			at = found.front();
			name += " " + word;
		}
		return deliver(help_of(*at, name), "");
	});
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
	app->footer(
		"Exit: 0 clean, 1 findings, 2 usage, 3 environment or a run too incomplete to be\n"
		"called clean, 130 interrupted.\n"
		"Example:\n  lockscope record -- make -C /usr/src/linux && lockscope report");
	add_record_command(*app, globals);
	add_report_command(*app, globals);
	add_serve_command(*app, globals);
	add_show_command(*app, globals);
	add_diff_command(*app, globals);
	add_graph_command(*app, globals);
	add_confirm_command(*app, globals);
	add_rules_command(*app, globals);
	add_export_command(*app, globals);
	add_stat_command(*app, globals);
	add_top_command(*app, globals);
	add_waits_command(*app, globals);
	add_merge_command(*app, globals);
	add_recover_command(*app, globals);
	add_replay_command(*app, globals);
	add_suppress_command(*app, globals);
	add_instrument_command(*app, globals);
	add_symbols_command(*app, globals);
	add_doctor_command(*app, globals);
	add_help_command(*app, globals);
	return app;
}

/* Words before "--"; confirm alone takes words and a command, which CLI11 cannot tell apart. */
static int own_words(int argc, const char *const *argv)
{
	int i = 1;
	while (i < argc && argv[i][0] == '-')
		i += std::string_view(argv[i]) == "--color" ? 2 : 1;
	if (i >= argc || std::string_view(argv[i]) != "confirm")
		return argc;
	while (i < argc && std::string_view(argv[i]) != "--")
		i++;
	return i;
}

int run_app(CLI::App &app, Globals &globals, int argc, const char *const *argv)
{
	const int own = own_words(argc, argv);
	if (own < argc)
		globals.command.assign(argv + own + 1, argv + argc);
	try {
		app.parse(own, argv);
	} catch (const CLI::CallForVersion &) {
		return deliver(version() + "\n", "");
	} catch (const CLI::CallForHelp &) {
		std::string name;
		const CLI::App &asked = subcommand_of(app, name);
		return deliver(help_of(asked, name), "");
	} catch (const CLI::ParseError &e) {
		return fail(parse_error(app, e));
	}
	return globals.exit_status;
}

} // namespace lockscope::cli
