// SPDX-License-Identifier: GPL-2.0
// Accesses without the lock that other accesses hold, as findings.
#pragma once

#include "analysis/finding.h"
#include "analysis/rules/guards.h"

#include <vector>

namespace lockscope {

/// One for each variable, kind of access and function that breaks a rule; all are possible,
/// since rules are statistical. Warnings where the rule's z is kSureZ or more, notes where it
/// is less.
std::vector<Finding> guard_violations(const Model &model, const std::vector<Rule> &rules);

/// Is a data race over the variable, with a side in the function, among @findings? It has all
/// the information of the violation, and it happened.
bool reported_as_race(const Model &model, const Finding &violation,
		      const std::vector<Finding> &findings);

} // namespace lockscope
