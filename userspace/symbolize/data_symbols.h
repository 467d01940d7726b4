// SPDX-License-Identifier: GPL-2.0
// Data addresses of the running kernel to symbols, and which of several symbols of a name
// one is.
#pragma once

#include "symbolize/symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace lockscope {

/// The lines of /proc/kallsyms in @text that are about data, as if they were about code,
/// which is what a SymbolTable takes. Names that several share in their module, without what
/// the compiler adds, have numbers as the module gives them: "lock#2".
std::string data_lines(const std::string &text);

/// Addresses of functions in such a text that share their name in their module, and the
/// numbers that the module gives them.
std::unordered_map<std::uint64_t, std::uint32_t> code_numbers(const std::string &text);

/// As the module has the name of symbol @number of several; @name itself when it is 0.
std::string numbered_name(const std::string &name, std::uint32_t number);

class DataSymbols {
public:
	/// Read the symbols again if modules have come or gone since.
	void update();
	/// The symbol that @address lies in or behind; nothing when there is none near.
	std::optional<Location> find(std::uint64_t address) const;
	/// Number of the function that begins at @start, see code_numbers(); 0 when it is alone.
	std::uint32_t code_number(std::uint64_t start) const;

private:
	std::optional<SymbolTable> table_;
	std::unordered_map<std::uint64_t, std::uint32_t> code_numbers_;
	std::string modules_;
};

} // namespace lockscope
