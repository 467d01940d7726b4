// SPDX-License-Identifier: GPL-2.0
#include "report/json_text.h"

#include <algorithm>
#include <cstring>

namespace lockscope {

namespace {

constexpr std::size_t kPartBytes = 1 << 16;

std::string scalar(const Json &value)
{
	return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/* Needs no escape. */
bool is_plain(const std::string &text)
{
	return std::all_of(text.begin(), text.end(),
			   [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

} // namespace

void JsonText::flush(std::size_t most)
{
	if (out_.size() <= most)
		return;
	sink_(out_);
	out_.clear();
}

void JsonText::new_line(std::size_t depth)
{
	out_ += '\n';
	out_.append(depth, '\t');
}

void JsonText::put_string(const std::string &text)
{
	if (!is_plain(text)) {
		out_ += scalar(text);
		return;
	}
	out_ += '"';
	out_ += text;
	out_ += '"';
}

/* Like an object, which would take ten times as long. */
void JsonText::put_frame(const JsonFrame &frame, std::size_t depth)
{
	const auto name = [&](std::string_view text) {
		new_line(depth + 1);
		out_ += '"';
		out_ += text;
		out_ += "\": ";
	};
	out_ += '{';
	name("function");
	put_string(frame.function.empty() ? "?" : frame.function);
	out_ += ',';
	name("offset");
	put_string(frame.offset);
	out_ += ',';
	name("module");
	put_string(frame.module);
	out_ += ',';
	name("file");
	put_string(frame.line ? frame.line->file : "");
	out_ += ',';
	name("line");
	out_ += std::to_string(frame.line ? frame.line->line : 0);
	out_ += ',';
	name("inlined");
	out_ += frame.inlined ? "true" : "false";
	new_line(depth);
	out_ += '}';
}

const std::string &JsonText::frames(CodeId place, std::size_t depth)
{
	if (depth != frame_depth_)
		frames_.clear();
	frame_depth_ = depth;
	const auto [at, added] = frames_.try_emplace(index(place));
	if (!added)
		return at->second;
	std::string before;
	before.swap(out_);
	for_frames(model_[place], [&](const JsonFrame &frame) {
		if (!out_.empty())
			out_ += ',';
		new_line(depth);
		put_frame(frame, depth);
	});
	at->second.swap(out_);
	out_.swap(before);
	return at->second;
}

void JsonText::put_stack(const Json::binary_t &places, std::size_t depth)
{
	if (places.empty()) {
		out_ += "[]";
		return;
	}
	out_ += '[';
	for (std::size_t at = 0; at < places.size(); at += sizeof(CodeId)) {
		CodeId place;
		std::memcpy(&place, places.data() + at, sizeof(place));
		if (at)
			out_ += ',';
		out_ += frames(place, depth + 1);
	}
	new_line(depth);
	out_ += ']';
}

void JsonText::put(const Json &value, std::size_t depth)
{
	if (value.is_string()) {
		put_string(value.get_ref<const std::string &>());
	} else if (value.is_binary()) {
		put_stack(value.get_binary(), depth);
	} else if (value.is_number_unsigned()) {
		out_ += std::to_string(value.get<std::uint64_t>());
	} else if (value.is_boolean()) {
		out_ += value.get<bool>() ? "true" : "false";
	} else if (!value.is_structured() || value.empty()) {
		out_ += scalar(value);
	} else {
		const bool object = value.is_object();
		out_ += object ? '{' : '[';
		for (auto at = value.begin(); at != value.end(); ++at) {
			if (at != value.begin())
				out_ += ',';
			new_line(depth + 1);
			if (object) {
				put_string(at.key());
				out_ += ": ";
			}
			put(*at, depth + 1);
		}
		new_line(depth);
		out_ += object ? '}' : ']';
	}
}

void JsonText::begin_member(std::string_view name)
{
	out_ += any_ ? "," : "{";
	any_ = true;
	new_line(1);
	put_string(std::string(name));
	out_ += ": ";
}

void JsonText::member(std::string_view name, const Json &value)
{
	begin_member(name);
	put(value, 1);
	flush(kPartBytes);
}

void JsonText::list(std::string_view name, std::size_t n,
		    const std::function<Json(std::size_t)> &item)
{
	begin_member(name);
	out_ += '[';
	for (std::size_t i = 0; i < n; i++) {
		if (i)
			out_ += ',';
		new_line(2);
		put(item(i), 2);
		flush(kPartBytes);
	}
	if (n)
		new_line(1);
	out_ += ']';
}

void JsonText::members(const Json &object)
{
	for (auto at = object.begin(); at != object.end(); ++at)
		member(at.key(), *at);
}

void JsonText::end()
{
	out_ += any_ ? "\n}\n" : "{}\n";
	flush(0);
}

} // namespace lockscope
