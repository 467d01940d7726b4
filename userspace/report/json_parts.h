// SPDX-License-Identifier: GPL-2.0
// Common parts of all JSON formats.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

using Json = nlohmann::ordered_json;

/// Indented, with a final newline.
std::string dump(const Json &json);

/// Stands for a stack in what JsonText writes, see json_text.h; a binary value.
Json stack_json(const std::vector<CodeId> &stack);
/// The frames of one place, functions inlined there first.
Json frames_json(const Model &model, CodeId place);

/// Numbers for the lock instances in one list: 1, 2, ...; null for unknown ones.
class Instances {
public:
	Json number(std::uint64_t instance)
	{
		if (!instance)
			return nullptr;
		return numbers_.try_emplace(instance, numbers_.size() + 1).first->second;
	}

private:
	std::map<std::uint64_t, std::size_t> numbers_;
};

/// A verdict of lockscope confirm.
Json verdict_json(const Verdict &verdict);

/// An access: data, context and lockset.
Json access_json(const Model &model, const AccessSide &side, Instances &instances);

} // namespace lockscope
