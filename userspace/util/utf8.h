// SPDX-License-Identifier: GPL-2.0
// Names of a kernel as text that other programs parse.
#pragma once

#include <string>
#include <string_view>

namespace lockscope {

/// @text with U+FFFD in place of each byte that belongs to no character of UTF-8, and of what
/// XML has no place for: surrogates, U+FFFE and U+FFFF. [Unicode 15, table 3-7]
std::string valid_utf8(std::string_view text);

/// The same on one line, with '?' in place of control characters.
std::string plain_line(std::string text);

} // namespace lockscope
