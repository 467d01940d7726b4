// SPDX-License-Identifier: GPL-2.0
// Indices over the accesses of a model.
#pragma once

#include "model/model.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace lockscope {

/// Key of a function as "module:name", without compiler suffixes; empty when the code is not
/// known.
std::string function_key(const Code &code);

/// Bytes that the CPU accesses atomically.
inline constexpr std::uint32_t kWordBytes = 8;

/// A place in an object or variable.
using Place = std::pair<DataId, std::uint32_t>;

class AccessIndex {
public:
	explicit AccessIndex(const Model &model);

	/// Accesses of all runs to bytes that @access touches, including itself.
	std::vector<std::size_t> overlapping(const MemoryAccess &access) const;

	/// Accesses of all runs to @data.
	const std::vector<std::size_t> &of(DataId data) const;

	/// Was a lock ever acquired in @code's function?
	bool takes_locks(const Code &code) const;
	/// Number of places that accesses in the function write.
	std::size_t written_in(const std::string &function) const;
	/// Number of places that accesses in the function touch with no lock held.
	std::size_t unlocked_in(const std::string &function) const;

	/// Critical sections, each with everything that was accessed with a lock held from one
	/// acquire site: those that touch the place alone, and others that begin and end with it.
	struct Roles {
		std::size_t only = 0, first = 0, last = 0;
	};
	Roles roles_of(const Place &place) const;

	/// Name of the task with that PID, by its last access in @run; empty: it is not known.
	std::string comm_of(std::uint32_t run, std::uint32_t pid) const;

private:
	const Model &model_;
	std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_data_;
	std::unordered_set<std::string> locking_;
	std::unordered_map<std::string, std::set<Place>> written_, unlocked_;
	std::map<Place, Roles> roles_;
	std::map<std::pair<std::uint32_t, std::uint32_t>, const std::string *> comms_;
};

} // namespace lockscope
