// SPDX-License-Identifier: GPL-2.0
// Signals that end a program.
#pragma once

#include <chrono>

namespace lockscope {

/// From now on SIGINT, SIGTERM and SIGHUP are only recorded.
void catch_signals();

/// The last of them, 0 for none.
int stop_signal();

/// Sleep for @length, but at most some 20 ms after one of them.
void nap(std::chrono::duration<double> length);

} // namespace lockscope
