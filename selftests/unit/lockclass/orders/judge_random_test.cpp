// SPDX-License-Identifier: GPL-2.0
// The judge against trying all cycles, over random observations of a few classes:
// readers, gates, interrupts.
#include <functional>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "court.h"

extern "C" {
#include "lockclass/edges.h"
}

namespace lockscope::test {
namespace {

using Node = std::uint32_t;
using Pair = std::pair<Node, Node>;
constexpr Node kHard = LS_CLASS_HARDIRQ, kSoft = LS_CLASS_SOFTIRQ;

bool interrupt(Node node)
{
	return node == kHard || node == kSoft;
}

struct Dependency {
	std::uint32_t kinds = 0;
	std::map<std::uint64_t, bool> gates; // held each time; true: exclusively each time
	bool operator==(const Dependency &) const = default;
};

using Cycle = std::vector<Node>;

// Every dependency, and every cycle by walking all simple paths.
class Model {
public:
	// @changed: an edge has got a kind or lost a gate, in the judge's order.
	void takes(const Holding &held, Hold next, const std::function<void(Pair)> &changed)
	{
		changed_ = changed;
		for (const Hold &h : held)
			if (id(h) != id(next) && ls_orders(h.val, next.val))
				add(id(h), id(next), ls_dep_kind(h.val, next.val), held, 0);
		use(id(next), ls_usage(next.val), held, next.lock);
		for (const Hold &h : held)
			use(id(h), ls_usage_on(h.val, next.val), held, h.lock);
	}
	// Cycles through @edge that can deadlock, with one interrupt or none: @node, 0.
	std::vector<Cycle> possible(Pair edge, Node node) const
	{
		std::vector<Cycle> found;
		Cycle path{edge.first, edge.second};

		if (interrupt(edge.first) && edge.first != node)
			return {};
		walk(path, node, found);
		return found;
	}
	bool possible(const Cycle &cycle) const
	{
		for (std::size_t i = 0; i < cycle.size(); i++)
			if (!edges_.contains(edge(cycle, i)))
				return false;
		return strong(cycle, 0, 0, 0) && !gated(cycle);
	}

private:
	static Node id(const Hold &h) { return h.val & LS_VAL_CLASS_MASK; }
	static bool exclusive(const Hold &h) { return !(h.val & LS_VAL_READ_MASK); }
	static Pair edge(const Cycle &c, std::size_t i) { return {c[i], c[(i + 1) % c.size()]}; }

	void add(Node from, Node to, std::uint32_t kind, const Holding &held, std::uint64_t self)
	{
		std::map<std::uint64_t, bool> gates;

		for (const Hold &h : held)
			if (h.lock != self)
				gates[h.lock] = gates[h.lock] || exclusive(h);
		const bool first = !edges_.contains({from, to});
		Dependency &d = edges_[{from, to}];
		const Dependency before = d;

		d.kinds |= kind;
		if (first)
			d.gates = gates;
		std::erase_if(d.gates, [&](const auto &g) { return !gates.contains(g.first); });
		for (auto &[lock, exclusively] : d.gates)
			exclusively = exclusively && gates.at(lock);
		if (first || !(d == before))
			changed_({from, to});
	}
	void use(Node id, std::uint32_t bits, const Holding &held, std::uint64_t lock)
	{
		struct Use {
			std::uint32_t bit;
			Pair edge;
			std::uint32_t kind;
		} const uses[] = {
			{LS_USE_IN_HARDIRQ, {kHard, id}, LS_DEP_EN},
			{LS_USE_IN_HARDIRQ_READ, {kHard, id}, LS_DEP_ER},
			{LS_USE_IN_SOFTIRQ, {kSoft, id}, LS_DEP_EN},
			{LS_USE_IN_SOFTIRQ_READ, {kSoft, id}, LS_DEP_ER},
			{LS_USE_ON_HARDIRQ, {id, kHard}, LS_DEP_EN},
			{LS_USE_ON_HARDIRQ_READ, {id, kHard}, LS_DEP_SN},
			{LS_USE_ON_SOFTIRQ, {id, kSoft}, LS_DEP_EN},
			{LS_USE_ON_SOFTIRQ_READ, {id, kSoft}, LS_DEP_SN},
		};

		for (const Use &use : uses)
			if (bits & use.bit)
				add(use.edge.first, use.edge.second, use.kind, held, lock);
	}
	void walk(Cycle &path, Node node, std::vector<Cycle> &found) const
	{
		if (interrupt(path.back()) && path.back() != node)
			return;
		if (edges_.contains({path.back(), path.front()}) && possible(path) &&
		    (!node || std::find(path.begin(), path.end(), node) != path.end()))
			found.push_back(path);
		for (auto at = edges_.lower_bound({path.back(), 0});
		     at != edges_.end() && at->first.first == path.back(); ++at) {
			const Node next = at->first.second;

			if (std::find(path.begin(), path.end(), next) != path.end())
				continue;
			path.push_back(next);
			walk(path, node, found);
			path.pop_back();
		}
	}
	// One kind for every edge such that no recursive reader waits for a reader.
	bool strong(const Cycle &c, std::size_t i, std::uint32_t first, std::uint32_t last) const
	{
		auto waits = [](std::uint32_t a, std::uint32_t b) {
			return !(a & (LS_DEP_ER | LS_DEP_SR)) || b & (LS_DEP_ER | LS_DEP_EN);
		};

		if (i == c.size())
			return waits(last, first);
		for (std::uint32_t kind : {LS_DEP_ER, LS_DEP_EN, LS_DEP_SR, LS_DEP_SN})
			if (edges_.at(edge(c, i)).kinds & kind && (!i || waits(last, kind)) &&
			    strong(c, i + 1, i ? first : kind, kind))
				return true;
		return false;
	}
	bool gated(const Cycle &c) const
	{
		for (std::size_t i = 0; i < c.size(); i++)
			for (std::size_t k = i + 1; k < c.size(); k++) {
				const auto &a = edges_.at(edge(c, i)).gates,
					   &b = edges_.at(edge(c, k)).gates;

				for (const auto &[lock, exclusively] : a)
					if (auto at = b.find(lock);
					    at != b.end() && (exclusively || at->second))
						return true;
			}
		return false;
	}

	std::map<Pair, Dependency> edges_;
	std::function<void(Pair)> changed_;
};

// A cycle with an interrupt is known by it, the lock it takes and the one held.
Cycle key(Cycle cycle)
{
	auto first = std::find_if(cycle.begin(), cycle.end(), interrupt);

	if (first == cycle.end()) {
		std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()),
			    cycle.end());
		return cycle;
	}
	std::rotate(cycle.begin(), first, cycle.end());
	return {cycle[0], cycle[1], cycle.back()};
}

class Observations {
public:
	Observations(std::uint32_t seed, std::uint32_t classes) : random_(seed), classes_(classes)
	{
	}

	Hold lock(bool spinning)
	{
		const auto how = random_() % 8;
		const std::uint32_t id = 1 + random_() % classes_;
		Hold h = how < 5 ? W(id) : how < 6 ? R(id) : RR(id);

		if (!spinning)
			h.val &= ~LS_VAL_IRQ_OFF;
		return h;
	}
	// What is held, then what is acquired.
	Holding next()
	{
		const auto where = random_() % 10;
		Holding held;

		// In an interrupt, with interrupts off, with softirqs off, with both on.
		for (auto n = 1 + random_() % 3; n; n--) {
			Hold h = lock(where < 6);

			if (where < 2)
				h.val |= LS_HARDIRQ << LS_VAL_LEVEL_SHIFT;
			if (where == 6)
				h.val |= LS_SOFTIRQ << LS_VAL_LEVEL_SHIFT | LS_VAL_BH_OFF;
			if (where == 7)
				h.val |= LS_VAL_BH_OFF;
			held.push_back(h);
		}
		return held;
	}

private:
	std::mt19937 random_;
	std::uint32_t classes_;
};

void expect_agreement(std::uint32_t seed, std::uint32_t classes, int observations,
		      std::size_t &locks_only, std::size_t &interrupted, std::uint64_t &cut)
{
	Court court;
	Model model;
	Observations script(seed, classes);
	std::set<Cycle> told;
	std::size_t checked = 0;

	for (int i = 0; i < observations; i++) {
		Holding held = script.next();
		const Hold next = held.back();

		held.pop_back();
		std::vector<std::vector<Cycle>> due;
		model.takes(held, next, [&](Pair edge) {
			for (Node node : {Node{0}, kHard, kSoft})
				if (auto cycles = model.possible(edge, node); !cycles.empty()) {
					(node ? interrupted : locks_only)++;
					due.push_back(std::move(cycles));
				}
		});
		const std::uint64_t before = court.judge.cut_searches;
		court.takes(held, next);
		for (; checked < court.reports.size(); checked++) {
			Cycle cycle;

			for (const ls_finding_edge &e : court.reports[checked])
				cycle.push_back(e.from);
			ASSERT_TRUE(model.possible(cycle)) << "seed " << seed << " step " << i;
			ASSERT_TRUE(told.insert(key(cycle)).second);
		}
		for (const auto &choice : due)
			// What is missed because a search was cut short is counted.
			ASSERT_TRUE(
				court.judge.cut_searches > before ||
				std::any_of(choice.begin(), choice.end(),
					    [&](const Cycle &c) { return told.contains(key(c)); }))
				<< "seed " << seed << " step " << i;
	}
	cut += court.judge.cut_searches;
}

TEST(JudgeRandom, FindsACycleWhereThereIsOne)
{
	std::size_t locks_only = 0, interrupted = 0;
	std::uint64_t cut = 0;

	for (std::uint32_t seed = 0; seed < 600; seed++)
		ASSERT_NO_FATAL_FAILURE(expect_agreement(seed, 4 + seed % 4, 12 + seed % 20,
							 locks_only, interrupted, cut));
	EXPECT_GT(locks_only, 1000u);
	EXPECT_GT(interrupted, 1000u);
	EXPECT_LT(cut * 1000, locks_only + interrupted);
}

} // namespace
} // namespace lockscope::test
