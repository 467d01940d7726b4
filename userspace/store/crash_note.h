// SPDX-License-Identifier: GPL-2.0
// What a recorder that dies of a fault of its own leaves: the file STORE-crash beside the store,
// with the run's number and the signal. The store itself cannot be written from a signal handler.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lockscope {

struct CrashNote {
	std::int64_t run = 0; ///< row of the table run
	int signal = 0;
};

/// The note beside @store; nullopt: none, or one that makes no sense.
std::optional<CrashNote> crash_note(const std::string &store);
/// "signal 11, Segmentation fault", for run.problem
std::string crash_words(const CrashNote &note);
void remove_crash_note(const std::string &store);

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT leave a note about @run of @store,
/// and a line on standard error, before they end the process as they did before. Calls replace
/// each other; main thread, which alone gets a stack for its handler.
void leave_crash_note(const std::string &store, std::int64_t run);

} // namespace lockscope
