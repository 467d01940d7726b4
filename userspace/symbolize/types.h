// SPDX-License-Identifier: GPL-2.0
// Types of static variables, from debug information.
#pragma once

#include "lockclass/abi.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace lockscope {

/// The variables that the debug information of one module or kernel describes.
class VariableTypes {
public:
	/// @dwarf has to outlive this; nullptr: no variables.
	explicit VariableTypes(Dwarf *dwarf);

	/// "struct foo", "int", "struct foo[]"; empty when there is no such variable, or
	/// several of that name with different types. @symbol as in the symbol table: with a
	/// numeric suffix for function-local ones.
	std::string type(const std::string &symbol) const;
	/// Path to the innermost member at @offset: "rx", "[].rx", "queue.lock"; for a @lock
	/// to the lock, not into it. Empty when the variable has no members.
	std::string path(const std::string &symbol, std::uint64_t offset, ls_kind lock) const;

private:
	void collect(Dwarf_Die *scope);
	const Dwarf_Die *find(const std::string &symbol) const;

	/// nullopt: the name has several types.
	std::unordered_map<std::string, std::optional<Dwarf_Die>> variables_;
};

} // namespace lockscope
