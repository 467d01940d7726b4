// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockscope::annotations {

/// The value of a name, or of a macro with these arguments.
using ValueOf = std::function<std::optional<long>(const std::string &name,
						  const std::vector<std::string> &arguments)>;

/// The value of a constant C expression of integers, names, macros, + - * & | ^ << >> ~ !
/// and parentheses. Nothing for any other.
std::optional<long> evaluate(const std::string &text, const ValueOf &value);

} // namespace lockscope::annotations
