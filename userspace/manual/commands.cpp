// SPDX-License-Identifier: GPL-2.0
#include "manual/commands.h"

#include <set>

namespace lockscope::manual {

namespace {

std::string bold(const std::string &text)
{
	return "\\fB" + roff_word(text) + "\\fR";
}

std::string italic(const std::string &text)
{
	return "\\fI" + roff_word(text) + "\\fR";
}

/// "[\fIFILE\fR...]"
std::string positional(const Parameter &parameter)
{
	std::string out = italic(parameter.names.front()) + (parameter.repeatable ? "..." : "");
	if (parameter.names.front() == "COMMAND")
		out = "\\-\\- " + out;
	return parameter.required ? out : "[" + out + "]";
}

std::string synopsis(const Command &command)
{
	std::string out = bold(command.name);
	if (!command.options.empty())
		out += " [" + italic("OPTION") + "]...";
	const std::string subcommand = italic("SUBCOMMAND") + " [" + italic("ARGUMENT") + "]...";
	/* One that takes arguments of its own can do without. */
	if (!command.commands.empty())
		out += command.positionals.empty() ? " " + subcommand : " [" + subcommand + "]";
	for (const auto &parameter : command.positionals)
		out += " " + positional(parameter);
	return out + "\n";
}

std::string entry(const Parameter &parameter)
{
	std::string names;
	for (const auto &name : parameter.names)
		names += (names.empty() ? "" : ", ") +
			 (name.starts_with('-') ? bold(name) : italic(name));
	if (parameter.names.front().starts_with('-') && !parameter.value.empty())
		names += " " + italic(parameter.value);
	std::string about = about_text(parameter);
	if (!parameter.range.empty())
		about += " " + parameter.range + ".";
	if (!parameter.standard.empty())
		about += " Default: " + parameter.standard + ".";
	if (!parameter.environment.empty())
		about += " Without it: the value of " + parameter.environment +
			 " in the environment.";
	return ".TP\n" + names + "\n" + roff(about);
}

std::string paragraphs(const std::string &text)
{
	std::string out;
	std::size_t at = 0;
	while (at < text.size()) {
		const std::size_t end = std::min(text.find("\n\n", at), text.size());
		out += (out.empty() ? "" : ".PP\n") + roff(text.substr(at, end - at));
		at = end + 2;
	}
	return out;
}

std::string examples(const Command &command)
{
	std::string out;
	for (const auto &example : command.examples)
		out += (out.empty() ? ".EX\n" : "") + roff_word(example) + "\n";
	return out.empty() ? out : out + ".EE\n";
}

} // namespace

std::string about_text(const Parameter &parameter)
{
	const std::string &about = parameter.about;
	/* The first word may be one of its values, to be typed as it is. */
	for (const auto &choice : parameter.choices)
		if (about.starts_with(choice))
			return about + ".";
	return sentence(about);
}

Page command_page(const Command &command, const Command &program, const PageTitle &title)
{
	Page page(title);
	page.add("NAME", roff_word(title.name) + " \\- " + roff_word(command.about));
	page.add("SYNOPSIS", synopsis(command));
	page.add("DESCRIPTION", roff(sentence(command.about)));
	if (!command.notes.empty())
		page.add("DESCRIPTION", ".PP\n" + paragraphs(command.notes));
	for (const auto &sub : command.commands)
		page.add("COMMANDS", ".TP\n" + bold(short_name(sub)) + "\n" +
					     roff(sentence(sub.about)) + "See\n.BR " +
					     roff_word(page_name(sub)) + " (1).\n");
	for (const auto &parameter : command.positionals)
		page.add("OPTIONS", entry(parameter));
	for (const auto &option : command.options)
		page.add("OPTIONS", entry(option));
	if (&command != &program)
		page.add("OPTIONS", ".PP\nOptions of\n.BR " + roff_word(page_name(program)) +
					    " (1)\nmay follow as well.\n");
	if (const auto text = examples(command); !text.empty())
		page.add("EXAMPLES", text);
	std::string also;
	for (const Command *other : all_commands(program)) {
		const bool near = other == &program || &command == &program;
		if (other != &command && near)
			also += (also.empty() ? "" : ",\n") + std::string(".BR ") +
				roff_word(page_name(*other)) + " (1)";
	}
	if (!also.empty())
		page.add("SEE ALSO", also);
	return page;
}

} // namespace lockscope::manual
