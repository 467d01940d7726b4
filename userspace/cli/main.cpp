// SPDX-License-Identifier: GPL-2.0
#include "vm.h"

#include <cstdio>

int main(int argc, char **argv)
{
	CLI::App app{"Lock validation for unmodified Debian kernels"};
	app.require_subcommand(1);
	int exit_status = 0;
	lockscope::cli::add_vm_command(app, exit_status);
	try {
		app.parse(argc, argv);
	} catch (const CLI::CallForHelp &e) {
		return app.exit(e);
	} catch (const CLI::ParseError &e) {
		std::fprintf(stderr, "lockscope: %s\nHINT: see lockscope --help\n", e.what());
		return 2;
	}
	return exit_status;
}
