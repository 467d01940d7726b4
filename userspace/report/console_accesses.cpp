// SPDX-License-Identifier: GPL-2.0
// Races in KCSAN's words; kmod/out/console/race.c is the module's. The kernel has no words for
// broken rules of locking and the like: a headline that log scanners know, then ours.
#include "report/console.h"
#include "report/race_text.h"
#include "report/sides.h"

#include "lockclass/console_words.h"

#include <algorithm>

namespace lockscope {

namespace {

const char *operation(const MemoryAccess &access)
{
	const bool marked = access.op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
	if (access.reads() && access.writes())
		return access.op & LS_ACC_ATOMIC ? "read-write (marked)" : "read-write";
	if (access.writes())
		return marked ? "write (marked)" : "write";
	return marked ? "read (marked)" : "read";
}

std::string who_accesses(const AccessSide &side)
{
	if (side.context.level != LS_TASK)
		return "interrupt";
	if (!side.context.comm.empty())
		return "task " + std::to_string(side.context.pid);
	return side.context.pid ? "task ..." + std::to_string(side.context.pid) : "an unknown task";
}

void say_side(const Model &model, const AccessSide &side, Console &out)
{
	const auto &access = model.accesses[side.access];
	const std::string cpu = side.cpu ? " on cpu " + std::to_string(*side.cpu) : "";
	out.line(LS_SAY_ACCESS, operation(access), access.size, who_accesses(side).c_str(),
		 cpu.c_str());
	out.frames(" ", side.stack);
	if (!side.own_stack && side.stack.size() > 1)
		out.line(LS_SAY_FIRST_SEEN);
	for (const auto &guard : access.guards)
		out.line(LS_SAY_GUARD, out.name(guard.cls).c_str(), out.kind(guard.cls));
	out.blank();
}

void say_race(const Model &model, const Finding &finding, Console &out)
{
	const Race &race = model.races[finding.race->races.front()];
	const AccessSide *first = &finding.race->sides[0], *second = &finding.race->sides[1];
	if (first->access != race.first)
		std::swap(first, second);
	std::string names[] = {out.function(model.accesses[first->access].at),
			       out.function(model.accesses[second->access].at)};
	/* In an order that does not depend on which access was first. */
	std::sort(std::begin(names), std::end(names));
	out.line(LS_SAY_RACE_RULER);
	out.line("%s %s%s%s", console_headline(finding.kind), names[0].c_str(),
		 names[0] == names[1] ? "" : " / ", names[0] == names[1] ? "" : names[1].c_str());
	out.blank();
	say_side(model, *second, out);
	say_side(model, *first, out);
	out.line(LS_SAY_REPORTED, race.id);
	for (const auto &filter : finding.filters)
		out.line("LockScope doubts it: %s (%s)", filter.why.c_str(), filter.name.c_str());
	out.line(LS_SAY_RACE_RULER);
}

} // namespace

void say_accesses(const Model &model, const Finding &finding, Console &out)
{
	const AccessSide *shown = finding.race	      ? &finding.race->sides[0]
				  : finding.violation ? &finding.violation->sides.front()
						      : nullptr;
	if (shown)
		out.at(model.accesses[shown->access].time_ns);
	if (finding.race)
		return say_race(model, finding, out);
	out.line("%s%s", console_headline(finding.kind),
		 finding.title.substr(std::string_view(title_words(finding.kind)).size()).c_str());
	for (const auto &side : sides_of(model, finding)) {
		out.line("lockscope: %s", side.does.c_str());
		for (auto step = side.steps.rbegin(); step != side.steps.rend(); ++step)
			out.line("  %s", out.symbol(step->at).c_str());
	}
}

} // namespace lockscope
