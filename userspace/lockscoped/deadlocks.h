// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "waits/waits.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace lockscope {

/// Prints deadlocks to stderr at once, with all stacks. Runs in its own thread: storing the
/// backlog of the module may take a while. The module may be loaded and unloaded.
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
	std::string printed_; ///< the last deadlocks printed
	std::thread thread_;
};

} // namespace lockscope
