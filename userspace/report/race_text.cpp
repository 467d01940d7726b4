// SPDX-License-Identifier: GPL-2.0
// Parts of the text that only data races have.
#include "report/race_text.h"

#include "analysis/races/races.h"
#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>

namespace lockscope {

namespace {

constexpr std::uint32_t kEveryLock = 0xffffffffu;
constexpr std::uint32_t kInterruptContext = 0x8000;

const char *state_name(ls_shadow_state state)
{
	static constexpr const char *names[] = {"virgin", "exclusive", "shared", "shared-modified"};
	return names[state];
}

std::string place_of(const Model &model, const MemoryAccess &access)
{
	const auto &code = model[access.at];
	std::string out = place_name(code);
	for (const auto &line : code.lines)
		if (!line.inlined && !line.file.empty())
			out += " (" + line.file + ":" + std::to_string(line.line) + ")";
	return out;
}

std::string held_by(const MemoryAccess &access)
{
	const auto locks = lockset_of(access);
	return locks.empty() ? "nothing held" : "holding " + join(locks, ", ");
}

std::string context_name(std::uint32_t context)
{
	return context & kInterruptContext ? "an interrupt of CPU " + std::to_string(context & 0xff)
					   : "task ..." + std::to_string(context);
}

/// The task of a side, for an interrupt the interrupted one. Empty: not known.
std::string task_of(const Context &context)
{
	if (!context.comm.empty())
		return task_name(context);
	if (context.level != LS_TASK)
		return {};
	return context.pid ? "task ..." + std::to_string(context.pid) : "";
}

/// Name of a candidate lock from the accesses; other locks have none.
std::string lock_name(const Model &model, const StateChange &change, std::uint64_t lock)
{
	for (const auto &access : model.accesses)
		if (access.run == change.run)
			for (const auto &guard : access.guards)
				if (guard.instance == lock)
					return guard.name;
	for (const auto &observation : model.observations)
		if (observation.run == change.run && observation.acquired.instance == lock &&
		    observation.acquired.cls != kNoClass)
			return model[observation.acquired.cls].name;
	return "a lock";
}

std::string candidates_of(const Model &model, const StateChange &change)
{
	if (change.candidates == kEveryLock || change.after < LS_SHARED_READ)
		return {};
	if (change.candidates == 0)
		return "; no lock is left that all held";
	std::vector<std::string> names;
	for (auto lock : change.locks)
		names.push_back(lock_name(model, change, lock));
	std::string out = "; candidates: " + join(names, ", ");
	if (names.size() < change.candidates)
		out += " and " + std::to_string(change.candidates - names.size()) + " more";
	return out;
}

} // namespace

std::string side_head(const Model &model, const AccessSide &side)
{
	const auto &access = model.accesses[side.access];
	std::string out = access.op & LS_ACC_ATOMIC ? "atomic " : "";
	if (access.op & LS_ACC_MARKED)
		out += "marked ";
	out += op_name(access);
	out += " of " + counted(access.size, "byte");
	if (access.op & LS_ACC_TRAP)
		out += " (seen by a watchpoint, marked or not)";
	out += ", " + held_by(access) + ": ";
	out += side.own_stack ? side.context.describe() : side.context.describe_task();
	if (const auto task = task_of(side.context); !task.empty())
		out += ", " + task;
	if (side.cpu)
		out += " on CPU " + std::to_string(*side.cpu);
	if (side.count >= kMeasurable)
		out += ", " + with_commas(side.count) + " times";
	return out;
}

std::string stack_origin(const Model &model, const AccessSide &side)
{
	if (side.own_stack || side.stack.size() < 2)
		return {};
	const Context first = context_of(model, model.accesses[side.access]);
	return "callers as first seen, " + first.describe() + " by " + task_name(first) +
	       "; those of the access that raced are not known:";
}

std::string instance_note(const Model &model, const AccessSide &side, std::size_t i,
			  const AccessSide &other)
{
	const auto &own = model.accesses[side.access].guards[i];
	const auto &guards = model.accesses[other.access].guards;
	bool differs = false;
	if (own.cls == kNoClass || model[own.cls].global() || !side.locks[i])
		return {};
	for (std::size_t k = 0; k < guards.size(); k++) {
		if (guards[k].cls != own.cls)
			continue;
		if (!other.locks[k] || other.locks[k] == side.locks[i])
			return {};
		differs = true;
	}
	return differs ? ", another instance than on the other side" : "";
}

void print_variable(const RaceEvidence &race, Printer &out)
{
	out.blank();
	std::string line = "variable: " + race.variable.name;
	if (!race.variable.type.empty() && race.variable.name.find(race.variable.type) == line.npos)
		line += ", " + race.variable.type;
	out.wrap(4, line, Tone::Plain, 2);
	if (!race.candidates.empty())
		out.wrap(4, "elsewhere held: " + join(race.candidates, ", "), Tone::Plain, 2);
}

void print_histories(const Model &model, const RaceEvidence &race, Printer &out)
{
	const Race &shown = model.races[race.races.front()];
	if (!shown.history.empty()) {
		out.blank();
		out.wrap(4,
			 "remembered of the memory when the race showed, oldest first:", Tone::Bold,
			 2);
	}
	for (const auto &entry : shown.history) {
		const auto &access = model.accesses[entry.access];
		out.wrap(6,
			 std::string(op_name(access)) + " at " + place_of(model, access) + " by " +
				 context_name(entry.context) + ", " + held_by(access) +
				 (entry.initial ? "; it was that one's alone then" : ""),
			 Tone::Plain, 2);
	}
	bool any = false;
	for (const auto &change : model.histories) {
		/* The same granule, or another instance of the same variable. */
		if (change.run != shown.run ||
		    (change.granule != shown.granule &&
		     !model.accesses[change.access].overlaps(model.accesses[shown.second])) ||
		    model.accesses[change.access].data != model.accesses[shown.second].data)
			continue;
		if (!any) {
			out.blank();
			out.wrap(4, "history, as followed:", Tone::Bold, 2);
		}
		any = true;
		const auto &access = model.accesses[change.access];
		std::string line = state_name(change.before);
		if (change.after != change.before)
			line += std::string(" -> ") + state_name(change.after);
		line += ": " + std::string(op_name(access)) + " at " + place_of(model, access) +
			" by " +
			(change.context & kInterruptContext
				 ? context_name(change.context)
				 : "task " + std::to_string(change.pid)) +
			", " + held_by(access) + candidates_of(model, change);
		out.wrap(6, line, Tone::Plain, 2);
	}
}

} // namespace lockscope
