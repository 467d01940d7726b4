// SPDX-License-Identifier: GPL-2.0
// Functions with a parameter of some type, from the kernel's BTF.
#pragma once

#include "util/result.h"

#include <set>
#include <string>
#include <utility>

namespace lockscope {

/// Module ("vmlinux" for the kernel itself) and function as in the source: without compiler
/// suffixes like ".isra.0".
using FunctionId = std::pair<std::string, std::string>;

/// Functions with a parameter "struct @type *", const or not. @dir has the layout of
/// /sys/kernel/btf; a module's BTF there is read with the kernel's types. An error without
/// BTF, or when there is no such function.
Result<std::set<FunctionId>> functions_taking(const std::string &type,
					      const std::string &dir = "/sys/kernel/btf");

} // namespace lockscope
