// SPDX-License-Identifier: GPL-2.0
// Data addresses of the running kernel to symbols.
#pragma once

#include "symbolize/symbols.h"

namespace lockscope {

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
