// SPDX-License-Identifier: GPL-2.0
// Builds of the kernel and of modules whose code is in a store.
#pragma once

#include "util/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

struct CodeBuild {
	std::string release;	    ///< of the kernel
	std::string module;	    ///< "vmlinux" for the kernel's own code
	std::string build_id;	    ///< hex digits, never empty
	std::size_t places = 0;	    ///< in the code
	std::size_t with_lines = 0; ///< of them
};

/// Sorted by release, the kernel's own code first, then by module. Errors as for open_store().
Result<std::vector<CodeBuild>> code_builds(const std::string &path);

} // namespace lockscope
