// SPDX-License-Identifier: GPL-2.0
#include "lockscoped/deadlocks.h"

#include "report/waits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace lockscope {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(500);
constexpr auto kNap = std::chrono::milliseconds(50);
constexpr std::size_t kWidth = 100;
constexpr int kNice = -10;

/// The tasks in deadlocks, without data that changes between two reads.
std::string identity(const WaitSnapshot &snapshot)
{
	std::string out;
	for (const auto &ring : snapshot.deadlocks)
		for (auto i : ring)
			out += std::to_string(snapshot.tasks[i].pid) + " " +
			       snapshot.tasks[i].lock + "\n";
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
	/* Threads have a nice value of their own. Storing can wait, this cannot. */
	(void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
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

void DeadlockWatch::forget()
{
	reader_.reset();
	source_.reset();
	printed_.clear();
}

/* The device is only open while it is read, so that the module can be unloaded. */
void DeadlockWatch::look()
{
	if (!source_) {
		auto source = open_source(device_, Hold::Briefly);
		if (!source || !(*source)->live())
			return;
		source_ = std::move(*source);
		reader_.emplace(*source_);
	}
	auto waits = source_->waits();
	if (!waits)
		return forget();
	/* Names come from the log, which is only read when there is something to report. */
	if (wait_rings(*waits, std::vector<bool>(waits->size())).empty()) {
		printed_.clear();
		return;
	}
	auto snapshot = reader_->read();
	if (!snapshot)
		return forget();
	const std::string now = identity(*snapshot);
	if (now == printed_)
		return;
	printed_ = now;
	if (!now.empty())
		std::fprintf(stderr, "lockscoped: a deadlock is in progress\n%s",
			     text_deadlocks(*snapshot, {kWidth, false}).c_str());
}

} // namespace lockscope
