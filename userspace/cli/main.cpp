// SPDX-License-Identifier: GPL-2.0
#include "cli/cli.h"
#include "cli/vm.h"
#include "lockclass/abi.h"
#include "store/schema.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

using namespace lockscope;

namespace {

std::string version()
{
	return "lockscope " LOCKSCOPE_VERSION " (module ABI " + std::to_string(LS_ABI_MAJOR) + "." +
	       std::to_string(LS_ABI_MINOR) + ", store schema " + std::to_string(kSchemaVersion) + ")";
}

int run(int argc, char **argv)
{
	cli::Globals globals;
	CLI::App app{"Lock validation for unmodified Debian kernels"};
	app.require_subcommand(1);
	app.set_version_flag("--version", version());
	app.add_flag("--json", globals.json, "machine-readable output where there is any");
	app.add_flag("-v,--verbose", [&](auto n) { globals.verbose += static_cast<int>(n); }, "say more");
	app.add_flag("-q,--quiet", [&](auto n) { globals.verbose -= static_cast<int>(n); }, "no progress");
	app.add_option_function<std::string>(
		   "--color", [&](const std::string &mode) { globals.color = *parse_color_mode(mode); },
		   "auto, always or never")
		->check(CLI::IsMember({"auto", "always", "never"}));
	app.footer("Exit: 0 clean, 1 findings, 2 usage, 3 environment, 130 interrupted.\n"
		   "Example:\n  lockscope record -- make -C /usr/src/linux && lockscope report");
	cli::add_record_command(app, globals);
	cli::add_report_command(app, globals);
	cli::add_show_command(app, globals);
	cli::add_merge_command(app, globals);
	cli::add_doctor_command(app, globals);
	cli::add_vm_command(app, globals.exit_status);
	try {
		app.parse(argc, argv);
	} catch (const CLI::CallForVersion &) {
		std::puts(version().c_str());
		return 0;
	} catch (const CLI::CallForHelp &e) {
		return app.exit(e);
	} catch (const CLI::CallForAllHelp &e) {
		return app.exit(e);
	} catch (const CLI::ParseError &e) {
		std::string what = e.what();
		for (char &c : what)
			if (c == '\n')
				c = ' ';
		std::string hint = "see lockscope --help";
		for (const auto *sub : app.get_subcommands())
			hint = "see lockscope " + sub->get_name() + " --help";
		return cli::fail(usage_error(what, hint));
	}
	return globals.exit_status;
}

} // namespace

int main(int argc, char **argv)
{
	/* A file size limit is an error of write(2), not a reason to die. */
	std::signal(SIGXFSZ, SIG_IGN);
	try {
		return run(argc, argv);
	} catch (const std::bad_alloc &) {
		return cli::fail({0, "out of memory", "try a machine with more, or fewer files at once",
				  Exit::Environment});
	} catch (const std::exception &e) {
		/* Nothing of ours throws; libraries might. */
		return cli::fail({0, std::string("internal error: ") + e.what(), "please report this",
				  Exit::Environment});
	}
}
