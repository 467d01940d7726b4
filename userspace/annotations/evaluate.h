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

/// Value of a constant C expression of integers, names, macros, + - * & | ^ << >> ~ ! and
/// parentheses. nullopt for others.
std::optional<long> evaluate(const std::string &text, const ValueOf &value);

} // namespace lockscope::annotations
