// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/nestings.h"

#include "analysis/filters/instances.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lockscope {

namespace {

/// Dependencies of a cycle, at least and at most.
constexpr std::size_t kFewestSides = 3, kMostSides = 8;
/// Observations of two instances in one order that are tried.
constexpr std::size_t kSidesTried = 16;
/// Steps of the search from one observation of a nesting, and from all of a run.
constexpr std::size_t kStepsFrom = 4096, kStepsOfRun = 262144;

/// Component of each class in the order of locks; 0: it is in none. Of classes with a
/// component only those count that have one with a class that nests in itself.
std::vector<std::uint32_t> wanted_components(const Model &model, const LockGraph &graph)
{
	Graph orders(static_cast<std::uint32_t>(std::max<std::size_t>(model.classes.size(), 1)),
		     static_cast<std::uint32_t>(graph.size()));
	for (std::uint32_t edge = 1; edge <= graph.size(); edge++)
		orders.add(index(graph.dependency(edge).from), index(graph.dependency(edge).to),
			   graph.dependency(edge).kinds);
	auto component = components(orders);
	std::set<std::uint32_t> wanted;
	for (const auto &dependency : graph.dependencies())
		if (dependency.from == dependency.to)
			wanted.insert(component[index(dependency.from)]);
	for (auto &number : component)
		if (!wanted.contains(number))
			number = 0;
	return component;
}

/// The instances of one run, and what was acquired while holding what.
class Instances {
public:
	Instances(const Model &model, std::uint32_t run,
		  const std::vector<std::uint32_t> &component)
		: model_(model)
	{
		for (const auto &observation : model.observations) {
			if (observation.run != run || !observation.acquisition() ||
			    observation.acquired.cls == kNoClass ||
			    !component[index(observation.acquired.cls)])
				continue;
			for (std::uint32_t i = 0; i < observation.held.size(); i++)
				add(observation, i, component);
		}
	}

	/// Add the classes of the cycles with a nesting to @out.
	void search(std::set<std::vector<ClassId>> &out)
	{
		const auto component = instance_components();
		std::size_t left = kStepsOfRun;
		for (std::uint32_t node = 0; node < out_.size(); node++)
			for (const auto &[to, sides] : out_[node])
				if (nodes_[node].first == nodes_[to].first && component[node] &&
				    component[node] == component[to])
					for (const Side &side : sides)
						search_from(node, to, side, component, left, out);
	}

private:
	struct Side {
		const Observation *observation;
		std::uint32_t kind;
	};
	using Node = std::pair<ClassId, std::uint64_t>;

	std::uint32_t node_of(const Held &held)
	{
		const Node node{held.cls, model_[held.cls].global() ? 0 : held.instance};
		auto [at, added] =
			ids_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
		if (added) {
			nodes_.push_back(node);
			out_.emplace_back();
		}
		return at->second;
	}

	void add(const Observation &observation, std::uint32_t i,
		 const std::vector<std::uint32_t> &component)
	{
		const Held &held = observation.held[i], &acquired = observation.acquired;
		auto known = [&](const Held &lock) {
			return model_[lock.cls].global() || lock.instance != 0;
		};
		if (held.cls == kNoClass ||
		    component[index(held.cls)] != component[index(acquired.cls)] || !known(held) ||
		    !known(acquired) || !ls_orders(held.val, acquired.val))
			return;
		const auto from = node_of(held), to = node_of(acquired);
		if (from == to)
			return;
		auto &sides = out_[from][to];
		if (sides.size() < kSidesTried)
			sides.push_back({&observation, dependency_kind(held.val, acquired.val)});
	}

	/// Instances that are in no cycle need no search.
	std::vector<std::uint32_t> instance_components() const
	{
		std::size_t edges = 0;
		for (const auto &to : out_)
			edges += to.size();
		Graph graph(static_cast<std::uint32_t>(std::max<std::size_t>(out_.size(), 1)),
			    static_cast<std::uint32_t>(edges));
		for (std::uint32_t node = 0; node < out_.size(); node++)
			for (const auto &[to, sides] : out_[node])
				graph.add(node, to, LS_DEP_EN);
		return components(graph);
	}

	/// A path of sides, and what is left of the search.
	struct Path {
		std::vector<std::uint32_t> nodes; ///< the first one is where it has to end
		std::vector<Side> sides;
		std::size_t longest = 0, steps = 0;
		bool cut = false; ///< longer ones were not tried
	};

	void search_from(std::uint32_t from, std::uint32_t to, const Side &side,
			 const std::vector<std::uint32_t> &component, std::size_t &left,
			 std::set<std::vector<ClassId>> &out) const
	{
		Path path;
		path.steps = std::min(kStepsFrom, left);
		const std::size_t before = path.steps;
		path.cut = true;
		/* Shorter ones first, as the steps may not do for all. */
		for (std::size_t longest = kFewestSides;
		     longest <= kMostSides && path.cut && path.steps; longest++) {
			path.nodes = {from, to};
			path.sides = {side};
			path.longest = longest;
			path.cut = false;
			extend(path, component, out);
		}
		left -= before - path.steps;
	}

	void extend(Path &path, const std::vector<std::uint32_t> &component,
		    std::set<std::vector<ClassId>> &out) const
	{
		const std::uint32_t goal = path.nodes.front(), last = path.nodes.back();
		for (const auto &[next, sides] : out_[last]) {
			const bool closes = next == goal;
			if (component[next] != component[goal] ||
			    (!closes && std::find(path.nodes.begin(), path.nodes.end(), next) !=
						path.nodes.end()))
				continue;
			for (const Side &side : sides) {
				if (!path.steps)
					return;
				path.steps--;
				if (!fits(path, side))
					continue;
				if (closes) {
					if (follows(side, path.sides.front()))
						keep(path, out);
					continue;
				}
				if (path.nodes.size() == path.longest) {
					path.cut = true;
					continue;
				}
				path.nodes.push_back(next);
				path.sides.push_back(side);
				extend(path, component, out);
				path.nodes.pop_back();
				path.sides.pop_back();
			}
		}
	}

	/// A recursive reader does not wait for a reader.
	static bool follows(const Side &a, const Side &b)
	{
		return !(a.kind & (LS_DEP_ER | LS_DEP_SR)) || (b.kind & (LS_DEP_EN | LS_DEP_ER));
	}

	/// Can all sides be there at once?
	bool fits(const Path &path, const Side &side) const
	{
		return follows(path.sides.back(), side) &&
		       std::none_of(path.sides.begin(), path.sides.end(), [&](const Side &other) {
			       return shared_gate(model_, other.observation->held,
						  side.observation->held) != kNoClass;
		       });
	}

	void keep(const Path &path, std::set<std::vector<ClassId>> &out) const
	{
		std::vector<ClassId> classes;
		for (auto node : path.nodes)
			classes.push_back(nodes_[node].first);
		/* Instances of one class only are judged by the module, see nested.h. */
		if (std::count(classes.begin(), classes.end(), classes.front()) ==
		    static_cast<std::ptrdiff_t>(classes.size()))
			return;
		auto least = classes;
		for (std::size_t i = 1; i < classes.size(); i++) {
			std::rotate(classes.begin(), classes.begin() + 1, classes.end());
			least = std::min(least, classes);
		}
		out.insert(std::move(least));
	}

	const Model &model_;
	std::map<Node, std::uint32_t> ids_;
	std::vector<Node> nodes_;
	std::vector<std::map<std::uint32_t, std::vector<Side>>> out_;
};

} // namespace

std::vector<std::vector<ClassId>> nested_cycles(const Model &model, const Runs &runs,
						const LockGraph &graph)
{
	const auto component = wanted_components(model, graph);
	std::set<std::vector<ClassId>> found;
	if (std::any_of(component.begin(), component.end(), [](auto number) { return number; }))
		for (std::uint32_t run = 0; run < model.runs.size(); run++)
			if (runs[run])
				Instances(model, run, component).search(found);
	std::vector<std::vector<ClassId>> out(found.begin(), found.end());
	std::stable_sort(out.begin(), out.end(),
			 [](const auto &a, const auto &b) { return a.size() < b.size(); });
	return out;
}

} // namespace lockscope
