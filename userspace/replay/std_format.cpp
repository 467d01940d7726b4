// SPDX-License-Identifier: GPL-2.0
#include "replay/formats.h"

#include "util/printable.h"

#include <optional>

namespace lockscope::replay {

namespace {

constexpr char kSeparator = '|';
/* Characters of a line that an error quotes. */
constexpr std::size_t kQuoted = 60;

struct Fields {
	std::string_view thread, operation, object, place;
	bool bare = false; ///< no parentheses
};

/* Null unless there are three fields. */
std::optional<Fields> fields_of(std::string_view text)
{
	Fields f;
	const auto first = text.find(kSeparator);
	const auto second = first == text.npos ? first : text.find(kSeparator, first + 1);
	if (second == text.npos || text.find(kSeparator, second + 1) != text.npos)
		return std::nullopt;
	f.thread = trim(text.substr(0, first));
	f.operation = trim(text.substr(first + 1, second - first - 1));
	f.place = trim(text.substr(second + 1));
	const auto open = f.operation.find('(');
	f.bare = open == f.operation.npos || f.operation.back() != ')';
	if (!f.bare) {
		f.object = f.operation.substr(open + 1, f.operation.size() - open - 2);
		f.operation = f.operation.substr(0, open);
	}
	return f;
}

std::optional<Op> op_of(std::string_view name)
{
	static constexpr struct {
		std::string_view name;
		Op op;
	} kOps[] = {{"acq", Op::Acquire}, {"rel", Op::Release}, {"r", Op::Read},
		    {"w", Op::Write},	  {"fork", Op::Fork},	{"join", Op::Join}};
	for (const auto &known : kOps)
		if (name == known.name)
			return known.op;
	return std::nullopt;
}

std::string quoted(std::string_view text)
{
	return '"' + printable(std::string(text.substr(0, kQuoted))) +
	       (text.size() > kQuoted ? "...\"" : "\"");
}

class StdFormat final : public Format {
public:
	std::string line(std::string_view text, const Play &play) override
	{
		const auto f = fields_of(text);
		if (!f)
			return "not three fields in " + quoted(text);
		if (f->thread.empty())
			return "no thread in " + quoted(text);
		/* Transactions, which matter for atomicity only; RAPID ignores a dummy. */
		if (f->operation.starts_with("begin") || f->operation.starts_with("end") ||
		    f->operation == "dummy")
			return {};
		const auto op = op_of(f->operation);
		if (!op)
			return "unknown operation " + quoted(f->operation);
		if (f->bare || f->object.empty())
			return "no object of " + quoted(f->operation) + " in parentheses";
		if (f->object.find_first_of(" \t") != f->object.npos)
			return "a blank in the name " + quoted(f->object);
		Event event;
		event.op = *op;
		event.thread = event.comm = f->thread;
		event.object = event.name = f->object;
		event.kind = LS_KIND_MUTEX;
		event.nests = true;
		/* The colon makes it a place to readers of reports, and nothing is cut off. */
		Location place;
		if (!f->place.empty()) {
			place.function = f->place.find(':') == f->place.npos ? "loc:" : "";
			place.function += f->place;
			event.stack = {&place, 1};
		}
		play(event);
		return {};
	}
	const char *shape() const override
	{
		return "a line is thread|operation(object)|place, operations are acq, rel, r, w, "
		       "fork, join, begin and end";
	}
};

} // namespace

std::string_view trim(std::string_view text)
{
	constexpr std::string_view kBlanks = " \t\r";
	const auto first = text.find_first_not_of(kBlanks);
	if (first == text.npos)
		return {};
	return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view cut(std::string_view &text, char end)
{
	const auto at = text.find(end);
	const auto part = text.substr(0, at);
	text.remove_prefix(at == text.npos ? text.size() : at + 1);
	return part;
}

bool says_nothing(std::string_view line)
{
	line = trim(line);
	return line.empty() || line.front() == '#';
}

std::unique_ptr<Format> std_format()
{
	return std::make_unique<StdFormat>();
}

std::unique_ptr<Format> format_of(std::string_view line)
{
	for (auto make : {perf_format, std_format}) {
		auto format = make();
		if (format->line(line, [](const Event &) {}).empty())
			return make();
	}
	return fields_of(line) ? std_format() : nullptr;
}

} // namespace lockscope::replay
