// SPDX-License-Identifier: GPL-2.0
#include "manual/tree.h"

#include "util/text.h"

#include <algorithm>
#include <sstream>

namespace lockscope::manual {

namespace {

std::vector<std::string> words_between(std::string_view text, char open, char close)
{
	const auto begin = text.find(open), end = text.find(close);
	if (begin == text.npos || end == text.npos || end < begin)
		return {};
	return split(text.substr(begin + 1, end - begin - 1), ',');
}

/// What CLI11 says of the values: "TEXT:{text,json}", "INT:INT in [1 - 64]", "ENUM:value in
/// {auto->0,kvm->1} OR {0,1}".
void read_values(const std::string &type, Parameter &parameter)
{
	const std::string base = type.substr(0, type.find(':'));
	parameter.number = base == "INT" || base == "UINT" || base == "FLOAT";
	parameter.value = parameter.number ? "N" : base;
	if (const auto range = words_between(type, '[', ']'); !range.empty()) {
		parameter.range = range.front();
		if (const auto dash = parameter.range.find(" - "); dash != std::string::npos)
			parameter.range.replace(dash, 3, " to ");
		return;
	}
	for (const auto &word : words_between(type, '{', '}'))
		parameter.choices.push_back(word.substr(0, word.find("->")));
	if (!parameter.choices.empty())
		parameter.value = join(parameter.choices, "|");
}

Parameter read_option(const CLI::Option &option)
{
	Parameter out;
	for (const auto &name : option.get_snames())
		out.names.push_back("-" + name);
	for (const auto &name : option.get_lnames())
		out.names.push_back("--" + name);
	if (option.get_positional())
		out.names = {option.get_name(true)};
	if (option.get_items_expected_max() > 0)
		read_values(option.get_type_name(), out);
	out.about = option.get_description();
	out.standard = option.get_default_str();
	out.environment = option.get_envname();
	out.required = option.get_required();
	out.repeatable = option.get_items_expected_max() > 1;
	out.configurable = option.get_configurable();
	return out;
}

/// The footer of --help: "Example:", then indented lines; the rest are notes, but for what
/// begins with "Exit:": pages have a section for that.
void read_footer(const std::string &footer, Command &command)
{
	std::istringstream in(footer);
	std::string line;
	bool examples = false, exit = false;
	while (std::getline(in, line)) {
		exit = line.starts_with("Exit:") || (exit && !line.empty() && line != "Example:");
		if (exit)
			continue;
		if (line == "Example:") {
			examples = true;
		} else if (examples && line.starts_with("  ")) {
			command.examples.push_back(line.substr(2));
		} else {
			examples = false;
			command.notes += line + "\n";
		}
	}
	while (command.notes.starts_with("\n"))
		command.notes.erase(0, 1);
	while (command.notes.ends_with("\n"))
		command.notes.pop_back();
}

} // namespace

Command read_tree(const CLI::App &app, const std::string &parent)
{
	Command out;
	out.name = (parent.empty() ? "" : parent + " ") + app.get_name();
	out.about = app.get_description();
	read_footer(app.get_footer(), out);
	for (const CLI::Option *option : app.get_options(
		     [](const CLI::Option *option) { return !option->get_group().empty(); }))
		(option->get_positional() ? out.positionals : out.options)
			.push_back(read_option(*option));
	for (auto &option : out.options)
		if (long_name(option) == "help" || long_name(option) == "version")
			option.configurable = false;
	for (const CLI::App *sub : app.get_subcommands([](const CLI::App *) { return true; }))
		out.commands.push_back(read_tree(*sub, out.name));
	return out;
}

std::string short_name(const Command &command)
{
	return command.name.substr(command.name.rfind(' ') + 1);
}

std::string page_name(const Command &command)
{
	std::string out = command.name;
	std::replace(out.begin(), out.end(), ' ', '-');
	return out;
}

std::vector<const Command *> all_commands(const Command &command)
{
	std::vector<const Command *> out{&command};
	for (const auto &sub : command.commands)
		for (const Command *below : all_commands(sub))
			out.push_back(below);
	return out;
}

std::string long_name(const Parameter &option)
{
	for (const auto &name : option.names)
		if (name.starts_with("--"))
			return name.substr(2);
	return {};
}

} // namespace lockscope::manual
