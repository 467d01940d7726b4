// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace lockscope {

/// Owner of a file descriptor; move-only.
class Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept
	{
		if (this != &other) {
			reset();
			fd_ = std::exchange(other.fd_, -1);
		}
		return *this;
	}
	~Fd() { reset(); }

	int get() const { return fd_; }
	bool valid() const { return fd_ >= 0; }
	/// The descriptor, which the caller owns from now on.
	int release() { return std::exchange(fd_, -1); }
	void reset()
	{
		if (fd_ >= 0)
			::close(fd_);
		fd_ = -1;
	}

private:
	int fd_ = -1;
};

} // namespace lockscope
