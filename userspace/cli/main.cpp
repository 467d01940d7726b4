// SPDX-License-Identifier: GPL-2.0
#include "cli/app.h"
#include "cli/vm.h"

#include <csignal>
#include <exception>
#include <new>

using namespace lockscope;

int main(int argc, char **argv)
{
	/* Exceeding the file size limit is an error of write(2), not a signal. */
	std::signal(SIGXFSZ, SIG_IGN);
	try {
		cli::Globals globals;
		auto app = cli::make_app(globals);
		cli::add_vm_command(*app, globals.exit_status);
		return cli::run_app(*app, globals, argc, argv);
	} catch (const std::bad_alloc &) {
		return cli::fail({0, "out of memory",
				  "try a machine with more, or fewer files at once",
				  Exit::Environment});
	} catch (const std::exception &e) {
		/* This code does not throw; libraries might. */
		return cli::fail({0, std::string("internal error: ") + e.what(),
				  "please report this", Exit::Environment});
	}
}
