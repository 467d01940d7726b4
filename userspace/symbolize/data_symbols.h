// SPDX-License-Identifier: GPL-2.0
// Resolves data addresses of the running kernel to symbols, and numbers symbols that share a
// name.
#pragma once

#include "symbolize/symbols.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace lockscope {

/// The lines of /proc/kallsyms in @text about data, converted to the form of code, which
/// SymbolTable expects. Names that are not unique in their module, without compiler suffixes,
/// get the module's numbers: "lock#2".
std::string data_lines(const std::string &text);

/// Addresses of functions in such a text whose name is not unique in their module, and the
/// module's numbers for them.
std::unordered_map<std::uint64_t, std::uint32_t> code_numbers(const std::string &text);

/// The module's name of symbol @number of several; @name itself when it is 0.
std::string numbered_name(const std::string &name, std::uint32_t number);

class DataSymbols {
public:
	/// Read the symbols again if modules were loaded or unloaded since.
	void update();
	/// The symbol at or before @address; nullopt when there is none near.
	std::optional<Location> find(std::uint64_t address) const;
	/// Number of the function that begins at @start, see code_numbers(); 0 when its name
	/// is unique.
	std::uint32_t code_number(std::uint64_t start) const;

private:
	std::optional<SymbolTable> table_;
	std::unordered_map<std::uint64_t, std::uint32_t> code_numbers_;
	std::string modules_;
};

} // namespace lockscope
