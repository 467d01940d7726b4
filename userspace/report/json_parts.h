// SPDX-License-Identifier: GPL-2.0
// Common parts of all JSON formats.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

using Json = nlohmann::ordered_json;

/// Indented, with a final newline.
std::string dump(const Json &json);

/// Stands for a stack in what JsonText writes, see json_text.h; a binary value.
Json stack_json(const std::vector<CodeId> &stack);
/// One frame of it.
struct JsonFrame {
	const std::string &function, &offset, &module;
	const SourceLine *line; ///< nullptr: not known
	bool inlined;
};
/// The frames of one place, functions inlined there first.
void for_frames(const Code &code, const std::function<void(const JsonFrame &)> &visit);

/// An object of names and values in turn; lists in braces copy all of theirs several times.
template <typename... Members> Json object(Members &&...members);

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

inline void add_members(Json &) {}
template <typename Value, typename... Rest>
void add_members(Json &out, const char *name, Value &&value, Rest &&...rest)
{
	out.emplace(name, std::forward<Value>(value));
	add_members(out, std::forward<Rest>(rest)...);
}
template <typename... Members> Json object(Members &&...members)
{
	Json out = Json::object();
	add_members(out, std::forward<Members>(members)...);
	return out;
}

/// A verdict of lockscope confirm.
Json verdict_json(const Verdict &verdict);

/// An access: data, context and lockset.
Json access_json(const Model &model, const AccessSide &side, Instances &instances);

} // namespace lockscope
