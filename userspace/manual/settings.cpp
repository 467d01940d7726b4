// SPDX-License-Identifier: GPL-2.0
#include "manual/settings.h"

#include "manual/commands.h"

#include <algorithm>

namespace lockscope::manual {

namespace {

std::string value_of(const Parameter &option)
{
	if (option.value.empty())
		return "\\fItrue|false\\fR";
	std::string value = roff_word(option.value);
	if (option.choices.empty() && !option.number)
		value = "\\(dq" + value + "\\(dq" + (option.repeatable ? ", ..." : "");
	else if (!option.choices.empty())
		value = "\\(dq" + value + "\\(dq";
	return "\\fI" + (option.repeatable ? "[" + value + "]" : value) + "\\fR";
}

std::string key_entry(const Parameter &option)
{
	std::string about = about_text(option);
	if (!option.range.empty())
		about += " " + option.range + ".";
	if (!option.standard.empty())
		about += " Default: " + option.standard + ".";
	return ".TP\n\\fB" + roff_word(long_name(option)) + "\\fR = " + value_of(option) + "\n" +
	       roff(about);
}

bool takes_file(const Command &command)
{
	return std::any_of(command.options.begin(), command.options.end(),
			   [](const Parameter &option) { return long_name(option) == "config"; });
}

} // namespace

Page settings_page(const std::vector<const Command *> &programs, const PageTitle &title)
{
	Page page(title);
	for (const Command *program : programs)
		for (const Command *command : all_commands(*program)) {
			if (!takes_file(*command))
				continue;
			page.add("KEYS", ".SS [" + roff_word(short_name(*command)) + "]\n");
			for (const auto &option : command->options)
				if (option.configurable && !long_name(option).empty())
					page.add("KEYS", key_entry(option));
		}
	return page;
}

} // namespace lockscope::manual
