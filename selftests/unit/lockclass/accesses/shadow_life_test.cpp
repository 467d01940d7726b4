// SPDX-License-Identifier: GPL-2.0
// How a granule changes hands, and what its shadow forgets: hand-overs, passing on,
// unknown locks, lives, the short cut, threads.

#include <atomic>

#include <random>

#include <gtest/gtest.h>

#include "shadow_memory.h"

namespace lockscope::test {
namespace {

TEST(ShadowOrder, MemoryThatEverybodyIsDoneWithBelongsToTheNewcomer)
{
	for (ls_shadow_state state : {LS_EXCLUSIVE_TO, LS_SHARED_READ, LS_SHARED_MODIFIED})
		for (std::uint8_t op : {kRead, kWrite}) {
			Memory v;

			v.set_state(state);
			v.order([](ls_u32, ls_u32 to, ls_u32) { return to == C; });
			const ls_shadow_result r = v.step(C, op);
			EXPECT_TRUE(r.handed_over);
			EXPECT_EQ(r.after, LS_EXCLUSIVE_TO);
			EXPECT_EQ(v.owner(), C);
			// What was before does not matter any more.
			EXPECT_TRUE(ls_shadow_live(&v.granule, 0));
			EXPECT_FALSE(ls_shadow_live(&v.granule, 1));
			EXPECT_FALSE(ls_shadow_live(&v.granule, 2));
			EXPECT_FALSE(v.step(C, kWrite).race);
		}
}

TEST(ShadowOrder, OneWhoIsNotDoneKeepsIt)
{
	Memory v;

	v.order([](ls_u32 from, ls_u32, ls_u32) { return from == A; });
	v.step(A, kRead);
	EXPECT_TRUE(v.step(B, kWrite).handed_over);
	const ls_shadow_result r = v.step(A, kWrite);
	EXPECT_FALSE(r.handed_over);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other_context, B);
	// A is done with it, B is not.
	const ls_shadow_result c = v.step(C, kWrite);
	EXPECT_FALSE(c.handed_over);
	EXPECT_TRUE(c.race);
	EXPECT_EQ(c.other_context, B);
}

TEST(ShadowOrder, WhatALaterEntrySaysAsWellIsGivenUpFirst)
{
	Memory v;
	const std::uint16_t D = 13;

	v.order([](ls_u32, ls_u32 to, ls_u32) { return to == D; });
	v.step(A, kRead, {{mu1, true}});
	v.step(B, kRead, {{mu1, true}});
	ls_shadow_access again = v.make(A, kRead, {{mu1, true}});
	again.site++;
	v.step(again);
	// The third context's finds room, and no context is forgotten.
	v.step(C, kRead, {{mu1, true}});
	EXPECT_TRUE(v.step(D, kWrite).handed_over);
}

TEST(ShadowOrder, NotWhatOnlyTheEarlierOneSays)
{
	Memory v;
	const std::uint16_t D = 13;

	v.order([](ls_u32, ls_u32 to, ls_u32) { return to == D; });
	v.step(A, kRead, {});
	v.step(B, kRead, {{mu1, true}});
	ls_shadow_access again = v.make(A, kRead, {{mu1, true}});
	again.site++;
	v.step(again);
	v.step(C, kRead, {{mu1, true}});
	EXPECT_FALSE(v.step(D, kWrite).handed_over);
}

// What a later entry says as well goes before an own write: that is said nowhere else.
TEST(ShadowOrder, AnOwnEntryIsKeptWhileAnotherSaysNothing)
{
	Memory v;
	ls_shadow_access wide = v.make(A, kWrite, {}), read = v.make(B, kRead, {}, 0x01);

	wide.site = 900;
	v.step(A, kWrite, {}, 0x01);
	v.step(wide);
	v.step(B, kWrite, {}, 0x01);
	v.step(read);
	const ls_shadow_result r = v.step(C, kRead, {}, 0x01);
	EXPECT_TRUE(r.race);
	EXPECT_TRUE(r.other_context == B || (r.nr_further && r.further[0].context == B));
}

TEST(ShadowOrder, AsksWithTheStampOfTheLastAccess)
{
	ls_u32 asked = 0;
	Memory v;

	v.order([&](ls_u32, ls_u32, ls_u32 stamp) { return asked = stamp, true; });
	v.stamp = 5;
	v.step(A, kWrite);
	v.stamp = LS_STAMP_MASK + 9u;
	v.step(A, kWrite);
	v.stamp = 7;
	EXPECT_TRUE(v.step(B, kWrite).handed_over);
	EXPECT_EQ(asked, 8u) << "21 bits of it";
}

TEST(ShadowOrder, IsKeptForThreeEntries)
{
	Memory v;

	for (std::uint16_t who : {A, B, C})
		v.step(who, kRead);
	v.order([](ls_u32, ls_u32, ls_u32) { return true; });
	EXPECT_TRUE(v.step(C + 1, kWrite).handed_over);
}

TEST(ShadowOrder, IsNotKnownOnceAnEntryHadToGo)
{
	Memory v;

	for (std::uint16_t who : {A, B, C})
		v.step(who, kRead);
	v.step(C + 1, kRead);
	v.order([](ls_u32, ls_u32, ls_u32) { return true; });
	EXPECT_FALSE(v.step(C + 2, kWrite).handed_over);
	// Another life begins without that.
	ls_shadow_forget(&v.granule);
	v.step(A, kWrite);
	EXPECT_TRUE(v.step(B, kWrite).handed_over);
}

TEST(ShadowPassOn, WhatIsMadeThenPublishedIsSilent)
{
	Memory v(true);

	v.step(A, kWrite);
	const ls_shadow_result r = v.step(B, kWrite);
	EXPECT_TRUE(r.handed_over);
	EXPECT_FALSE(r.race);
	EXPECT_EQ(v.owner(), B);
	for (std::uint8_t op : {kRead, kWrite})
		EXPECT_FALSE(v.step(B, op).race);
}

TEST(ShadowPassOn, WhatComesBackIsReported)
{
	Memory v(true);

	v.step(A, kWrite);
	v.step(B, kWrite);
	const ls_shadow_result r = v.step(A, kWrite);
	EXPECT_FALSE(r.handed_over);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other_context, B);
}

TEST(ShadowPassOn, AThirdWriterIsReported)
{
	Memory v(true);

	v.step(A, kWrite);
	v.step(B, kWrite);
	EXPECT_TRUE(v.step(C, kWrite).race);
}

TEST(ShadowPassOn, UnderOneLockItMayComeBackForEver)
{
	Memory v(true);

	v.step(A, kWrite);
	for (std::uint16_t who : {B, A, C, A, B})
		EXPECT_FALSE(v.step(who, kWrite, {{mu1, true}}).race);
}

TEST(ShadowPassOn, WhatReadersWereGivenMayNotBeWrittenAnyMore)
{
	Memory v(true);

	v.step(A, kWrite);
	EXPECT_FALSE(v.step(B, kRead).race);
	EXPECT_FALSE(v.step(C, kRead).race);
	// B's first write meets C's read; what A did was making it.
	const ls_shadow_result r = v.step(B, kWrite);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other_context, C);
}

TEST(ShadowPassOn, MakingItIsNoRaceWithTheFirstReadersWrite)
{
	Memory v(true);

	v.step(A, kWrite);
	v.step(B, kRead);
	EXPECT_FALSE(v.step(B, kWrite).race);
	EXPECT_TRUE(v.step(A, kWrite).race) << "that is no longer making it";
}

TEST(ShadowUnknown, AnAccessWithUnknownLocksIsNeverJudged)
{
	for (std::uint8_t op : {kRead, kWrite}) {
		Memory v;

		v.step(A, kWrite);
		v.step(B, kWrite);
		ls_shadow_access a = v.make(C, op, {});
		a.lockset = LS_LOCKSET_NONE;
		EXPECT_FALSE(v.step(a).race);
		// Nor is it counted against an access with a lock.
		Memory w;
		w.step(A, kWrite, {{mu1, true}});
		w.step(a);
		EXPECT_FALSE(w.step(A, kWrite, {{mu1, true}}).race);
	}
}

TEST(ShadowUnknown, SaysSoAndLeavesTheCandidates)
{
	Memory v;
	ls_shadow_access a = v.make(C, kWrite, {});

	a.lockset = LS_LOCKSET_NONE;
	v.step(A, kWrite, {{mu1, true}});
	v.step(B, kWrite, {{mu1, true}});
	const ls_shadow_result r = v.step(a);
	EXPECT_TRUE(r.unknown);
	EXPECT_EQ(v.left(r), (Locks{{mu1, true}}));
	EXPECT_FALSE(v.step(B, kWrite, {{mu1, true}}).unknown);
}

TEST(ShadowRaces, AllThatAnAccessRacesWithAreReported)
{
	Memory v;

	v.step(A, kMarkedWrite);
	v.step(B, kRead);
	ls_shadow_result r = v.step(C, kWrite);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other_context, B) << "the plain one first";
	ASSERT_EQ(r.nr_further, 1u);
	EXPECT_EQ(r.further[0].context, A);
	EXPECT_EQ(r.further[0].site, Memory::site(A, kMarkedWrite));
	r = v.step(B, kRead, {{mu1, true}});
	EXPECT_EQ(r.other_context, C);
	EXPECT_EQ(r.nr_further, 1u);
}

// The access that makes it shared may have an unknown lockset: the next one is the first that
// counts.
TEST(ShadowUnknown, WhoFollowsIsJudged)
{
	Memory v;
	ls_shadow_access b = v.make(B, kWrite, {});

	b.lockset = LS_LOCKSET_NONE;
	v.step(A, kWrite);
	const ls_shadow_result first = v.step(b);
	EXPECT_TRUE(first.unknown);
	EXPECT_FALSE(first.race);
	EXPECT_EQ(v.left(v.step(C, kWrite, {{mu1, true}})), (Locks{{mu1, true}}));
	EXPECT_FALSE(v.step(A, kWrite, {{mu1, true}}).race);
	const ls_shadow_result last = v.step(A, kWrite, {{mu2, true}});
	EXPECT_TRUE(last.race);
	EXPECT_EQ(last.other_context, C);
}

TEST(ShadowStamp, CountsOnForEver)
{
	constexpr ls_u32 last = LS_STAMP_MASK, half = LS_STAMP_MASK / 2;

	EXPECT_TRUE(ls_stamp_before(1, 2));
	EXPECT_FALSE(ls_stamp_before(2, 1));
	EXPECT_FALSE(ls_stamp_before(2, 2));
	EXPECT_TRUE(ls_stamp_before(last, 0));
	EXPECT_FALSE(ls_stamp_before(0, last));
	for (ls_u32 a : {0u, 1u, half, last - 1, last}) {
		EXPECT_TRUE(ls_stamp_before(a, (a + half) & last));
		EXPECT_FALSE(ls_stamp_before((a + half) & last, a));
		EXPECT_FALSE(ls_stamp_before(a, a + last + 1));
		// Counted on beyond 21 bits it is the same stamp.
		EXPECT_TRUE(ls_stamp_before(a, a + last + 2));
	}
}

// An epoch ends, and all stamps are forgotten, before the clock is half round.
TEST(ShadowStamp, TellsBeforeFromAfterWithinAnEpoch)
{
	std::mt19937 random(21);
	std::uint64_t now = 0xffff0000u, from = now, epochs = 0;
	std::vector<std::uint64_t> stamps;

	for (int step = 0; step < 4000; step++) {
		now += random() % (step % 3 ? 20 : 100000);
		if (ls_stamps_due(static_cast<ls_u32>(now), static_cast<ls_u32>(from))) {
			// The end of an epoch may come late.
			now += random() % (LS_STAMP_MASK / 2 - (now - from));
			stamps.push_back(now);
			for (std::uint64_t a : stamps)
				for (std::uint64_t b : stamps)
					ASSERT_EQ(ls_stamp_before(a & LS_STAMP_MASK,
								  b & LS_STAMP_MASK),
						  a < b);
			stamps.clear();
			from = now;
			epochs++;
		}
		stamps.push_back(now);
	}
	EXPECT_GT(epochs, 50u);
	EXPECT_FALSE(ls_stamps_due(3, ~0u - 3));
	EXPECT_TRUE(ls_stamps_due(LS_STAMP_LIFE - 4, ~0u - 3));
}

TEST(ShadowForget, BeginsANewLife)
{
	Memory v;

	v.step(A, kWrite);
	v.step(B, kWrite);
	ls_shadow_forget(&v.granule);
	for (std::uint32_t i = 0; i < LS_SHADOW_ENTRIES; i++)
		EXPECT_FALSE(ls_shadow_live(&v.granule, i));
	const ls_shadow_result r = v.step(C, kWrite);
	EXPECT_EQ(r.before, LS_VIRGIN);
	EXPECT_EQ(r.after, LS_EXCLUSIVE_TO);
	// A was in another life.
	EXPECT_FALSE(v.step(B, kRead).race);
	EXPECT_EQ(v.step(B, kWrite).other_context, C);
}

TEST(ShadowForget, VirginMemoryHasNothingToForget)
{
	ls_granule g{};

	ls_shadow_forget(&g);
	EXPECT_EQ(g.state, 0u);
}

// Lives are distinguished by few bits. Accesses of any earlier life must not count for this
// one.
TEST(ShadowForget, NoLifeIsTakenForAnother)
{
	for (int lives = 1; lives < 40; lives++) {
		Memory v;

		v.step(A, kRead);
		v.step(B, kWrite);
		v.step(C, kWrite);
		ls_shadow_forget(&v.granule);
		for (int life = 1; life < lives; life++) {
			v.step(A, kWrite);
			ls_shadow_forget(&v.granule);
		}
		v.step(A, kRead);
		EXPECT_FALSE(ls_shadow_live(&v.granule, 1)) << lives << " lives later";
		v.step(A + 50, kRead);
		const ls_shadow_result r = v.step(A, kWrite);
		EXPECT_TRUE(r.race);
		EXPECT_EQ(r.other_context, A + 50) << lives << " lives later";
	}
}

TEST(ShadowForget, NoOwnerIsTakenForAnother)
{
	for (int owners = 1; owners < 40; owners++) {
		Memory v;

		v.step(A, kRead);
		v.step(B, kRead);
		v.step(C, kRead);
		v.order([](ls_u32, ls_u32, ls_u32) { return true; });
		for (int i = 0; i < owners; i++)
			ASSERT_TRUE(v.step(static_cast<std::uint16_t>(20 + i), kWrite).handed_over);
		EXPECT_FALSE(ls_shadow_live(&v.granule, 1)) << owners << " owners later";
		EXPECT_FALSE(ls_shadow_live(&v.granule, 2)) << owners << " owners later";
	}
}

TEST(ShadowThreads, UnderOneLockInTheirLocksetsNobodyIsReported)
{
	std::atomic<std::uint32_t> races{0}, states{0};
	Memory v;

	for (std::uint16_t who : {A, B, C})
		for (std::uint8_t op : {kRead, kWrite})
			static_cast<ls_u8 *>(v.ops.get())[Memory::site(who, op)] = op;
	const std::uint32_t only = v.sets.of({{mu1, true}}),
			    more = v.sets.of({{mu1, true}, {mu2, true}});
	together(3, [&](unsigned self) {
		for (std::uint32_t i = 0; i < 20000; i++) {
			ls_shadow_access a{};

			a.context = static_cast<ls_u16>(A + self);
			a.op = i % 3 ? kRead : kWrite;
			a.site = Memory::site(a.context, a.op);
			a.lockset = i % 2 ? only : more;
			a.bytes = 0xff;
			const ls_shadow_result r = ls_shadow_step(&v.granule, &a, &v.rules);

			races += r.race;
			states += r.after < r.before;
		}
	});
	EXPECT_EQ(races, 0u);
	EXPECT_EQ(states, 0u) << "no way leads back";
	EXPECT_EQ(v.granule.state & 3, LS_SHARED_MODIFIED + 0u);
	EXPECT_EQ(v.left(v.step(A, kRead, {{mu1, true}})), (Locks{{mu1, true}}));
}

TEST(ShadowThreads, WithoutALockTheRaceIsFound)
{
	for (int round = 0; round < 50; round++) {
		Memory v;

		for (std::uint16_t who : {A, B})
			static_cast<ls_u8 *>(v.ops.get())[Memory::site(who, kWrite)] = kWrite;
		const ls_shadow_access of[] = {v.make(A, kWrite, {}), v.make(B, kWrite, {})};
		std::atomic<std::uint32_t> races{0};
		together(2, [&](unsigned self) {
			for (int i = 0; i < 100; i++)
				races += ls_shadow_step(&v.granule, &of[self], &v.rules).race;
		});
		// An entry may be lost to the neighbour; the next accesses bring it back.
		for (int i = 0; i < 2; i++)
			races += v.step(of[i]).race;
		EXPECT_GT(races, 0u);
	}
}

} // namespace
} // namespace lockscope::test
