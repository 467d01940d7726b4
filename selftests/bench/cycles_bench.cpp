// SPDX-License-Identifier: GPL-2.0
// Cycle search over 100,000 classes and 1,000,000 edges, acyclic but for 1,000
// planted cycles of length 2 to 8. All of them have to be found, shortest
// first, in under 2 s and 1 GiB; the program exits 1 when they are not.
#include "analysis/orders/cycles.h"

#include <benchmark/benchmark.h>

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>
#include <set>

using namespace lockscope;

namespace {

constexpr std::uint32_t kClasses = 100000, kEdges = 1000000, kPlanted = 1000, kShortest = 2,
			kLongest = 8;
constexpr double kMostSeconds = 2;
constexpr long kMostKib = 1024 * 1024;

bool g_failed;

struct Planted {
	Graph graph{kClasses, kEdges};
	std::set<std::set<std::uint32_t>> cycles; ///< by their classes
};

/*
 * Classes have a hidden order; all edges go upwards in it but the last one of
 * each planted cycle. Planted cycles take blocks of consecutive classes, and no
 * other edge lies within a block or leads from one to the next and back, so
 * that each block is a component of its own.
 */
Planted plant()
{
	Planted out;
	std::mt19937 random(1997);
	std::vector<std::uint32_t> order(kClasses);
	std::iota(order.begin(), order.end(), 0u);
	std::shuffle(order.begin(), order.end(), random);

	const std::uint32_t spacing = kClasses / kPlanted;
	std::vector<std::uint32_t> block(kClasses, ~0u);
	for (std::uint32_t i = 0; i < kPlanted; i++) {
		const std::uint32_t start = i * spacing,
				    length = kShortest + i % (kLongest - kShortest + 1);
		std::set<std::uint32_t> members;
		for (std::uint32_t j = 0; j < length; j++) {
			block[start + j] = i;
			members.insert(order[start + j]);
			out.graph.add(order[start + j], order[start + (j + 1) % length], LS_DEP_EN);
		}
		out.cycles.insert(members);
	}
	while (out.graph.size() < kEdges) {
		std::uint32_t from = random() % kClasses, to = random() % kClasses;
		if (from > to)
			std::swap(from, to);
		if (from != to && (block[from] == ~0u || block[from] != block[to]))
			out.graph.add(order[from], order[to], 1u << random() % 4);
	}
	return out;
}

void check(const Planted &planted, const std::vector<Cycle> &found, double seconds)
{
	std::set<std::set<std::uint32_t>> seen;
	bool sorted = true;
	for (std::size_t i = 0; i < found.size(); i++) {
		std::set<std::uint32_t> members;
		for (auto edge : found[i])
			members.insert(planted.graph.edge(edge).from);
		seen.insert(members);
		sorted = sorted && (i == 0 || found[i - 1].size() <= found[i].size());
	}
	rusage usage{};
	::getrusage(RUSAGE_SELF, &usage);
	if (seen == planted.cycles && found.size() == kPlanted && sorted &&
	    seconds < kMostSeconds && usage.ru_maxrss < kMostKib)
		return;
	std::fprintf(stderr, "FAILED: %zu of %u planted cycles, %s, %.2f s, %ld KiB\n", seen.size(),
		     kPlanted, sorted ? "shortest first" : "not sorted", seconds, usage.ru_maxrss);
	g_failed = true;
}

void BM_PlantedCycles(benchmark::State &state)
{
	Planted planted = plant();
	for (auto _ : state) {
		const auto start = std::chrono::steady_clock::now();
		auto found = find_cycles(planted.graph);
		const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
		state.PauseTiming();
		check(planted, found, took.count());
		state.counters["cycles"] = static_cast<double>(found.size());
		state.ResumeTiming();
	}
	rusage usage{};
	::getrusage(RUSAGE_SELF, &usage);
	state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(BM_PlantedCycles)->Unit(benchmark::kMillisecond);

/* Adding edges one by one, as the module does while it learns. */
void BM_AddEdges(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(plant().graph.size());
}
BENCHMARK(BM_AddEdges)->Unit(benchmark::kMillisecond);

/* One component with many edges: every search is confined to it, none is short. */
void BM_OneLargeComponent(benchmark::State &state)
{
	constexpr std::uint32_t nodes = 500, edges = 5000;
	std::mt19937 random(42);
	Graph graph(nodes, edges);
	while (graph.size() < edges)
		graph.add(random() % nodes, random() % nodes, 1u << random() % 4);
	for (auto _ : state)
		benchmark::DoNotOptimize(find_cycles(graph).size());
}
BENCHMARK(BM_OneLargeComponent)->Unit(benchmark::kMillisecond);

} // namespace

int main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return g_failed ? 1 : 0;
}
