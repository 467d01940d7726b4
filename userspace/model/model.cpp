// SPDX-License-Identifier: GPL-2.0
#include "model/model.h"

#include <cstdio>
#include <iterator>

namespace lockscope {

ClassId Model::intern(LockClass cls)
{
	/* The member in the name of a lock that a symbol or words identify may be known in one
	 * run only. */
	const auto key = [](const LockClass &of) -> const std::string & {
		return of.origin == LS_ORIGIN_SLAB || of.origin == LS_ORIGIN_ALLOC ? of.name
										   : of.stable;
	};
	const auto hash = NameHash()
				  .add(key(cls))
				  .add(static_cast<std::uint64_t>(cls.kind))
				  .add(cls.module)
				  .add(cls.within)
				  .value();
	const auto next = static_cast<std::uint32_t>(classes.size());
	const auto number = classes_by_name_.find_or_add(hash, next, [&](std::uint32_t i) {
		const auto &other = classes[i];
		return key(other) == key(cls) && other.kind == cls.kind &&
		       other.module == cls.module && other.within == cls.within;
	});
	if (number == next) {
		classes.push_back(std::move(cls));
		return ClassId(number);
	}
	LockClass &known = classes[number];
	if (known.type.empty())
		known.type = std::move(cls.type);
	if (known.name.size() < cls.name.size())
		known.name = std::move(cls.name);
	return ClassId(number);
}

CodeId Model::intern(Code place)
{
	if (place.function.empty())
		return CodeId{};
	const auto hash = NameHash()
				  .add(place.function)
				  .add(place.offset)
				  .add(place.module)
				  .add(place.build_id)
				  .value();
	const auto next = static_cast<std::uint32_t>(code.size());
	const auto number = code_by_name_.find_or_add(hash, next, [&](std::uint32_t i) {
		const auto &other = code[i];
		return other.function == place.function && other.offset == place.offset &&
		       other.module == place.module && other.build_id == place.build_id;
	});
	if (number == next)
		code.push_back(std::move(place));
	else if (code[number].lines.empty())
		code[number].lines = std::move(place.lines);
	return CodeId(number);
}

DataId Model::intern(Data item)
{
	std::string key =
		item.name + '\0' + static_cast<char>(item.kind) + item.module + '\0' + item.within;
	/* One function may allocate several types: unknown ones are distinguished by size. */
	if (item.kind == LS_DATA_ALLOC)
		key += '\0' + (item.type.empty() ? std::to_string(item.object_size) : item.type);
	auto [at, added] = data_by_name_.try_emplace(
		std::move(key), DataId(static_cast<std::uint32_t>(data.size())));
	if (added)
		data.push_back(std::move(item));
	else if (data[index(at->second)].type.empty())
		data[index(at->second)].type = std::move(item.type);
	return at->second;
}

std::uint64_t Model::counter(const std::string &name) const
{
	std::uint64_t sum = 0;
	for (const auto &run : runs)
		if (auto at = run.counters.find(name); at != run.counters.end())
			sum += at->second;
	return sum;
}

std::string system_name(const std::string &release)
{
	return (release.starts_with(kTraceRelease) ? "" : "kernel ") + release;
}

bool numbered(const std::string &name)
{
	for (auto at = name.find('#'); at != name.npos; at = name.find('#', at + 1))
		if (at + 1 < name.size() && name[at + 1] >= '1' && name[at + 1] <= '9')
			return true;
	return false;
}

const LockClass &special_class(ClassId id)
{
	auto named = [](const char *name) {
		LockClass cls;
		cls.name = cls.stable = name;
		return cls;
	};
	auto make = [&](const char *name) {
		LockClass cls = named(name);
		cls.kind = kInterruptKind;
		cls.origin = LS_ORIGIN_STATIC;
		cls.module = "vmlinux";
		return cls;
	};
	static const LockClass hardirq = make("<hardirq>"), softirq = make("<softirq>"),
			       unknown = named("?");
	return id == kHardirqClass ? hardirq : id == kSoftirqClass ? softirq : unknown;
}

const Code kUnknownCode{};
const Data kUnknownData{};

const char *kind_name(ls_kind kind)
{
	static constexpr const char *names[] = {
#define LS_ROW(symbol, value, name, wait) name,
		LS_LOCK_KINDS(LS_ROW)
#undef LS_ROW
			"irq"};
	static_assert(std::size(names) == kInterruptKind + 1);
	return kind <= kInterruptKind ? names[kind] : names[0];
}

const char *origin_name(ls_origin origin)
{
	static constexpr const char *names[] = {"site",	     "static",	"static", "init",
						"slab",	     "alloc",	"alloc",  "site",
						"annotated", "function"};
	static_assert(std::size(names) == LS_NR_ORIGINS);
	return origin < LS_NR_ORIGINS ? names[origin] : names[0];
}

const char *level_name(std::uint32_t val)
{
	static constexpr const char *names[] = {LS_LEVEL_NAMES};
	static_assert(std::size(names) == LS_NR_LEVELS);
	return names[level_of(val)];
}

std::string place_name(const Code &code)
{
	if (code.function.empty())
		return "?";
	char offset[24] = "";
	/* No return address is the start of a function; a place of a trace has no offset. */
	if (code.offset)
		std::snprintf(offset, sizeof(offset), "+0x%llx",
			      static_cast<unsigned long long>(code.offset));
	std::string out = code.function + offset;
	if (!code.module.empty() && code.module != "vmlinux")
		out += " [" + code.module + "]";
	return out;
}

} // namespace lockscope
