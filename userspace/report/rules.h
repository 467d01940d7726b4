// SPDX-License-Identifier: GPL-2.0
// Inferred locking rules in three formats.
#pragma once

#include "analysis/rules/guards.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace lockscope {

/// A table for each type, with accesses that break a rule below it. @few: also members with
/// too few accesses.
std::string text_rules(const Model &model, const std::vector<Rule> &rules, const TextStyle &style,
		       bool few);
/// "schema": "lockscope-rules/1", indented, with a final newline.
std::string json_rules(const Model &model, const std::vector<Rule> &rules);
/// For each type a comment to place above its definition.
std::string c_rules(const Model &model, const std::vector<Rule> &rules);

} // namespace lockscope
