// SPDX-License-Identifier: GPL-2.0
// Undefined symbols of an instrumented module.
#pragma once

#include "util/result.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope::cli {

/// Add the names in @symvers, the text of a Module.symvers.
void add_exports(std::string_view symvers, std::set<std::string> &known);

/// Undefined names of the module at @path, in their order, that are neither
/// @known nor call-outs of the compiler (__tsan_*), which lockscope.ko exports.
Result<std::vector<std::string>> missing_symbols(const std::string &path,
						 const std::set<std::string> &known);

} // namespace lockscope::cli
