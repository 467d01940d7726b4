// SPDX-License-Identifier: GPL-2.0
#include "report/json_parts.h"

#include "analysis/filters/annotations.h"
#include "analysis/races/races.h"
#include "model/variable.h"
#include "util/text.h"

#include <algorithm>
#include <cstring>

namespace lockscope {

namespace {

std::string hex(std::uint64_t value)
{
	std::string digits = hex64(value);
	digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
	return "0x" + digits;
}

} // namespace

std::string dump(const Json &json)
{
	/* Names come from a kernel: invalid UTF-8 is replaced. */
	return json.dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

Json stack_json(const std::vector<CodeId> &stack)
{
	std::vector<std::uint8_t> places(stack.size() * sizeof(CodeId));
	if (!stack.empty())
		std::memcpy(places.data(), stack.data(), places.size());
	return Json::binary(std::move(places));
}

void for_frames(const Code &code, const std::function<void(const JsonFrame &)> &visit)
{
	const std::string offset = hex(code.offset);
	const SourceLine *outer = nullptr;
	for (const auto &line : code.lines) {
		if (line.inlined)
			visit({line.function, offset, code.module, &line, true});
		else
			outer = &line;
	}
	visit({code.function, offset, code.module, outer, false});
}

Json verdict_json(const Verdict &verdict)
{
	Json out = {{"result", name(verdict.result)},
		    {"why", verdict.why},
		    {"tries", verdict.tries},
		    {"time", verdict.time}};
	if (verdict.result == VerdictResult::Refuted)
		out["reason"] = verdict.reason;
	Json evidence = Json::parse(verdict.evidence, nullptr, false);
	out["evidence"] = evidence.is_object() ? std::move(evidence) : Json::object();
	return out;
}

namespace {

Json locks_json(const Model &model, const AccessSide &side, Instances &instances)
{
	Json out = Json::array();
	const auto &guards = model.accesses[side.access].guards;
	for (std::size_t i = 0; i < guards.size(); i++)
		out.push_back({{"name", guards[i].name},
			       {"shared", !guards[i].exclusive()},
			       {"taken_at", place_name(model[guards[i].at])},
			       {"instance", instances.number(side.locks[i])}});
	return out;
}

/* The first access at a side's site, if the context of the side itself is not known. */
Json first_seen_json(const Model &model, const AccessSide &side)
{
	const auto &access = model.accesses[side.access];
	const Context first = context_of(model, access);
	return {{"entry", first.describe()}, {"task", task_name(first)}, {"cpu", access.cpu}};
}

} // namespace

Json access_json(const Model &model, const AccessSide &side, Instances &instances)
{
	const auto &access = model.accesses[side.access];
	Json out = {
		{"op", op_name(access)},
		{"size", access.size},
		{"offset", access.offset},
		/* Not known for accesses that only a watchpoint saw. */
		{"marked",
		 access.op & LS_ACC_TRAP ? Json(nullptr) : Json((access.op & LS_ACC_MARKED) != 0)},
		{"atomic", (access.op & LS_ACC_ATOMIC) != 0},
		{"context", level_name(access.where)},
		{"entry", side.own_stack ? side.context.describe() : side.context.describe_task()},
		{"task", task_name(side.context)},
		{"cpu", side.cpu ? Json(*side.cpu) : Json(nullptr)},
		{"run", access.run},
		{"lockset", lockset_of(access)},
		{"locks", locks_json(model, side, instances)},
		{"asserted",
		 annotations::asserted(model, model.runs[access.run].release, known_part(side))},
		{"stack", stack_json(side.stack)},
		{"stack_of", side.own_stack ? "access" : "first-seen"},
		{"count", side.count}};
	if (!side.own_stack)
		out["first_seen"] = first_seen_json(model, side);
	return out;
}

} // namespace lockscope
