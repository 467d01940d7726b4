// SPDX-License-Identifier: GPL-2.0
// Common parts of the subcommands. Each is in a file of its own and adds itself to the
// application; its callback sets the exit status.
#pragma once

#include "util/result.h"
#include "util/terminal.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace lockscope::cli {

struct Globals {
	bool json = false;
	int verbose = 0; ///< -v and -q: warnings only below 0
	ColorMode color = ColorMode::Auto;
	int exit_status = 0;
	std::vector<std::string> command; ///< of confirm, after --
	bool parse_only = false;	  ///< check the arguments and do nothing, for tests
};

void add_record_command(CLI::App &app, Globals &globals);
void add_report_command(CLI::App &app, Globals &globals);
void add_diff_command(CLI::App &app, Globals &globals);
void add_confirm_command(CLI::App &app, Globals &globals);
void add_serve_command(CLI::App &app, Globals &globals);
void add_show_command(CLI::App &app, Globals &globals);
void add_graph_command(CLI::App &app, Globals &globals);
void add_rules_command(CLI::App &app, Globals &globals);
void add_merge_command(CLI::App &app, Globals &globals);
void add_export_command(CLI::App &app, Globals &globals);
void add_recover_command(CLI::App &app, Globals &globals);
void add_replay_command(CLI::App &app, Globals &globals);
void add_stat_command(CLI::App &app, Globals &globals);
void add_top_command(CLI::App &app, Globals &globals);
void add_waits_command(CLI::App &app, Globals &globals);
void add_suppress_command(CLI::App &app, Globals &globals);
void add_instrument_command(CLI::App &app, Globals &globals);
void add_doctor_command(CLI::App &app, Globals &globals);
void add_symbols_command(CLI::App &app, Globals &globals);

/// Print the error and its hint on stderr; its exit status.
int fail(const Error &error);

/// Write to stdout, or to @path if it is not empty. Returns 0, or 3 on failure.
int deliver(const std::string &text, const std::string &path);

/// Add a subcommand with the global options and an example.
CLI::App *add_command(CLI::App &app, const std::string &name, const std::string &about,
		      const std::string &example);

/// Set the action of the subcommand; @action returns the exit status.
void set_action(CLI::App *command, Globals &globals, std::function<int()> action);

/// The same for a command that takes the configuration file: adds --config. @action runs
/// once options have the values of the file.
void set_configured_action(CLI::App *command, Globals &globals, std::function<int()> action);

/// Counts, none below 0 ("-1" would be very large).
inline const CLI::Range kCount(0, 1 << 30);
/// Fractional numbers; unlike CLI::Range it rejects "nan".
CLI::Validator between(double least, double most);

/// --kmod, the lockscope.ko to load; also by its former name, --module.
void add_kmod_option(CLI::App *command, std::string &path);

/// The files to read: those given, else the default store.
std::vector<std::string> stores_or_default(const std::vector<std::string> &given);
inline constexpr const char *kDefaultStore = "lockscope.db";

} // namespace lockscope::cli
