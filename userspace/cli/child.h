// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "util/result.h"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace lockscope::cli {

/// A command that runs in parallel. Killed if it is still running when this is destroyed.
class Child {
public:
	/// Start @command, found in $PATH. An error when it cannot be executed: exit status
	/// 127, as in a shell.
	static Result<Child> start(const std::vector<std::string> &command);

	Child(Child &&other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_)
	{
	}
	Child &operator=(Child &&) = delete;
	~Child();

	/// Has it ended?
	bool poll();
	/// Its exit status, or 128 + signal; valid once poll() returned true.
	int status() const { return status_; }
	/// Send SIGTERM and wait for its end; SIGKILL after 5 s. After 10 s more it is left behind.
	void stop();

private:
	explicit Child(pid_t pid) : pid_(pid) {}
	pid_t pid_;
	int status_ = 0;
};

} // namespace lockscope::cli
