// SPDX-License-Identifier: GPL-2.0
#include "confirm/plan.h"

#include "analysis/evidence.h"

#include <algorithm>

namespace lockscope {

namespace {

void add(std::vector<Code> &to, const Code &place)
{
	if (place.function.empty() || to.size() >= kMostSites)
		return;
	const bool known = std::any_of(to.begin(), to.end(), [&](const Code &c) {
		return c.function == place.function && c.offset == place.offset &&
		       c.module == place.module;
	});
	if (!known)
		to.push_back(place);
}

Error none(std::string why)
{
	return Error{0, std::move(why), "", Exit::Clean};
}

/* Where the lock of an edge with an interrupt is acquired: that end which is a lock. */
void add_lock_of(const Model &model, const FindingEdge &edge, std::vector<Code> &to)
{
	for (const auto &witness : edge.witnesses)
		add(to, model[model.observations[witness.observation].at(witness.position).at]);
}

/* Both ends of a dependency. False: it is not one of acquisitions. */
bool add_ends(const Model &model, const FindingEdge &edge, PlannedSide &side)
{
	for (const auto &witness : edge.witnesses) {
		const Observation &o = model.observations[witness.observation];
		if (!o.acquisition())
			return false;
		add(side.first, model[o.from(witness.position).at]);
		add(side.last, model[o.to(witness.position).at]);
	}
	return true;
}

/* A race of two functions; one that races with itself has one side. */
Result<PlannedFinding> plan_race(const Model &model, const Finding &finding)
{
	const RaceEvidence &race = *finding.race;
	PlannedFinding plan{.id = finding.id, .title = finding.title, .sides = {}};
	std::vector<std::string> functions;
	const auto function_of = [&](std::size_t access) {
		return plain_function(model[model.accesses[access].at].function);
	};
	for (const auto &side : race.sides) {
		auto function = function_of(side.access);
		if (functions.empty() || functions.front() != function)
			functions.push_back(std::move(function));
	}
	plan.sides.resize(functions.size());
	for (const auto number : race.races)
		for (const auto access : {model.races[number].first, model.races[number].second}) {
			const MemoryAccess &a = model.accesses[access];
			/* A watchpoint reports an access when it has happened: too late to hold it. */
			if (a.op & LS_ACC_TRAP)
				continue;
			for (std::size_t i = 0; i < functions.size(); i++)
				if (function_of(access) == functions[i])
					add(plan.sides[i].first, model[a.at]);
		}
	for (auto &side : plan.sides) {
		side.accesses = race.variable.brief;
		if (side.first.empty())
			return none(
				"one side was only caught by a watchpoint, which holds nothing");
	}
	return plan;
}

/* Why it cannot be let happen; nullptr: it can. */
const char *not_deadly(const Model &model, const Finding &finding, const PlannedFinding &plan)
{
	if (plan.sides.size() < 2 || finding.edges.empty())
		return "the finding has no two sides that wait for each other";
	for (const auto &edge : finding.edges) {
		if (from_interrupt(edge) || to_interrupt(edge))
			return "a side of the finding is an interrupt";
		/* Processors that spin for good leave none to write the evidence with. */
		if (!(1u << model[edge.from].kind & LS_SLEEPING_KINDS) ||
		    !(1u << model[edge.to].kind & LS_SLEEPING_KINDS))
			return "a lock of the finding is not one that tasks sleep for";
	}
	return nullptr;
}

} // namespace

Result<PlannedFinding> plan_for(const Model &model, const Finding &finding)
{
	if (finding.race)
		return plan_race(model, finding);
	if (finding.about_memory())
		return none("one access breaks the rule: there is nothing to meet");
	if (finding.kind == FindingKind::Deadlock)
		return none("it happened: its tasks wait for each other");
	if (!finding.about_order())
		return none("one observation shows it: there is nothing to meet");
	if (finding.edges.empty())
		return none("it has no dependencies");
	if (waits_for_itself(model, finding))
		return none("one context alone waits for itself: there is nothing to meet");
	PlannedFinding plan{.id = finding.id, .title = finding.title, .sides = {}};
	for (std::size_t i = 0; i < finding.edges.size(); i++) {
		const FindingEdge &edge = finding.edges[i];
		/* Together with the edge before it. */
		if (from_interrupt(edge))
			continue;
		PlannedSide side;
		side.holds = model[edge.from].name;
		if (awaited(model[edge.from].kind) ||
		    (!to_interrupt(edge) && awaited(model[edge.to].kind)))
			return none(
				"a side waits for a completion or a work item, which has no gate");
		if (to_interrupt(edge)) {
			const FindingEdge &next = finding.edges[(i + 1) % finding.edges.size()];
			if (!from_interrupt(next))
				return none("the interrupt acquires no lock of it");
			side.interrupt = interrupt_name(edge.to);
			side.acquires = model[next.to].name;
			add_lock_of(model, edge, side.first);
			add_lock_of(model, next, side.last);
		} else {
			side.acquires = model[edge.to].name;
			if (!add_ends(model, edge, side))
				return none(
					"a side waits for a completion or a work item, which has no gate");
		}
		if (side.first.empty() || side.last.empty())
			return none("an acquire site of it is not known");
		plan.sides.push_back(std::move(side));
	}
	if (plan.sides.empty())
		return none("no side of it begins in a task");
	const auto interrupts =
		std::count_if(plan.sides.begin(), plan.sides.end(),
			      [](const PlannedSide &s) { return !s.interrupt.empty(); });
	if (plan.sides.size() > LS_CONFIRM_SIDES || (interrupts > 0 && plan.sides.size() > 2))
		return none("it has more sides than can be made to meet");
	plan.may_be_deadly = !not_deadly(model, finding, plan);
	return plan;
}

Status make_deadly(const Model &model, const Finding &finding, PlannedFinding &plan)
{
	if (const char *why = not_deadly(model, finding, plan))
		return Error{0, std::string("--deadly: ") + why, "confirm it without --deadly",
			     Exit::Usage};
	plan.deadly = true;
	return success();
}

ResolvedPlan resolve(const std::vector<PlannedFinding> &findings, const Addresses &addresses)
{
	ResolvedPlan out;
	for (std::size_t f = 0; f < findings.size(); f++) {
		const PlannedFinding &finding = findings[f];
		const auto number = static_cast<__u16>(out.plans.size());
		ls_confirm_plan plan{};
		std::vector<ls_confirm_point> points;
		bool whole = out.plans.size() < LS_CONFIRM_PLANS;

		plan.nr_sides = static_cast<__u32>(finding.sides.size());
		for (std::size_t s = 0; s < finding.sides.size(); s++) {
			const PlannedSide &side = finding.sides[s];
			if (finding.deadly)
				plan.flags[s] = LS_CONFIRM_DEADLY;
			else if (!side.interrupt.empty())
				plan.flags[s] = LS_CONFIRM_INTERRUPTED;
			else if (side.access())
				plan.flags[s] = LS_CONFIRM_ACCESS;
			for (const auto role : {LS_CONFIRM_FIRST, LS_CONFIRM_LAST}) {
				if (role == LS_CONFIRM_LAST && side.access())
					continue;
				const auto before = points.size();
				for (const Code &place :
				     role == LS_CONFIRM_FIRST ? side.first : side.last)
					for (const auto ip : addresses(place))
						points.push_back({ip, number, static_cast<__u8>(s),
								  static_cast<__u8>(role), 0});
				if (points.size() == before) {
					whole = false;
					out.absent.push_back(place_name(
						(role == LS_CONFIRM_FIRST ? side.first : side.last)
							.front()));
				}
			}
		}
		if (!whole || out.points.size() + points.size() > LS_CONFIRM_POINTS)
			continue;
		out.findings.push_back(f);
		out.plans.push_back(plan);
		out.points.insert(out.points.end(), points.begin(), points.end());
	}
	return out;
}

} // namespace lockscope
