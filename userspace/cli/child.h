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
	/// The process group it is in. A terminal stops members of an own one that read from it.
	enum class Group : bool { Shared, Own };

	/// Start @command, found in $PATH. An error when it cannot be executed: exit status
	/// 127, as in a shell.
	static Result<Child> start(const std::vector<std::string> &command,
				   Group group = Group::Shared);

	Child(Child &&other) noexcept
		: pid_(std::exchange(other.pid_, -1)), group_(other.group_), status_(other.status_)
	{
	}
	Child &operator=(Child &&) = delete;
	~Child();

	/// Has it ended?
	bool poll();
	/// Its exit status, or 128 + signal; valid once poll() returned true.
	int status() const { return status_; }
	/// Send SIGTERM and wait for its end; SIGKILL after 5 s. After 10 s more it is left behind.
	/// An own group gets both as a whole, but only the command's end is waited for.
	void stop();

private:
	Child(pid_t pid, Group group) : pid_(pid), group_(group) {}
	pid_t pid_;
	Group group_;
	int status_ = 0;
};

} // namespace lockscope::cli
