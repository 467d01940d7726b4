// SPDX-License-Identifier: GPL-2.0
// A file in memory for targets that need one, the same for all inputs.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace lockscope::fuzz {

class Scratch {
public:
	explicit Scratch(const char *name)
		: path_("/dev/shm/lockscope-" + std::string(name) + "-" +
			std::to_string(::getpid()))
	{
	}
	~Scratch() { clear(); }
	void clear() const
	{
		for (const char *suffix : {"", "-wal", "-shm", "-journal"})
			::unlink((path_ + suffix).c_str());
	}
	const std::string &path() const { return path_; }

private:
	std::string path_;
};

/// An error has to name its thing in one line.
template <typename Result> void check_error(const Result &result)
{
	if (!result.ok() &&
	    (result.error().what.empty() || result.error().what.find('\n') != std::string::npos))
		std::abort();
}

} // namespace lockscope::fuzz
