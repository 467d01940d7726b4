// SPDX-License-Identifier: GPL-2.0
// Variables as identifiers of findings have them.
#pragma once

#include "model/model.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockscope {

/// Members of static variables are known with debug information only, which one recording has
/// and another has not, so an identifier has the offset in its place: "mod:stats+0x8".
///
/// Elements of an array are one variable, "mod:table[]+0x8" for a member of each. An array is
/// seen by its accesses: one instruction is at kElements places or more at regular distances.
/// Code that works on members of a structure is not, unless it gets their addresses.
class VariableIds {
public:
	static constexpr std::size_t kElements = 4;

	explicit VariableIds(const Model &model);

	std::string of(const MemoryAccess &access) const;

private:
	/// Places that one instruction is at.
	struct Array {
		std::uint32_t low, high, stride;
	};

	const Model &model_;
	std::map<DataId, std::vector<Array>> arrays_;
};

} // namespace lockscope
