// SPDX-License-Identifier: GPL-2.0
// Lines of a text report: wrapped, indented, optionally coloured.
#pragma once

#include "report/report.h"

#include <string>
#include <string_view>
#include <utility>

namespace lockscope {

enum class Tone { Plain, Bold, Dim, Red, Yellow, Cyan };

class Printer {
public:
	explicit Printer(const TextStyle &style) : style_(style) {}

	/// @text wrapped at spaces; lines after the first are indented by @hang more columns.
	void wrap(std::size_t indent, std::string_view text, Tone tone = Tone::Plain,
		  std::size_t hang = 0);
	/// One line, unchanged.
	void line(std::string_view text);
	void blank() { out_ += '\n'; }
	std::string tone(std::string_view text, Tone tone) const;
	std::size_t width() const { return style_.width; }
	std::string take() { return std::exchange(out_, {}); }

private:
	TextStyle style_;
	std::string out_;
};

} // namespace lockscope
