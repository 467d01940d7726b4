// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "waits/waits.h"

#include <atomic>
#include <memory>
#include <optional>
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

	void forget();

	std::string device_;
	std::unique_ptr<Source> source_; ///< of one load of the module
	std::optional<WaitReader> reader_;
	std::atomic<bool> stop_ = false;
	std::string told_; ///< the last deadlocks told
	std::thread thread_;
};

} // namespace lockscope
