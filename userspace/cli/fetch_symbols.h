// SPDX-License-Identifier: GPL-2.0
// Debug information of a distribution's kernel, from its package into the cache.
#pragma once

#include "store/builds.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope::cli {

struct Fetched {
	std::string package; ///< name and version
	std::size_t files = 0;
	std::vector<std::string> absent; ///< modules that it has not, or of another build
};

/// Fetch the files of @builds, all of kernel @release, and keep those whose build id fits: all
/// at once, when the package was read as a whole. Takes minutes. Errors: no apt, no such package,
/// no network, disk full, vmlinux of another build; none of them leaves anything behind.
Result<Fetched> fetch_symbols(const std::string &release, const std::vector<CodeBuild> &builds,
			      bool quiet);

/// Does apt know the package?
bool apt_knows(const std::string &package);

} // namespace lockscope::cli
