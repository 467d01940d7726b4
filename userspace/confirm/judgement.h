// SPDX-License-Identifier: GPL-2.0
// From what the module counted at its gates to a verdict.
#pragma once

#include "confirm/plan.h"
#include "model/verdict.h"

#include <functional>
#include <string>

namespace lockscope {

/// Add @more, a later part of the same finding's plan, to @sum. Evidence of the first
/// confirmation stays.
void add_state(ls_confirm_state &sum, const ls_confirm_state &more);

/// Names of this run.
struct ConfirmNames {
	std::function<std::string(std::uint32_t)> lock_class; ///< by id
	std::function<std::string(std::uint64_t)> place;      ///< by return address
};

/// Are there no further directions in which the sides could meet?
bool fully_confirmed(const PlannedFinding &finding, const ls_confirm_state &state);

/// The verdict after @seconds with the plan set. No result here depends on time alone: a
/// refuted finding had enough opportunities to be confirmed.
Verdict judge(const PlannedFinding &finding, const ls_confirm_state &state, double seconds,
	      const ConfirmNames &names);

} // namespace lockscope
