// SPDX-License-Identifier: GPL-2.0
// Findings with one cause are one entry of a report: the cause, if it is listed.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

struct Ranked {
	const Finding *finding = nullptr;
	std::size_t rank = 0; ///< from 1 on
};

struct Group {
	Ranked first;
	/// Those with the same cause, by the lock or dependency that they share with it.
	std::map<std::string, std::vector<Ranked>> more;
};

/// Groups of @shown, in its order.
std::vector<Group> groups_of(const Model &model, const std::vector<const Finding *> &shown);

} // namespace lockscope
