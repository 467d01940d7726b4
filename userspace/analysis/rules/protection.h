// SPDX-License-Identifier: GPL-2.0
// What an access holds, in the words of locking rules (selftests/rules/README.md).
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
	/// The same as the lock of some object: "other.inode.i_lock", or empty.
	std::string of_class = {};
	bool lock = true;
	/// The lock is tied to the object or to the whole system. Otherwise it is
	/// that of some object, and no guard of this one [LOCKSMITH].
	bool checked = true;
	bool exclusive = true;
	ls_relation relation = LS_REL_OTHER;
	CodeId taken{};		 ///< where; of contexts not known
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
	/// Classes with several locks in static memory, such as buckets of a hash:
	/// their name does not tell which one it is.
	std::set<ClassId> several_;
	/// "foo.lock" of classes whose own name does not tell, as kmalloc memory's: what
	/// the types say of those locks where a pointer leads to them. Empty: they differ.
	std::map<ClassId, std::string> places_;
};

} // namespace lockscope
