// SPDX-License-Identifier: GPL-2.0
// The shortest strong cycle, against definitions and against brute force.
#include "analysis/orders/cycles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace lockscope;

namespace {

constexpr std::uint32_t ER = LS_DEP_ER, EN = LS_DEP_EN, SR = LS_DEP_SR, SN = LS_DEP_SN;
constexpr std::uint32_t A = 0, B = 1, C = 2;

std::size_t shortest(Graph &graph, std::uint32_t from, std::uint32_t to)
{
	const auto index = graph.find(from, to);
	return graph.shortest_cycle(index, graph.edge(index).kinds).size();
}

bool ends_recursive(std::uint32_t kind)
{
	return kind == ER || kind == SR;
}

bool starts_shared(std::uint32_t kind)
{
	return kind == SR || kind == SN;
}

/* All closed walks that begin with edge @first, one kind chosen for each edge,
 * tried one after the other: nothing clever that could be wrong. */
class Oracle {
public:
	Oracle(const Graph &graph, std::uint32_t first, std::uint32_t max_len)
		: graph_(graph), target_(graph.edge(first).from), max_(max_len)
	{
		for (std::uint32_t kind : {ER, EN, SR, SN})
			if (graph.edge(first).kinds & kind)
				walk(graph.edge(first).to, 1, kind, kind);
	}
	std::size_t best() const { return best_; }

private:
	void walk(std::uint32_t node, std::size_t len, std::uint32_t first_kind,
		  std::uint32_t last_kind)
	{
		if (len >= max_ || (best_ && len + 1 >= best_))
			return;
		for (std::uint32_t i = 1; i <= graph_.size(); i++) {
			const auto &edge = graph_.edge(i);
			if (edge.from != node || edge.to == node)
				continue;
			for (std::uint32_t kind : {ER, EN, SR, SN}) {
				if (!(edge.kinds & kind) ||
				    (ends_recursive(last_kind) && starts_shared(kind)))
					continue;
				if (edge.to == target_) {
					if (!(ends_recursive(kind) && starts_shared(first_kind)))
						best_ = len + 1;
				} else {
					walk(edge.to, len + 1, first_kind, kind);
				}
			}
		}
	}

	const Graph &graph_;
	std::uint32_t target_;
	std::size_t max_, best_ = 0;
};

Graph random_graph(std::mt19937 &random, std::uint32_t nodes, std::uint32_t edges)
{
	Graph graph(nodes, edges * 4);
	for (std::uint32_t i = 0; i < edges; i++)
		graph.add(random() % nodes, random() % nodes, 1u << random() % 4);
	return graph;
}

void expect_strong(const Graph &graph, const Cycle &cycle)
{
	std::vector<std::uint32_t> kinds;
	std::set<std::uint32_t> nodes;
	for (std::size_t i = 0; i < cycle.size(); i++) {
		kinds.push_back(graph.edge(cycle[i]).kinds);
		nodes.insert(graph.edge(cycle[i]).from);
		EXPECT_EQ(graph.edge(cycle[i]).to, graph.edge(cycle[(i + 1) % cycle.size()]).from);
	}
	EXPECT_EQ(nodes.size(), cycle.size());
	EXPECT_TRUE(strong_kinds(kinds));
}

} // namespace

TEST(StrongPath, ExclusiveLocksInBothOrdersDeadlock)
{
	Graph graph(3, 8);
	graph.add(A, B, EN);
	graph.add(B, A, EN);
	EXPECT_EQ(shortest(graph, A, B), 2u);
	EXPECT_EQ(find_cycles(graph).size(), 1u);
}

TEST(StrongPath, RecursiveReadersDoNotDeadlock)
{
	Graph graph(3, 8);
	graph.add(A, B, SR);
	graph.add(B, A, SR);
	EXPECT_EQ(shortest(graph, A, B), 0u);
	EXPECT_TRUE(find_cycles(graph).empty());
}

TEST(StrongPath, ReaderBlockedByWaitingWriterDeadlocks)
{
	Graph graph(3, 8);
	graph.add(A, B, SN);
	graph.add(B, A, SN);
	EXPECT_EQ(shortest(graph, A, B), 2u);
}

TEST(StrongPath, RecursiveReaderBehindAReaderIsNotBlocked)
{
	Graph graph(3, 8);
	graph.add(A, B, ER);
	graph.add(B, A, SN);
	EXPECT_EQ(shortest(graph, A, B), 0u);
	EXPECT_EQ(shortest(graph, B, A), 0u);
	graph.add(B, A, EN);
	EXPECT_EQ(shortest(graph, A, B), 2u);
	EXPECT_EQ(shortest(graph, B, A), 2u);
}

TEST(StrongPath, TheCycleMustCloseStronglyToo)
{
	Graph graph(3, 8);
	graph.add(A, B, SN);
	graph.add(B, A, ER);
	EXPECT_EQ(shortest(graph, A, B), 0u);
}

TEST(StrongPath, AKnownEdgeGainsKinds)
{
	Graph graph(2, 2);
	const auto first = graph.add(A, B, ER);
	EXPECT_EQ(graph.add(A, B, SN), first);
	EXPECT_EQ(graph.edge(first).kinds, ER | SN);
	EXPECT_EQ(graph.size(), 1u);
}

TEST(StrongPath, SelfEdgesTakeNoPart)
{
	Graph graph(3, 8);
	graph.add(A, A, EN);
	graph.add(A, B, EN);
	EXPECT_EQ(shortest(graph, A, A), 0u);
	EXPECT_TRUE(find_cycles(graph).empty());
}

TEST(StrongPath, LongerDetourWhenTheShortOneIsWeak)
{
	/* A -> B only for readers; B -> A needs an exclusive holder, which only
	 * the way over C offers. */
	Graph graph(3, 8);
	graph.add(A, B, ER);
	graph.add(B, A, SN);
	graph.add(B, C, EN);
	graph.add(C, A, EN);
	EXPECT_EQ(shortest(graph, A, B), 3u);
}

TEST(StrongPath, ARingOfAnyLengthIsFound)
{
	for (std::uint32_t length : {9u, 10u, 100u}) {
		Graph graph(length, 128);
		for (std::uint32_t i = 0; i < length; i++)
			graph.add(i, (i + 1) % length, EN);
		const auto cycles = find_cycles(graph);
		ASSERT_EQ(cycles.size(), 1u);
		EXPECT_EQ(cycles[0].size(), length);
		expect_strong(graph, cycles[0]);
		EXPECT_TRUE(graph.shortest_cycle(1, EN, length - 1).empty());
		EXPECT_EQ(graph.shortest_cycle(1, EN, length).size(), length);
	}
}

TEST(StrongPath, KindsOfALongCycleAreFoundAtOnce)
{
	/* The first edge as SN closes with nothing, whatever those between are. */
	std::vector<std::uint32_t> kinds(60, ER | EN | SR | SN);
	kinds.front() = SN | ER;
	kinds.back() = ER | SR;
	const auto chosen = strong_kinds(kinds);
	ASSERT_TRUE(chosen);
	EXPECT_EQ(chosen->front(), ER);
	kinds.front() = SN;
	EXPECT_FALSE(strong_kinds(kinds));
}

TEST(FurtherCycles, EachLeavesOutAnEdgeOfThoseBefore)
{
	Graph graph(4, 8);
	const auto edge = graph.add(A, B, EN);
	graph.add(B, A, EN);
	graph.add(B, C, EN);
	graph.add(C, A, EN);
	graph.add(C, 3, EN);
	graph.add(3, A, EN);
	std::size_t searches = 100;
	const auto further = further_cycles(graph, components(graph), edge, 8, searches);
	ASSERT_EQ(further.size(), 2u);
	EXPECT_EQ(further[0].size(), 3u);
	EXPECT_EQ(further[1].size(), 4u);
	EXPECT_EQ(further_cycles(graph, components(graph), edge, 1, searches).size(), 1u);
	/* The first search is for the shortest one. */
	searches = 1;
	EXPECT_TRUE(further_cycles(graph, components(graph), edge, 8, searches).empty());
}

TEST(FurtherCycles, AreStrongAndThroughTheEdge)
{
	std::mt19937 random(11);
	std::size_t found = 0, searches = ~std::size_t{0};
	for (int round = 0; round < 300; round++) {
		Graph graph = random_graph(random, 6, 14);
		const auto component = components(graph);
		for (std::uint32_t index = 1; index <= graph.size(); index++) {
			if (graph.edge(index).from == graph.edge(index).to)
				continue;
			const auto shortest = graph.shortest_cycle(index, graph.edge(index).kinds);
			for (const auto &cycle :
			     further_cycles(graph, component, index, 6, searches)) {
				expect_strong(graph, cycle);
				EXPECT_EQ(std::count(cycle.begin(), cycle.end(), index), 1);
				EXPECT_FALSE(shortest.empty());
				found++;
			}
		}
	}
	EXPECT_GT(found, 100u);
}

TEST(StrongPath, FilterLeavesEdgesOut)
{
	Graph graph(3, 8);
	graph.add(A, B, EN);
	graph.add(B, A, EN);
	auto closed = [](void *, std::uint32_t, const ls_graph_edge *edge) {
		return edge->from == B ? 0u : edge->kinds;
	};
	EXPECT_TRUE(graph.shortest_cycle(graph.find(A, B), EN, 8, closed).empty());
}

TEST(Graph, FullTableRefusesNewEdgesOnly)
{
	Graph graph(4, 2);
	EXPECT_NE(graph.add(0, 1, EN), 0u);
	EXPECT_NE(graph.add(1, 2, EN), 0u);
	EXPECT_EQ(graph.add(2, 3, EN), 0u);
	EXPECT_NE(graph.add(0, 1, SN), 0u);
	EXPECT_EQ(graph.find(2, 3), 0u);
}

TEST(Graph, ArgumentsOutOfRangeAreRefused)
{
	Graph graph(4, 4);
	EXPECT_EQ(graph.add(4, 0, EN), 0u);
	EXPECT_EQ(graph.add(0, 4, EN), 0u);
	EXPECT_EQ(graph.add(0, 1, 0), 0u);
	EXPECT_EQ(graph.add(0, 1, 16), 0u);
	EXPECT_EQ(ls_graph_bytes(~0u, 1), 0u);
	EXPECT_EQ(ls_graph_bytes(1, ~0u), 0u);
}

TEST(Graph, ClearForgetsEdges)
{
	ls_graph graph;
	std::vector<std::uint64_t> memory(ls_graph_bytes(4, 4) / 8);
	ls_graph_init(&graph, memory.data(), 4, 4);
	std::uint32_t path[8], added = 0;
	ls_graph_add(&graph, A, B, EN, &added);
	EXPECT_EQ(added, EN);
	ls_graph_add(&graph, A, B, EN | SN, &added);
	EXPECT_EQ(added, SN);
	const auto back = ls_graph_add(&graph, B, A, EN, nullptr);
	EXPECT_EQ(ls_graph_shortest_cycle(&graph, back, EN, path, 8, nullptr, nullptr), 2u);
	ls_graph_clear(&graph);
	EXPECT_EQ(ls_graph_find(&graph, A, B), 0u);
	EXPECT_EQ(ls_graph_shortest_cycle(&graph, back, EN, path, 8, nullptr, nullptr), 0u);
	EXPECT_EQ(ls_graph_add(&graph, B, A, EN, nullptr), 1u);
}

TEST(Graph, EpochWrapKeepsSearchesRight)
{
	ls_graph graph;
	std::vector<std::uint64_t> memory(ls_graph_bytes(4, 4) / 8);
	ls_graph_init(&graph, memory.data(), 4, 4);
	std::uint32_t path[8];
	ls_graph_add(&graph, A, B, EN, nullptr);
	ls_graph_add(&graph, B, C, EN, nullptr);
	const auto back = ls_graph_add(&graph, C, A, EN, nullptr);
	graph.epoch = ~0u - 2;
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(ls_graph_shortest_cycle(&graph, back, EN, path, 8, nullptr, nullptr), 3u);
}

TEST(StrongPath, AgreesWithBruteForceOnRandomGraphs)
{
	std::mt19937 random(20231);
	for (int round = 0; round < 1000; round++) {
		const std::uint32_t nodes = 2 + random() % 6;
		Graph graph = random_graph(random, nodes, 1 + random() % (nodes * 3));
		bool any = false;
		std::size_t least = 0;
		for (std::uint32_t index = 1; index <= graph.size(); index++) {
			const auto &edge = graph.edge(index);
			if (edge.from == edge.to)
				continue;
			const std::size_t expected = Oracle(graph, index, 6).best();
			const auto found = graph.shortest_cycle(index, edge.kinds, 6);
			ASSERT_EQ(found.size(), expected) << "round " << round << " edge " << index;
			any = any || expected;
			if (expected && (!least || expected < least))
				least = expected;
		}
		const auto cycles = find_cycles(graph, 6);
		ASSERT_EQ(!cycles.empty(), any) << "round " << round;
		for (const auto &cycle : cycles)
			expect_strong(graph, cycle);
		if (any) {
			EXPECT_EQ(cycles.front().size(), least);
		}
		EXPECT_TRUE(std::is_sorted(
			cycles.begin(), cycles.end(),
			[](const auto &a, const auto &b) { return a.size() < b.size(); }));
	}
}

TEST(Components, AgreeWithReachability)
{
	std::mt19937 random(7);
	for (int round = 0; round < 200; round++) {
		const std::uint32_t nodes = 1 + random() % 9;
		Graph graph = random_graph(random, nodes, random() % (nodes * 2 + 1));
		std::vector<std::vector<bool>> reach(nodes, std::vector<bool>(nodes));
		for (std::uint32_t i = 1; i <= graph.size(); i++)
			reach[graph.edge(i).from][graph.edge(i).to] = true;
		for (std::uint32_t k = 0; k < nodes; k++)
			for (std::uint32_t i = 0; i < nodes; i++)
				for (std::uint32_t j = 0; j < nodes; j++)
					if (reach[i][k] && reach[k][j])
						reach[i][j] = true;
		const auto component = components(graph);
		for (std::uint32_t i = 0; i < nodes; i++)
			for (std::uint32_t j = 0; j < nodes; j++)
				if (i != j) {
					EXPECT_EQ(component[i] && component[i] == component[j],
						  reach[i][j] && reach[j][i]);
				}
	}
}

TEST(StrongKinds, PrefersExclusiveAndKeepsTheCycleStrong)
{
	using Kinds = std::vector<std::uint32_t>;
	EXPECT_EQ(strong_kinds({EN | SR, EN}), (Kinds{EN, EN}));
	EXPECT_EQ(strong_kinds({ER | SN, SN}), (Kinds{SN, SN}));
	EXPECT_EQ(strong_kinds({ER, SN | EN}), (Kinds{ER, EN}));
	EXPECT_EQ(strong_kinds({SR, SR}), std::nullopt);
	EXPECT_EQ(strong_kinds({ER, SN}), std::nullopt);
}
