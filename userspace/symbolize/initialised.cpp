// SPDX-License-Identifier: GPL-2.0
// The lock that an initialiser's words mean, "&dev->queue.lock", by the types of the variables of
// the function that has them.
#include "symbolize/btf_types.h"
#include "symbolize/fields.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace lockscope {

namespace {

constexpr int kMaxUnnamed = 12;

/// "foo->bar" of "&(foo->bar)".
std::string_view inner_words(std::string_view words)
{
	for (;;) {
		while (!words.empty() && (words.front() == ' ' || words.front() == '&'))
			words.remove_prefix(1);
		while (!words.empty() && words.back() == ' ')
			words.remove_suffix(1);
		/* The only pair, around all of it. */
		if (words.size() < 2 || words.front() != '(' || words.back() != ')' ||
		    words.find('(', 1) != words.npos)
			return words;
		words = words.substr(1, words.size() - 2);
	}
}

/// Take a name from the beginning; empty when there is none.
std::string take_name(std::string_view &words)
{
	std::size_t n = 0;
	while (n < words.size() &&
	       (words[n] == '_' || std::isalnum(static_cast<unsigned char>(words[n]))))
		n++;
	const std::string name(words.substr(0, n));
	words.remove_prefix(n);
	return name;
}

/// Type of the member @name, also of an unnamed struct or union inside; 0: there is none.
std::uint32_t member_type(const btf *types, const btf_type *type, const std::string &name,
			  int nesting)
{
	for (int i = 0; i < btf_vlen(type); i++) {
		const btf_member &member = btf_members(type)[i];
		const char *found = btf__name_by_offset(types, member.name_off);
		if (found && name == found)
			return member.type;
		const btf_type *inner =
			member.name_off ? nullptr : resolve(types, member.type, nullptr);
		if (inner && btf_is_composite(inner) && nesting < kMaxUnnamed)
			if (const auto within = member_type(types, inner, name, nesting + 1))
				return within;
	}
	return 0;
}

bool has_lock(const btf *types, std::uint32_t id, ls_kind kind)
{
	const btf_type *type = resolve(types, id, nullptr);
	if (!type || !btf_is_composite(type))
		return false;
	for (std::uint32_t offset = 0; offset < type->size; offset += 4)
		if (const auto lock = find_lock(types, id, offset, kind, 0);
		    lock && !lock->path.starts_with('['))
			return true;
	return false;
}

} // namespace

std::string FieldNames::initialised(const std::string &words, const std::string &module,
				    const std::string &function, ls_kind kind)
{
	std::string_view rest = inner_words(words);
	const std::string base = take_name(rest);
	if (base.empty() || rest.empty())
		return {};
	/* The module may be new. */
	if (owned_.empty() || std::find(loaded_.begin(), loaded_.end(), module) == loaded_.end())
		load();

	/* A place in a type, by what was followed so far. */
	struct Walk {
		const btf *types;
		std::uint32_t id;
		std::string outer, path;
	};
	const auto enter = [&](Walk &walk) -> const btf_type * {
		const btf_type *type = resolve(walk.types, walk.id, nullptr);
		if (type && btf_is_fwd(type)) {
			const auto *known = named("struct " + type_name(walk.types, type));
			if (!known)
				return nullptr;
			walk.types = known->types;
			walk.id = known->id;
			type = btf__type_by_id(known->types, known->id);
		}
		return type && btf_is_composite(type) ? type : nullptr;
	};
	const auto dereference = [&](Walk &walk) -> bool {
		const btf_type *type = resolve(walk.types, walk.id, nullptr);
		if (type && btf_is_array(type)) {
			walk.id = btf_array(type)->type;
			walk.path += "[]";
			return true;
		}
		if (!type || !btf_is_ptr(type))
			return false;
		walk.id = type->type;
		walk.outer.clear();
		walk.path.clear();
		return true;
	};
	const auto member = [&](Walk &walk, const std::string &name) -> bool {
		const btf_type *type = enter(walk);
		if (!type)
			return false;
		if (walk.outer.empty()) {
			const std::string own = type_name(walk.types, type);
			if (own.empty() || !btf_is_struct(type))
				return false;
			walk.outer = "struct " + own;
		}
		walk.path += "." + name;
		walk.id = member_type(walk.types, type, name, 0);
		return walk.id != 0;
	};
	const auto follow = [&](Variable from) -> std::string {
		Walk walk{from.types, from.type, {}, {}};
		for (std::string_view left = rest; !left.empty();) {
			if (left.front() == '[') {
				const auto end = left.find(']');
				if (end == left.npos || !dereference(walk))
					return {};
				left.remove_prefix(end + 1);
				continue;
			}
			const bool arrow = left.starts_with("->");
			if (!arrow && left.front() != '.')
				return {};
			left.remove_prefix(arrow ? 2 : 1);
			if ((arrow && !dereference(walk)) || !member(walk, take_name(left)))
				return {};
		}
		return walk.path.starts_with('.') && has_lock(walk.types, walk.id, kind)
			       ? walk.outer + walk.path
			       : std::string();
	};

	std::set<std::string> found;
	const auto [begin, end] = locals_.equal_range(source_name(function));
	for (auto at = begin; at != end; ++at)
		if (at->second.name == base && loaded_[at->second.file] == module)
			if (auto place = follow(at->second.variable); !place.empty())
				found.insert(std::move(place));
	return found.size() == 1 ? *found.begin() : "";
}

} // namespace lockscope
