// SPDX-License-Identifier: GPL-2.0
// Boots the disposable VM, forwards the command's output, and returns /out and the exit
// status. Never waits longer than the time limit.
#pragma once

#include "vm/options.h"
#include "vm/status.h"

namespace lockscope::vm {

// Runs options.command in a fresh guest. The value is the command's exit status (128 + N when
// signal N ended it). Copies the command's output to stdout and stderr while it runs. Not
// re-entrant: handles SIGINT and SIGTERM.
Result<int> run(const Options &options);

} // namespace lockscope::vm
