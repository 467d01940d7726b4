// SPDX-License-Identifier: GPL-2.0
#include "symbolize/types.h"

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

std::string name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	return name ? name : "";
}

/// The type of a variable, member or array; false when there is none.
bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) !=
	       nullptr;
}

/// Skip qualifiers and typedefs; the last typedef's name in @alias.
bool peel(Dwarf_Die *type, Dwarf_Die *out, std::string *alias = nullptr)
{
	*out = *type;
	for (int i = 0; i < 32; i++) {
		const int tag = dwarf_tag(out);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type)
			return tag != DW_TAG_invalid;
		if (tag == DW_TAG_typedef && alias)
			*alias = name_of(out);
		Dwarf_Die next;
		if (!type_of(out, &next))
			return false;
		*out = next;
	}
	return false;
}

std::string type_name(Dwarf_Die *type)
{
	std::string alias;
	Dwarf_Die die;
	if (!peel(type, &die, &alias))
		return {};
	const std::string name = name_of(&die);
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
		const std::string of = type_of(&die, &element) ? type_name(&element) : "";
		return of.empty() ? of : of + "[]";
	}
	default:
		return alias.empty() ? name : alias;
	}
}

std::uint64_t number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;
	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
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
	if (nesting == kMaxTypeNesting || !peel(type, &die))
		return {};
	const int tag = dwarf_tag(&die);
	if (tag == DW_TAG_array_type) {
		Dwarf_Die element;
		const std::uint64_t size = type_of(&die, &element) ? size_of(&element) : 0;
		return size ? joined("[]", path_in(&element, offset % size, lock, nesting + 1))
			    : "";
	}
	if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
		return {};
	if (lock != LS_KIND_NONE &&
	    std::find(std::begin(kLocks), std::end(kLocks), name_of(&die)) != std::end(kLocks))
		return {};
	Dwarf_Die member;
	if (dwarf_child(&die, &member) != 0)
		return {};
	do {
		Dwarf_Die inner;
		if (dwarf_tag(&member) != DW_TAG_member || !type_of(&member, &inner))
			continue;
		/* Bit fields have offsets in bits. */
		const std::uint64_t begin = dwarf_hasattr(&member, DW_AT_data_bit_offset)
						    ? number(&member, DW_AT_data_bit_offset) / 8
						    : number(&member, DW_AT_data_member_location);
		const std::uint64_t bits = number(&member, DW_AT_bit_size);
		const std::uint64_t size =
			bits ? (number(&member, DW_AT_data_bit_offset) % 8 + bits + 7) / 8
			     : size_of(&inner);
		if (offset < begin || offset - begin >= size)
			continue;
		const std::string path = joined(name_of(&member),
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
		const std::string name = tag == DW_TAG_variable ? name_of(&die) : "";
		if (name.empty() || !type_of(&die, &type))
			continue;
		/* Those on the stack have no fixed address, declarations none at all. */
		Dwarf_Attribute attribute;
		Dwarf_Op *ops = nullptr;
		std::size_t n = 0;
		if (dwarf_getlocation(dwarf_attr_integrate(&die, DW_AT_location, &attribute), &ops,
				      &n) != 0 ||
		    n == 0 || ops[0].atom != DW_OP_addr)
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
