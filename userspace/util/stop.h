// SPDX-License-Identifier: GPL-2.0
// Signals that end a program which otherwise goes on.
#pragma once

#include <chrono>

namespace lockscope {

/// From now on SIGINT, SIGTERM and SIGHUP are only noted.
void catch_signals();

/// The last of them that came, 0 when none did.
int stop_signal();

/// Sleep for @length, but not longer than some 20 ms after one of them.
void nap(std::chrono::duration<double> length);

} // namespace lockscope
