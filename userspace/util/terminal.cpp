// SPDX-License-Identifier: GPL-2.0
#include "util/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace lockscope {

std::optional<ColorMode> parse_color_mode(const std::string &text)
{
	if (text == "auto")
		return ColorMode::Auto;
	if (text == "always")
		return ColorMode::Always;
	if (text == "never")
		return ColorMode::Never;
	return std::nullopt;
}

bool use_color(ColorMode mode, int fd)
{
	if (mode != ColorMode::Auto)
		return mode == ColorMode::Always;
	const char *no_color = std::getenv("NO_COLOR");
	const char *term = std::getenv("TERM");
	return !(no_color && *no_color) && !(term && std::string_view(term) == "dumb") &&
	       ::isatty(fd);
}

std::size_t terminal_width(int fd)
{
	constexpr std::size_t least = 40, most = 1000, usual = 80;
	if (const char *columns = std::getenv("COLUMNS"))
		if (const long n = std::strtol(columns, nullptr, 10); n > 0)
			return std::clamp<std::size_t>(static_cast<std::size_t>(n), least, most);
	winsize size{};
	if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return std::clamp<std::size_t>(size.ws_col, least, most);
	return usual;
}

} // namespace lockscope
