// SPDX-License-Identifier: GPL-2.0
// Names of accessed data, and of the locks that protect it.
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/// The accessed variable, for reports and for identifiers.
struct Variable {
	std::string name;   ///< "mod:stats.rx", "foo_cache+0x8 struct foo.count"
	std::string stable; ///< the same without a build-dependent offset
	std::string brief;  ///< for titles: "stats.rx", "struct foo.count"
	std::string type;   ///< "struct foo.count", "int"; empty when it is not known
};
Variable variable_of(const Model &model, const MemoryAccess &access);

/// Data::name from the fields of a record.
std::string data_name(ls_data_kind kind, const std::string &module, const std::string &name);

/// Guard::name; @lock may be nullptr. @self is the lock's member in the object accessed,
/// @pointer the member that leads to the lock's object and @behind the lock's member there,
/// all empty when unknown.
std::string guard_name(const LockClass *lock, const Guard &guard, const std::string &self,
		       const std::string &pointer, const std::string &behind);

/// Locks and contexts held at the access, outermost first, as in reports: the guards by name,
/// " (shared)" behind readers, then "irq", "bh", "preempt", "rcu" while those are disabled or
/// read-locked. Interrupt levels count as what they exclude [Eraser 3.4].
std::vector<std::string> lockset_of(const MemoryAccess &access);

} // namespace lockscope
