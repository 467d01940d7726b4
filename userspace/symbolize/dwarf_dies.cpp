// SPDX-License-Identifier: GPL-2.0
#include "symbolize/dwarf_dies.h"

#include <dwarf.h>

namespace lockscope {

std::string die_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	return name ? name : "";
}

std::string die_text(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
	return text ? text : "";
}

std::uint64_t die_number(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value = 0;
	return dwarf_formudata(dwarf_attr(die, attribute, &found), &value) == 0 ? value : 0;
}

bool die_flag(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	bool set = false;
	return dwarf_formflag(dwarf_attr(die, attribute, &found), &set) == 0 && set;
}

bool die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) !=
	       nullptr;
}

bool die_peeled(Dwarf_Die *type, Dwarf_Die *out, std::string *alias)
{
	*out = *type;
	for (int i = 0; i < 32; i++) {
		const int tag = dwarf_tag(out);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type)
			return tag != DW_TAG_invalid;
		if (tag == DW_TAG_typedef && alias)
			*alias = die_name(out);
		Dwarf_Die next;
		if (!die_type(out, &next))
			return false;
		*out = next;
	}
	return false;
}

bool die_is_static(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops = nullptr;
	std::size_t n = 0;
	return dwarf_getlocation(dwarf_attr_integrate(die, DW_AT_location, &attribute), &ops, &n) ==
		       0 &&
	       n != 0 && ops[0].atom == DW_OP_addr;
}

} // namespace lockscope
