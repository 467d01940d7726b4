// SPDX-License-Identifier: GPL-2.0
#include "report/printer.h"

namespace lockscope {

std::string Printer::tone(std::string_view text, Tone tone) const
{
	static constexpr const char *codes[] = {"",	      "\033[1m",    "\033[2m",
						"\033[1;31m", "\033[1;33m", "\033[36m"};
	if (!style_.color || tone == Tone::Plain)
		return std::string(text);
	return codes[static_cast<int>(tone)] + std::string(text) + "\033[0m";
}

void Printer::wrap(std::size_t indent, std::string_view text, Tone wanted, std::size_t hang)
{
	std::string current;
	std::size_t margin = indent;
	auto flush = [&] {
		if (!current.empty())
			(out_.append(margin, ' ') += tone(current, wanted)) += '\n';
		current.clear();
		margin = indent + hang;
	};
	/* Words between single spaces; two in a row have an empty one between them. */
	for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
		end = text.find(' ', begin);
		const auto word = text.substr(begin, end == text.npos ? end : end - begin);
		/* A word longer than the line is not broken: it can be copied. */
		if (!current.empty() && margin + current.size() + 1 + word.size() > style_.width)
			flush();
		if (!current.empty())
			current += ' ';
		current += word;
	}
	flush();
}

void Printer::line(std::string_view text)
{
	out_ += text;
	out_ += '\n';
}

} // namespace lockscope
