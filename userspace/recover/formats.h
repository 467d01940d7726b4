// SPDX-License-Identifier: GPL-2.0
// Formats of files with physical memory.
#pragma once

#include "recover/memory.h"
#include "util/fd.h"

namespace lockscope::recover {

/// pread() of all of it.
bool read_at(int fd, std::uint64_t at, void *to, std::size_t n);

/// @magic: the first 16 bytes of a file.
bool is_elf(const char *magic);
/// The loadable segments of an ELF core file.
Result<std::unique_ptr<PhysicalMemory>> elf_memory(std::shared_ptr<const Fd> fd,
						   const std::string &path);

} // namespace lockscope::recover
