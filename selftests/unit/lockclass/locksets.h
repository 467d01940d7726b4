// SPDX-License-Identifier: GPL-2.0
// Locksets with their memory, and sets as C++ has them.
#pragma once

#include <map>

#include "core.h"

namespace lockscope::test {

// Address of a lock -> is it held exclusively?
using Locks = std::map<std::uint64_t, bool>;

class Locksets {
public:
	explicit Locksets(std::uint32_t max = 1000, std::uint32_t max_elements = 8000,
			  std::uint32_t bits = 12)
		: sets_((max + 1) * sizeof(ls_lockset)), elements_(max_elements * 8),
		  ids_(ls_tagtab_bytes(bits)), meets_(ls_tagtab_bytes(bits))
	{
		ls_locksets_init(&all, max, max_elements, static_cast<ls_lockset *>(sets_.get()),
				 static_cast<ls_u64 *>(elements_.get()), ids_.get(), meets_.get(),
				 bits);
	}
	// @elements in the order and as often as they come.
	std::uint32_t intern(std::vector<ls_u64> elements)
	{
		ls_u64 key = 0;

		for (ls_u64 e : elements)
			key = ls_lockset_key(key, e);
		return ls_lockset_intern(&all, elements.data(),
					 static_cast<ls_u32>(elements.size()), key);
	}
	std::uint32_t of(const Locks &locks)
	{
		std::vector<ls_u64> elements;

		for (const auto &[lock, exclusively] : locks)
			elements.push_back(ls_lockset_element(lock, !exclusively));
		return intern(elements);
	}
	Locks read(std::uint32_t id) const
	{
		Locks locks;

		if (id == LS_LOCKSET_NONE)
			return {{~0ull, false}}; // no set reads like this

		for (std::uint32_t i = 0; i < ls_lockset_size(&all, id); i++) {
			const ls_u64 e = ls_lockset_get(&all, id, i);

			locks[ls_lockset_lock(e)] = !(e & 1);
		}
		return locks;
	}

	ls_locksets all{};

private:
	Zeroed sets_, elements_, ids_, meets_;
};

// What the locks of two sets have in common, and does one keep their holders apart?
inline Locks common(const Locks &a, const Locks &b)
{
	Locks both;

	for (const auto &[lock, exclusively] : a)
		if (const auto other = b.find(lock); other != b.end())
			both[lock] = exclusively && other->second;
	return both;
}

inline bool apart(const Locks &a, const Locks &b)
{
	for (const auto &[lock, exclusively] : a)
		if (const auto other = b.find(lock);
		    other != b.end() && (exclusively || other->second))
			return true;
	return false;
}

inline Locks exclusive_ones(Locks locks)
{
	std::erase_if(locks, [](const auto &lock) { return !lock.second; });
	return locks;
}

} // namespace lockscope::test
