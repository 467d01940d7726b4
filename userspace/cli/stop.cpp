// SPDX-License-Identifier: GPL-2.0
#include "cli/stop.h"

#include <csignal>
#include <initializer_list>

namespace lockscope::cli {

namespace {

volatile std::sig_atomic_t g_signal;

void on_signal(int number)
{
	g_signal = number;
}

} // namespace

void catch_signals()
{
	struct sigaction action {};
	action.sa_handler = on_signal;
	for (int number : {SIGINT, SIGTERM, SIGHUP})
		::sigaction(number, &action, nullptr);
}

int stop_signal()
{
	return g_signal;
}

} // namespace lockscope::cli
