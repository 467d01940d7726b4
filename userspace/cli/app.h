// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "cli/cli.h"

#include <memory>

namespace lockscope::cli {

/// The application with the subcommands that need no virtual machine. @globals
/// has to outlive it.
std::unique_ptr<CLI::App> make_app(Globals &globals);

/// Parse the arguments and run the subcommand; the exit status.
int run_app(CLI::App &app, Globals &globals, int argc, const char *const *argv);

} // namespace lockscope::cli
