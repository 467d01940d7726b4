// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>
#include <string>

namespace lockscope {

/// @text with '?' in place of each control character (C0 except line feed, DEL, C1 in UTF-8):
/// text from a file must not control a terminal.
inline std::string printable(std::string text)
{
	for (std::size_t i = 0; i < text.size(); i++) {
		const auto c = static_cast<unsigned char>(text[i]);
		const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
		if ((c < 0x20 && c != '\n') || c == 0x7f)
			text[i] = '?';
		else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
			text[i] = text[i + 1] = '?';
	}
	return text;
}

} // namespace lockscope
