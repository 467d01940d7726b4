// SPDX-License-Identifier: GPL-2.0
#include "symbolize/data_symbols.h"

#include "util/file.h"

#include <string_view>

namespace lockscope {

namespace {

/// The lines of /proc/kallsyms that are about data, as if they were about code, which
/// is what a SymbolTable takes.
std::string data_lines(const std::string &text)
{
	constexpr std::string_view types = "dDbBrRvV";
	std::string out;
	for (std::size_t at = 0; at < text.size();) {
		std::size_t end = text.find('\n', at);
		if (end == text.npos)
			end = text.size();
		const std::size_t space = text.find(' ', at);
		if (space + 1 < end && types.find(text[space + 1]) != types.npos) {
			out.append(text, at, end + 1 - at);
			out[out.size() - (end + 1 - at) + (space + 1 - at)] = 'T';
		}
		at = end + 1;
	}
	return out;
}

} // namespace

void DataSymbols::update()
{
	auto modules = read_file("/proc/modules");
	if (!modules || (table_ && *modules == modules_))
		return;
	auto text = read_file("/proc/kallsyms");
	if (!text)
		return;
	auto table = SymbolTable::parse(data_lines(*text));
	if (!table)
		return;
	table_ = std::move(*table);
	modules_ = *modules;
}

std::optional<Location> DataSymbols::find(std::uint64_t address) const
{
	if (!table_)
		return std::nullopt;
	/* It takes return addresses, which lie one behind. */
	auto found = table_->find(address + 1);
	if (found)
		found->offset--;
	return found;
}

} // namespace lockscope
