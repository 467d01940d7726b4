// SPDX-License-Identifier: GPL-2.0
// The core put together as the hooks put it together, against the slow and obvious
// way, over random contexts that take and release in any order.
#include <random>

#include <gtest/gtest.h>

#include "reference.h"
#include "simulator.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t kClasses = 5, kContexts = 4;

// Addresses whose gate signatures have no bit in common: what a signature may
// blur is tested with the edges, here nothing is to be blurred.
std::vector<std::uint64_t> distinct_locks(std::size_t nr)
{
	std::vector<std::uint64_t> locks;
	std::uint32_t used = 0;

	for (std::uint64_t lock = 0xffff888000000000ull; locks.size() < nr; lock += 8) {
		const std::uint32_t bits = ls_gate_bits(lock, taken(1));

		if (__builtin_popcount(bits) != 2 || (bits & used))
			continue;
		used |= bits;
		locks.push_back(lock);
	}
	return locks;
}

struct Step {
	enum Op { Acquire, Release, Downgrade, HandOver } op;
	std::uint32_t context, other;
	std::uint32_t pick; // which held lock
	Hold next;
};

// Contexts 0 .. 2 are tasks, the last is an interrupt's.
class Script {
public:
	Script(std::uint32_t seed, std::uint32_t classes, std::uint32_t instances)
		: random_(seed), classes_(classes), instances_(instances),
		  locks_(distinct_locks(classes * instances))
	{
	}
	Step next(const Simulator &sim) { return next(sim, random_() % kContexts, false); }
	// @alone: nothing that touches another context.
	Step next(const Simulator &sim, std::uint32_t context, bool alone = true)
	{
		Step s{};

		s.context = context;
		s.other = (s.context + 1 + random_() % (kContexts - 1)) % kContexts;
		s.pick = random_();
		const unsigned what = random_() % 100;
		const std::uint32_t depth = sim.context(s.context).depth;

		if (depth < 5 && what < 55) {
			s.op = Step::Acquire;
			s.next = lock();
			if (s.context == kContexts - 1)
				s.next.val |= LS_HARDIRQ << LS_VAL_LEVEL_SHIFT | LS_VAL_IRQ_OFF;
		} else {
			s.op = what < 92	    ? Step::Release
			       : what < 97 || alone ? Step::Downgrade
						    : Step::HandOver;
		}
		return s;
	}

private:
	Hold lock()
	{
		const std::uint32_t id = random_() % classes_;
		const unsigned mode = random_() % 8;
		Hold h{taken(1 + id, mode < 5	? LS_EXCLUSIVE
				     : mode < 7 ? LS_SHARED
						: LS_RECURSIVE),
		       locks_[id * instances_ + random_() % instances_]};

		if (random_() % 8 == 0)
			h.val |= LS_VAL_TRY;
		if (random_() % 8 == 0)
			h.val |= LS_VAL_IRQ_OFF;
		return h;
	}

	std::mt19937 random_;
	std::uint32_t classes_, instances_;
	std::vector<std::uint64_t> locks_;
};

// Plays one step on both; the reference sees what was held before.
void play(const Step &s, Simulator &sim, Reference &reference,
	  const std::function<void(Reference::Ordered)> &news = {})
{
	const Holding before = sim.held(s.context);

	if (s.op == Step::Acquire) {
		reference.takes(before, s.next, news);
		sim.acquire(s.context, s.next);
		return;
	}
	if (before.empty())
		return;
	const std::uint32_t pick = s.pick % before.size();

	if (s.op == Step::Release)
		sim.release(s.context, before[pick].lock);
	else if (s.op == Step::Downgrade)
		sim.downgrade(s.context, before[pick].lock);
	else if (before.size() + sim.held(s.other).size() <= 5)
		sim.hand_over(s.context, pick, s.other);
}

std::map<Reference::Ordered, std::uint32_t> kinds_told(const Court &court)
{
	std::map<Reference::Ordered, std::uint32_t> all;

	for (const Court::Edge &e : court.edges)
		all[{e.from, e.to}] |= e.kinds;
	return all;
}

bool contains(const Findings &all, const Finding &one)
{
	return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(Hooks, ReportExactlyWhatTheReferenceFinds)
{
	std::size_t reports = 0, held_back = 0;

	for (std::uint32_t round = 0; round < 300; round++) {
		Script script(round, kClasses, 1);
		Simulator sim({});
		Reference reference;
		std::size_t checked = 0;

		sim.provide();
		for (int step = 0; step < 150; step++) {
			std::vector<Findings> due;

			play(script.next(sim), sim, reference, [&](Reference::Ordered edge) {
				Findings shortest = reference.shortest(edge);
				const bool all = std::all_of(
					shortest.begin(), shortest.end(),
					[&](const Finding &f) { return reference.possible(f); });

				held_back += !all;
				if (!shortest.empty() && all)
					due.push_back(std::move(shortest));
			});
			sim.drain();
			const Findings &findings = sim.court.findings;

			for (; checked < findings.size(); checked++) {
				ASSERT_TRUE(reference.possible(findings[checked]))
					<< "round " << round << " step " << step;
				ASSERT_EQ(std::count(findings.begin(), findings.end(),
						     findings[checked]),
					  1);
			}
			for (const Findings &choice : due)
				ASSERT_TRUE(std::any_of(
					choice.begin(), choice.end(),
					[&](const Finding &f) { return contains(findings, f); }))
					<< "round " << round << " step " << step;
		}
		ASSERT_EQ(kinds_told(sim.court), reference.kinds()) << "round " << round;
		ASSERT_EQ(sim.deferred() + sim.lost_chains + sim.lost_edges, 0u);
		reports += checked;
	}
	// The rounds are of use only if they report, and keep back.
	EXPECT_GT(reports, 300u);
	EXPECT_GT(held_back, 300u);
}

TEST(Hooks, EveryChainTellsItsHeldStack)
{
	Script script(7, kClasses, 1);
	Simulator sim({});
	Reference reference;

	sim.provide();
	for (int step = 0; step < 3000; step++) {
		const Step s = script.next(sim);
		std::vector<std::uint32_t> expected;

		for (const Hold &h : sim.held(s.context))
			expected.push_back(h.val);
		expected.push_back(s.next.val);
		play(s, sim, reference);
		sim.provide();
		if (s.op == Step::Acquire) {
			ASSERT_EQ(sim.chain(sim.chain_of(s.context)), expected) << "step " << step;
		}
		sim.drain();
	}
}

// Full rings and late memory cost time, never an edge: a repetition is reported.
TEST(Hooks, WhatIsPutOffIsLearntTheNextTime)
{
	std::uint64_t deferred = 0;

	for (std::uint32_t round = 0; round < 100; round++) {
		Script script(1000 + round, kClasses, 1);
		Simulator sim({.ring_bytes = 4096});
		Reference reference, nothing;
		std::mt19937 random(round);
		std::vector<Step> steps;

		for (int step = 0; step < 150; step++) {
			steps.push_back(script.next(sim));
			play(steps.back(), sim, reference);
			if (random() % 30 == 0)
				sim.provide();
			if (random() % 40 == 0)
				sim.drain();
		}
		deferred += sim.deferred();
		for (std::uint32_t c = 0; c < kContexts; c++)
			for (const Hold &h : sim.held(c))
				sim.release(c, h.lock);
		for (const Step &s : steps) {
			sim.provide();
			sim.drain();
			play(s, sim, nothing);
		}
		sim.drain();
		ASSERT_EQ(kinds_told(sim.court), reference.kinds()) << "round " << round;
		for (const Finding &f : sim.court.findings)
			ASSERT_TRUE(reference.possible(f)) << "round " << round;
	}
	EXPECT_GT(deferred, 100u);
}

// With several instances of a class a known chain hides that another instance was
// the gate: a fault may be missed by that, none may be invented.
TEST(Hooks, SeveralInstancesOfAClassInventNothing)
{
	std::size_t reports = 0, inversions = 0;

	for (std::uint32_t round = 0; round < 150; round++) {
		Script script(2000 + round, 4, 3);
		Simulator sim({});
		Reference reference;

		sim.provide();
		for (int step = 0; step < 200; step++) {
			play(script.next(sim), sim, reference);
			sim.drain();
		}
		ASSERT_EQ(kinds_told(sim.court), reference.kinds()) << "round " << round;
		for (const Finding &f : sim.court.findings)
			ASSERT_TRUE(reference.possible(f)) << "round " << round;
		for (const Simulator::Told &t : sim.told) {
			inversions += !t.same_instance;
			ASSERT_TRUE(t.same_instance || reference.inverted(t.id))
				<< "round " << round;
		}
		reports += sim.court.findings.size();
	}
	EXPECT_GT(reports, 100u);
	EXPECT_GT(inversions, 50u);
}

TEST(Hooks, TablesThatFillUpCountWhatTheyLeaveOut)
{
	Simulator sim({.chain_bits = 6, .chains = 40, .edge_bits = 4, .edges = 9});
	Script script(3, kClasses, 1);
	Reference reference;

	sim.provide();
	for (int step = 0; step < 2000; step++) {
		play(script.next(sim), sim, reference);
		sim.drain();
	}
	EXPECT_GT(sim.lost_chains, 0u);
	EXPECT_GT(sim.lost_edges, 0u);
	EXPECT_GT(sim.court.judge.lost_edges, 0u);
	EXPECT_LE(kinds_told(sim.court).size(), 9u);
	for (const Finding &f : sim.court.findings)
		EXPECT_TRUE(reference.possible(f));
}

TEST(Hooks, ADeeperStackThanThereIsRoomForIsCountedAndUnwound)
{
	Simulator sim({.contexts = 1, .classes = 100});

	sim.provide();
	for (std::uint32_t i = 1; i <= LS_MAX_DEPTH + 3; i++)
		EXPECT_EQ(sim.acquire(0, W(i)), i <= LS_MAX_DEPTH);
	EXPECT_EQ(sim.context(0).lost, 3u);
	for (std::uint32_t i = LS_MAX_DEPTH + 3; i >= 1; i--)
		sim.release(0, W(i).lock);
	EXPECT_EQ(sim.context(0).lost, 0u);
	EXPECT_EQ(sim.context(0).depth, 0u);
	EXPECT_EQ(sim.context(0).key, 0u);
	sim.drain();
	EXPECT_TRUE(sim.court.findings.empty());
}

TEST(Hooks, ContextsOnDifferentProcessorsLearnTheSameTogetherAsOneByOne)
{
	for (std::uint32_t round = 0; round < 10; round++) {
		Simulator sim({.ring_bytes = 1u << 20});
		Reference reference[kContexts];

		sim.provide();
		together(kContexts, [&](unsigned self) {
			Script script(3000 + round * kContexts + self, kClasses, 1);

			for (int step = 0; step < 1500; step++) {
				Step s = script.next(sim, self);

				play(s, sim, reference[self]);
			}
		});
		sim.drain();
		std::map<Reference::Ordered, std::uint32_t> all;
		for (const Reference &r : reference)
			for (const auto &[at, kinds] : r.kinds())
				all[at] |= kinds;
		EXPECT_EQ(kinds_told(sim.court), all);
		EXPECT_EQ(sim.deferred(), 0u);
	}
}

} // namespace
} // namespace lockscope::test
