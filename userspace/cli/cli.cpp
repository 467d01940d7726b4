// SPDX-License-Identifier: GPL-2.0
#include "cli/cli.h"

#include "config/config.h"
#include "util/file.h"

#include <cerrno>
#include <cstdio>
#include <sstream>

namespace lockscope::cli {

int fail(const Error &error)
{
	std::fflush(stdout);
	std::fprintf(stderr, "lockscope: %s\n", error.what.c_str());
	if (!error.hint.empty())
		std::fprintf(stderr, "HINT: %s\n", error.hint.c_str());
	return static_cast<int>(error.exit);
}

int deliver(const std::string &text, const std::string &path)
{
	if (!path.empty()) {
		auto written = write_file(path, text);
		return written ? 0 : fail(written.error());
	}
	if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
	    std::fflush(stdout) != 0)
		return fail(os_error(errno, "cannot write to standard output",
				     "write to a file with -o"));
	return 0;
}

CLI::App *add_command(CLI::App &app, const std::string &name, const std::string &about,
		      const std::string &example)
{
	CLI::App *command = app.add_subcommand(name, about);
	command->fallthrough();
	command->footer("Example:\n  " + example);
	return command;
}

void add_kmod_option(CLI::App *command, std::string &path)
{
	command->add_option("--kmod", path,
			    "lockscope.ko to load (default: the one of this kernel)");
	/* What it was called before. */
	if (!command->get_option_no_throw("--module"))
		command->add_option("--module", path)->group("");
}

void set_action(CLI::App *command, Globals &globals, std::function<int()> action)
{
	command->callback([&globals, action = std::move(action)] {
		if (!globals.parse_only)
			globals.exit_status = action();
	});
}

void set_configured_action(CLI::App *command, Globals &globals, std::function<int()> action)
{
	auto path = add_config_option(*command);
	set_action(command, globals, [command, path, action = std::move(action)] {
		auto status = configure(*command, command->get_name(), *path);
		return status ? action() : fail(status.error());
	});
}

CLI::Validator between(double least, double most)
{
	std::ostringstream range;
	range << least << " to " << most;
	auto check = [least, most, text = range.str()](const std::string &input) {
		double value = 0;
		const bool number = CLI::detail::lexical_cast(input, value);
		return number && value >= least && value <= most
			       ? std::string()
			       : "Value " + input + " not in range " + text;
	};
	return CLI::Validator(check, "FLOAT in [" + range.str() + "]");
}

std::vector<std::string> stores_or_default(const std::vector<std::string> &given)
{
	return given.empty() ? std::vector<std::string>{kDefaultStore} : given;
}

} // namespace lockscope::cli
