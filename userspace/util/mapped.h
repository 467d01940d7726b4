// SPDX-License-Identifier: GPL-2.0
// Arrays of BPF programs in this process's memory.
#pragma once

#include "util/result.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <type_traits>

namespace lockscope {

/// The values of a mapped array; they may be written if T is not const. Reading one needs no
/// system call: those keep probes from running, and not only while they run if they can be
/// preempted.
template <typename T> class Mapped {
	static_assert(sizeof(T) % 8 == 0, "each value takes a multiple of 8 bytes");

public:
	Mapped() = default;
	Mapped(const Mapped &) = delete;
	Mapped &operator=(const Mapped &) = delete;
	~Mapped()
	{
		if (values_)
			::munmap(const_cast<std::remove_const_t<T> *>(values_), bytes_);
	}

	/// @fd: of the array, which has @entries values. @action: "map what ... see".
	Status map(int fd, std::size_t entries, const char *action)
	{
		bytes_ = sizeof(T) * entries;
		const int protection = PROT_READ | (std::is_const_v<T> ? 0 : PROT_WRITE);
		void *at = ::mmap(nullptr, bytes_, protection, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED)
			return os_error(errno, std::string("cannot ") + action);
		values_ = static_cast<T *>(at);
		return success();
	}

	T *at(std::size_t i) const { return values_ + i; }

private:
	T *values_ = nullptr;
	std::size_t bytes_ = 0;
};

} // namespace lockscope
