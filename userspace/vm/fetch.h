// SPDX-License-Identifier: GPL-2.0
// Debian's kernels, fetched as packages and unpacked in a cache.
#pragma once

#include "vm/status.h"

#include <filesystem>
#include <string>

namespace lockscope::vm {

// Folder with boot/ and lib/modules/ of the kernel @version, see fetch-kernel.sh.
// Progress goes to stderr. Takes minutes when it is not in the cache yet.
Result<std::filesystem::path> fetch_kernel(const std::string &version);

// The archive of the source of @release, which was fetched before.
Result<std::filesystem::path> fetch_source(const std::string &release);

// Where fetch_kernel() has put @release; empty when it has not.
std::filesystem::path fetched_kernel(const std::string &release);

} // namespace lockscope::vm
