// SPDX-License-Identifier: GPL-2.0
// The search for the shortest strong cycle, against trying all walks.
#include <random>

#include <gtest/gtest.h>

#include "reference.h"

namespace lockscope::test {
namespace {

struct Graph {
	Graph(std::uint32_t nodes, std::uint32_t edges) : memory(ls_graph_bytes(nodes, edges))
	{
		ls_graph_init(&graph, memory.get(), nodes, edges);
	}
	std::uint32_t add(std::uint32_t from, std::uint32_t to, std::uint32_t kinds)
	{
		return ls_graph_add(&graph, from, to, kinds, nullptr);
	}
	// The classes of the shortest cycle through @index, empty when there is none.
	Finding shortest(std::uint32_t index)
	{
		constexpr std::uint32_t kLongest = Reference::kLongest;
		std::uint32_t path[kLongest];
		const std::uint32_t nr = ls_graph_shortest_cycle(
			&graph, index, graph.edges[index].kinds, path, kLongest, nullptr, nullptr);
		Finding classes;

		for (std::uint32_t i = 0; nr <= kLongest && i < nr; i++) {
			EXPECT_EQ(graph.edges[path[i]].to, graph.edges[path[(i + 1) % nr]].from);
			classes.push_back(graph.edges[path[i]].from);
		}
		return classes;
	}

	Zeroed memory;
	ls_graph graph{};
};

TEST(Graph, AClassReachedAsARecursiveReaderFirstIsStillReachedForGood)
{
	Graph g(10, 20);

	// The short way to 3 ends in a recursive reader, from which the shared holder
	// of 3 does not go on; the way over 4 does.
	const std::uint32_t first = g.add(1, 2, LS_DEP_EN);
	g.add(2, 3, LS_DEP_ER);
	g.add(2, 4, LS_DEP_EN);
	g.add(4, 3, LS_DEP_EN);
	g.add(3, 1, LS_DEP_SN);
	EXPECT_EQ(g.shortest(first), (Finding{1, 2, 4, 3}));
}

TEST(Graph, NestingInItselfLeadsOnFromARecursiveReader)
{
	Graph g(10, 20), other(10, 20);

	g.graph.nests = other.graph.nests = true;
	// What is held as a reader is waited for by the inner one of two 2s only.
	const std::uint32_t first = g.add(1, 2, LS_DEP_ER);
	const std::uint32_t last = g.add(2, 1, LS_DEP_SN);
	EXPECT_TRUE(g.shortest(first).empty());
	const std::uint32_t nests = g.add(2, 2, LS_DEP_EN);
	EXPECT_EQ(g.shortest(first), (Finding{1, 2, 2}));
	EXPECT_EQ(g.shortest(last), (Finding{2, 1, 2}));
	EXPECT_TRUE(g.shortest(nests).empty());

	// Where the cycle closes without, it stays as short as it is.
	const std::uint32_t plain = other.add(1, 2, LS_DEP_EN);
	other.add(2, 2, LS_DEP_EN);
	other.add(2, 1, LS_DEP_EN);
	EXPECT_EQ(other.shortest(plain), (Finding{1, 2}));
}

TEST(Graph, FullOrOutOfRangeAddsNothing)
{
	Graph g(4, 2);

	EXPECT_EQ(g.add(4, 1, LS_DEP_EN), 0u);
	EXPECT_EQ(g.add(1, 4, LS_DEP_EN), 0u);
	EXPECT_EQ(g.add(1, 2, 0), 0u);
	EXPECT_EQ(g.add(1, 2, 16), 0u);
	EXPECT_NE(g.add(1, 2, LS_DEP_EN), 0u);
	EXPECT_NE(g.add(2, 3, LS_DEP_EN), 0u);
	EXPECT_EQ(g.add(3, 1, LS_DEP_EN), 0u);
	EXPECT_NE(g.add(1, 2, LS_DEP_SR), 0u);
}

TEST(Graph, MarksOfOldSearchesStayOldWhenTheirNumberWraps)
{
	Graph g(4, 4);
	const std::uint32_t first = g.add(1, 2, LS_DEP_EN);

	g.add(2, 1, LS_DEP_EN);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(g.shortest(first).size(), 2u);
	g.graph.epoch = ~0u - 1;
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(g.shortest(first).size(), 2u);
}

TEST(Graph, ACycleWithoutRoomIsMeasuredAllTheSame)
{
	Graph g(40, 40);
	std::uint32_t first = 0;

	for (std::uint32_t id = 1; id <= 30; id++)
		first = g.add(id, id % 30 + 1, LS_DEP_EN);
	std::uint32_t path[30] = {7};
	EXPECT_EQ(ls_graph_shortest_cycle(&g.graph, first, LS_DEP_EN, path, 29, nullptr, nullptr),
		  30u);
	EXPECT_EQ(ls_graph_cycle_through(&g.graph, first, LS_DEP_EN, 12, path, 0, nullptr, nullptr),
		  30u);
	EXPECT_EQ(
		ls_graph_cycle_through(&g.graph, first, LS_DEP_EN, 12, path, 30, nullptr, nullptr),
		30u);
	for (std::uint32_t i = 0; i < 30; i++)
		EXPECT_EQ(g.graph.edges[path[i]].to, g.graph.edges[path[(i + 1) % 30]].from);
	EXPECT_EQ(
		ls_graph_cycle_through(&g.graph, first, LS_DEP_EN, 35, path, 30, nullptr, nullptr),
		0u);
}

TEST(Graph, AgreesWithTryingAllWalksOnSmallRandomGraphs)
{
	std::mt19937 random(6);
	std::size_t with = 0, without = 0;

	for (int round = 0; round < 1000; round++) {
		const std::uint32_t nodes = 3 + random() % 5, edges = nodes + random() % nodes;
		Graph g(nodes + 1, 40);
		Reference reference;

		for (std::uint32_t i = 0; i < edges; i++) {
			const std::uint32_t from = 1 + random() % nodes, to = 1 + random() % nodes;
			const std::uint32_t kinds = 1u << random() % 4 | 1u << random() % 4;

			if (from == to)
				continue;
			g.add(from, to, kinds);
			reference.edges[{from, to}].kinds |= kinds;
		}
		for (std::uint32_t index = 1; index <= g.graph.nr_edges; index++) {
			const Finding got = g.shortest(index);
			const Findings all = reference.shortest(
				{g.graph.edges[index].from, g.graph.edges[index].to});

			if (all.empty()) {
				ASSERT_TRUE(got.empty()) << "round " << round;
				without++;
				continue;
			}
			ASSERT_FALSE(got.empty()) << "round " << round;
			ASSERT_NE(std::find(all.begin(), all.end(), rotated(got)), all.end())
				<< "round " << round;
			with++;
		}
	}
	EXPECT_GT(with, 1000u);
	EXPECT_GT(without, 1000u);
}

} // namespace
} // namespace lockscope::test
