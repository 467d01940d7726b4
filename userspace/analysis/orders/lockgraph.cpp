// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/lockgraph.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <bit>
#include <iterator>

namespace lockscope {

namespace {

/// Further cycles that are tried for an edge, and for all of them; searches for all of them.
constexpr std::size_t kFurther = 6, kFurtherCycles = 2000, kFurtherSearches = 10000;

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

void LockGraph::add(Known &known, ClassId from, ClassId to, Evidence evidence)
{
	auto [at, added] = known.try_emplace(pair_key(from, to), dependencies_.size());
	if (added)
		dependencies_.push_back({from, to, 0, {}, false});
	auto &dependency = dependencies_[at->second];
	dependency.kinds |= evidence.kind;
	dependency.evidence.push_back(evidence);
}

LockGraph::LockGraph(const Model &model, const Runs &runs) : nodes_(model.classes.size())
{
	add_orders(model, runs);
	add_needs(model, runs);
	orders_ = dependencies_.size();
	add_usage(model, runs);
	add_nestings(model, runs);
	for (std::size_t i = 0; i < dependencies_.size(); i++)
		by_ends_[pair_key(dependencies_[i].from, dependencies_[i].to)] =
			static_cast<std::uint32_t>(i + 1);
}

std::uint32_t LockGraph::find(ClassId from, ClassId to) const
{
	auto at = by_ends_.find(pair_key(from, to));
	return at == by_ends_.end() ? 0 : at->second;
}

void LockGraph::add_orders(const Model &model, const Runs &runs)
{
	Known known;
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
			add(known, held.cls, to,
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
		for (const auto &[lock, need] : locks)
			dependencies_.push_back({done, lock, need.kind, need.evidence, true});
	}
}

void LockGraph::add_usage(const Model &model, const Runs &runs)
{
	Known known;
	auto add_use = [&](std::size_t observation, std::uint32_t position, ClassId cls,
			   std::uint32_t use) {
		if (cls == kNoClass)
			return;
		for (const auto &interrupt : kInterrupts) {
			if (use & interrupt.in)
				add(known, interrupt.cls, cls, {observation, position, LS_DEP_EN});
			if (use & interrupt.in_read)
				add(known, interrupt.cls, cls, {observation, position, LS_DEP_ER});
			if (use & interrupt.on)
				add(known, cls, interrupt.cls, {observation, position, LS_DEP_EN});
			if (use & interrupt.on_read)
				add(known, cls, interrupt.cls, {observation, position, LS_DEP_SN});
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
	Known known;
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		if (!runs[observation.run] || !observation.acquisition() ||
		    (observation.acquired.val & LS_VAL_WAIT))
			continue;
		for (std::uint32_t i = 0; i < observation.held.size(); i++)
			if (nests(observation, i))
				add(known, observation.acquired.cls, observation.acquired.cls,
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
	for (auto edge : edges) {
		const auto &dependency = graph.dependency(edge);
		wanted[pair_key(dependency.from, dependency.to)] = edge;
		facts[edge];
	}
	std::vector<const Chain *> below;
	for (std::size_t number = 0; number < model.runs.size(); number++) {
		const Run &run = model.runs[number];
		if (!runs[number])
			continue;
		for (const auto &chain : run.chains) {
			/* Count 0: held like that after another lock was released, never
			 * acquired like that. */
			if (chain.cls == kNoClass || chain.count == 0)
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
