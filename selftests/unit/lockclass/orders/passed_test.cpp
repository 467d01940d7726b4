// SPDX-License-Identifier: GPL-2.0
// What was passed within a hold, and what a lock was acquired under.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

extern "C" {
#include "lockclass/passed.h"
}

namespace lockscope::test {
namespace {

constexpr std::uint64_t G = 0x100, A = 0x200, B = 0x300, C = 0x400;

struct Side {
	void take(std::uint64_t lock, bool slow = true, ls_read read = LS_EXCLUSIVE)
	{
		const std::uint32_t val = taken(static_cast<std::uint32_t>(lock >> 8), read);
		ls_held_push(&ctx, lock, 1, val, ls_chain_mix(ctx.key, val));
		if (!slow)
			return;
		const ls_past past = entries();
		ls_passed_note(&ctx, &past);
	}
	void give(std::uint64_t lock)
	{
		ls_held_remove(&ctx, static_cast<std::uint32_t>(ls_held_find(&ctx, lock)));
	}
	/// Before @wanted is acquired.
	std::vector<std::uint32_t> facts(std::uint64_t wanted)
	{
		ls_past past = entries();
		ls_u16 tags[LS_GATES_KEPT];
		ls_passed_facts(&ctx, &past, wanted);
		all = past.nr_tags;
		nr = ls_passed_report(&ctx, &past, tags);
		return {past.facts, past.facts + (ctx.depth - past.first)};
	}
	ls_past entries() const
	{
		ls_past past{};
		past.first = ls_past_first(&ctx);
		for (std::uint32_t i = past.first; i < ctx.depth; i++)
			past.lock[i - past.first] = ctx.held[i].lock;
		return past;
	}

	ls_ctx ctx{};
	std::uint32_t nr = 0, all = 0; ///< facts that a record has room for, and all
};

bool apart(Side &under, std::uint64_t wanted, Side &passed, std::uint64_t also_wanted)
{
	for (auto x : under.facts(wanted))
		for (auto y : passed.facts(also_wanted))
			if (ls_passed_apart(static_cast<ls_u16>(x), static_cast<ls_u16>(y >> 16)))
				return true;
	return false;
}

/* G, A, -G and then B. */
Side leaves(ls_read gate = LS_EXCLUSIVE, ls_read lock = LS_EXCLUSIVE)
{
	Side side;
	side.take(G, true, gate);
	side.take(A, true, lock);
	side.give(G);
	return side;
}

/* G, A, -A, B and then A. */
Side passes(ls_read gate = LS_EXCLUSIVE, ls_read lock = LS_EXCLUSIVE)
{
	Side side;
	side.take(G, true, gate);
	side.take(A, true, lock);
	side.give(A);
	side.take(B);
	return side;
}

TEST(Passed, NeverMeetsWhatWasAcquiredUnderTheGate)
{
	Side one = leaves(), two = passes();
	EXPECT_TRUE(apart(one, B, two, A));
	EXPECT_EQ(one.nr, 1u);
	EXPECT_EQ(two.nr, 1u);
}

TEST(Passed, OneOfTheTwoIsExclusive)
{
	for (auto [gate, other_gate, lock, other_lock] :
	     {std::tuple{LS_SHARED, LS_EXCLUSIVE, LS_EXCLUSIVE, LS_EXCLUSIVE},
	      std::tuple{LS_EXCLUSIVE, LS_SHARED, LS_EXCLUSIVE, LS_SHARED},
	      std::tuple{LS_SHARED, LS_EXCLUSIVE, LS_SHARED, LS_EXCLUSIVE},
	      std::tuple{LS_SHARED, LS_SHARED, LS_EXCLUSIVE, LS_EXCLUSIVE},
	      std::tuple{LS_EXCLUSIVE, LS_EXCLUSIVE, LS_SHARED, LS_SHARED}}) {
		Side one = leaves(gate, lock), two = passes(other_gate, other_lock);
		EXPECT_EQ(apart(one, B, two, A),
			  (gate == LS_EXCLUSIVE || other_gate == LS_EXCLUSIVE) &&
				  (lock == LS_EXCLUSIVE || other_lock == LS_EXCLUSIVE));
	}
	/* Since then it was downgraded. */
	Side one = leaves(), two = passes(LS_EXCLUSIVE, LS_SHARED);
	EXPECT_TRUE(apart(one, B, two, A));
	ls_held_set_read(&one.ctx, 0, LS_SHARED);
	EXPECT_FALSE(apart(one, B, two, A));
}

TEST(Passed, OnlyWithinThisHold)
{
	Side one = leaves(), two = passes();
	two.give(B);
	two.give(G);
	two.take(G);
	two.take(B);
	EXPECT_FALSE(apart(one, B, two, A));
	/* Without the gate. */
	Side alone;
	alone.take(A);
	EXPECT_FALSE(apart(alone, B, two, A));
	two = passes();
	EXPECT_FALSE(apart(alone, B, two, A));
}

TEST(Passed, WhatIsHeldStillIsNoFact)
{
	Side one, two;
	one.take(G);
	one.take(A);
	EXPECT_EQ(one.facts(B), (std::vector<std::uint32_t>{0, 0}));
	two.take(G);
	two.take(A);
	two.take(B);
	EXPECT_EQ(two.facts(A), (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(Passed, FastPathsAreNotKnown)
{
	Side one, two = passes();
	one.take(G);
	one.take(A, false);
	one.give(G);
	EXPECT_FALSE(ls_passed_is_noted(&one.ctx, 0));
	EXPECT_FALSE(apart(one, B, two, A));
	one = leaves();
	EXPECT_TRUE(ls_passed_is_noted(&one.ctx, 0));

	Side fast;
	fast.take(G);
	fast.take(A, false);
	fast.give(A);
	fast.take(B);
	EXPECT_FALSE(apart(one, B, fast, A));

	/* The hold of the gate is known from the first slow path within it. */
	Side late;
	late.take(G, false);
	EXPECT_FALSE(ls_passed_is_noted(&late.ctx, 0));
	late.take(A);
	late.give(A);
	late.take(B, false);
	EXPECT_TRUE(apart(one, B, late, A));
	EXPECT_FALSE(ls_passed_is_noted(&late.ctx, 0));
	EXPECT_FALSE(ls_passed_is_noted(&late.ctx, 1));
}

TEST(Passed, TheLockThatIsWantedComesFirst)
{
	Side one = leaves(), two;
	two.take(G);
	two.take(A);
	two.give(A);
	for (std::uint64_t i = 0; i < LS_NOTES - 1; i++) {
		EXPECT_TRUE(apart(one, B, two, A)) << i;
		two.take(C + i * 0x100);
		two.give(C + i * 0x100);
	}
	EXPECT_TRUE(apart(one, B, two, A));
	EXPECT_FALSE(apart(one, B, two, C));
	two.take(0x2000);
	EXPECT_FALSE(apart(one, B, two, A));
}

TEST(Passed, OtherLocksOfBothSides)
{
	/* B is what they wait for; A is held by one of them only. */
	Side one = leaves(), two;
	one.take(C);
	two.take(G);
	two.take(A);
	two.take(0x500);
	two.give(A);
	two.give(0x500);
	two.take(B);
	EXPECT_TRUE(apart(one, B, two, C));
}

TEST(Passed, MovedEntriesKeepNoFacts)
{
	Side one = leaves(), two = passes(), to;
	for (int i = 0; i < 20; i++) {
		to.take(0x600);
		to.give(0x600);
	}
	ls_held_move(&two.ctx, 0, &to.ctx);
	EXPECT_FALSE(apart(one, B, to, A));
	to.take(A);
	to.give(A);
	EXPECT_TRUE(apart(one, B, to, A));
}

TEST(Passed, DeepStacksAndOddEntries)
{
	Side side;
	for (std::uint64_t i = 1; i <= LS_MAX_DEPTH; i++)
		side.take(i << 8);
	EXPECT_EQ(side.facts(1).size(), LS_PAST_DEPTH);
	for (std::uint64_t i = 1; i < LS_MAX_DEPTH; i++)
		side.give(i << 8);
	side.facts(1);
	EXPECT_LE(side.nr, LS_GATES_KEPT);

	/* The stamp of such an entry is of other use. */
	Side two = passes();
	ls_past past = two.entries();
	past.lock[0] = 0;
	ls_passed_facts(&two.ctx, &past, A);
	EXPECT_EQ((past.facts[0] | past.facts[1]) >> 16, 0u);
	const auto stamp = two.ctx.held[1].stamp;
	past.lock[1] = 0;
	ls_passed_note(&two.ctx, &past);
	EXPECT_EQ(two.ctx.held[1].stamp, stamp);
}

TEST(Passed, EachGateThatALockWasAcquiredUnder)
{
	Side one;
	for (auto lock : {G, C, A})
		one.take(lock);
	one.give(G);
	one.give(C);
	ls_past past = one.entries();
	ls_passed_facts(&one.ctx, &past, B);
	EXPECT_EQ(past.nr_tags, 2u);
	EXPECT_EQ(past.more_of[0], 0u);
	Side two;
	two.take(C);
	two.take(A);
	two.give(A);
	two.take(B);
	const auto passed = static_cast<ls_u16>(two.facts(A)[0] >> 16);
	EXPECT_FALSE(ls_passed_apart(static_cast<ls_u16>(past.facts[0]), passed));
	EXPECT_TRUE(ls_passed_apart(past.more[0], passed));
	const auto extra = ls_past_extra(past.more[0], 5, 0) | ls_past_extra(7, 15, 2);
	EXPECT_EQ(ls_past_more(extra, 0), past.more[0]);
	EXPECT_EQ(ls_past_more_of(extra, 0), 5u);
	EXPECT_EQ(ls_past_more(extra, 1), 0u);
	EXPECT_EQ(ls_past_more(extra, 2), 7u);
	EXPECT_EQ(ls_past_more_of(extra, 2), 15u);
}

/* What a record has no place for is compared all the same. */
TEST(Passed, MoreIsComparedThanReported)
{
	Side side;
	side.take(G);
	for (std::uint64_t lock = 0x1000; lock < 0x1500; lock += 0x100) {
		side.take(lock);
		side.give(lock);
	}
	side.facts(A);
	EXPECT_EQ(side.nr, 1u);
	EXPECT_EQ(side.all, 5u);
}

/* Sets of facts that were reported of a pair. */
struct Sets {
	explicit Sets(std::uint32_t bits = 8) : memory(ls_gates_bytes(bits))
	{
		ls_gates_init(&all, memory.get(), bits);
	}
	ls_gates_result peek(std::vector<ls_u16> tags) const
	{
		return ls_passed_peek(&all, kKey, tags.data(),
				      static_cast<std::uint32_t>(tags.size()));
	}
	bool mark(std::vector<ls_u16> tags, bool make = true, bool bound = true)
	{
		return ls_passed_mark(&all, kKey, tags.data(),
				      static_cast<std::uint32_t>(tags.size()), make, bound);
	}

	static constexpr std::uint64_t kKey = 0x1234567891;
	Zeroed memory;
	ls_gates all{};
};

TEST(PassedSets, WhatIncludesOneIsKnown)
{
	Sets sets;
	EXPECT_EQ(sets.peek({2, 4}), LS_GATES_UNKNOWN);
	EXPECT_TRUE(sets.mark({2, 4}));
	EXPECT_EQ(sets.peek({2, 4}), LS_GATES_KNOWN);
	EXPECT_EQ(sets.peek({6, 0, 4, 2}), LS_GATES_KNOWN);
	EXPECT_EQ(sets.peek({2}), LS_GATES_FEWER);
	EXPECT_EQ(sets.peek({2, 5}), LS_GATES_FEWER); // shared
}

/* What two of them have in common is no set that was reported. */
TEST(PassedSets, NoneIsReportedAfterTwoThatDiffer)
{
	Sets sets;
	EXPECT_TRUE(sets.mark({2}));
	EXPECT_EQ(sets.peek({4}), LS_GATES_FEWER);
	EXPECT_TRUE(sets.mark({4}));
	EXPECT_EQ(sets.peek({}), LS_GATES_FEWER);
	EXPECT_TRUE(sets.mark({}));
	EXPECT_EQ(sets.peek({}), LS_GATES_KNOWN);
	EXPECT_EQ(sets.peek({8}), LS_GATES_KNOWN);
}

TEST(PassedSets, OneThatIsIncludedTakesThePlace)
{
	Sets sets;
	std::vector<ls_u16> set{2, 4, 6, 8, 10, 12, 14};
	for (; !set.empty(); set.pop_back()) {
		EXPECT_NE(sets.peek(set), LS_GATES_KNOWN);
		EXPECT_TRUE(sets.mark(set));
	}
	EXPECT_EQ(sets.all.nr, 1u);
}

TEST(PassedSets, OneMoreThanThereIsRoomForIsNotKept)
{
	for (const bool wanted : {false, true}) {
		Sets sets;
		const ls_u16 room = wanted ? LS_PASSED_SETS_WANTED : LS_PASSED_SETS;
		for (ls_u16 i = 1; i <= room; i++)
			EXPECT_TRUE(sets.mark({static_cast<ls_u16>(2 * i)}, true, wanted)) << i;
		EXPECT_EQ(sets.peek({100}), LS_GATES_FEWER);
		EXPECT_FALSE(sets.mark({100}, true, wanted));
		EXPECT_EQ(sets.peek({102}), wanted ? LS_GATES_KNOWN : LS_GATES_FEWER);
	}
}

TEST(PassedSets, WithoutRoom)
{
	Sets sets;
	EXPECT_FALSE(sets.mark({2}, false));
	EXPECT_EQ(sets.peek({2}), LS_GATES_UNKNOWN);
	EXPECT_TRUE(sets.mark({2}));
	EXPECT_FALSE(sets.mark({4}, false, false));
	EXPECT_EQ(sets.peek({4}), LS_GATES_FEWER);
	EXPECT_FALSE(sets.mark({4}, false));
	EXPECT_EQ(sets.peek({}), LS_GATES_KNOWN);
}

/*
 * Whatever is reported, and whatever comes in which order: of what was seen some set that is
 * included was reported, as long as all have room.
 */
TEST(PassedSets, NothingIsKnownThatIncludesNone)
{
	std::mt19937 random(1);
	for (int round = 0; round < 2000; round++) {
		Sets sets;
		std::vector<std::vector<ls_u16>> reported;
		bool all_kept = true;
		for (int i = 0; i < 60; i++) {
			std::vector<ls_u16> set;
			for (ls_u16 tag = 2; tag <= 14; tag += 2)
				if (random() % 2)
					set.push_back(tag);
			const bool includes = std::ranges::any_of(reported, [&](const auto &one) {
				return std::ranges::includes(set, one);
			});
			const auto is = sets.peek(set);
			if (all_kept) {
				ASSERT_EQ(is == LS_GATES_KNOWN, includes);
				if (is == LS_GATES_KNOWN)
					continue;
			}
			all_kept = sets.mark(set) && all_kept;
			reported.push_back(std::move(set));
		}
	}
}

/* What each entry claims, of all sorts. */
bool claims(ls_claims &all, Side &side, std::uint64_t wanted)
{
	bool met = false;
	for (auto fact : side.facts(wanted))
		met |= ls_claims_add(&all, fact);
	return met;
}

TEST(Claims, MeetOnceBothSortsAreThere)
{
	Side one = leaves(), two = passes();
	ls_claims all{};
	EXPECT_FALSE(claims(all, one, B));
	EXPECT_FALSE(claims(all, one, B));
	EXPECT_EQ(all.met, 0u);
	EXPECT_TRUE(claims(all, two, A));
	EXPECT_EQ(all.met, 1u);
	EXPECT_TRUE(claims(all, one, B));
	EXPECT_EQ(all.met, 1u);
}

TEST(Claims, OfOtherLocksDoNotMeet)
{
	Side one = leaves(), two;
	two.take(G);
	two.take(C);
	two.give(C);
	two.take(B);
	ls_claims all{};
	EXPECT_FALSE(claims(all, one, B));
	EXPECT_FALSE(claims(all, two, A));
	EXPECT_FALSE(ls_claims_add(&all, 0));
	EXPECT_EQ(all.met, 0u);
}

TEST(Claims, OneEntryMayClaimBothSorts)
{
	ls_claims all{};
	EXPECT_TRUE(ls_claims_add(&all, 0x12340000u | 0x1236u));
	EXPECT_EQ(all.met, 1u);
}

TEST(Passed, StampsThatWrap)
{
	Side one = leaves(), two;
	two.ctx.serial = 0xfffffffa;
	for (int i = 0; i < 6; i++) {
		two.take(G);
		two.take(A);
		EXPECT_TRUE(ls_passed_is_noted(&two.ctx, 1));
		two.give(A);
		two.take(B);
		EXPECT_TRUE(apart(one, B, two, A)) << i;
		two.give(B);
		two.give(G);
	}
}

} // namespace
} // namespace lockscope::test
