// SPDX-License-Identifier: GPL-2.0
// Where a module's code acquires locks: its calls of lock primitives.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

struct LockSite {
	std::string function;	  ///< with a symbol, which the call is in
	std::uint64_t offset = 0; ///< of the return address, in that function
	std::string primitive;
	bool start = false; ///< in code that is freed once the module is loaded
};

/// By function and offset. Calls only: where the compiler jumps to a primitive, the caller's
/// caller counts as the place. Error: no module's file (.ko) for x86-64 that has symbols.
Result<std::vector<LockSite>> lock_sites(const std::string &path);

/// Were call-outs for accesses built into the module at @path?
bool is_instrumented(const std::string &path);

} // namespace lockscope
