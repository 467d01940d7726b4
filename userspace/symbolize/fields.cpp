// SPDX-License-Identifier: GPL-2.0
#include "symbolize/fields.h"

#include "symbolize/btf_types.h"
#include "util/file.h"
#include "util/text.h"

#include <bpf/btf.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

namespace lockscope {

namespace {

/// Caches whose names share no word with their type, or one with too many others.
constexpr std::pair<const char *, const char *> kCacheTypes[] = {
	{"filp", "file"},
	{"mnt_cache", "mount"},
	{"eventpoll_epi", "epitem"},
	{"eventpoll_pwq", "eppoll_entry"},
};

/* Shorter words match too much. */
constexpr std::size_t kMinWord = 3;

/// Size of the kmalloc() object for @bytes.
std::uint32_t kmalloc_size(std::uint32_t bytes)
{
	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	return std::max(8u, std::bit_ceil(bytes));
}

/// Words of a name, in lower case: there are caches like "UNIX-STREAM", and "TCPv6" of tcp6_sock.
std::vector<std::string> words(std::string name)
{
	for (char &c : name)
		c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	auto found = split(name, '_');
	for (auto &word : found)
		if (word.size() > kMinWord && word.ends_with("v6"))
			word.erase(word.size() - 2, 1);
	return found;
}

/// Is the cache named after that struct, whatever its size?
bool is_named(const std::string &cache, const std::string &type)
{
	return type == cache ||
	       std::any_of(std::begin(kCacheTypes), std::end(kCacheTypes), [&](const auto &known) {
		       return cache == known.first && type == known.second;
	       });
}

/// Does the cache's name begin with that of a struct? Names of one word are too common.
bool is_extended(const std::string &cache, const std::string &type)
{
	return cache.size() > type.size() && cache.starts_with(type) && cache[type.size()] == '_' &&
	       type.find('_') != type.npos;
}

} // namespace

FieldNames::FieldNames(std::string dir, std::string caches)
	: dir_(std::move(dir)), caches_(std::move(caches))
{
}

FieldNames::~FieldNames()
{
	/* Module types refer to the kernel's: free those first. */
	for (auto at = owned_.rbegin(); at != owned_.rend(); ++at)
		btf__free(*at);
}

void FieldNames::use_debug_information(DebugInformation find, std::string modules)
{
	debug_information_ = std::move(find);
	modules_ = std::move(modules);
}

int FieldNames::similarity(const std::string &cache, const std::string &type)
{
	static const std::set<std::string> common = {"cache", "cachep", "info", "struct", "slab",
						     "jar",   "data",	"head", "node",	  "t"};
	int shared = 0;
	const auto type_words = words(type);
	for (const auto &word : words(cache))
		shared += !common.count(word) &&
			  std::any_of(type_words.begin(), type_words.end(), [&](const auto &other) {
				  /* "sock" and "socket" count as one word. */
				  const auto least = std::min(word.size(), other.size());
				  return least >= kMinWord &&
					 word.compare(0, least, other, 0, least) == 0;
			  });
	return shared;
}

bool FieldNames::merged(const std::string &cache) const
{
	return std::strtoul(read_line(caches_ + "/" + cache + "/aliases").c_str(), nullptr, 10) > 0;
}

/// All caches that share the memory of this one, including itself. Merged ones are links to
/// one folder.
std::vector<std::string> FieldNames::sharers(const std::string &cache) const
{
	namespace fs = std::filesystem;
	std::error_code error;
	const fs::path shared = fs::canonical(caches_ + "/" + cache, error);
	std::vector<std::string> found;
	for (const auto &entry : fs::directory_iterator(caches_, error))
		if (entry.is_symlink(error) && fs::canonical(entry.path(), error) == shared)
			found.push_back(entry.path().filename());
	return found;
}

LockField FieldNames::find(const std::string &cache, std::uint32_t object_size,
			   std::uint32_t offset, ls_kind kind)
{
	if (!merged(cache))
		return best_field(cache, object_size, offset, kind);
	LockField only;
	for (const auto &name : sharers(cache)) {
		const std::string type = best_type(name, object_size);
		if (type.empty())
			return {};
		auto found = field(type, offset, kind);
		if (!found.path.empty() && !only.path.empty() && found.path != only.path)
			return {};
		if (!found.path.empty())
			only = found;
	}
	return only;
}

LockField FieldNames::best_field(const std::string &cache, std::uint32_t object_size,
				 std::uint32_t offset, ls_kind kind)
{
	for (int round = 0; round < 2; round++) {
		/* Second round: the type may be in a new module. */
		if (round == 1 || owned_.empty())
			load();
		LockField best;
		int best_score = 0, ties = 0;
		std::set<std::string> seen;
		for (const auto at : candidates(cache, object_size)) {
			const auto &candidate = structs_[at];
			const bool named = is_named(cache, candidate.name);
			const bool extended =
				candidate.size <= object_size && is_extended(cache, candidate.name);
			if ((candidate.size != object_size && !named && !extended) ||
			    offset >= candidate.size)
				continue;
			auto found = find_lock(candidate.types, candidate.id, offset, kind, 0);
			/* A bare lock is no field. */
			if (!found || found->path.empty())
				continue;
			found->path.insert(0, "struct " + candidate.name);
			/* Several modules may have a copy of one struct. */
			if (!seen.insert(found->path).second)
				continue;
			const int score =
				named ? 1000 : similarity(cache, candidate.name) + extended;
			/* Size alone is not significant. */
			if (score == 0)
				continue;
			ties = score == best_score ? ties + 1 : score > best_score ? 1 : ties;
			if (score > best_score) {
				best_score = score;
				best = *found;
			}
		}
		if (!best.path.empty())
			return ties == 1 ? best : LockField{};
	}
	return {};
}

/*
 * "a.c" of "mod:lock#1": symbols that share a name are numbered in the order of the files that the
 * module is linked from. Empty where one file has several.
 */
std::string FieldNames::unit_of(const std::string &variable) const
{
	const auto sharp = variable.rfind('#');
	if (sharp == variable.npos)
		return {};
	const auto number = std::strtoul(variable.c_str() + sharp + 1, nullptr, 10);
	const auto at = units_.find(variable.substr(0, sharp));
	if (at == units_.end() || number == 0 || number > at->second.size())
		return {};
	const auto &units = at->second;
	const std::set<std::string> distinct(units.begin(), units.end());
	return distinct.size() == units.size() ? units[number - 1] : std::string();
}

LockField FieldNames::variable(const std::string &name, ls_kind kind)
{
	if (owned_.empty())
		load();
	if (const std::string unit = unit_of(name); !unit.empty())
		return {"(" + unit + ")", ""};
	/* Neither part contains a colon or a plus of its own. */
	const auto colon = name.find(':'), begin = colon == name.npos ? 0 : colon + 1;
	const auto plus = name.find("+0x", begin);
	std::uint32_t offset = 0;
	if (plus != name.npos)
		offset = static_cast<std::uint32_t>(
			std::strtoul(name.c_str() + plus + 1, nullptr, 16));
	const auto [first, last] =
		variables_.equal_range(name.substr(begin, plus == name.npos ? plus : plus - begin));
	if (first == last || std::next(first) != last)
		return {};
	const Variable &variable = first->second;
	auto found = find_lock(variable.types, variable.type, offset, kind, 0);
	if (!found)
		return {};
	const btf_type *type = resolve(variable.types, variable.type, nullptr);
	const std::string outer = variable.described && type && btf_is_struct(type)
					  ? type_name(variable.types, type)
					  : "";
	if (outer.empty() || !found->path.starts_with('.'))
		return {"", found->type};
	return {"struct " + outer + found->path, found->type};
}

std::string FieldNames::type_of_cache(const std::string &cache, std::uint32_t object_size)
{
	return merged(cache) ? std::string() : best_type(cache, object_size);
}

std::string FieldNames::best_type(const std::string &cache, std::uint32_t object_size)
{
	for (int round = 0; round < 2; round++) {
		/* Second round: the type may be in a new module. */
		if (round == 1 || owned_.empty())
			load();
		std::string best;
		int best_score = 0;
		bool tie = false;
		for (const auto at : candidates(cache, object_size)) {
			const auto &candidate = structs_[at];
			const bool named = is_named(cache, candidate.name);
			if ((candidate.size != object_size || object_size == 0) && !named)
				continue;
			const int score = named ? 1000 : similarity(cache, candidate.name);
			if (score > best_score || (score == best_score && candidate.name != best))
				tie = score == best_score;
			if (score > best_score) {
				best_score = score;
				best = candidate.name;
			}
		}
		if (!best.empty())
			return tie ? "" : "struct " + best;
	}
	return {};
}

std::string FieldNames::type_of_allocation(const std::string &function, std::uint32_t object_size,
					   const std::optional<LockPlace> &place)
{
	for (int round = 0; round < 2; round++) {
		/* Second round: the function may be in a new module. */
		if (round == 1 || owned_.empty())
			load();
		std::set<std::string> returned, given, kept;
		auto add = [&](const btf *types, std::uint32_t id, std::set<std::string> &to) {
			const btf_type *type = pointed_to(types, id);
			if (!type || !btf_is_struct(type) || !type->name_off ||
			    kmalloc_size(type->size) != object_size)
				return;
			const auto target = resolve(types, id, nullptr)->type;
			const auto lock =
				place ? find_lock(types, target, place->offset, place->kind, 0)
				      : std::nullopt;
			if (!place || (lock && !lock->path.empty()))
				to.insert("struct " + type_name(types, type));
		};
		const auto [first, last] = functions_.equal_range(function);
		for (auto at = first; at != last; ++at) {
			const btf *types = at->second.types;
			const btf_type *prototype = btf__type_by_id(types, at->second.type);
			if (!prototype || !btf_is_func_proto(prototype))
				continue;
			add(types, prototype->type, returned);
			for (int i = 0; i < btf_vlen(prototype); i++)
				if (const auto id = btf_params(prototype)[i].type;
				    const auto *outer = resolve(types, id, nullptr))
					if (btf_is_ptr(outer))
						add(types, outer->type, given);
		}
		const auto [begin, end] = locals_.equal_range(source_name(function));
		for (auto at = begin; at != end; ++at)
			add(at->second.variable.types, at->second.variable.type, kept);
		for (const auto *found : {&returned, &given, &kept})
			if (!found->empty())
				return found->size() == 1 ? *found->begin() : "";
	}
	return {};
}

std::pair<std::uint32_t, std::uint32_t> FieldNames::allocated_sizes(std::uint32_t object_size)
{
	std::uint32_t least = object_size / 2 + 1;
	if (object_size == 128 || object_size == 256)
		least = object_size / 4 * 3 + 1;
	else if (object_size == 96 || object_size == 192)
		least = object_size / 3 * 2 + 1;
	else if (object_size <= 8)
		least = 1;
	return {least, object_size};
}

std::string FieldNames::type_of_object(const std::string &module, std::uint32_t least,
				       std::uint32_t most, const std::vector<LockPlace> &places)
{
	constexpr std::size_t kPlacesOfKernelTypes = 3;
	if (places.empty())
		return {};
	if (owned_.empty() || std::find(loaded_.begin(), loaded_.end(), module) == loaded_.end())
		load();
	const Struct *found = nullptr;
	bool exact = false;
	for (const auto &candidate : structs_) {
		if (candidate.size > most)
			continue;
		const std::string &file = loaded_[candidate.file];
		if (file != module && file != "vmlinux")
			continue;
		const bool fits = candidate.size >= least;
		/* In the kernel too many structs end with an array of bytes. */
		if (!fits && (least != most || file == "vmlinux" ||
			      !may_have(candidate.types,
					btf__type_by_id(candidate.types, candidate.id), most)))
			continue;
		if (!std::all_of(places.begin(), places.end(), [&](const LockPlace &place) {
			    auto lock = find_lock(candidate.types, candidate.id, place.offset,
						  place.kind, 0);
			    return lock && !lock->path.empty();
		    }))
			continue;
		/* A struct with the exact size is preferred to a shorter one. */
		if (found && exact && !fits)
			continue;
		if (found && exact == fits && found->name != candidate.name)
			return {};
		found = &candidate;
		exact = fits;
	}
	if (!found || (loaded_[found->file] == "vmlinux" && places.size() < kPlacesOfKernelTypes))
		return {};
	return "struct " + found->name;
}

LockField FieldNames::field(const std::string &type, std::uint32_t offset, ls_kind kind)
{
	if (owned_.empty())
		load();
	LockField only;
	for (const auto at : called(type)) {
		const auto &candidate = structs_[at];
		auto found = find_lock(candidate.types, candidate.id, offset, kind, 0);
		if (!found || !found->path.starts_with('.'))
			continue;
		if (!only.path.empty() && only.path != type + found->path)
			return {};
		only = {type + found->path, found->type};
	}
	return only;
}

std::string FieldNames::type_of_percpu(const std::string &symbol)
{
	if (owned_.empty())
		load();
	const auto [first, last] = variables_.equal_range(symbol);
	if (first == last || std::next(first) != last)
		return {};
	const btf_type *type = resolve(first->second.types, first->second.type, nullptr);
	return type && btf_is_struct(type) && type->name_off
		       ? "struct " + type_name(first->second.types, type)
		       : std::string();
}

std::vector<std::size_t> FieldNames::called(const std::string &type) const
{
	constexpr std::string_view prefix = "struct ";
	if (!type.starts_with(prefix))
		return {};
	const auto at = by_name_.find(type.substr(prefix.size()));
	return at == by_name_.end() ? std::vector<std::size_t>() : at->second;
}

const FieldNames::Struct *FieldNames::named(const std::string &type) const
{
	const auto found = called(type);
	return found.empty() ? nullptr : &structs_[found.front()];
}

bool FieldNames::is_of_kernel(const std::string &name, std::uint32_t size) const
{
	const auto at = by_name_.find(name);
	return at != by_name_.end() &&
	       std::any_of(at->second.begin(), at->second.end(), [&](std::size_t i) {
		       return structs_[i].size == size && loaded_[structs_[i].file] == "vmlinux";
	       });
}

std::vector<std::size_t> FieldNames::candidates(const std::string &cache,
						std::uint32_t object_size) const
{
	std::vector<std::size_t> found;
	const auto add = [&found](const auto &index, const auto &key) {
		if (const auto at = index.find(key); at != index.end())
			found.insert(found.end(), at->second.begin(), at->second.end());
	};
	add(by_size_, object_size);
	add(by_name_, cache);
	for (const auto &[known, type] : kCacheTypes)
		if (cache == known)
			add(by_name_, std::string(type));
	for (auto end = cache.find('_'); end != cache.npos; end = cache.find('_', end + 1))
		add(by_name_, cache.substr(0, end));
	std::sort(found.begin(), found.end());
	found.erase(std::unique(found.begin(), found.end()), found.end());
	return found;
}

std::string FieldNames::path(const std::string &type, std::uint32_t offset, ls_kind lock)
{
	const Struct *found = named(type);
	if (!found)
		return {};
	if (lock == LS_KIND_NONE)
		return member_path(found->types, btf__type_by_id(found->types, found->id), offset,
				   0);
	auto inner = find_lock(found->types, found->id, offset, lock, 0);
	return inner && inner->path.starts_with('.') ? inner->path.substr(1) : std::string();
}

std::string FieldNames::pointee(const std::string &type, std::uint32_t via, std::uint32_t offset,
				ls_kind lock)
{
	if (owned_.empty())
		load();
	const Struct *outer = named(type);
	if (!outer)
		return {};
	const auto to = pointer_at(outer->types, outer->id, via, 0);
	const btf_type *found = to ? resolve(outer->types, to, nullptr) : nullptr;
	if (!found)
		return {};
	const std::string name = type_name(outer->types, found);
	if (btf_is_fwd(found)) {
		/* Another module's: only its name is known here. */
		auto inner = path("struct " + name, offset, lock);
		return inner.empty() ? inner : "struct " + name + "." + inner;
	}
	auto field = btf_is_struct(found) && !name.empty()
			     ? find_lock(outer->types, to, offset, lock, 0)
			     : std::nullopt;
	return field && field->path.starts_with('.') ? "struct " + name + field->path
						     : std::string();
}

} // namespace lockscope
