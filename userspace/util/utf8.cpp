// SPDX-License-Identifier: GPL-2.0
#include "util/utf8.h"

#include "util/printable.h"

#include <algorithm>
#include <cstdint>

namespace lockscope {

/// Bytes of the character that @text begins with, 0 if it begins with none.
static std::size_t character(std::string_view text)
{
	const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
	const unsigned first = at(0);
	if (first < 0x80)
		return 1;
	const std::size_t size = first >= 0xc2 && first < 0xe0	 ? 2
				 : first >= 0xe0 && first < 0xf0 ? 3
				 : first >= 0xf0 && first < 0xf5 ? 4
								 : 0;
	if (size == 0 || size > text.size())
		return 0;
	std::uint32_t code = first & (0x7fu >> size);
	for (std::size_t i = 1; i < size; i++) {
		if ((at(i) & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at(i) & 0x3f);
	}
	const bool shortest = code >= (size == 2 ? 0x80u : size == 3 ? 0x800u : 0x10000u);
	const bool refused = (code >= 0xd800 && code < 0xe000) || code == 0xfffe ||
			     code == 0xffff || code > 0x10ffff;
	return shortest && !refused ? size : 0;
}

std::string valid_utf8(std::string_view text)
{
	std::string out;
	while (!text.empty()) {
		const std::size_t size = character(text);
		out += size ? text.substr(0, size) : std::string_view("\xef\xbf\xbd");
		text.remove_prefix(std::max<std::size_t>(size, 1));
	}
	return out;
}

std::string plain_line(std::string text)
{
	std::replace(text.begin(), text.end(), '\n', '?');
	return valid_utf8(printable(std::move(text)));
}

} // namespace lockscope
