// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/interrupts.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

namespace lockscope {

namespace {

/// The search for one interrupt.
class Search {
public:
	Search(const LockGraph &graph, ClassId interrupt) : graph_(graph), interrupt_(interrupt)
	{
		for (std::uint32_t edge = 1; edge <= graph.dependencies().size(); edge++) {
			const auto &dependency = graph.dependency(edge);
			if (dependency.from == interrupt)
				taken_[dependency.to] = edge;
			else if (dependency.to == interrupt)
				held_[dependency.from] = edge;
			/* A context that can be interrupted with a lock held does not sleep. */
			else if (!dependency.need && !is_interrupt(dependency.from) &&
				 !is_interrupt(dependency.to))
				out_[dependency.from].push_back(edge);
		}
	}

	void run(std::vector<InterruptCycle> &out)
	{
		for (const auto &[cls, edge] : taken_)
			if (auto at = held_.find(cls);
			    at != held_.end() && closes(at->second, edge)) {
				inconsistent_.insert(cls);
				out.push_back({interrupt_, cls, cls, {at->second, edge}});
			}
		for (const auto &[cls, edge] : taken_)
			if (!inconsistent_.count(cls))
				search_from(cls, edge, out);
	}

private:
	/// A class, and whether the walk to it can only end in a recursive reader, so that the
	/// next dependency has to begin with an exclusive holder.
	struct State {
		ClassId cls;
		bool only_recursive;
		auto operator<=>(const State &) const = default; // NOLINT(modernize-use-nullptr)
	};
	struct Step {
		State from;
		std::uint32_t edge;
	};

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
		std::map<State, Step> steps{{start, {start, 0}}};
		std::set<ClassId> found;
		std::deque<State> queue{start};
		while (!queue.empty()) {
			const State at = queue.front();
			queue.pop_front();
			if (at != start && ends(at, start, steps, taken, found, out))
				continue;
			auto edges = out_.find(at.cls);
			if (edges == out_.end())
				continue;
			for (auto edge : edges->second) {
				const auto can = usable(kinds(edge), at.only_recursive);
				const State next{graph_.dependency(edge).to,
						 !(can & (LS_DEP_EN | LS_DEP_SN))};
				/*
				 * An unrestricted visit covers the restricted one. A class that
				 * nests in itself is left by the instance acquired last.
				 */
				if (!can || (next.cls == safe && at.cls != safe) ||
				    dominates(next.cls) || steps.count({next.cls, false}))
					continue;
				if (steps.try_emplace(next, Step{at, edge}).second)
					queue.push_back(next);
			}
		}
	}

	/// Record the cycle that ends at @at, if there is one; true: go no further.
	bool ends(const State &at, const State &start, const std::map<State, Step> &steps,
		  std::uint32_t taken, std::set<ClassId> &found,
		  std::vector<InterruptCycle> &out) const
	{
		auto held = held_.find(at.cls);
		if (held == held_.end() || inconsistent_.count(at.cls) ||
		    !usable(kinds(held->second), at.only_recursive))
			return false;
		if (!found.insert(at.cls).second)
			return true;
		InterruptCycle cycle{interrupt_, start.cls, at.cls, {}};
		for (State back = at; back != start; back = steps.at(back).from)
			cycle.edges.push_back(steps.at(back).edge);
		std::reverse(cycle.edges.begin(), cycle.edges.end());
		cycle.edges.push_back(held->second);
		cycle.edges.push_back(taken);
		out.push_back(std::move(cycle));
		return true;
	}

	const LockGraph &graph_;
	ClassId interrupt_;
	std::map<ClassId, std::uint32_t> taken_, held_; ///< edges of the interrupt, by lock
	std::unordered_map<ClassId, std::vector<std::uint32_t>> out_;
	std::set<ClassId> inconsistent_;
};

} // namespace

std::vector<InterruptCycle> interrupt_cycles(const LockGraph &graph)
{
	std::vector<InterruptCycle> out;
	for (ClassId interrupt : {kHardirqClass, kSoftirqClass})
		Search(graph, interrupt).run(out);
	return out;
}

} // namespace lockscope
