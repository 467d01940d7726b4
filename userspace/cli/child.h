// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "util/result.h"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace lockscope::cli {

/// A command run beside us. Killed if it is still there when its owner goes.
class Child {
public:
	/// Start @command, found in $PATH. An error when it cannot be executed:
	/// exit status 127, as a shell has it.
	static Result<Child> start(const std::vector<std::string> &command);

	Child(Child &&other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_)
	{
	}
	Child &operator=(Child &&) = delete;
	~Child();

	/// Has it ended?
	bool poll();
	/// Its exit status, or 128 + signal; valid once poll() said so.
	int status() const { return status_; }
	/// Ask it to end, and wait until it has; after 5 s without asking.
	void stop();

private:
	explicit Child(pid_t pid) : pid_(pid) {}
	pid_t pid_;
	int status_ = 0;
};

} // namespace lockscope::cli
