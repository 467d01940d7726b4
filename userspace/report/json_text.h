// SPDX-License-Identifier: GPL-2.0
// JSON as text, in parts: the findings of a report need not be in memory at once.
#pragma once

#include "report/json_parts.h"
#include "report/stream.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Writes one object member by member, as dump() has it; end() is last. Stacks are put in where
/// stack_json() stands for them. The frames of each place become text once: most stacks share
/// theirs, and there is little else in a report.
class JsonText {
public:
	JsonText(const Model &model, Sink sink) : model_(model), sink_(std::move(sink)) {}

	void member(std::string_view name, const Json &value);
	/// A member that is an array of what @item returns for 0 to @n - 1.
	void list(std::string_view name, std::size_t n,
		  const std::function<Json(std::size_t)> &item);
	/// All members of an object.
	void members(const Json &object);
	void end();

private:
	void begin_member(std::string_view name);
	void put(const Json &value, std::size_t depth);
	void put_string(const std::string &text);
	void put_frame(const JsonFrame &frame, std::size_t depth);
	void put_stack(const Json::binary_t &places, std::size_t depth);
	const std::string &frames(CodeId place, std::size_t depth);
	void new_line(std::size_t depth);
	void flush(std::size_t most);

	const Model &model_;
	const Sink sink_;
	std::string out_;
	bool any_ = false;
	std::size_t frame_depth_ = 0;				///< of frames_
	std::unordered_map<std::uint32_t, std::string> frames_; ///< by place
};

} // namespace lockscope
