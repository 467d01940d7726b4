// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lockscope::cli {

// Adds `vm run`; its callback sets exit_status, which must outlive app.
void add_vm_command(CLI::App &app, int &exit_status);

} // namespace lockscope::cli
