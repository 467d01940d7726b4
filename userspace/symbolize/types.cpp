// SPDX-License-Identifier: GPL-2.0
#include "symbolize/types.h"

#include "symbolize/dwarf_dies.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>

namespace lockscope {

namespace {

/* Nesting of structs, as in BTF. */
constexpr int kMaxTypeNesting = 12;

/* Structs that are locks: their members are internal. */
constexpr const char *kLocks[] = {"spinlock",	  "raw_spinlock", "qspinlock", "mutex",
				  "rw_semaphore", "semaphore",	  "rt_mutex",  "ww_mutex"};

std::string type_name(Dwarf_Die *type)
{
	std::string alias;
	Dwarf_Die die;
	if (!die_peeled(type, &die, &alias))
		return {};
	const std::string name = die_name(&die);
	switch (dwarf_tag(&die)) {
	case DW_TAG_structure_type:
		return name.empty() ? alias : "struct " + name;
	case DW_TAG_union_type:
		return name.empty() ? alias : "union " + name;
	case DW_TAG_enumeration_type:
		return name.empty() ? alias : "enum " + name;
	case DW_TAG_pointer_type:
		return "pointer";
	case DW_TAG_array_type: {
		Dwarf_Die element;
		const std::string of = die_type(&die, &element) ? type_name(&element) : "";
		return of.empty() ? of : of + "[]";
	}
	default:
		return alias.empty() ? name : alias;
	}
}

std::uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size = 0;
	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/// Join two parts of a path.
std::string joined(const std::string &outer, const std::string &inner)
{
	if (outer.empty() || inner.empty())
		return outer + inner;
	return outer + (inner[0] == '[' ? "" : ".") + inner;
}

std::string path_in(Dwarf_Die *type, std::uint64_t offset, ls_kind lock, int nesting)
{
	Dwarf_Die die;
	if (nesting == kMaxTypeNesting || !die_peeled(type, &die))
		return {};
	const int tag = dwarf_tag(&die);
	if (tag == DW_TAG_array_type) {
		Dwarf_Die element;
		const std::uint64_t size = die_type(&die, &element) ? size_of(&element) : 0;
		return size ? joined("[]", path_in(&element, offset % size, lock, nesting + 1))
			    : "";
	}
	if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
		return {};
	if (lock != LS_KIND_NONE &&
	    std::find(std::begin(kLocks), std::end(kLocks), die_name(&die)) != std::end(kLocks))
		return {};
	Dwarf_Die member;
	if (dwarf_child(&die, &member) != 0)
		return {};
	do {
		Dwarf_Die inner;
		if (dwarf_tag(&member) != DW_TAG_member || !die_type(&member, &inner))
			continue;
		/* Bit fields have offsets in bits. */
		const std::uint64_t begin =
			dwarf_hasattr(&member, DW_AT_data_bit_offset)
				? die_number(&member, DW_AT_data_bit_offset) / 8
				: die_number(&member, DW_AT_data_member_location);
		const std::uint64_t bits = die_number(&member, DW_AT_bit_size);
		const std::uint64_t size =
			bits ? (die_number(&member, DW_AT_data_bit_offset) % 8 + bits + 7) / 8
			     : size_of(&inner);
		if (offset < begin || offset - begin >= size)
			continue;
		const std::string path = joined(die_name(&member),
						path_in(&inner, offset - begin, lock, nesting + 1));
		/* A gap in an unnamed struct: another member of a union may cover it. */
		if (!path.empty())
			return path;
	} while (dwarf_siblingof(&member, &member) == 0);
	return {};
}

} // namespace

VariableTypes::VariableTypes(Dwarf *dwarf)
{
	Dwarf_Off at = 0, next = 0;
	std::size_t header = 0;
	for (; dwarf && dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0;
	     at = next) {
		Dwarf_Die unit;
		if (dwarf_offdie(dwarf, at + header, &unit))
			collect(&unit);
	}
}

/* Variables in functions as well: static ones have a symbol. */
void VariableTypes::collect(Dwarf_Die *scope)
{
	Dwarf_Die die;
	if (dwarf_child(scope, &die) != 0)
		return;
	do {
		const int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
			collect(&die);
		Dwarf_Die type;
		const std::string name = tag == DW_TAG_variable ? die_name(&die) : "";
		if (name.empty() || !die_type(&die, &type))
			continue;
		if (!die_is_static(&die))
			continue;
		auto [known, added] = variables_.try_emplace(name, type);
		if (!added && known->second && type_name(&*known->second) != type_name(&type))
			known->second.reset();
	} while (dwarf_siblingof(&die, &die) == 0);
}

const Dwarf_Die *VariableTypes::find(const std::string &symbol) const
{
	auto at = variables_.find(symbol);
	if (at == variables_.end()) {
		const auto dot = symbol.rfind('.');
		const bool numbered =
			dot != symbol.npos && dot + 1 < symbol.size() &&
			std::all_of(symbol.begin() + static_cast<std::ptrdiff_t>(dot) + 1,
				    symbol.end(), [](unsigned char c) { return std::isdigit(c); });
		if (numbered)
			at = variables_.find(symbol.substr(0, dot));
	}
	return at == variables_.end() || !at->second ? nullptr : &*at->second;
}

std::string VariableTypes::type(const std::string &symbol) const
{
	const Dwarf_Die *found = find(symbol);
	if (!found)
		return {};
	Dwarf_Die type = *found;
	return type_name(&type);
}

std::string VariableTypes::path(const std::string &symbol, std::uint64_t offset, ls_kind lock) const
{
	const Dwarf_Die *found = find(symbol);
	if (!found)
		return {};
	Dwarf_Die type = *found;
	return path_in(&type, offset, lock, 0);
}

} // namespace lockscope
