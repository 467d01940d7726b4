// SPDX-License-Identifier: GPL-2.0
// Attributes of DWARF's entries.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace lockscope {

/// Its own name, or empty.
std::string die_name(Dwarf_Die *die);
/// Also from what it is a copy of; empty when there is none.
std::string die_text(Dwarf_Die *die, unsigned int attribute);
/// 0 when there is none.
std::uint64_t die_number(Dwarf_Die *die, unsigned int attribute);
bool die_flag(Dwarf_Die *die, unsigned int attribute);

/// The type of a variable, member or array; false when there is none.
bool die_type(Dwarf_Die *die, Dwarf_Die *type);
/// Skip qualifiers and typedefs; the last typedef's name in @alias. False for void.
bool die_peeled(Dwarf_Die *type, Dwarf_Die *out, std::string *alias = nullptr);

/// Does the variable have a fixed address? Those on the stack have none, declarations neither.
bool die_is_static(Dwarf_Die *die);

} // namespace lockscope
