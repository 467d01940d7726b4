// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/lockgraph.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace lockscope {

namespace {

/// Further cycles that are tried for an edge, and for all of them; searches for all of them.
constexpr std::size_t kFurther = 6, kFurtherCycles = 2000, kFurtherSearches = 10000;

/// Slots of an empty graph, a power of two.
constexpr std::size_t kFewestSlots = 256;

std::uint64_t pair_key(ClassId from, ClassId to)
{
	return std::uint64_t{index(from)} << 32 | index(to);
}

/// An interrupt and the LS_USE_* bits that concern it.
struct Interrupt {
	ClassId cls;
	std::uint32_t in, in_read, on, on_read;
};
constexpr Interrupt kInterrupts[] = {
	{kHardirqClass, LS_USE_IN_HARDIRQ, LS_USE_IN_HARDIRQ_READ, LS_USE_ON_HARDIRQ,
	 LS_USE_ON_HARDIRQ_READ},
	{kSoftirqClass, LS_USE_IN_SOFTIRQ, LS_USE_IN_SOFTIRQ_READ, LS_USE_ON_SOFTIRQ,
	 LS_USE_ON_SOFTIRQ_READ},
};

} // namespace

std::uint32_t dependency_kind(std::uint32_t held_val, std::uint32_t acquired_val)
{
	return ls_dep_kind(held_val, acquired_val);
}

/* Linear probing; the slot of the edge, or a free one. */
std::size_t LockGraph::slot_of(ClassId from, ClassId to) const
{
	std::uint64_t hash = pair_key(from, to) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	const std::size_t mask = slots_.size() - 1;
	for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
		const std::uint32_t edge = slots_[slot];
		if (!edge || (dependency(edge).from == from && dependency(edge).to == to))
			return slot;
	}
}

/* A later one replaces an earlier one with the same ends. */
std::uint32_t LockGraph::add_dependency(ClassId from, ClassId to)
{
	dependencies_.push_back({from, to});
	const auto added = static_cast<std::uint32_t>(dependencies_.size());
	if (2 * dependencies_.size() > slots_.size()) {
		slots_.assign(4 * slots_.size(), 0);
		for (std::uint32_t edge = 1; edge < added; edge++)
			slots_[slot_of(dependency(edge).from, dependency(edge).to)] = edge;
	}
	slots_[slot_of(from, to)] = added;
	return added;
}

void LockGraph::add_evidence(std::uint32_t edge, Evidence evidence)
{
	dependencies_[edge - 1].kinds |= evidence.kind;
	evidence_.push_back(evidence);
	edge_of_.push_back(edge);
}

void LockGraph::add(ClassId from, ClassId to, Evidence evidence)
{
	const std::uint32_t known = find(from, to);
	add_evidence(known ? known : add_dependency(from, to), evidence);
}

/* By dependency; in the order in which it came within each. */
void LockGraph::sort_evidence()
{
	std::vector<std::size_t> at(dependencies_.size() + 1);
	for (auto edge : edge_of_)
		at[edge]++;
	std::partial_sum(at.begin(), at.end(), at.begin());
	std::vector<Evidence> sorted(evidence_.size());
	for (std::size_t i = 0; i < dependencies_.size(); i++)
		dependencies_[i].evidence = {sorted.data() + at[i], at[i + 1] - at[i]};
	for (std::size_t i = 0; i < evidence_.size(); i++)
		sorted[at[edge_of_[i] - 1]++] = evidence_[i];
	evidence_ = std::move(sorted);
	edge_of_ = {};
}

LockGraph::LockGraph(const Model &model, const Runs &runs)
	: nodes_(model.classes.size()), slots_(kFewestSlots)
{
	add_orders(model, runs);
	add_needs(model, runs);
	orders_ = dependencies_.size();
	add_usage(model, runs);
	add_nestings(model, runs);
	sort_evidence();
}

std::uint32_t LockGraph::find(ClassId from, ClassId to) const
{
	return slots_[slot_of(from, to)];
}

void LockGraph::add_orders(const Model &model, const Runs &runs)
{
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		const ClassId to = observation.acquired.cls;
		if (to == kNoClass || !runs[observation.run] || !observation.acquisition())
			continue;
		for (std::uint32_t i = 0; i < observation.held.size(); i++) {
			const Held &held = observation.held[i];
			/*
			 * Nesting within a class is checked by instances, not by order of
			 * classes.
			 */
			if (held.cls == kNoClass || held.cls == to ||
			    !ls_orders(held.val, observation.acquired.val))
				continue;
			add(held.cls, to,
			    {s, i, dependency_kind(held.val, observation.acquired.val)});
		}
	}
}

/* A task that waits for a completion waits for the locks held at all of its completions, like
 * in the module's judge; here all of them are known. */
void LockGraph::add_needs(const Model &model, const Runs &runs)
{
	struct Need {
		std::uint32_t kind = 0; ///< the weakest
		std::vector<Evidence> evidence;
	};
	std::map<ClassId, std::map<ClassId, Need>> needs;
	std::set<ClassId> confirmed; ///< by another context than the waiter
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		const ClassId done = observation.acquired.cls;
		if (done == kNoClass || !runs[observation.run] || !observation.completion())
			continue;
		const bool confirms =
			observation.extra != LS_COMPLETE_OPEN && confirmed.insert(done).second;
		/* An observation of the waiter, not of a completer. */
		if (observation.extra == LS_COMPLETE_CONFIRMED)
			continue;
		std::map<ClassId, Need> here;
		for (std::uint32_t i = 0; i < observation.held.size(); i++) {
			const Held &held = observation.held[i];
			if (held.cls == kNoClass || held.cls == done ||
			    !(observation.new_mask >> i & 1))
				continue;
			const std::uint32_t kind = ls_need_kind(held.val);
			auto &need = here[held.cls];
			if (need.kind != LS_DEP_EN)
				need = {kind, {{s, i, kind}}};
		}
		auto [at, first] = needs.try_emplace(done, here);
		if (first)
			continue;
		std::erase_if(at->second,
			      [&](const auto &entry) { return !here.contains(entry.first); });
		for (auto &[lock, need] : at->second) {
			const Need &now = here.at(lock);
			need.kind = need.kind == LS_DEP_EN ? now.kind : need.kind;
			/* The observation of the confirming context is shown first. */
			need.evidence.insert(confirms ? need.evidence.begin() : need.evidence.end(),
					     now.evidence.front());
		}
	}
	for (const auto &[done, locks] : needs) {
		if (!confirmed.contains(done))
			continue;
		for (const auto &[lock, need] : locks) {
			const auto edge = add_dependency(done, lock);
			dependencies_[edge - 1].need = true;
			for (const auto &evidence : need.evidence)
				add_evidence(edge, evidence);
			dependencies_[edge - 1].kinds = need.kind;
		}
	}
}

void LockGraph::add_usage(const Model &model, const Runs &runs)
{
	auto add_use = [&](std::size_t observation, std::uint32_t position, ClassId cls,
			   std::uint32_t use) {
		if (cls == kNoClass)
			return;
		for (const auto &interrupt : kInterrupts) {
			if (use & interrupt.in)
				add(interrupt.cls, cls, {observation, position, LS_DEP_EN});
			if (use & interrupt.in_read)
				add(interrupt.cls, cls, {observation, position, LS_DEP_ER});
			if (use & interrupt.on)
				add(cls, interrupt.cls, {observation, position, LS_DEP_EN});
			if (use & interrupt.on_read)
				add(cls, interrupt.cls, {observation, position, LS_DEP_SN});
		}
	};
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		if (!runs[observation.run] || observation.fault() || observation.completion())
			continue;
		const std::uint32_t now = observation.acquired.val;
		add_use(s, kOwnLock, observation.acquired.cls,
			observation.acquisition() ? ls_usage(now) : ls_usage_on(now, now));
		for (std::uint32_t i = 0; i < observation.held.size(); i++)
			add_use(s, i, observation.held[i].cls,
				ls_usage_on(observation.held[i].val, now));
	}
}

bool nests(const Observation &observation, std::uint32_t i)
{
	const Held &held = observation.held[i], &acquired = observation.acquired;
	return held.cls == acquired.cls && held.cls != kNoClass && held.instance != 0 &&
	       acquired.instance != 0 && held.instance != acquired.instance &&
	       ls_orders(held.val, acquired.val);
}

void LockGraph::add_nestings(const Model &model, const Runs &runs)
{
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		if (!runs[observation.run] || !observation.acquisition() ||
		    (observation.acquired.val & LS_VAL_WAIT))
			continue;
		for (std::uint32_t i = 0; i < observation.held.size(); i++)
			if (nests(observation, i))
				add(observation.acquired.cls, observation.acquired.cls,
				    {s, i,
				     dependency_kind(observation.held[i].val,
						     observation.acquired.val)});
	}
}

Graph LockGraph::orders_graph() const
{
	Graph graph(static_cast<std::uint32_t>(std::max<std::size_t>(nodes_, 1)),
		    static_cast<std::uint32_t>(orders_));
	for (std::size_t i = 0; i < orders_; i++)
		graph.add(index(dependencies_[i].from), index(dependencies_[i].to),
			  dependencies_[i].kinds);
	return graph;
}

std::vector<Cycle> LockGraph::cycles() const
{
	Graph graph = orders_graph();
	return find_cycles(graph);
}

std::vector<Cycle> LockGraph::further_cycles(const std::set<std::uint32_t> &without) const
{
	Graph graph = orders_graph();
	const auto component = components(graph);
	std::vector<Cycle> out;
	std::size_t searches = kFurtherSearches;
	for (std::uint32_t edge = 1; edge <= graph.size() && out.size() < kFurtherCycles; edge++) {
		const auto &ends = graph.edge(edge);
		if (!component[ends.from] || component[ends.from] != component[ends.to] ||
		    without.contains(edge))
			continue;
		for (auto &cycle :
		     lockscope::further_cycles(graph, component, edge, kFurther, searches))
			out.push_back(std::move(cycle));
	}
	return out;
}

std::map<ClassId, bool> held_in_both(const std::map<ClassId, bool> &a,
				     const std::map<ClassId, bool> &b)
{
	std::map<ClassId, bool> both;
	for (const auto &[cls, exclusive] : a)
		if (auto at = b.find(cls); at != b.end())
			both[cls] = exclusive && at->second;
	return both;
}

ChainFacts::Kind ChainFacts::of(std::uint32_t mask) const
{
	Kind all;
	for (std::size_t i = 0; i < std::size(kinds); i++) {
		if (!(mask >> i & 1) || !kinds[i].any)
			continue;
		all.held = all.any ? held_in_both(all.held, kinds[i].held) : kinds[i].held;
		all.any = true;
	}
	return all;
}

namespace {

using Wanted = std::unordered_map<std::uint64_t, std::uint32_t>;
using Facts = std::unordered_map<std::uint32_t, ChainFacts>;

/* Add to @fact that @chain shows it as @kind, while @below is held. The dependency's own locks
 * are left out. */
void add_held(ChainFacts &fact, std::uint32_t kind, const Chain &chain,
	      const std::vector<const Chain *> &below, ClassId from)
{
	std::map<ClassId, bool> here;
	for (const Chain *other : below)
		if (other->cls != kNoClass && other->cls != from && other->cls != chain.cls)
			here[other->cls] |= read_of(other->val) == LS_EXCLUSIVE;
	auto &known = fact.kinds[std::countr_zero(kind)];
	fact.count += chain.count;
	known.held = known.any ? held_in_both(known.held, here) : std::move(here);
	known.any = true;
}

/* Chains only have the context of the acquire, not of the rest of the hold. */
void add_usage_facts(const Chain &chain, const std::vector<const Chain *> &below,
		     const Wanted &wanted, Facts &facts)
{
	const std::uint32_t use = ls_usage(chain.val);
	for (const auto &interrupt : kInterrupts) {
		if (use & (interrupt.in | interrupt.in_read))
			if (auto at = wanted.find(pair_key(interrupt.cls, chain.cls));
			    at != wanted.end())
				add_held(facts[at->second],
					 use & interrupt.in ? LS_DEP_EN : LS_DEP_ER, chain, below,
					 interrupt.cls);
		if (use & (interrupt.on | interrupt.on_read))
			if (auto at = wanted.find(pair_key(chain.cls, interrupt.cls));
			    at != wanted.end())
				facts[at->second].count += chain.count;
	}
}

} // namespace

std::unordered_map<std::uint32_t, ChainFacts> chain_facts(const Model &model, const Runs &runs,
							  const LockGraph &graph,
							  const std::set<std::uint32_t> &edges)
{
	Facts facts;
	Wanted wanted;
	if (edges.empty())
		return facts;
	/* A chain shows dependencies of its last lock alone. */
	std::vector<bool> last(model.classes.size());
	for (auto edge : edges) {
		const auto &dependency = graph.dependency(edge);
		wanted[pair_key(dependency.from, dependency.to)] = edge;
		facts[edge];
		for (ClassId cls : {dependency.from, dependency.to})
			if (!is_interrupt(cls) &&
			    (cls == dependency.to || is_interrupt(dependency.to)))
				last[index(cls)] = true;
	}
	std::vector<const Chain *> below;
	for (std::size_t number = 0; number < model.runs.size(); number++) {
		const Run &run = model.runs[number];
		if (!runs[number])
			continue;
		for (const auto &chain : run.chains) {
			/* Count 0: held like that after another lock was released, never
			 * acquired like that. */
			if (chain.cls == kNoClass || chain.count == 0 || !last[index(chain.cls)])
				continue;
			below.clear();
			for (auto up = chain.parent; up != 0; up = run.chains[up].parent)
				below.push_back(&run.chains[up]);
			add_usage_facts(chain, below, wanted, facts);
			if (chain.val & LS_VAL_TRY)
				continue;
			for (const Chain *from : below)
				if (auto at = wanted.find(pair_key(from->cls, chain.cls));
				    at != wanted.end())
					add_held(facts[at->second],
						 dependency_kind(from->val, chain.val), chain,
						 below, from->cls);
		}
	}
	return facts;
}

} // namespace lockscope
