// SPDX-License-Identifier: GPL-2.0
// Signals that end a command which otherwise goes on.
#pragma once

namespace lockscope::cli {

/// From now on SIGINT, SIGTERM and SIGHUP are only noted.
void catch_signals();

/// The last of them that came, 0 when none did.
int stop_signal();

} // namespace lockscope::cli
