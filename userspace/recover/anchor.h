// SPDX-License-Identifier: GPL-2.0
// The module's anchor (lockclass/abi_anchor.h) in physical memory.
#pragma once

#include "lockclass/abi.h"
#include "recover/memory.h"
#include "recover/pages.h"

#include <optional>
#include <string>

namespace lockscope::recover {

/// The anchor that the memory has. Its page tables lead back to it; nothing else in it is
/// validated. Errors: there is none, or that of another version; @name is the file.
Result<ls_anchor> find_anchor(const PhysicalMemory &memory, const std::string &name);

} // namespace lockscope::recover
