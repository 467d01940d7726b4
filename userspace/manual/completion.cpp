// SPDX-License-Identifier: GPL-2.0
#include "manual/completion.h"

namespace lockscope::manual {

Fill fill_of(const Parameter &parameter)
{
	if (!parameter.choices.empty())
		return Fill::Choices;
	if (parameter.names.front() == "COMMAND")
		return Fill::Commands;
	if (parameter.names.front() == "ID")
		return Fill::None;
	if (parameter.names.front() == "SUBCOMMAND")
		return Fill::Subcommands;
	/* Some texts are names of files, and the shells' own way is no worse for the rest. */
	return parameter.value.empty() || parameter.number ? Fill::None : Fill::Files;
}

std::string words_of(const Command &command)
{
	const auto space = command.name.find(' ');
	return space == std::string::npos ? std::string() : command.name.substr(space + 1);
}

} // namespace lockscope::manual
