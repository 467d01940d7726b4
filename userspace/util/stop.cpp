// SPDX-License-Identifier: GPL-2.0
#include "util/stop.h"

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <thread>

namespace lockscope {

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

/* In slices: a signal just before a sleep would not interrupt it. */
void nap(std::chrono::duration<double> length)
{
	using Clock = std::chrono::steady_clock;
	constexpr std::chrono::duration<double> slice = std::chrono::milliseconds(20);
	const auto start = Clock::now();
	while (!stop_signal()) {
		const std::chrono::duration<double> rest = length - (Clock::now() - start);
		if (rest.count() <= 0)
			return;
		std::this_thread::sleep_for(std::min(rest, slice));
	}
}

} // namespace lockscope
