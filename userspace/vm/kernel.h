// SPDX-License-Identifier: GPL-2.0
// Finds the kernel to boot.
#pragma once

#include "vm/status.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockscope::vm {

struct Kernel {
	std::filesystem::path image;
	std::string release;
	std::filesystem::path modules; // .../lib/modules/RELEASE; empty when there is none
};

// @wanted is a release or its beginning (6.12), the path of a bzImage, or empty for the newest
// Debian kernel on this machine. Missing ones are fetched; "newest" is the newest one in
// Debian. The machine's running kernel is not considered: it may be of another kind, without
// modules or headers.
Result<Kernel> find_kernel(const std::string &wanted);

// The release in a bzImage; empty if it is none.
std::string image_release(const std::filesystem::path &image);

} // namespace lockscope::vm
