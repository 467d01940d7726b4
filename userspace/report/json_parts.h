// SPDX-License-Identifier: GPL-2.0
// What all JSON formats have in common.
#pragma once

#include "analysis/finding.h"
#include "analysis/model.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockscope {

using Json = nlohmann::ordered_json;

/// Indented, with a final newline.
std::string dump(const Json &json);

/// Every frame, functions inlined into it first.
Json stack_json(const Model &model, const std::vector<CodeId> &stack);

/// What was accessed, by whom, holding what.
Json access_json(const Model &model, const AccessSide &side);

} // namespace lockscope
