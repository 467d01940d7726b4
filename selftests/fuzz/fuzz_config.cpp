// SPDX-License-Identifier: GPL-2.0
// Any bytes as lockscope.toml: each section is taken by its command, or refused with file and
// line.
#include "scratch.h"

#include "cli/app.h"
#include "config/config.h"
#include "lockscoped/options.h"

#include <cstddef>
#include <cstdint>
#include <fstream>

using namespace lockscope;

namespace {

const fuzz::Scratch g_scratch("config");

/* Values of the file have passed the checks of their options. */
void check_values(CLI::App &command)
{
	for (const CLI::Option *option : command.get_options())
		for (const auto &value : option->results())
			if (value.find('\n') != value.npos)
				std::abort();
}

void read_section(CLI::App &command, const char *section)
{
	const auto status = configure(command, section, g_scratch.path());
	fuzz::check_error(status);
	if (status) {
		check_values(command);
		return;
	}
	if (!status.error().what.starts_with(g_scratch.path()) || status.error().hint.empty() ||
	    status.error().exit != Exit::Usage)
		std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::ofstream(g_scratch.path(), std::ios::binary)
		.write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
	cli::Globals globals;
	const auto app = cli::make_app(globals);
	for (const char *section : {"record", "report"})
		read_section(*app->get_subcommand(section), section);
	DaemonOptions options;
	read_section(*make_daemon_app(options), "lockscoped");
	return 0;
}
