// SPDX-License-Identifier: GPL-2.0
// Debian's kernels, fetched as packages and unpacked in a cache.
#pragma once

#include "vm/status.h"

#include <filesystem>
#include <string>

namespace lockscope::vm {

// Folder with boot/ and lib/modules/ of the kernel @version, see fetch-kernel.sh. Progress
// goes to stderr. Takes minutes if it is not in the cache.
Result<std::filesystem::path> fetch_kernel(const std::string &version);

// The source archive of @release, which must have been fetched.
Result<std::filesystem::path> fetch_source(const std::string &release);

// Folder of @release from fetch_kernel(); empty if it was not fetched.
std::filesystem::path fetched_kernel(const std::string &release);

} // namespace lockscope::vm
