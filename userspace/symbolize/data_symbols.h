// SPDX-License-Identifier: GPL-2.0
// Data addresses of the running kernel to symbols.
#pragma once

#include "symbolize/symbols.h"

#include <string>

namespace lockscope {

/// The lines of /proc/kallsyms in @text that are about data, as if they were about code,
/// which is what a SymbolTable takes. Names that several share in their module, without what
/// the compiler adds, have numbers as the module gives them: "lock#2".
std::string data_lines(const std::string &text);

class DataSymbols {
public:
	/// Read the symbols again if modules have come or gone since.
	void update();
	/// The symbol that @address lies in or behind; nothing when there is none near.
	std::optional<Location> find(std::uint64_t address) const;

private:
	std::optional<SymbolTable> table_;
	std::string modules_;
};

} // namespace lockscope
