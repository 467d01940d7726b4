// SPDX-License-Identifier: GPL-2.0
// A program's commands and options as values, read from the application that parses them:
// manual pages and completions are written from these, so that they have what --help has.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockscope::manual {

/// An option or a positional argument.
struct Parameter {
	std::vector<std::string> names; ///< "-o", "--output"; of a positional: "FILE"
	std::string value;		///< what kind of value it takes, empty: none
	std::vector<std::string> choices;
	std::string range; ///< of a number: "1 to 64"
	std::string about, standard, environment;
	bool number = false, required = false, repeatable = false;
	bool configurable = true; ///< a configuration file may set it
};

struct Command {
	std::string name;  ///< "lockscope vm run"
	std::string about; ///< one line
	std::string notes; ///< of --help's footer, without the examples
	std::vector<std::string> examples;
	std::vector<Parameter> options, positionals;
	std::vector<Command> commands;
};

/// @app and all below it; @parent has the words before its name.
Command read_tree(const CLI::App &app, const std::string &parent = {});

/// The last word of the command's name.
std::string short_name(const Command &command);

/// "lockscope-vm-run", the name of its manual page.
std::string page_name(const Command &command);

/// @command and all below it, each before its own.
std::vector<const Command *> all_commands(const Command &command);

/// The long name without its dashes, empty when there is none.
std::string long_name(const Parameter &option);

} // namespace lockscope::manual
