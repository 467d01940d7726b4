// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/cycles.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>
#include <set>
#include <unordered_map>

namespace lockscope {

namespace {

/// Longer cycles are searched in a second pass.
constexpr std::uint32_t kUsualLength = 32;
/// Searches for further cycles through one edge.
constexpr std::size_t kSearches = 32;

} // namespace

void Graph::Free::operator()(void *memory) const
{
	std::free(memory);
}

Graph::Graph(std::uint32_t nodes, std::uint32_t edges)
{
	const std::size_t bytes = ls_graph_bytes(nodes, edges);
	memory_.reset(bytes ? std::calloc(1, bytes) : nullptr);
	if (!memory_)
		throw std::bad_alloc();
	ls_graph_init(&graph_, memory_.get(), nodes, edges);
}

std::uint32_t Graph::add(std::uint32_t from, std::uint32_t to, std::uint32_t kinds)
{
	return ls_graph_add(&graph_, from, to, kinds, nullptr);
}

std::uint32_t Graph::find(std::uint32_t from, std::uint32_t to) const
{
	return ls_graph_find(&graph_, from, to);
}

std::vector<std::uint32_t> Graph::shortest_cycle(std::uint32_t index, std::uint32_t kinds,
						 std::uint32_t max_len, ls_graph_filter filter,
						 void *cookie)
{
	std::vector<std::uint32_t> path(std::min(max_len, kUsualLength));
	auto search = [&] {
		return ls_graph_shortest_cycle(&graph_, index, kinds, path.data(),
					       static_cast<std::uint32_t>(path.size()), filter,
					       cookie);
	};
	const auto len = search();
	if (len > max_len)
		return {};
	const bool fits = len <= path.size();
	path.resize(len);
	if (!fits)
		search();
	return path;
}

std::vector<std::uint32_t> components(const Graph &graph)
{
	const std::uint32_t nodes = graph.nodes();
	std::vector<std::uint32_t> order(nodes), low(nodes), component(nodes), stack;
	std::vector<bool> on_stack(nodes);
	struct Frame {
		std::uint32_t node, edge;
	};
	std::vector<Frame> calls;
	std::uint32_t next_order = 0, next_component = 0;

	for (std::uint32_t root = 0; root < nodes; root++) {
		if (order[root] || !graph.raw().first_out[root])
			continue;
		auto enter = [&](std::uint32_t node) {
			order[node] = low[node] = ++next_order;
			stack.push_back(node);
			on_stack[node] = true;
			calls.push_back({node, graph.raw().first_out[node]});
		};
		enter(root);
		while (!calls.empty()) {
			auto &[node, index] = calls.back();
			if (index) {
				const auto &edge = graph.edge(index);
				index = edge.next_out;
				if (!order[edge.to])
					enter(edge.to);
				else if (on_stack[edge.to])
					low[node] = std::min(low[node], order[edge.to]);
				continue;
			}
			const std::uint32_t done = node;
			calls.pop_back();
			if (!calls.empty())
				low[calls.back().node] =
					std::min(low[calls.back().node], low[done]);
			if (low[done] != order[done])
				continue;
			const bool alone = stack.back() == done;
			const std::uint32_t number = alone ? 0 : ++next_component;
			for (std::uint32_t member = nodes; member != done;) {
				member = stack.back();
				stack.pop_back();
				on_stack[member] = false;
				component[member] = number;
			}
		}
	}
	return component;
}

namespace {

std::uint32_t same_component(void *cookie, std::uint32_t, const ls_graph_edge *edge)
{
	const auto &component = *static_cast<const std::vector<std::uint32_t> *>(cookie);
	return component[edge->from] == component[edge->to] ? edge->kinds : 0;
}

/* The part of a closed walk between the first two visits of one node. */
Cycle simple_part(const Graph &graph, Cycle walk)
{
	std::unordered_map<std::uint32_t, std::size_t> seen;
	for (std::size_t i = 0; i < walk.size(); i++) {
		auto [at, added] = seen.try_emplace(graph.edge(walk[i]).from, i);
		if (!added)
			return {walk.begin() + static_cast<std::ptrdiff_t>(at->second),
				walk.begin() + static_cast<std::ptrdiff_t>(i)};
	}
	return walk;
}

/* Rotated so that the smallest node comes first. */
Cycle canonical(const Graph &graph, Cycle cycle)
{
	auto first = std::min_element(cycle.begin(), cycle.end(), [&](auto a, auto b) {
		return graph.edge(a).from < graph.edge(b).from;
	});
	std::rotate(cycle.begin(), first, cycle.end());
	return cycle;
}

/// What a search leaves out.
struct Detour {
	const std::vector<std::uint32_t> &component;
	const std::set<std::uint32_t> &without;
};

std::uint32_t leave_out(void *cookie, std::uint32_t index, const ls_graph_edge *edge)
{
	const auto &detour = *static_cast<const Detour *>(cookie);
	return detour.component[edge->from] == detour.component[edge->to] &&
			       !detour.without.contains(index)
		       ? edge->kinds
		       : 0;
}

} // namespace

std::vector<Cycle> find_cycles(Graph &graph, std::uint32_t max_len)
{
	auto component = components(graph);
	std::set<Cycle> unique;
	for (std::uint32_t index = 1; index <= graph.size(); index++) {
		const auto &edge = graph.edge(index);
		if (!component[edge.from] || component[edge.from] != component[edge.to])
			continue;
		Cycle cycle = graph.shortest_cycle(index, edge.kinds, max_len, same_component,
						   &component);
		if (cycle.empty())
			continue;
		unique.insert(canonical(graph, simple_part(graph, std::move(cycle))));
	}
	std::vector<Cycle> out(unique.begin(), unique.end());
	std::stable_sort(out.begin(), out.end(),
			 [](const Cycle &a, const Cycle &b) { return a.size() < b.size(); });
	return out;
}

std::vector<Cycle> further_cycles(Graph &graph, const std::vector<std::uint32_t> &component,
				  std::uint32_t index, std::size_t most, std::size_t &searches)
{
	std::vector<Cycle> out;
	std::set<std::set<std::uint32_t>> tried;
	std::deque<std::set<std::uint32_t>> open{{}};
	while (!open.empty() && out.size() < most && tried.size() < kSearches && searches) {
		const auto without = std::move(open.front());
		open.pop_front();
		if (!tried.insert(without).second)
			continue;
		searches--;
		Detour detour{component, without};
		const Cycle cycle = graph.shortest_cycle(index, graph.edge(index).kinds, kAnyLength,
							 leave_out, &detour);
		for (auto edge : cycle)
			if (edge != index) {
				open.push_back(without);
				open.back().insert(edge);
			}
		if (without.empty() || cycle.empty())
			continue;
		Cycle simple = canonical(graph, simple_part(graph, cycle));
		if (std::find(simple.begin(), simple.end(), index) != simple.end() &&
		    std::find(out.begin(), out.end(), simple) == out.end())
			out.push_back(std::move(simple));
	}
	return out;
}

std::optional<std::vector<std::uint32_t>> strong_kinds(const std::vector<std::uint32_t> &kinds)
{
	static constexpr std::uint32_t by_preference[] = {LS_DEP_EN, LS_DEP_SN, LS_DEP_ER,
							  LS_DEP_SR};
	auto strong = [](std::uint32_t a, std::uint32_t b) {
		return !(a & (LS_DEP_ER | LS_DEP_SR)) || (b & (LS_DEP_ER | LS_DEP_EN));
	};
	const std::size_t n = kinds.size();
	for (const std::uint32_t first : by_preference) {
		if (n == 0 || !(kinds[0] & first))
			continue;
		/* Kinds of each edge from which the rest of the cycle can be strong. */
		std::vector<std::uint32_t> open(n);
		for (std::size_t i = n; i-- > 0;)
			for (const std::uint32_t kind : by_preference) {
				const std::uint32_t after = i + 1 < n ? open[i + 1] : first;
				const bool usable = i == 0 ? kind == first : (kinds[i] & kind) != 0;
				if (usable && after && strong(kind, after))
					open[i] |= kind;
			}
		if (!open[0])
			continue;
		std::vector<std::uint32_t> chosen{first};
		while (chosen.size() < n)
			chosen.push_back(*std::find_if(
				std::begin(by_preference), std::end(by_preference), [&](auto kind) {
					return (open[chosen.size()] & kind) &&
					       strong(chosen.back(), kind);
				}));
		return chosen;
	}
	return std::nullopt;
}

} // namespace lockscope
