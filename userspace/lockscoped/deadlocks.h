// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace lockscope {

/// Says on stderr, at once and with all stacks, when tasks wait for each other. A thread
/// of its own: storing what the module has seen so far may take a while. The module may
/// come and go.
class DeadlockWatch {
public:
	explicit DeadlockWatch(std::string device);
	~DeadlockWatch();
	DeadlockWatch(const DeadlockWatch &) = delete;

private:
	void run();
	void look();

	std::string device_;
	std::atomic<bool> stop_ = false;
	std::string told_; ///< the last deadlocks told
	std::thread thread_;
};

} // namespace lockscope
