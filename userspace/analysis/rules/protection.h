// SPDX-License-Identifier: GPL-2.0
// The locks and contexts held at an access, in terms of locking rules
// (selftests/rules/README.md).
#pragma once

#include "model/model.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockscope {

/// One lock, or one context, that an access holds.
struct Protection {
	std::string term; ///< "self.i_lock", "global.sb_lock", "irq"
	/// The same as a lock of an unknown object: "other.inode.i_lock", or empty.
	std::string of_class = {};
	bool lock = true;
	/// Is the lock tied to the object or global? Otherwise it belongs to an unknown
	/// object, and is no guard of this one [LOCKSMITH].
	bool checked = true;
	bool exclusive = true;
	ls_relation relation = LS_REL_OTHER;
	CodeId taken{};		 ///< acquire site; not known for contexts
	std::size_t nesting = 0; ///< 0: the outermost

	bool operator==(const Protection &other) const
	{
		return term == other.term && exclusive == other.exclusive;
	}
	bool operator<(const Protection &other) const
	{
		return term != other.term ? term < other.term : exclusive < other.exclusive;
	}
};

/// Terms that are no locks.
inline constexpr const char *kIrq = "irq", *kBh = "bh", *kPreempt = "preempt", *kRcu = "rcu",
			    *kSeqcount = "seqcount";

class Protections {
public:
	explicit Protections(const Model &model);
	/// By term; a lock held several times is there once.
	std::vector<Protection> of(const MemoryAccess &access) const;

private:
	std::string term(const MemoryAccess &access, const Guard &guard) const;
	std::string of_class(const Guard &guard) const;

	const Model &model_;
	/// Classes with several locks in static memory, such as buckets of a hash: the name
	/// does not identify the lock.
	std::set<ClassId> several_;
	/// "foo.lock" for classes whose own name is not specific, as in kmalloc memory: type
	/// information about those locks where a pointer leads to them. Empty: it differs.
	std::map<ClassId, std::string> places_;
};

} // namespace lockscope
