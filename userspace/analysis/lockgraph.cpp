// SPDX-License-Identifier: GPL-2.0
#include "analysis/lockgraph.h"

#include <algorithm>

namespace lockscope {

namespace {

std::uint64_t pair_key(ClassId from, ClassId to)
{
	return std::uint64_t{index(from)} << 32 | index(to);
}

} // namespace

std::uint32_t dependency_kind(std::uint32_t held_val, std::uint32_t acquired_val)
{
	const bool shared = read_of(held_val) != LS_EXCLUSIVE;
	const bool recursive = read_of(acquired_val) == LS_RECURSIVE;
	if (shared)
		return recursive ? LS_DEP_SR : LS_DEP_SN;
	return recursive ? LS_DEP_ER : LS_DEP_EN;
}

LockGraph::LockGraph(const Model &model) : nodes_(model.classes.size())
{
	std::unordered_map<std::uint64_t, std::size_t> known;
	for (std::size_t s = 0; s < model.sights.size(); s++) {
		const Sight &sight = model.sights[s];
		const ClassId to = sight.acquired.cls;
		/* Who only tries never waits, so nothing can wait for it here. */
		if (to == kNoClass || (sight.acquired.val & LS_VAL_TRY))
			continue;
		for (std::uint32_t i = 0; i < sight.held.size(); i++) {
			const Held &held = sight.held[i];
			/* Nesting within a class is judged by instances, not order. */
			if (held.cls == kNoClass || held.cls == to)
				continue;
			/* Acquire contexts of ww_mutexes back off instead of waiting. */
			if (held.val & sight.acquired.val & LS_VAL_CTX)
				continue;
			auto [at, added] =
				known.try_emplace(pair_key(held.cls, to), dependencies_.size());
			if (added)
				dependencies_.push_back({held.cls, to, 0, {}});
			auto &dependency = dependencies_[at->second];
			const auto kind = dependency_kind(held.val, sight.acquired.val);
			dependency.kinds |= kind;
			dependency.evidence.push_back({s, i, kind});
		}
	}
}

std::vector<Cycle> LockGraph::cycles() const
{
	Graph graph(static_cast<std::uint32_t>(std::max<std::size_t>(nodes_, 1)),
		    static_cast<std::uint32_t>(dependencies_.size()));
	for (const auto &dependency : dependencies_)
		graph.add(index(dependency.from), index(dependency.to), dependency.kinds);
	return find_cycles(graph);
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

std::unordered_map<std::uint32_t, ChainFacts>
chain_facts(const Model &model, const LockGraph &graph, const std::set<std::uint32_t> &edges)
{
	std::unordered_map<std::uint32_t, ChainFacts> facts;
	std::unordered_map<std::uint64_t, std::uint32_t> wanted;
	for (auto edge : edges) {
		const auto &dependency = graph.dependency(edge);
		wanted[pair_key(dependency.from, dependency.to)] = edge;
		facts[edge];
	}
	std::vector<const Chain *> below;
	for (const auto &run : model.runs) {
		for (const auto &chain : run.chains) {
			/* Count 0: held like that after something else was released,
			 * never acquired like that. */
			if (chain.cls == kNoClass || chain.count == 0 || (chain.val & LS_VAL_TRY))
				continue;
			below.clear();
			for (auto up = chain.parent; up != 0; up = run.chains[up].parent)
				below.push_back(&run.chains[up]);
			for (const Chain *from : below) {
				auto at = wanted.find(pair_key(from->cls, chain.cls));
				if (at == wanted.end())
					continue;
				auto &fact = facts[at->second];
				fact.count += chain.count;
				std::map<ClassId, bool> here;
				for (const Chain *other : below)
					if (other->cls != kNoClass && other->cls != from->cls &&
					    other->cls != chain.cls)
						here[other->cls] |=
							read_of(other->val) == LS_EXCLUSIVE;
				fact.held =
					fact.any ? held_in_both(fact.held, here) : std::move(here);
				fact.any = true;
			}
		}
	}
	return facts;
}

} // namespace lockscope
