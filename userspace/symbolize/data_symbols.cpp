// SPDX-License-Identifier: GPL-2.0
#include "symbolize/data_symbols.h"

#include "util/file.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

extern "C" {
#include "lockclass/namesakes.h"
}

namespace lockscope {

namespace {

/// A line of /proc/kallsyms, "ADDRESS TYPE NAME" and "\t[MODULE]".
struct Line {
	std::string_view address, name, module;
};

/// NAME without what the compiler adds, and MODULE: what namesakes have in common.
std::string shared_name(const Line &line)
{
	const std::string name(line.name);
	return name.substr(0, ls_plain_length(name.c_str())) + std::string(line.module);
}

std::vector<Line> data_of(std::string_view text)
{
	constexpr std::string_view types = "dDbBrRvV";
	std::vector<Line> lines;
	for (std::size_t at = 0; at < text.size();) {
		const std::string_view line = text.substr(at, text.find('\n', at) - at);
		at += line.size() + 1;
		const std::size_t space = line.find(' ');
		if (space == line.npos || space + 3 > line.size() ||
		    types.find(line[space + 1]) == types.npos)
			continue;
		const std::size_t tab = std::min(line.find('\t', space), line.size());
		lines.push_back({line.substr(0, space), line.substr(space + 3, tab - space - 3),
				 line.substr(tab)});
	}
	return lines;
}

} // namespace

std::string data_lines(const std::string &text)
{
	const std::vector<Line> lines = data_of(text);
	std::unordered_map<std::string, std::uint32_t> all, so_far;
	for (const auto &line : lines)
		all[shared_name(line)]++;
	std::string out;
	for (const auto &line : lines) {
		const std::string shared = shared_name(line);
		std::string name(line.name);
		if (all[shared] > 1)
			name = name.substr(0, ls_plain_length(name.c_str())) + '#' +
			       std::to_string(++so_far[shared]);
		out.append(line.address).append(" T ").append(name).append(line.module) += '\n';
	}
	return out;
}

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
