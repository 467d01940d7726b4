// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace lockscope {

enum class ColorMode { Auto, Always, Never };
std::optional<ColorMode> parse_color_mode(const std::string &text);

/// Colour for output to @fd? Auto: only on a terminal, and not with NO_COLOR
/// in the environment (no-color.org) or TERM=dumb.
bool use_color(ColorMode mode, int fd);

/// Columns of the terminal: $COLUMNS, else that of @fd, else 80; at least 40.
std::size_t terminal_width(int fd);

} // namespace lockscope
