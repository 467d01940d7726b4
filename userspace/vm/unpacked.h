// SPDX-License-Identifier: GPL-2.0
// The kernel itself out of an image that unpacks itself. QEMU starts it at its entry for Xen's
// PVH guests. Under TCG a kernel that unpacks itself takes more than half of the boot.
#pragma once

#include "vm/kernel.h"

#include <filesystem>

namespace lockscope::vm {

/// The vmlinux in @kernel's image, made once and kept in the cache. Empty where it cannot be
/// had: no cache, an unknown compression, a kernel without that entry. It runs at the address
/// that it was linked for, as with nokaslr.
std::filesystem::path unpacked_image(const Kernel &kernel);

} // namespace lockscope::vm
