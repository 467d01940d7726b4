// SPDX-License-Identifier: GPL-2.0
// Which functions are given an object of some type, by the kernel's BTF.
#pragma once

#include "util/result.h"

#include <set>
#include <string>
#include <utility>

namespace lockscope {

/// Module ("vmlinux" for the kernel itself) and function, as the source has it:
/// without what compilers append, like ".isra.0".
using FunctionId = std::pair<std::string, std::string>;

/// Functions with a parameter "struct @type *", const or not. @dir is laid out as
/// /sys/kernel/btf; what a module there has is looked at with the kernel's types.
/// An error when there is no BTF, or no such function.
Result<std::set<FunctionId>> functions_taking(const std::string &type,
					      const std::string &dir = "/sys/kernel/btf");

} // namespace lockscope
