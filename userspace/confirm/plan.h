// SPDX-License-Identifier: GPL-2.0
// What has to meet for a finding to be proven: acquire sites or access sites of its sides.
#pragma once

#include "analysis/finding.h"
#include "lockclass/abi.h"
#include "model/model.h"
#include "util/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// One side of a deadlock or of a race; see abi_confirm.h.
struct PlannedSide {
	std::vector<Code> first, last; ///< acquire sites of both locks; or access sites, and none
	std::string holds, acquires;   ///< classes of the locks
	std::string interrupt;	       ///< "hardirq", "softirq": acquires the last lock; else empty
	std::string accesses;	       ///< of a race, the variable; else empty

	bool access() const { return last.empty(); }
};

struct PlannedFinding {
	std::string id, title;
	std::vector<PlannedSide> sides;
	bool deadly = false;	    ///< the deadlock is let happen, see LS_CONFIRM_DEADLY
	bool may_be_deadly = false; ///< make_deadly() has nothing against it
};

/// Sites of one end of a side that are used; the others are left out.
inline constexpr std::size_t kMostSites = 12;

/// The plan for @finding. An error says why there is none, in its text.
Result<PlannedFinding> plan_for(const Model &model, const Finding &finding);

/// Let @plan of @finding end in the deadlock. An error says why that cannot be.
Status make_deadly(const Model &model, const Finding &finding, PlannedFinding &plan);

/// Addresses of a place in the running kernel: several functions may have the name.
using Addresses = std::function<std::vector<std::uint64_t>(const Code &)>;

/// Plans as the module takes them.
struct ResolvedPlan {
	std::vector<std::size_t> findings; ///< index of each plan's finding
	std::vector<ls_confirm_plan> plans;
	std::vector<ls_confirm_point> points;
	/// Ends of sides without any address: their code is not loaded.
	std::vector<std::string> absent;
};

/// Those of @findings all of whose sides have code at present, as many as the module takes.
ResolvedPlan resolve(const std::vector<PlannedFinding> &findings, const Addresses &addresses);

} // namespace lockscope
