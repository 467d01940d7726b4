// SPDX-License-Identifier: GPL-2.0
#include "symbolize/class_field.h"

#include <algorithm>

namespace lockscope {

namespace {

/// "foo" of "kmalloc-64+0x8 @ foo (role)"; empty if the function does not determine the type:
/// for an array "[]", and for "kmalloc-64(40)+0x8", which is distinguished by size only.
std::string allocator_of(const std::string &name)
{
	const auto at = name.rfind(" @ ");
	if (at == name.npos || name.find("[]") < at || name.find(")+0x") < at)
		return {};
	const std::string rest = name.substr(at + 3);
	return rest.substr(0, rest.find(" ("));
}

std::string key_of(const std::string &function, const std::string &module, std::uint32_t size)
{
	return function + " " + module + " " + std::to_string(size);
}

void add_place(std::vector<FieldNames::LockPlace> &places, const ClassRecord &record)
{
	const FieldNames::LockPlace place{record.offset, static_cast<ls_kind>(record.kind)};
	if (std::find(places.begin(), places.end(), place) == places.end())
		places.push_back(place);
}

} // namespace

const std::string &ClassFields::type_of(Objects &objects, const std::string &module,
					std::uint32_t least, std::uint32_t most)
{
	if (objects.tried != objects.places.size() || objects.module != module) {
		objects.type = names_.type_of_object(module, least, most, objects.places);
		objects.tried = objects.places.size();
		objects.module = module;
	}
	return objects.type;
}

LockField ClassFields::in_cache(const ClassRecord &record)
{
	const auto kind = static_cast<ls_kind>(record.kind);
	const std::string cache = record.name.substr(0, record.name.rfind("+0x"));
	Objects &objects = objects_[cache + " " + std::to_string(record.object_size)];
	const std::string lock = record.name + " " + std::to_string(record.kind);
	if (!objects.missed.count(lock)) {
		auto found = names_.find(cache, record.object_size, record.offset, kind);
		if (!found.path.empty())
			return found;
		objects.missed.insert(lock);
	}
	add_place(objects.places, record);
	const std::string &type =
		type_of(objects, record.module, record.object_size, record.object_size);
	return type.empty() ? LockField{} : names_.field(type, record.offset, kind);
}

LockField ClassFields::in_allocation(const ClassRecord &record)
{
	const std::string function = allocator_of(record.name);
	/* Per-CPU memory has no size, elements of arrays no offset, large memory neither a
	 * size nor a single type. */
	if (function.empty() || !record.object_size || record.offset >= record.object_size)
		return {};
	add_place(objects_[key_of(function, record.module, record.object_size)].places, record);
	const auto kind = static_cast<ls_kind>(record.kind);
	std::string type = allocated(function, record.module, record.object_size);
	/* A function may allocate several objects of one size. */
	if (type.empty())
		type = names_.type_of_allocation(function, record.object_size,
						 FieldNames::LockPlace{record.offset, kind});
	return type.empty() ? LockField{} : names_.field(type, record.offset, kind);
}

LockField ClassFields::in_words(const ClassRecord &record) const
{
	const auto site = record.name.rfind(" @ ");
	if (site == record.name.npos)
		return {};
	const std::string function = record.name.substr(site + 3);
	return {names_.initialised(record.name.substr(0, site), record.module,
				   function.substr(0, function.find(" (")),
				   static_cast<ls_kind>(record.kind)),
		""};
}

std::string ClassFields::allocated(const std::string &function, const std::string &module,
				   std::uint32_t object_size)
{
	Objects &objects = objects_[key_of(function, module, object_size)];
	if (objects.missed.insert(function).second) {
		objects.type = names_.type_of_allocation(function, object_size);
		objects.handed_out = !objects.type.empty();
	}
	if (objects.handed_out)
		return objects.type;
	const auto [least, most] = FieldNames::allocated_sizes(object_size);
	return type_of(objects, module, least, most);
}

LockField ClassFields::find(const ClassRecord &record)
{
	const auto kind = static_cast<ls_kind>(record.kind);
	switch (record.origin) {
	case LS_ORIGIN_SLAB:
		return in_cache(record);
	case LS_ORIGIN_ALLOC:
		return in_allocation(record);
	case LS_ORIGIN_INIT:
		return in_words(record);
	case LS_ORIGIN_STATIC:
	case LS_ORIGIN_PERCPU:
		return names_.variable(record.name, kind);
	default:
		return {};
	}
}

} // namespace lockscope
