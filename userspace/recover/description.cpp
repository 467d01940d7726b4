// SPDX-License-Identifier: GPL-2.0
#include "recover/description.h"

#include "util/text.h"

#include <charconv>

namespace lockscope::recover {

Description::Description(std::string_view text)
{
	for (const auto &line : split(text, '\n'))
		if (const auto at = line.find('='); at != line.npos)
			values_.emplace(line.substr(0, at), line.substr(at + 1));
}

std::string Description::value(const std::string &key) const
{
	const auto at = values_.find(key);
	return at == values_.end() ? std::string() : at->second;
}

std::optional<std::uint64_t> Description::symbol(const std::string &name) const
{
	const std::uint64_t address = parse_hex64(value("SYMBOL(" + name + ")"));
	return address ? std::optional(address) : std::nullopt;
}

std::optional<std::uint32_t> Description::number(const std::string &key) const
{
	const std::string text = value(key);
	std::uint32_t out = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
	if (error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return out;
}

std::optional<std::uint32_t> Description::offset(const std::string &member) const
{
	return number("OFFSET(" + member + ")");
}

std::optional<std::uint32_t> Description::size(const std::string &type) const
{
	return number("SIZE(" + type + ")");
}

} // namespace lockscope::recover
