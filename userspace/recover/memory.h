// SPDX-License-Identifier: GPL-2.0
// The physical memory of a machine that died, from the file that has it.
#pragma once

#include "util/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockscope::recover {

class PhysicalMemory {
public:
	virtual ~PhysicalMemory() = default;

	/// Copy @n bytes from physical address @at; false, and @to is undefined, unless the file
	/// has all of them.
	virtual bool read(std::uint64_t at, void *to, std::size_t n) const = 0;

	/// Where the file has memory, ascending; holes of a sparse file may be left out. Both
	/// ends are multiples of a page, unless the file ends within one.
	struct Range {
		std::uint64_t begin, end;
	};
	virtual std::vector<Range> ranges() const = 0;
};

/// What the file at @path can be read as, the most likely one first. A file of bare memory does
/// not say where the machine's hole below 4 GiB was: there is an entry for each possibility.
/// Formats: bare memory, as QEMU keeps that of a guest in a file; ELF core files (kdump's
/// /proc/vmcore, QEMU's dump-guest-memory); makedumpfile's. Error: the file cannot be read, or
/// is of none of these.
Result<std::vector<std::unique_ptr<PhysicalMemory>>> open_memory(const std::string &path);

/// Bare memory in @bytes, from physical address 0 on, for tests.
std::unique_ptr<PhysicalMemory> memory_in(std::string bytes);

} // namespace lockscope::recover
