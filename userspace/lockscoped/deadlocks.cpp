// SPDX-License-Identifier: GPL-2.0
#include "lockscoped/deadlocks.h"

#include "report/waits.h"

#include <chrono>
#include <cstdio>

namespace lockscope {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);
constexpr auto kNap = std::chrono::milliseconds(50);
constexpr std::size_t kWidth = 100;

/// Who takes part, without what changes from one look to the next.
std::string identity(const WaitSnapshot &snapshot)
{
	std::string out;
	for (const auto &ring : snapshot.deadlocks)
		for (auto i : ring)
			out += std::to_string(snapshot.tasks[i].pid) + " " + snapshot.tasks[i].lock +
			       "\n";
	return out;
}

} // namespace

DeadlockWatch::DeadlockWatch(std::string device)
	: device_(std::move(device)), thread_([this] { run(); })
{
}

DeadlockWatch::~DeadlockWatch()
{
	stop_ = true;
	thread_.join();
}

void DeadlockWatch::run()
{
	auto next = std::chrono::steady_clock::now();
	while (!stop_) {
		if (std::chrono::steady_clock::now() < next) {
			std::this_thread::sleep_for(kNap);
			continue;
		}
		look();
		next = std::chrono::steady_clock::now() + kInterval;
	}
}

/* The device is open only during a look, so that the module can be unloaded. */
void DeadlockWatch::look()
{
	auto source = open_source(device_);
	if (!source || !(*source)->live())
		return;
	/* Names are read from the log: only when there is something to name. */
	auto waits = (*source)->waits();
	if (!waits)
		return;
	if (wait_rings(*waits, std::vector<bool>(waits->size())).empty()) {
		told_.clear();
		return;
	}
	auto snapshot = WaitReader(**source).read();
	if (!snapshot)
		return;
	const std::string now = identity(*snapshot);
	if (now == told_)
		return;
	told_ = now;
	if (!now.empty())
		std::fprintf(stderr, "lockscoped: a deadlock is in progress\n%s",
			     text_deadlocks(*snapshot, {kWidth, false}).c_str());
}

} // namespace lockscope
