// SPDX-License-Identifier: GPL-2.0
// Debian's kernels, fetched as packages and unpacked in a cache.
#pragma once

#include "status.h"

#include <filesystem>
#include <string>

namespace lockscope::vm {

// Folder with boot/ and lib/modules/ of the kernel @version, see fetch-kernel.sh.
// Progress goes to stderr. Takes minutes when it is not in the cache yet.
Result<std::filesystem::path> fetch_kernel(const std::string &version);

} // namespace lockscope::vm
