// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/gate_lock.h"

#include "analysis/evidence.h"
#include "analysis/filters/beliefs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

namespace lockscope {

namespace {

/* Held instances of the gate, 0 for an unknown one; true: held exclusively. */
std::map<std::uint64_t, bool> gates_held(const std::vector<Held> &all, ClassId gate)
{
	std::map<std::uint64_t, bool> instances;
	for (const auto &held : all)
		if (held.cls == gate)
			instances[held.instance] |= read_of(held.val) == LS_EXCLUSIVE;
	return instances;
}

/* Is one of them in the object around @lock? true: held exclusively. */
std::optional<bool> gate_in_object_of(const Observation &observation, ClassId gate,
				      const Held *lock)
{
	std::optional<bool> found;
	for (const Held &held : observation.held)
		if (lock && lock->object != 0 && held.cls == gate && held.object == lock->object)
			found = found.value_or(false) || read_of(held.val) == LS_EXCLUSIVE;
	return found;
}

/* The instance hash of @cls in a witness of the edge from -> to. */
const Held *member(const Model &model, const Witness &witness, ClassId cls)
{
	const Observation &observation = model.observations[witness.observation];
	if (const Held &held = observation.at(witness.position); held.cls == cls)
		return &held;
	return observation.acquired.cls == cls ? &observation.acquired : nullptr;
}

bool nests(const Finding &finding, ClassId cls)
{
	return std::any_of(
		finding.edges.begin(), finding.edges.end(),
		[&](const FindingEdge &edge) { return edge.from == cls && edge.to == cls; });
}

enum class GateProof { Same, Unknown, Differs };

/* The witnesses of two edges in one run, whose instances can be compared. */
using Sides = std::array<std::vector<const Witness *>, 2>;

/* Instances of the gate that all witnesses hold; true: exclusively each time. Nothing: not known. */
std::optional<std::map<std::uint64_t, bool>>
gates_always_held(const Model &model, const FindingEdge &edge,
		  const std::vector<const Witness *> &witnesses, ClassId gate)
{
	std::optional<std::map<std::uint64_t, bool>> common;
	for (const Witness *witness : witnesses) {
		auto here = gates_held(holds(model, edge, *witness), gate);
		if (here.empty() || here.contains(0))
			return std::nullopt;
		if (!common) {
			common = std::move(here);
			continue;
		}
		std::erase_if(*common,
			      [&](const auto &instance) { return !here.contains(instance.first); });
		for (auto &[instance, exclusive] : *common)
			exclusive = exclusive && here.at(instance);
	}
	return common;
}

/* The same of one run, whose sides are @sides. */
GateProof prove_gate_in_run(const Model &model, const Finding &finding, const FindingEdge &a,
			    const FindingEdge &b, ClassId gate, const Sides &sides)
{
	const auto held_a = gates_always_held(model, a, sides[0], gate);
	const auto held_b = gates_always_held(model, b, sides[1], gate);
	/* Of both sides, or nothing can be compared. */
	if (!held_a || !held_b)
		return GateProof::Unknown;
	for (const auto &[instance, exclusive] : *held_a)
		if (auto at = held_b->find(instance);
		    at != held_b->end() && (exclusive || at->second))
			return GateProof::Same;
	if (std::find(finding.classes.begin(), finding.classes.end(), gate) !=
	    finding.classes.end())
		return GateProof::Differs;
	for (ClassId cls : {a.from, a.to}) {
		/* Two of its instances take part where it nests in itself. */
		if ((cls != b.from && cls != b.to) || nests(finding, cls))
			continue;
		bool same_object = true, exclusive[2] = {true, true};
		for (std::size_t side = 0; side < 2; side++)
			for (const Witness *witness : sides[side]) {
				const auto held =
					gate_in_object_of(model.observations[witness->observation],
							  gate, member(model, *witness, cls));
				same_object = same_object && held;
				exclusive[side] = exclusive[side] && held.value_or(false);
			}
		if (same_object && (exclusive[0] || exclusive[1]))
			return GateProof::Same;
	}
	return GateProof::Differs;
}

/*
 * Is the gate one lock on both sides, held exclusively on one? Either the same instance, or
 * the lock of the object that a lock of the cycle belongs to, on either side. A run in which it
 * is another one decides; it has to be the same in each.
 */
GateProof prove_gate(const Model &model, const Finding &finding, const FindingEdge &a,
		     const FindingEdge &b, ClassId gate)
{
	if (model[gate].global())
		return GateProof::Same;
	std::map<std::uint32_t, Sides> runs;
	for (std::size_t side = 0; side < 2; side++)
		for (const auto &witness : (side ? b : a).witnesses)
			runs[model.observations[witness.observation].run][side].push_back(&witness);
	auto proof = runs.empty() ? GateProof::Unknown : GateProof::Same;
	for (const auto &[run, sides] : runs) {
		const auto here = prove_gate_in_run(model, finding, a, b, gate, sides);
		if (here == GateProof::Differs)
			return here;
		if (here == GateProof::Unknown)
			proof = here;
	}
	return proof;
}

/* Locks held at every observation and in every chain of an edge. */
std::map<ClassId, bool> always_held(const Model &model, const FindingEdge &edge,
				    const ChainFacts::Kind *fact)
{
	std::map<ClassId, bool> always;
	bool first = true;
	for (const auto &witness : edge.witnesses) {
		std::map<ClassId, bool> here;
		for (const auto &entry : holds(model, edge, witness))
			if (entry.cls != kNoClass)
				here[entry.cls] |= read_of(entry.val) == LS_EXCLUSIVE;
		always = first ? std::move(here) : held_in_both(always, here);
		first = false;
	}
	if (fact && fact->any) {
		/* Chains do not cover the edge's own classes differently. */
		std::map<ClassId, bool> own;
		for (ClassId cls : {edge.from, edge.to})
			if (auto at = always.find(cls); at != always.end())
				own.insert(*at);
		always = held_in_both(always, fact->held);
		always.insert(own.begin(), own.end());
	}
	/* A lock held while an interrupt may come is recorded per class, not per instance. */
	if (to_interrupt(edge) && !model[edge.from].global())
		always.erase(edge.from);
	/* A semaphore that counts events, or is handed over, excludes nothing. */
	std::erase_if(always, [&](const auto &gate) { return counts_events(model, gate.first); });
	return always;
}

} // namespace

/* A deadlock needs a context at every edge at once; two edges that exclude each other prevent
 * it. A lock of the cycle held at one edge that is also held besides at another one excludes
 * them as well. An interrupt comes whatever is held, but waits for the locks that it acquires
 * first. */
void gate_lock(const Model &model, Finding &finding, const std::vector<ChainFacts::Kind> &facts)
{
	if (facts.empty())
		return;
	std::vector<std::map<ClassId, bool>> held;
	for (std::size_t i = 0; i < finding.edges.size(); i++) {
		const auto &edge = finding.edges[i];
		held.emplace_back();
		/* What delays a completer delays its waiter, too. */
		if (!completes(model, edge))
			held.back() =
				always_held(model, edge, i < facts.size() ? &facts[i] : nullptr);
		/* The log has one or a few of the instances held while an interrupt may come. */
		if (to_interrupt(edge) && !model[edge.from].global())
			held.back().erase(edge.from);
	}

	std::optional<ClassId> unknown, first;
	for (std::size_t i = 0; i < held.size(); i++) {
		for (std::size_t k = i + 1; k < held.size(); k++) {
			for (const auto &[gate, exclusive] : held[i]) {
				auto at = held[k].find(gate);
				if (at == held[k].end() || (!exclusive && !at->second))
					continue;
				const auto proof = prove_gate(model, finding, finding.edges[i],
							      finding.edges[k], gate);
				if (proof == GateProof::Unknown)
					unknown = gate;
				if (proof != GateProof::Same)
					continue;
				if (from_interrupt(finding.edges[k])) {
					first = gate;
					continue;
				}
				finding.filters.push_back(
					{"gate-lock", true,
					 model[gate].name + " keeps two of the sides apart"});
				return;
			}
		}
	}
	/* Not hidden: longer cycles with the interrupt were skipped because of this one. */
	if (first)
		finding.filters.push_back({"gate-lock", false,
					   model[*first].name +
						   " is held on another side, and the interrupt "
						   "takes it before"});
	else if (unknown)
		finding.filters.push_back(
			{"gate-lock", false,
			 model[*unknown].name +
				 " would keep two of the sides apart, but whether it "
				 "is one lock is not known"});
}

} // namespace lockscope
