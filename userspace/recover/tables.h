// SPDX-License-Identifier: GPL-2.0
// The module's tables in a dead machine's memory, as an image of its device.
#pragma once

#include "lockclass/abi.h"
#include "recover/pages.h"
#include "source/source.h"

#include <string>
#include <vector>

extern "C" {
#include "lockclass/classes.h"
}

namespace lockscope::recover {

/// What was read, and what could not be.
struct Tables {
	Image image;
	std::vector<ls_class> classes;	  ///< by id; [0] is unused
	std::vector<std::string> missing; ///< one line each
};

/// Log, chains, classes and counters. @bytes: size of the whole memory, which bounds them.
/// What is not mapped, or makes no sense, is missing; nothing is trusted.
Tables read_tables(KernelMemory &kernel, const ls_anchor &anchor, std::uint64_t bytes);

/// Addresses of struct ls_cpu by number, 0: no such CPU.
std::vector<std::uint64_t> cpu_states(KernelMemory &kernel, const ls_anchor &anchor);

} // namespace lockscope::recover
