// SPDX-License-Identifier: GPL-2.0
#include "report/json_parts.h"

#include "analysis/races.h"
#include "analysis/variable.h"
#include "annotations/load.h"
#include "util/text.h"

#include <algorithm>

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
	/* Names come from a kernel: whatever is not UTF-8 is replaced. */
	return json.dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

Json stack_json(const Model &model, const std::vector<CodeId> &stack)
{
	Json out = Json::array();
	for (auto frame : stack) {
		const auto &code = model[frame];
		auto add = [&](const std::string &function, const SourceLine *line, bool inlined) {
			out.push_back({{"function", function.empty() ? "?" : function},
				       {"offset", hex(code.offset)},
				       {"module", code.module},
				       {"file", line ? line->file : ""},
				       {"line", line ? line->line : 0},
				       {"inlined", inlined}});
		};
		const SourceLine *outer = nullptr;
		for (const auto &line : code.lines) {
			if (line.inlined)
				add(line.function, &line, true);
			else
				outer = &line;
		}
		add(code.function, outer, false);
	}
	return out;
}

Json access_json(const Model &model, const AccessSide &side)
{
	const auto &access = model.accesses[side.access];
	return {{"op", op_name(access)},
		{"size", access.size},
		{"offset", access.offset},
		/* Not known of what only a watchpoint saw. */
		{"marked",
		 access.op & LS_ACC_TRAP ? Json(nullptr) : Json((access.op & LS_ACC_MARKED) != 0)},
		{"atomic", (access.op & LS_ACC_ATOMIC) != 0},
		{"context", level_name(access.where)},
		{"entry", side.context.describe()},
		{"task", task_name(side.context)},
		{"run", access.run},
		{"lockset", lockset_of(access)},
		{"asserted", annotations::asserted(model, model.runs[access.run].release,
						   access.stack)},
		{"stack", stack_json(model, access.stack)},
		{"count", side.count}};
}

} // namespace lockscope
