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

struct Numbered {
	const Finding *finding = nullptr;
	/// From 1 on, each its own: first the groups, in their order, then those in them.
	std::size_t number = 0;
};

struct Group {
	Numbered first;
	/// Those with the same cause, by the lock or dependency that they share with it.
	std::map<std::string, std::vector<Numbered>> more;
};

/// Groups of @shown, in its order.
std::vector<Group> groups_of(const Model &model, const std::vector<const Finding *> &shown);

} // namespace lockscope
