// SPDX-License-Identifier: GPL-2.0
#include "analysis/causes.h"

#include "analysis/owner.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace lockscope {

namespace {

/* Findings through one lock become one entry from this number on. */
constexpr std::size_t kManyThroughOne = 3;

using Classes = std::pair<ClassId, ClassId>;

/// Hash table by dependency.
struct HashOfClasses {
	std::size_t operator()(const Classes &ends) const
	{
		return NameHash().add(index(ends.first)).add(index(ends.second)).value();
	}
};
using ByDependency = std::unordered_map<Classes, std::size_t, HashOfClasses>;

bool is_cycle(const Finding &finding)
{
	return !finding.hidden() && finding.edges.size() > 1 &&
	       (finding.kind == FindingKind::LockOrderCycle ||
		finding.kind == FindingKind::IrqInversion);
}

/* The least frequent dependency: if one of them is wrong it is likely this one. */
Classes decisive(const Model &model, const Finding &finding)
{
	const FindingEdge *least = nullptr;
	auto value = [&](const FindingEdge &edge) {
		return std::tuple(is_interrupt(edge.from) || is_interrupt(edge.to), edge.count,
				  edge.witnesses.size(), std::string_view(model[edge.from].stable),
				  std::string_view(model[edge.to].stable));
	};
	for (const auto &edge : finding.edges)
		if (!least || value(edge) < value(*least))
			least = &edge;
	return {least->from, least->to};
}

/* Shown with that doubt alone: no two objects were seen both ways round. */
bool among_one_structure(const Finding &finding)
{
	return std::any_of(finding.filters.begin(), finding.filters.end(),
			   [](const Filter &filter) { return filter.name == "one-structure"; });
}

/// A lock of a run that is never released again.
using Stuck = std::tuple<std::uint32_t, ClassId, std::uint64_t>;

/*
 * Who waits long for a lock of a deadlock, or for one that such a task holds, waits for the
 * deadlock.
 */
void fold_long_holds(const Model &model, std::vector<Finding> &findings)
{
	for (const auto &deadlock : findings) {
		if (deadlock.kind != FindingKind::Deadlock || deadlock.hidden())
			continue;
		std::set<Stuck> stuck;
		const auto add = [&](const Observation &observation) {
			for (const auto &held : observation.held)
				stuck.insert({observation.run, held.cls, held.instance});
		};
		for (const auto &edge : deadlock.edges)
			for (const auto &witness : edge.witnesses)
				add(model.observations[witness.observation]);
		for (bool more = true; more;) {
			more = false;
			for (auto &finding : findings) {
				if (finding.kind != FindingKind::LongHold || !finding.cause.empty())
					continue;
				const Observation &observation =
					model.observations
						[finding.edges.front().shown().observation];
				const Held &lock = observation.acquired;
				if (!stuck.contains({observation.run, lock.cls, lock.instance}))
					continue;
				finding.cause = deadlock.id;
				finding.through = {lock.cls};
				add(observation);
				more = true;
			}
		}
	}
}

/// A level of interrupts, and the call that a module makes there.
using CallInInterrupt = std::pair<std::uint32_t, CodeId>;

/* nullopt: only the kernel's own code runs there, on behalf of many. */
std::optional<CallInInterrupt> call_of_module(const Model &model, const FindingEdge &edge)
{
	const Context &context = edge.shown().context;
	if (context.level == LS_TASK)
		return std::nullopt;
	for (const CodeId frame : own_frames(model, edge.to_stack, context))
		if (of_module(model[frame]))
			return CallInInterrupt{context.level, frame};
	return std::nullopt;
}

/*
 * A module that makes a call in an interrupt which is not made for that: it may sleep there, and
 * take several locks that others hold with the interrupt enabled.
 */
void fold_interrupts(const Model &model, std::vector<Finding> &findings)
{
	std::map<CallInInterrupt, std::string> first;
	for (auto &finding : findings) {
		const bool sleeps = finding.kind == FindingKind::SleepInAtomic;
		if (finding.hidden() || !(finding.about_interrupt() || sleeps))
			continue;
		for (const auto &edge : finding.edges) {
			if (!from_interrupt(edge) && !sleeps)
				continue;
			const auto call = call_of_module(model, edge);
			if (!call)
				continue;
			const auto [at, added] = first.try_emplace(*call, finding.id);
			if (added || !finding.cause.empty() || at->second == finding.id)
				continue;
			finding.cause = at->second;
			if (!sleeps)
				finding.through = {edge.to};
		}
	}
}

} // namespace

void find_causes(const Model &model, std::vector<Finding> &findings)
{
	fold_long_holds(model, findings);
	fold_interrupts(model, findings);
	ByDependency by_edge; ///< first in the ranking
	std::map<ClassId, std::vector<std::size_t>> by_lock;
	std::map<std::size_t, Classes> heads;
	for (std::size_t i = 0; i < findings.size(); i++) {
		if (!is_cycle(findings[i]))
			continue;
		const Classes ends = decisive(model, findings[i]);
		auto [at, first] = by_edge.try_emplace(ends, i);
		if (!first) {
			findings[i].cause = findings[at->second].id;
			findings[i].through = {ends.first, ends.second};
			continue;
		}
		heads.emplace(i, ends);
	}
	/* A longer cycle goes with the first one that it shares a dependency with. */
	ByDependency seen;
	for (std::size_t i = 0; i < findings.size(); i++) {
		if (!is_cycle(findings[i]))
			continue;
		for (const auto &edge : findings[i].edges) {
			const auto at = seen.try_emplace({edge.from, edge.to}, i).first;
			if (!findings[i].further || !findings[i].cause.empty() || at->second == i)
				continue;
			findings[i].cause = findings[at->second].id;
			findings[i].through = {edge.from, edge.to};
			heads.erase(i);
		}
	}
	for (const auto &[i, ends] : heads)
		for (ClassId cls : {ends.first, ends.second})
			if (!is_interrupt(cls))
				by_lock[cls].push_back(i);
	/* The lock with most findings first; a finding is only counted once. */
	std::vector<ClassId> locks;
	for (const auto &[cls, at] : by_lock)
		if (at.size() >= kManyThroughOne)
			locks.push_back(cls);
	std::stable_sort(locks.begin(), locks.end(), [&](ClassId a, ClassId b) {
		return by_lock[a].size() > by_lock[b].size();
	});
	std::set<std::size_t> taken;
	for (ClassId cls : locks) {
		std::vector<std::size_t> members;
		for (std::size_t i : by_lock[cls])
			if (!taken.contains(i))
				members.push_back(i);
		if (members.size() < kManyThroughOne)
			continue;
		const std::size_t head = members.front();
		taken.insert(head);
		for (std::size_t i : members) {
			/* A proven one keeps an entry of its own. */
			if (i == head || findings[i].severity == Severity::Error)
				continue;
			taken.insert(i);
			findings[i].cause = findings[head].id;
			findings[i].through = {cls};
		}
	}
	/* What nests in one structure in many ways is one thing to read. */
	std::unordered_map<std::string, std::size_t> structures;
	for (std::size_t i = 0; i < findings.size(); i++) {
		if (!is_cycle(findings[i]) || !among_one_structure(findings[i]))
			continue;
		const auto [at, first] = structures.try_emplace(
			name_without_role(model[findings[i].edges.front().from]), i);
		if (first)
			continue;
		findings[i].cause = findings[at->second].id;
		findings[i].through.clear();
	}
	/* A cause has no cause itself. */
	std::unordered_map<std::string_view, const Finding *> by_id;
	for (const auto &finding : findings)
		by_id.emplace(finding.id, &finding);
	for (auto &finding : findings)
		for (auto at = by_id.find(finding.cause);
		     at != by_id.end() && !at->second->cause.empty();
		     at = by_id.find(finding.cause))
			finding.cause = at->second->cause;
}

} // namespace lockscope
