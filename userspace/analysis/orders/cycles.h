// SPDX-License-Identifier: GPL-2.0
// Cycle search over a whole lock-order graph.
#pragma once

#include "lockclass/abi.h"

extern "C" {
#include "lockclass/graph.h"
}

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lockscope {

/// No bound on the edges of a cycle.
inline constexpr std::uint32_t kAnyLength = ~std::uint32_t{0};

/// Owner of an ls_graph and its memory. Nodes are 0 .. nodes - 1, edges are
/// 1 .. size().
class Graph {
public:
	Graph(std::uint32_t nodes, std::uint32_t edges);

	/// Index of the edge, 0 when there is no room.
	std::uint32_t add(std::uint32_t from, std::uint32_t to, std::uint32_t kinds);
	std::uint32_t find(std::uint32_t from, std::uint32_t to) const;
	const ls_graph_edge &edge(std::uint32_t index) const { return graph_.edges[index]; }
	std::uint32_t size() const { return graph_.nr_edges; }
	std::uint32_t nodes() const { return graph_.max_nodes; }
	const ls_graph &raw() const { return graph_; }

	/// Edge indices of the shortest strong cycle that begins with @index; empty when there
	/// is none of at most @max_len edges. It may visit a class twice, see find_cycles().
	std::vector<std::uint32_t> shortest_cycle(std::uint32_t index, std::uint32_t kinds,
						  std::uint32_t max_len = kAnyLength,
						  ls_graph_filter filter = nullptr,
						  void *cookie = nullptr);

private:
	struct Free {
		void operator()(void *memory) const;
	};
	std::unique_ptr<void, Free> memory_;
	ls_graph graph_{};
};

/// Edges in order; the class sequence is rotated so that the smallest node
/// comes first, and no class occurs twice.
using Cycle = std::vector<std::uint32_t>;

/// For every edge inside a strongly connected component its shortest strong cycle, without
/// duplicates, shortest first. Components by Tarjan's algorithm [Depth-first search and linear
/// graph algorithms, 1972], without recursion. A shortest walk that visits a class in both
/// reader states is reduced to the cycle in it, which is strong as well.
std::vector<Cycle> find_cycles(Graph &graph, std::uint32_t max_len = kAnyLength);

/// At most @most other strong cycles through @index, each without an edge of an earlier one of
/// them or of its shortest cycle. @component: of all nodes, see components(). There may be more:
/// the searches for one edge are bounded, and those for all by @searches, which are left.
std::vector<Cycle> further_cycles(Graph &graph, const std::vector<std::uint32_t> &component,
				  std::uint32_t index, std::size_t most, std::size_t &searches);

/// Component number of every node; nodes alone in theirs get 0.
std::vector<std::uint32_t> components(const Graph &graph);

/// One kind (LS_DEP_*) for every edge of a cycle such that it is strong as a whole, preferring
/// EN, then SN, ER, SR; nullopt when the kinds allow none.
std::optional<std::vector<std::uint32_t>> strong_kinds(const std::vector<std::uint32_t> &kinds);

} // namespace lockscope
