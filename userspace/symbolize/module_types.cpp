// SPDX-License-Identifier: GPL-2.0
#include "symbolize/module_types.h"

#include "symbolize/dwarf_dies.h"

#include <bpf/btf.h>
#include <dwarf.h>

#include <algorithm>
#include <unordered_map>

namespace lockscope {

namespace {

/* Scopes in a function; types in each other. Real ones are far below. */
constexpr int kMaxScopes = 64;

/// The flag of btf__add_int() for a base type.
int encoding_of(Dwarf_Die *die)
{
	switch (die_number(die, DW_AT_encoding)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return BTF_INT_SIGNED;
	case DW_ATE_boolean:
		return BTF_INT_BOOL;
	default:
		return 0;
	}
}

std::uint32_t size_of_struct(Dwarf_Die *die)
{
	return static_cast<std::uint32_t>(die_number(die, DW_AT_byte_size));
}

class Converter {
public:
	explicit Converter(const KnownStruct &known) : known_(known), types_(btf__new_empty())
	{
		btf__set_pointer_size(types_, 8);
		index_ = id(btf__add_int(types_, "unsigned int", 4, 0));
		out_.types = types_;
	}

	void unit(Dwarf_Die *unit)
	{
		unit_ = die_name(unit);
		unit_.erase(0, unit_.rfind('/') + 1);
		Dwarf_Die die;
		if (dwarf_child(unit, &die) != 0)
			return;
		do {
			const std::string name = die_name(&die);
			switch (dwarf_tag(&die)) {
			case DW_TAG_structure_type:
				if (!name.empty() && !die_flag(&die, DW_AT_declaration) &&
				    !known_(name, size_of_struct(&die)))
					convert(&die, 0);
				break;
			case DW_TAG_subprogram:
				function(&die);
				break;
			case DW_TAG_variable:
				variable(&die);
				break;
			default:
				break;
			}
		} while (dwarf_siblingof(&die, &die) == 0);
	}

	/// All units were seen: pointers get their targets.
	ModuleTypes finish()
	{
		for (const auto &[pointer, name] : pointers_) {
			std::uint32_t target = 0;
			if (const auto own = own_.find(name); own != own_.end())
				target = own->second;
			else if (auto &declared = declared_[name])
				target = declared;
			else
				target = declared =
					id(btf__add_fwd(types_, name.c_str(), BTF_FWD_STRUCT));
			/* There is no call for it, and the types are this object's own. */
			const_cast<btf_type *>(btf__type_by_id(types_, pointer))->type = target;
		}
		return std::move(out_);
	}

private:
	/// What libbpf has no room for is void.
	static std::uint32_t id(int added)
	{
		return added > 0 ? static_cast<std::uint32_t>(added) : 0;
	}

	std::uint32_t convert_type_of(Dwarf_Die *die, int nesting)
	{
		Dwarf_Die type;
		return die_type(die, &type) ? convert(&type, nesting) : 0;
	}

	std::uint32_t convert(Dwarf_Die *type, int nesting)
	{
		const Dwarf_Off offset = dwarf_dieoffset(type);
		if (const auto known = by_offset_.find(offset); known != by_offset_.end())
			return known->second;
		if (nesting > kMaxScopes)
			return 0;
		const std::uint32_t made = make(type, nesting + 1);
		by_offset_.emplace(offset, made);
		return made;
	}

	std::uint32_t make(Dwarf_Die *type, int nesting)
	{
		const std::string name = die_name(type);
		const auto size = static_cast<std::uint32_t>(die_number(type, DW_AT_byte_size));
		switch (dwarf_tag(type)) {
		case DW_TAG_base_type:
			return id(btf__add_int(types_, name.c_str(), size, encoding_of(type)));
		case DW_TAG_enumeration_type:
			return id(btf__add_enum(types_, name.c_str(), size));
		case DW_TAG_pointer_type:
			return pointer(type, nesting);
		case DW_TAG_const_type:
			return id(btf__add_const(types_, number(convert_type_of(type, nesting))));
		case DW_TAG_volatile_type:
			return id(
				btf__add_volatile(types_, number(convert_type_of(type, nesting))));
		case DW_TAG_typedef:
			return id(btf__add_typedef(types_, name.c_str(),
						   number(convert_type_of(type, nesting))));
		case DW_TAG_array_type:
			return array(type, nesting);
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			return composite(type, name, size, nesting);
		default:
			return convert_type_of(type, nesting);
		}
	}

	static int number(std::uint32_t type) { return static_cast<int>(type); }

	std::uint32_t pointer(Dwarf_Die *type, int nesting)
	{
		Dwarf_Die target, plain;
		if (!die_type(type, &target) || !die_peeled(&target, &plain))
			return id(btf__add_ptr(types_, 0));
		const int tag = dwarf_tag(&plain);
		const std::string name = die_name(&plain);
		if (tag == DW_TAG_structure_type && !name.empty()) {
			/* Structs point to each other: filled in at the end. */
			const auto made = id(btf__add_ptr(types_, 0));
			pointers_.emplace_back(made, name);
			return made;
		}
		const bool followed = tag == DW_TAG_pointer_type || tag == DW_TAG_base_type;
		return id(btf__add_ptr(types_, followed ? number(convert(&plain, nesting)) : 0));
	}

	std::uint32_t array(Dwarf_Die *type, int nesting)
	{
		std::uint32_t made = convert_type_of(type, nesting);
		std::vector<std::uint32_t> dimensions;
		Dwarf_Die range;
		if (dwarf_child(type, &range) == 0)
			do {
				if (dwarf_tag(&range) != DW_TAG_subrange_type)
					continue;
				const bool bound = dwarf_hasattr(&range, DW_AT_upper_bound);
				dimensions.push_back(static_cast<std::uint32_t>(
					bound ? die_number(&range, DW_AT_upper_bound) + 1
					      : die_number(&range, DW_AT_count)));
			} while (dwarf_siblingof(&range, &range) == 0);
		for (auto at = dimensions.rbegin(); at != dimensions.rend(); ++at)
			made = id(btf__add_array(types_, number(index_), number(made), *at));
		return made;
	}

	std::uint32_t composite(Dwarf_Die *type, const std::string &name, std::uint32_t size,
				int nesting)
	{
		const bool is_struct = dwarf_tag(type) == DW_TAG_structure_type;
		if (die_flag(type, DW_AT_declaration))
			return id(btf__add_fwd(types_, name.c_str(),
					       is_struct ? BTF_FWD_STRUCT : BTF_FWD_UNION));
		/* Each unit has a copy of what its headers define. */
		std::uint32_t unnamed = 0;
		std::uint32_t &known =
			name.empty() ? unnamed
				     : by_name_[name + (is_struct ? " " : " union ") +
						std::to_string(size) + " " +
						std::to_string(die_number(type, DW_AT_decl_line))];
		if (known)
			return known;
		struct Member {
			std::string name;
			std::uint32_t type, begin, bits;
		};
		std::vector<Member> members;
		Dwarf_Die die;
		if (dwarf_child(type, &die) == 0)
			do {
				if (dwarf_tag(&die) != DW_TAG_member)
					continue;
				const auto bytes = die_number(&die, DW_AT_data_member_location);
				const auto begin = dwarf_hasattr(&die, DW_AT_data_bit_offset)
							   ? die_number(&die, DW_AT_data_bit_offset)
							   : bytes * 8;
				members.push_back({die_name(&die), convert_type_of(&die, nesting),
						   static_cast<std::uint32_t>(begin),
						   static_cast<std::uint32_t>(
							   die_number(&die, DW_AT_bit_size))});
			} while (dwarf_siblingof(&die, &die) == 0);
		const std::uint32_t made =
			id(is_struct ? btf__add_struct(types_, name.c_str(), size)
				     : btf__add_union(types_, name.c_str(), size));
		for (const auto &member : members)
			btf__add_field(types_, member.name.c_str(), number(member.type),
				       member.begin, member.bits);
		known = made;
		if (is_struct && !name.empty() && made && !known_(name, size)) {
			out_.structs.push_back(made);
			own_.emplace(name, made);
		}
		return made;
	}

	void function(Dwarf_Die *die)
	{
		/* Copies that were inlined everywhere have no symbol. */
		Dwarf_Attribute attribute;
		if (!dwarf_attr(die, DW_AT_low_pc, &attribute) &&
		    !dwarf_attr(die, DW_AT_ranges, &attribute))
			return;
		const std::string name = die_text(die, DW_AT_name);
		if (name.empty())
			return;
		std::vector<std::uint32_t> parameters;
		locals(die, name, parameters, 0);
		const auto made = id(btf__add_func_proto(types_, number(convert_type_of(die, 0))));
		for (const auto type : parameters)
			btf__add_func_param(types_, "", number(type));
		out_.functions.emplace_back(name, made);
	}

	void locals(Dwarf_Die *scope, const std::string &function,
		    std::vector<std::uint32_t> &parameters, int nesting)
	{
		Dwarf_Die die;
		if (nesting > kMaxScopes || dwarf_child(scope, &die) != 0)
			return;
		do {
			const int tag = dwarf_tag(&die);
			if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
				locals(&die, function, parameters, nesting + 1);
				continue;
			}
			const bool parameter = tag == DW_TAG_formal_parameter;
			if (!parameter && tag != DW_TAG_variable)
				continue;
			const std::uint32_t type = convert_type_of(&die, 0);
			if (parameter && nesting == 0)
				parameters.push_back(type);
			if (const auto name = die_text(&die, DW_AT_name); type && !name.empty())
				local(function, name, type);
			if (tag == DW_TAG_variable)
				variable(&die);
		} while (dwarf_siblingof(&die, &die) == 0);
	}

	void local(const std::string &function, const std::string &name, std::uint32_t type)
	{
		const auto [first, last] = out_.locals.equal_range(function);
		const ModuleTypes::Named named(name, type);
		if (std::none_of(first, last,
				 [&](const auto &known) { return known.second == named; }))
			out_.locals.emplace(function, named);
	}

	void variable(Dwarf_Die *die)
	{
		const std::string name = die_text(die, DW_AT_name);
		if (!name.empty() && die_is_static(die))
			if (const auto type = convert_type_of(die, 0))
				out_.variables.push_back({name, type, unit_});
	}

	const KnownStruct &known_;
	btf *types_;
	std::uint32_t index_ = 0; ///< of arrays
	ModuleTypes out_;
	std::string unit_;
	std::unordered_map<Dwarf_Off, std::uint32_t> by_offset_;
	std::unordered_map<std::string, std::uint32_t> by_name_; ///< with size and line
	std::unordered_map<std::string, std::uint32_t> own_, declared_;
	std::vector<std::pair<std::uint32_t, std::string>> pointers_; ///< and name of the target
};

} // namespace

ModuleTypes module_types(Dwarf *dwarf, const KnownStruct &known)
{
	if (!dwarf)
		return {};
	Converter converter(known);
	Dwarf_Off at = 0, next = 0;
	std::size_t header = 0;
	for (; dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0; at = next) {
		Dwarf_Die unit;
		if (dwarf_offdie(dwarf, at + header, &unit))
			converter.unit(&unit);
	}
	return converter.finish();
}

} // namespace lockscope
