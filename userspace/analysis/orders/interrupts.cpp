// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/interrupts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <vector>

namespace lockscope {

namespace {

/// Edges between locks by one of their ends, in their order.
class Neighbours {
public:
	template <typename End>
	Neighbours(const LockGraph &graph, std::size_t nodes, End end_of) : first_(nodes + 1)
	{
		const auto each = [&](auto visit) {
			const auto &all = graph.dependencies();
			for (std::uint32_t i = 0; i < all.size(); i++)
				/* A context that can be interrupted with a lock held does not
				 * sleep. */
				if (!all[i].need && !is_interrupt(all[i].from) &&
				    !is_interrupt(all[i].to))
					visit(index(end_of(all[i])), i + 1);
		};
		each([&](std::uint32_t node, std::uint32_t) { first_[node + 1]++; });
		std::partial_sum(first_.begin(), first_.end(), first_.begin());
		auto at = first_;
		edges_.resize(first_.back());
		each([&](std::uint32_t node, std::uint32_t edge) { edges_[at[node]++] = edge; });
	}

	std::span<const std::uint32_t> operator[](std::uint32_t node) const
	{
		return {edges_.data() + first_[node], first_[node + 1] - first_[node]};
	}

private:
	std::vector<std::uint32_t> first_, edges_;
};

/// What the searches for both interrupts share.
struct Locks {
	explicit Locks(const LockGraph &orders)
		: graph(orders), nodes(nodes_of(orders)),
		  out(orders, nodes, [](const Dependency &d) { return d.from; }),
		  in(orders, nodes, [](const Dependency &d) { return d.to; })
	{
	}

	static std::size_t nodes_of(const LockGraph &graph)
	{
		std::size_t most = 0;
		for (const auto &dependency : graph.dependencies())
			for (ClassId cls : {dependency.from, dependency.to})
				if (!is_interrupt(cls))
					most = std::max<std::size_t>(most, index(cls) + 1);
		return most;
	}

	const LockGraph &graph;
	std::size_t nodes;
	Neighbours out, in;
};

/// The search for one interrupt.
class Search {
public:
	Search(const Locks &locks, ClassId interrupt)
		: locks_(locks), graph_(locks.graph), interrupt_(interrupt), leads_(locks.nodes),
		  steps_(2 * locks.nodes)
	{
		for (std::uint32_t edge = 1; edge <= graph_.dependencies().size(); edge++) {
			const auto &dependency = graph_.dependency(edge);
			if (dependency.from == interrupt)
				taken_[dependency.to] = edge;
			else if (dependency.to == interrupt)
				held_[dependency.from] = edge;
		}
		if (!taken_.empty())
			find_leading();
	}

	void run(std::vector<InterruptCycle> &out)
	{
		find_inconsistent(out);
		for (const auto &[cls, edge] : taken_)
			if (!inconsistent_.count(cls))
				search_from(cls, edge, out);
	}

	void run_further(const std::set<InterruptEnds> &wanted, std::vector<InterruptCycle> &out)
	{
		std::vector<InterruptCycle> shortest;
		find_inconsistent(shortest);
		for (const auto &[cls, edge] : taken_) {
			auto at = wanted.lower_bound({interrupt_, cls, ClassId{}});
			if (at == wanted.end() || (*at)[0] != interrupt_ || (*at)[1] != cls ||
			    inconsistent_.count(cls))
				continue;
			search_from(cls, edge, shortest);
			for (; at != wanted.end() && (*at)[0] == interrupt_ && (*at)[1] == cls;
			     at++)
				add_further((*at)[2], {cls, !(kinds(edge) & LS_DEP_EN)}, edge, out);
		}
	}

private:
	void find_inconsistent(std::vector<InterruptCycle> &out)
	{
		for (const auto &[cls, edge] : taken_)
			if (auto at = held_.find(cls);
			    at != held_.end() && closes(at->second, edge)) {
				inconsistent_.insert(cls);
				out.push_back({interrupt_, cls, cls, {at->second, edge}});
			}
	}

	/// A class, and whether the walk to it can only end in a recursive reader, so that the
	/// next dependency has to begin with an exclusive holder.
	struct State {
		ClassId cls{};
		bool only_recursive = false;
		bool operator==(const State &) const = default;
	};
	/// How a search came to a state, if it is the search with that number.
	struct Step {
		State from;
		std::uint32_t edge = 0, search = 0;
	};
	Step &step(const State &state)
	{
		return steps_[2 * std::size_t{index(state.cls)} + state.only_recursive];
	}
	bool visited(const State &state) { return step(state).search == search_; }

	/* Most locks that an interrupt takes lead to none that is held while it can come. */
	void find_leading()
	{
		std::vector<std::uint32_t> open;
		auto add = [&](std::uint32_t cls) {
			if (!leads_[cls])
				open.push_back(cls);
			leads_[cls] = true;
		};
		for (const auto &[cls, edge] : held_)
			add(index(cls));
		while (!open.empty()) {
			const auto cls = open.back();
			open.pop_back();
			for (auto edge : locks_.in[cls])
				add(index(graph_.dependency(edge).from));
		}
	}

	std::uint32_t kinds(std::uint32_t edge) const { return graph_.dependency(edge).kinds; }

	static std::uint32_t usable(std::uint32_t kinds, bool only_recursive)
	{
		return only_recursive ? kinds & (LS_DEP_EN | LS_DEP_ER) : kinds;
	}

	bool closes(std::uint32_t held, std::uint32_t taken) const
	{
		return usable(kinds(held), !(kinds(taken) & LS_DEP_EN)) != 0;
	}

	/* Is the rest of any walk through @cls a cycle by itself? */
	bool dominates(ClassId cls) const
	{
		auto at = taken_.find(cls);
		return at != taken_.end() && !inconsistent_.count(cls) &&
		       (kinds(at->second) & LS_DEP_EN);
	}

	void search_from(ClassId safe, std::uint32_t taken, std::vector<InterruptCycle> &out)
	{
		const State start{safe, !(kinds(taken) & LS_DEP_EN)};
		search_++;
		step(start) = {start, 0, search_};
		std::set<ClassId> found;
		std::vector<State> queue{start};
		for (std::size_t next_state = 0; next_state < queue.size(); next_state++) {
			const State at = queue[next_state];
			if (at != start && ends(at, start, taken, found, out))
				continue;
			for (auto edge : locks_.out[index(at.cls)]) {
				const auto can = usable(kinds(edge), at.only_recursive);
				const State next{graph_.dependency(edge).to,
						 !(can & (LS_DEP_EN | LS_DEP_SN))};
				/*
				 * An unrestricted visit covers the restricted one. A class that
				 * nests in itself is left by the instance acquired last.
				 */
				if (!can || !leads_[index(next.cls)] ||
				    (next.cls == safe && at.cls != safe) ||
				    visited({next.cls, false}) || dominates(next.cls) ||
				    visited(next))
					continue;
				step(next) = {at, edge, search_};
				queue.push_back(next);
			}
		}
	}

	/// Record the cycle that ends at @at, if there is one; true: go no further.
	bool ends(const State &at, const State &start, std::uint32_t taken,
		  std::set<ClassId> &found, std::vector<InterruptCycle> &out)
	{
		auto held = held_.find(at.cls);
		if (held == held_.end() || inconsistent_.count(at.cls) ||
		    !usable(kinds(held->second), at.only_recursive))
			return false;
		if (!found.insert(at.cls).second)
			return true;
		InterruptCycle cycle{interrupt_, start.cls, at.cls, walk_to(at, start)};
		cycle.edges.push_back(held->second);
		cycle.edges.push_back(taken);
		out.push_back(std::move(cycle));
		return true;
	}

	/// The walk that the search took to @at.
	Cycle walk_to(const State &at, const State &start)
	{
		Cycle edges;
		for (State back = at; back != start; back = step(back).from)
			edges.push_back(step(back).edge);
		std::reverse(edges.begin(), edges.end());
		return edges;
	}

	/// After search_from(): walks to @end by each of its dependencies.
	void add_further(ClassId end, const State &start, std::uint32_t taken,
			 std::vector<InterruptCycle> &out)
	{
		const auto held = held_.find(end);
		std::size_t left = kFurther;
		if (held == held_.end())
			return;
		for (auto edge : locks_.in[index(end)])
			for (bool only_recursive : {false, true}) {
				const State at{graph_.dependency(edge).from, only_recursive};
				const auto can = usable(kinds(edge), only_recursive);
				if (!left || out.size() >= kFurtherInAll || at.cls == end ||
				    !visited(at) || !can ||
				    !usable(kinds(held->second), !(can & (LS_DEP_EN | LS_DEP_SN))))
					continue;
				InterruptCycle cycle{interrupt_, start.cls, end,
						     walk_to(at, start)};
				if (std::any_of(cycle.edges.begin(), cycle.edges.end(),
						[&](auto before) {
							return graph_.dependency(before).to == end;
						}))
					continue;
				cycle.edges.insert(cycle.edges.end(), {edge, held->second, taken});
				out.push_back(std::move(cycle));
				left--;
			}
	}

	static constexpr std::size_t kFurther = 6, kFurtherInAll = 2000;

	const Locks &locks_;
	const LockGraph &graph_;
	ClassId interrupt_;
	std::map<ClassId, std::uint32_t> taken_, held_; ///< edges of the interrupt, by lock
	std::vector<bool> leads_;  ///< by lock: to one that is held while the interrupt can come
	std::vector<Step> steps_;  ///< two for each lock, see step()
	std::uint32_t search_ = 0; ///< number of the search
	std::set<ClassId> inconsistent_;
};

} // namespace

std::vector<InterruptCycle> interrupt_cycles(const LockGraph &graph)
{
	std::vector<InterruptCycle> out;
	const Locks locks(graph);
	for (ClassId interrupt : {kHardirqClass, kSoftirqClass})
		Search(locks, interrupt).run(out);
	return out;
}

std::vector<InterruptCycle> further_interrupt_cycles(const LockGraph &graph,
						     const std::set<InterruptEnds> &ends)
{
	std::vector<InterruptCycle> out;
	if (ends.empty())
		return out;
	const Locks locks(graph);
	for (ClassId interrupt : {kHardirqClass, kSoftirqClass})
		Search(locks, interrupt).run_further(ends, out);
	return out;
}

} // namespace lockscope
