// SPDX-License-Identifier: GPL-2.0
// Lock chains: every sequence of held classes, as a tree from which the held
// stack of each can be read back.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

using Sequence = std::vector<std::uint32_t>;

struct Chains {
	explicit Chains(std::uint32_t max, std::uint32_t bits = 12) : slots(ls_tagtab_bytes(bits))
	{
		ls_chains_init(&all, slots.get(), bits, max);
	}
	void provide()
	{
		for (int seg; (seg = ls_chains_want(&all)) >= 0;) {
			segs.emplace_back(LS_CHAIN_SEG * sizeof(ls_chain));
			ls_chains_provide(&all, seg, static_cast<ls_chain *>(segs.back().get()));
		}
	}
	// Takes @val on top of what @ctx holds.
	ls_chain_result take(ls_ctx &ctx, std::uint32_t val, std::uint64_t ip = 0,
			     bool self = false)
	{
		const std::uint64_t key = ls_chain_mix(ctx.key, val);
		const ls_chain_result r =
			ls_chains_add(&all, &ctx, key, val, ip, self ? LS_LOOKS_SELF : 0, &index);

		ls_held_push(&ctx, val, ip, val, key);
		return r;
	}
	std::uint32_t id(const ls_ctx &ctx) const { return ls_tagtab_find(&all.tab, ctx.key); }
	std::uint32_t count(std::uint32_t at) { return ls_chains_get(&all, at)->count; }
	// The locks of chain @at, oldest first, according to the tree.
	Sequence read(std::uint32_t at)
	{
		Sequence found;

		for (; at && found.size() <= LS_MAX_DEPTH; at = ls_chains_get(&all, at)->parent)
			found.push_back(ls_chains_get(&all, at)->val);
		std::reverse(found.begin(), found.end());
		return found;
	}

	Zeroed slots;
	std::vector<Zeroed> segs;
	ls_chains all{};
	std::uint32_t index = 0;
};

Sequence held(const ls_ctx &ctx)
{
	Sequence vals;

	for (std::uint32_t i = 0; i < ctx.depth; i++)
		vals.push_back(ctx.held[i].val);
	return vals;
}

const std::uint32_t A = taken(1), B = taken(2), C = taken(3), D = taken(4);

TEST(Chains, NewOnceThenKnown)
{
	Chains c(100);
	ls_ctx first{}, second{};

	c.provide();
	EXPECT_EQ(c.take(first, A, 0x11), LS_CHAIN_NEW);
	EXPECT_EQ(c.index, 1u);
	EXPECT_EQ(c.take(first, B, 0x22), LS_CHAIN_NEW);
	EXPECT_EQ(c.index, 2u);
	EXPECT_EQ(c.take(second, A, 0x33), LS_CHAIN_KNOWN);
	EXPECT_EQ(c.index, 1u);
	EXPECT_EQ(ls_chains_get(&c.all, 1)->ip, 0x11u);
	EXPECT_EQ(c.count(2), 1u);
	EXPECT_EQ(c.read(2), (Sequence{A, B}));
}

TEST(Chains, TakingAHeldClassIsMarked)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, A);
	EXPECT_FALSE(c.id(ctx) & LS_CHAIN_LOOK);
	c.take(ctx, A, 0, true);
	EXPECT_TRUE(c.id(ctx) & LS_CHAIN_LOOK);
	EXPECT_EQ(c.id(ctx) & LS_CHAIN_INDEX, 2u);
	EXPECT_EQ(c.read(2), (Sequence{A, A}));
}

TEST(Chains, WithoutMemoryAChainIsPutOffNotForgotten)
{
	Chains c(100);
	ls_ctx ctx{};

	EXPECT_EQ(c.take(ctx, A), LS_CHAIN_DEFER);
	EXPECT_EQ(c.index, 0u);
	EXPECT_EQ(c.id(ctx), 0u);
	EXPECT_EQ(c.all.nr, 0u);
	c.provide();
	ls_held_pop_top(&ctx);
	EXPECT_EQ(c.take(ctx, A), LS_CHAIN_NEW);
}

TEST(Chains, MemoryIsWantedAheadAndOnlyUpToTheBound)
{
	Chains one(1000), many(LS_CHAIN_SEG * 3);
	ls_ctx ctx{};

	EXPECT_EQ(ls_chains_want(&one.all), 0);
	one.provide();
	many.provide();
	EXPECT_EQ(one.segs.size(), 1u);
	EXPECT_EQ(many.segs.size(), 1u);
	many.all.nr = LS_CHAIN_SEG / 2;
	EXPECT_EQ(ls_chains_want(&many.all), 1);
	many.provide();
	EXPECT_EQ(many.segs.size(), 2u);
	// Across the end of a segment nothing is put off.
	many.all.nr = LS_CHAIN_SEG - 1;
	EXPECT_EQ(many.take(ctx, A), LS_CHAIN_NEW);
	EXPECT_EQ(many.take(ctx, B), LS_CHAIN_NEW);
	EXPECT_EQ(many.read(many.index), (Sequence{A, B}));
}

TEST(Chains, TheBoundIsSaidOnceForEachChain)
{
	Chains c(2);
	ls_ctx ctx{}, again{};

	c.provide();
	c.take(ctx, A);
	c.take(ctx, B);
	EXPECT_EQ(c.take(ctx, C), LS_CHAIN_FULL);
	EXPECT_EQ(c.index, 0u);
	EXPECT_EQ(c.all.nr, 2u);
	// From now on it passes as known: no data, but off the slow path.
	EXPECT_EQ(c.id(ctx), std::uint32_t{LS_CHAIN_LOST});
	EXPECT_EQ(ls_chains_get(&c.all, LS_CHAIN_LOST), nullptr);
	EXPECT_EQ(c.take(again, A), LS_CHAIN_KNOWN);
	EXPECT_EQ(c.take(again, C), LS_CHAIN_FULL);
}

TEST(Chains, WhatIsRefusedIsKnownForAWhileOnlyWhenNotEvenItsMarkFits)
{
	Chains c(2, 4); // 16 slots
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, A);
	c.take(ctx, B);
	bool marked = false, refused = false;
	for (std::uint32_t i = 0; i < 100; i++) {
		ls_ctx one{};
		const std::uint32_t val = 1000 + i;
		const std::uint64_t key = ls_chain_mix(0, val);
		EXPECT_FALSE(ls_chains_refused(&c.all, key));
		EXPECT_EQ(c.take(one, val, 0, i % 2), LS_CHAIN_FULL);
		const bool known = ls_tagtab_find(&c.all.tab, key) != 0;
		// What nests in itself is looked at every time.
		EXPECT_EQ(ls_chains_refused(&c.all, key), !known && !(i % 2));
		marked = marked || known;
		refused = refused || ls_chains_refused(&c.all, key);
	}
	EXPECT_TRUE(marked);
	EXPECT_TRUE(refused);
	ls_chains_clear(&c.all);
	for (std::uint32_t i = 0; i < 100; i++)
		EXPECT_FALSE(ls_chains_refused(&c.all, ls_chain_mix(0, 1000 + i)));
}

TEST(Chains, NoIndexCanBeTakenForTheLostOne)
{
	Chains c(~0u);

	EXPECT_LT(c.all.max, std::uint32_t{LS_CHAIN_LOST});
	EXPECT_LE(c.all.max >> LS_CHAIN_SEG_BITS, LS_CHAIN_MAX_SEGS - 1u);
	EXPECT_EQ(ls_chains_get(&c.all, 0), nullptr);
}

TEST(Chains, WhatIsLeftAfterAReleaseOutOfOrderGetsAParentOfItsOwn)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	for (std::uint32_t val : {A, B, C})
		c.take(ctx, val);
	ls_held_remove(&ctx, 1);
	EXPECT_EQ(c.take(ctx, D), LS_CHAIN_NEW);
	EXPECT_EQ(c.read(c.index), (Sequence{A, C, D}));
	const std::uint32_t parent = ls_chains_get(&c.all, c.index)->parent;
	EXPECT_EQ(c.read(parent), (Sequence{A, C}));
	EXPECT_EQ(c.count(parent), 0u) << "nobody acquired it like this";
	EXPECT_EQ(c.all.nr, 5u);
}

// A, C was held only because B was released in between. An acquisition of C under A does so
// without B: the hook has to check that as something new.
TEST(Chains, ADerivedChainIsNewToWhoeverAcquiresIt)
{
	Chains c(100);
	ls_ctx ctx{}, later{};

	c.provide();
	for (std::uint32_t val : {A, B, C})
		c.take(ctx, val);
	ls_held_remove(&ctx, 1);
	c.take(ctx, D);
	ls_held_pop_top(&ctx);
	const std::uint32_t derived = c.id(ctx);
	EXPECT_TRUE(derived & LS_CHAIN_DERIVED);
	EXPECT_FALSE(derived & LS_CHAIN_LOOK);

	c.take(later, A);
	EXPECT_EQ(c.take(later, C, 0x77), LS_CHAIN_NEW);
	EXPECT_EQ(c.index, derived & LS_CHAIN_INDEX);
	EXPECT_EQ(c.id(later), c.index) << "acquired now: no marks";
	EXPECT_EQ(c.count(c.index), 1u);
	EXPECT_EQ(ls_chains_get(&c.all, c.index)->ip, 0x77u);
	ls_held_pop_top(&later);
	EXPECT_EQ(c.take(later, C), LS_CHAIN_KNOWN);
	EXPECT_EQ(c.all.nr, 5u);
}

TEST(Chains, ADerivedChainThatNestsItsClassKeepsThatMark)
{
	Chains c(100);
	ls_ctx ctx{}, later{};

	c.provide();
	for (std::uint32_t val : {A, B, A})
		c.take(ctx, val, 0, ctx.depth == 2);
	ls_held_remove(&ctx, 1);
	c.take(ctx, D);
	c.take(later, A);
	EXPECT_EQ(c.take(later, A, 0, true), LS_CHAIN_NEW);
	EXPECT_EQ(c.id(later), c.index | LS_CHAIN_LOOK);
}

TEST(Chains, ADerivedChainBeyondTheBoundIsStillToBeLookedAt)
{
	Chains c(3);
	ls_ctx ctx{}, later{};

	c.provide();
	for (std::uint32_t val : {A, B, C})
		c.take(ctx, val);
	ls_held_remove(&ctx, 1);
	EXPECT_EQ(c.take(ctx, D), LS_CHAIN_FULL);
	c.take(later, A);
	EXPECT_EQ(c.take(later, C), LS_CHAIN_FULL);
	EXPECT_EQ(c.id(later), std::uint32_t{LS_CHAIN_LOST});
}

TEST(Chains, ClearedIsAsNewAndKeepsItsMemory)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, A);
	c.take(ctx, B);
	ls_chains_clear(&c.all);
	EXPECT_EQ(c.all.nr, 0u);
	EXPECT_EQ(c.id(ctx), 0u);
	EXPECT_EQ(ls_chains_want(&c.all), -1);
	EXPECT_EQ(ls_chains_get(&c.all, 1)->val, 0u);
	ls_held_clear(&ctx);
	EXPECT_EQ(c.take(ctx, B), LS_CHAIN_NEW);
	EXPECT_EQ(c.index, 1u);
}

// Whatever is taken and released in whatever order: the tree has exactly the present stack,
// and each sequence has one index.
TEST(Chains, TheTreeTellsTheHeldStack)
{
	std::mt19937 random(5);
	Chains c(60000, 17);
	std::map<Sequence, std::uint32_t> indices;
	ls_ctx ctx{};

	c.provide();
	for (int step = 0; step < 30000; step++) {
		if (ctx.depth && (random() % 2 || ctx.depth == 6)) {
			ls_held_remove(&ctx, random() % ctx.depth);
			continue;
		}
		const ls_chain_result r =
			c.take(ctx, taken(1 + random() % 6, ls_read(random() % 2)));

		c.provide();
		ASSERT_TRUE(r == LS_CHAIN_NEW || r == LS_CHAIN_KNOWN);
		ASSERT_EQ(c.read(c.index), held(ctx));
		ASSERT_EQ(indices.try_emplace(held(ctx), c.index).first->second, c.index);
	}
	EXPECT_GT(indices.size(), 1000u);
}

TEST(Chains, RacingForTheSameChainsGivesEachOneIndex)
{
	constexpr std::uint32_t kClasses = 40, kThreads = 4;
	Chains c(kThreads * kClasses * (kClasses + 1), 15);
	std::atomic<std::uint32_t> made{0}, wrong{0};

	c.provide();
	together(kThreads, [&](unsigned) {
		for (std::uint32_t first = 1; first <= kClasses; first++) {
			for (std::uint32_t second = 1; second <= kClasses; second++) {
				ls_ctx ctx{};

				for (std::uint32_t val : {taken(first), taken(100 + second)}) {
					const std::uint64_t key = ls_chain_mix(ctx.key, val);
					std::uint32_t index;
					const ls_chain_result r = ls_chains_add(
						&c.all, &ctx, key, val, 0, false, &index);

					made += r == LS_CHAIN_NEW;
					wrong += r != LS_CHAIN_NEW && r != LS_CHAIN_KNOWN;
					wrong += index != ls_tagtab_find(&c.all.tab, key);
					ls_held_push(&ctx, val, 0, val, key);
				}
			}
		}
	});
	EXPECT_EQ(wrong, 0u);
	EXPECT_EQ(made, kClasses * (kClasses + 1));
	for (std::uint32_t first = 1; first <= kClasses; first++)
		for (std::uint32_t second = 1; second <= kClasses; second++) {
			const std::uint64_t one = ls_chain_mix(0, taken(first));
			const std::uint64_t two = ls_chain_mix(one, taken(100 + second));

			EXPECT_EQ(c.read(ls_tagtab_find(&c.all.tab, two)),
				  (Sequence{taken(first), taken(100 + second)}));
		}
	// An index lost in a race is a hole without a lock.
	std::uint32_t holes = 0;
	for (std::uint32_t i = 1; i <= c.all.nr; i++)
		holes += !ls_chains_get(&c.all, i)->val;
	EXPECT_EQ(c.all.nr - holes, kClasses * (kClasses + 1));
}

TEST(Chains, ADerivedChainIsAdoptedByOneOfThoseWhoRaceForIt)
{
	constexpr std::uint32_t kRounds = 2000, kThreads = 3;
	Chains c(4 * kRounds + 100, 15);
	std::atomic<std::uint32_t> adopted{0};

	c.provide();
	for (std::uint32_t i = 0; i < kRounds; i++) {
		ls_ctx ctx{};

		for (std::uint32_t val : {A, B, taken(100 + i)})
			c.take(ctx, val);
		ls_held_remove(&ctx, 1);
		c.take(ctx, D);
		c.provide();
	}
	together(kThreads, [&](unsigned) {
		ls_ctx ctx{};
		std::uint32_t index;

		ls_held_push(&ctx, A, 0, A, ls_chain_mix(0, A));
		for (std::uint32_t i = 0; i < kRounds; i++) {
			const std::uint32_t val = taken(100 + i);

			adopted += ls_chains_add(&c.all, &ctx, ls_chain_mix(ctx.key, val), val, 0,
						 false, &index) == LS_CHAIN_NEW;
		}
	});
	EXPECT_EQ(adopted, kRounds);
}

// The first acquisitions of a chain are looked at, then some of those that are counted,
// then none: the fast path may pass.
TEST(Chains, LookedAtForAWhile)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, taken(1));
	const std::uint64_t key = ls_chain_mix(ctx.key, taken(2));
	const std::uint32_t looks = 2u << LS_LOOKS_LATER_SHIFT | 3;

	ASSERT_EQ(ls_chains_add(&c.all, &ctx, key, taken(2), 0, looks, &c.index), LS_CHAIN_NEW);
	ls_chain *data = ls_chains_get(&c.all, c.index);
	const auto slow = [&] { return (ls_tagtab_find(&c.all.tab, key) & LS_CHAIN_SLOW) != 0; };
	const auto notes = [&] { return ls_chains_notes(&c.all, ls_tagtab_find(&c.all.tab, key)); };
	const auto counted = [&] {
		ls_chains_counted(&c.all, key, ls_tagtab_find(&c.all.tab, key), data);
	};

	EXPECT_TRUE(ls_chains_notes(&c.all, 0));
	for (int i = 0; i < 3; i++) {
		EXPECT_TRUE(slow());
		EXPECT_EQ(notes(), i < 2);
		ls_chains_looked(&c.all, key, data);
	}
	EXPECT_FALSE(slow());
	EXPECT_FALSE(notes());
	for (int i = 0; i < 2; i++) {
		counted();
		EXPECT_TRUE(slow());
		EXPECT_FALSE(notes());
		counted(); // not twice for one look
		ls_chains_looked(&c.all, key, data);
		EXPECT_FALSE(slow());
	}
	counted();
	EXPECT_FALSE(slow());
	EXPECT_EQ(data->looks, 0u);
	// A cycle was found.
	ls_chains_look(&c.all, key, data, false);
	EXPECT_TRUE(slow());
	EXPECT_TRUE(notes());
	EXPECT_EQ(data->looks, LS_LOOKS_CYCLE);
}

// A chain that takes its own class is always looked at, but for instances of its other
// dependencies no longer than another chain.
TEST(Chains, OwnClassAloneAfterAWhile)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, taken(1));
	const std::uint64_t key = ls_chain_mix(ctx.key, taken(1));
	const std::uint32_t looks = LS_LOOKS_SELF | 1u << LS_LOOKS_LATER_SHIFT | 2;

	ASSERT_EQ(ls_chains_add(&c.all, &ctx, key, taken(1), 0, looks, &c.index), LS_CHAIN_NEW);
	ls_chain *data = ls_chains_get(&c.all, c.index);
	const auto id = [&] { return ls_tagtab_find(&c.all.tab, key); };
	const auto look = [&] {
		EXPECT_TRUE(id() & LS_CHAIN_LOOK);
		const bool wants = ls_chains_wants_instances(data);
		ls_chains_looked(&c.all, key, data);
		return wants;
	};

	EXPECT_TRUE(look());
	EXPECT_TRUE(look());
	EXPECT_FALSE(look());
	ls_chains_counted(&c.all, key, id(), data);
	EXPECT_TRUE(look());
	ls_chains_counted(&c.all, key, id(), data);
	EXPECT_FALSE(look());
	ls_chains_look(&c.all, key, data, false);
	EXPECT_TRUE(look());
}

TEST(Chains, WhatAGateSpeaksAgainstIsLookedAtUntilItIsGone)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, taken(1));
	c.take(ctx, taken(2));
	const auto slow = [&] { return (c.id(ctx) & LS_CHAIN_LOOK) != 0; };
	ls_chain *data = ls_chains_get(&c.all, c.index);

	ls_chains_look(&c.all, ctx.key, data, true);
	const std::uint32_t usual = LS_LOOKS_CYCLE & LS_LOOKS_NOW;
	for (std::uint32_t i = 0; i < usual + 10; i++) {
		EXPECT_TRUE(slow());
		ls_chains_looked(&c.all, ctx.key, data);
	}
	// Marked again for another cycle, without a gate: the first one is still behind its own.
	ls_chains_look(&c.all, ctx.key, data, false);
	for (std::uint32_t i = 0; i < usual; i++)
		ls_chains_looked(&c.all, ctx.key, data);
	EXPECT_TRUE(slow());
	ls_chains_ungate(data);
	ls_chains_looked(&c.all, ctx.key, data);
	EXPECT_FALSE(slow());
}

TEST(Chains, WhatNestsInItselfIsLookedAtForEver)
{
	Chains c(100);
	ls_ctx ctx{};

	c.provide();
	c.take(ctx, taken(1));
	c.take(ctx, taken(1), 0, true);
	ls_chain *data = ls_chains_get(&c.all, c.index);

	for (int i = 0; i < 10; i++)
		ls_chains_looked(&c.all, ctx.key, data);
	EXPECT_TRUE(c.id(ctx) & LS_CHAIN_LOOK);
}

} // namespace
} // namespace lockscope::test
