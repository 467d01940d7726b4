// SPDX-License-Identifier: GPL-2.0
#include "symbolize/data_symbols.h"

#include "util/file.h"

#include <algorithm>
#include <charconv>
#include <string_view>
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

/// NAME without compiler suffixes, and MODULE: what namesakes have in common.
std::string shared_name(const Line &line)
{
	const std::string name(line.name);
	return name.substr(0, ls_plain_length(name.c_str())) + std::string(line.module);
}

constexpr std::string_view kData = "dDbBrRvV", kCode = "tTwW";

std::vector<Line> lines_of(std::string_view text, std::string_view types)
{
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

/// Number of each line, 0: unique. The same rules as in namesakes.h, for all at once.
std::vector<std::uint32_t> numbers_of(const std::vector<Line> &lines, bool code)
{
	struct Namesakes {
		std::uint32_t bodies = 0, seen = 0;
	};
	std::unordered_map<std::string, Namesakes> shared;
	std::unordered_map<std::string, std::uint32_t> same;
	auto whole = [](const Line &line) { return std::string(line.name).append(line.module); };
	for (const auto &line : lines) {
		const std::string name(line.name);
		const auto addition = line.name.substr(ls_plain_length(name.c_str()));
		if (!code || addition.empty() || addition.starts_with(".llvm."))
			shared[shared_name(line)].bodies++;
		same[whole(line)]++;
	}
	std::vector<std::uint32_t> numbers;
	for (const auto &line : lines) {
		auto &namesakes = shared[shared_name(line)];
		namesakes.seen++;
		const bool alone = namesakes.bodies <= 1 && same[whole(line)] <= 1;
		numbers.push_back(alone ? 0 : namesakes.seen);
	}
	return numbers;
}

} // namespace

std::string numbered_name(const std::string &name, std::uint32_t number)
{
	if (number == 0)
		return name;
	return name.substr(0, ls_plain_length(name.c_str())) + '#' + std::to_string(number);
}

std::string data_lines(const std::string &text)
{
	const std::vector<Line> lines = lines_of(text, kData);
	const auto numbers = numbers_of(lines, false);
	std::string out;
	for (std::size_t i = 0; i < lines.size(); i++)
		out.append(lines[i].address)
			.append(" T ")
			.append(numbered_name(std::string(lines[i].name), numbers[i]))
			.append(lines[i].module) += '\n';
	return out;
}

std::unordered_map<std::uint64_t, std::uint32_t> code_numbers(const std::string &text)
{
	const std::vector<Line> lines = lines_of(text, kCode);
	const auto numbers = numbers_of(lines, true);
	std::unordered_map<std::uint64_t, std::uint32_t> out;
	for (std::size_t i = 0; i < lines.size(); i++) {
		std::uint64_t address = 0;
		const auto digits = lines[i].address;
		std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
		if (numbers[i] != 0)
			out.emplace(address, numbers[i]);
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
	code_numbers_ = code_numbers(*text);
	modules_ = *modules;
}

std::optional<Location> DataSymbols::find(std::uint64_t address) const
{
	if (!table_)
		return std::nullopt;
	/* Expects return addresses, so add one. */
	auto found = table_->find(address + 1);
	if (found)
		found->offset--;
	return found;
}

std::uint32_t DataSymbols::code_number(std::uint64_t start) const
{
	auto at = code_numbers_.find(start);
	return at == code_numbers_.end() ? 0 : at->second;
}

} // namespace lockscope
