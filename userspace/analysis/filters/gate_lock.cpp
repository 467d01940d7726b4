// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/gate_lock.h"

#include "analysis/evidence.h"
#include "analysis/filters/beliefs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace lockscope {

namespace {

/* The instances of the gate that are held, and 0 for one that is not known; true: exclusively. */
std::map<std::uint64_t, bool> gates_held(const std::vector<Held> &all, ClassId gate)
{
	std::map<std::uint64_t, bool> instances;
	for (const auto &held : all)
		if (held.cls == gate)
			instances[held.instance] |= read_of(held.val) == LS_EXCLUSIVE;
	return instances;
}

/* Does one of them lie in the object that @lock lies in? */
bool gate_in_object_of(const Sight &sight, ClassId gate, const Held *lock)
{
	return lock && lock->object != 0 &&
	       std::any_of(sight.held.begin(), sight.held.end(), [&](const Held &held) {
		       return held.cls == gate && held.object == lock->object;
	       });
}

/* The instance hash of @cls in a witness of the edge from -> to. */
const Held *member(const Model &model, const Witness &witness, ClassId cls)
{
	const Sight &sight = model.sights[witness.sight];
	if (const Held &held = sight.at(witness.position); held.cls == cls)
		return &held;
	return sight.acquired.cls == cls ? &sight.acquired : nullptr;
}

enum class GateProof { Same, Unknown, Differs };

/* Is the gate one lock on both sides, held exclusively on one? Either the very same instance,
 * or the lock of the object that a lock of the cycle lies in, on either side. */
GateProof prove_gate(const Model &model, const Finding &finding, const FindingEdge &a,
		     const FindingEdge &b, ClassId gate)
{
	if (model[gate].global())
		return GateProof::Same;
	std::optional<std::map<std::uint64_t, bool>> common[2]; /* true: exclusively each time */
	std::set<std::uint32_t> runs;
	bool unknown = false;
	for (std::size_t side = 0; side < 2; side++) {
		const FindingEdge &edge = side ? b : a;
		for (const auto &witness : edge.witnesses) {
			auto here = gates_held(holds(model, edge, witness), gate);
			unknown = unknown || here.empty() || here.contains(0);
			runs.insert(model.sights[witness.sight].run);
			if (!common[side]) {
				common[side] = std::move(here);
				continue;
			}
			std::erase_if(*common[side], [&](const auto &instance) {
				return !here.contains(instance.first);
			});
			for (auto &[instance, exclusive] : *common[side])
				exclusive = exclusive && here.at(instance);
		}
	}
	/* Instances of different boots cannot be compared. */
	if (unknown || !common[0] || !common[1] || runs.size() > 1)
		return GateProof::Unknown;
	for (const auto &[instance, exclusive] : *common[0])
		if (auto at = common[1]->find(instance);
		    at != common[1]->end() && (exclusive || at->second))
			return GateProof::Same;
	if (std::find(finding.classes.begin(), finding.classes.end(), gate) != finding.classes.end())
		return GateProof::Differs;
	for (ClassId cls : {a.from, a.to}) {
		if (cls != b.from && cls != b.to)
			continue;
		bool same_object = true;
		for (const auto *edge : {&a, &b})
			for (const auto &witness : edge->witnesses)
				same_object = same_object &&
					      gate_in_object_of(model.sights[witness.sight], gate,
								member(model, witness, cls));
		if (same_object)
			return GateProof::Same;
	}
	return GateProof::Differs;
}

/* What is held at every sight and chain of an edge. */
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
		/* Of the edge's own classes chains say nothing else. */
		std::map<ClassId, bool> own;
		for (ClassId cls : {edge.from, edge.to})
			if (auto at = always.find(cls); at != always.end())
				own.insert(*at);
		always = held_in_both(always, fact->held);
		always.insert(own.begin(), own.end());
	}
	/* That an interrupt may find a lock held is kept for its class, not for each instance. */
	if (to_interrupt(edge) && !model[edge.from].global())
		always.erase(edge.from);
	/* What counts events, or is another context's by then, keeps nobody apart. */
	std::erase_if(always, [&](const auto &gate) { return counts_events(model, gate.first); });
	return always;
}

} // namespace

/* A deadlock needs somebody at every edge at once; two edges that exclude each
 * other are enough to prevent it. What one side holds of the cycle and another one holds
 * besides does so too. An interrupt comes whatever is held, but waits for what it takes
 * first. */
void gate_lock(const Model &model, Finding &finding, const std::vector<ChainFacts::Kind> &facts)
{
	if (facts.empty())
		return;
	std::vector<std::map<ClassId, bool>> held;
	for (std::size_t i = 0; i < finding.edges.size(); i++) {
		const auto &edge = finding.edges[i];
		held.emplace_back();
		/* What keeps a completer away keeps the one waiting who waits for it. */
		if (!completes(model, edge))
			held.back() = always_held(model, edge, i < facts.size() ? &facts[i] : nullptr);
		/* Of the instances that an interrupt may find held the log has one or a few. */
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
	/* Not hidden: longer cycles with the interrupt were left out for this one. */
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
