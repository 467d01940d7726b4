// SPDX-License-Identifier: GPL-2.0
// Boots the disposable VM, forwards the command's output, and returns /out and the exit
// status. Never waits longer than the time limit.
#pragma once

#include "vm/options.h"
#include "vm/status.h"

#include "util/fd.h"

#include <string>

namespace lockscope::vm {

// What is left of a guest that is gone without an exit status of its command.
struct Remains {
	Fd memory;	    // its physical memory as a file; not valid: there is none
	std::string folder; // of console.log, for more files
	std::string how;    // the end of the guest, one line
};

// Runs options.command in a fresh guest. The value is the command's exit status (128 + N when
// signal N ended it). Copies the command's output to stdout and stderr while it runs. Not
// re-entrant: handles SIGINT and SIGTERM.
// @remains is filled in when the guest died or was stopped.
Result<int> run(const Options &options, Remains &remains);

} // namespace lockscope::vm
