// SPDX-License-Identifier: GPL-2.0
// The shadow of memory, access by access: Eraser's figures, what is a race and what
// is remembered for it. That it agrees with Eraser on whole programs: shadow_random.cpp.
#include <gtest/gtest.h>

#include "shadow_memory.h"

namespace lockscope::test {
namespace {

// Figure 3 has v := v + 1 under one lock, then under another. It shows the first
// version of the algorithm, in which one thread is enough; with figure 4's states
// what the first owner did does not count, so each lock has its thread and the
// first one comes back.
TEST(EraserFigure3, CandidatesAreRefinedUntilNoneIsLeft)
{
	Memory v;

	v.step(A, kRead, {{mu1, true}, {mu2, true}});
	v.step(A, kWrite, {{mu1, true}, {mu2, true}});
	const Locks both{{mu1, true}, {mu2, true}};
	EXPECT_EQ(v.left(v.step(B, kRead, both)), both);
	EXPECT_EQ(v.left(v.step(B, kWrite, both)), both);
	EXPECT_EQ(v.left(v.step(A, kRead, {{mu1, true}})), (Locks{{mu1, true}}));
	EXPECT_FALSE(v.step(A, kWrite, {{mu1, true}}).race);
	const ls_shadow_result r = v.step(B, kRead, {{mu2, true}});
	EXPECT_EQ(r.candidates, LS_LOCKSET_EMPTY);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other, Memory::site(A, kWrite));
	EXPECT_EQ(r.other_context, A);
	EXPECT_EQ(v.sets.read(r.other_lockset), (Locks{{mu1, true}}));
}

TEST(EraserFigure3, OneLockAllTheTimeIsLeft)
{
	Memory v;

	v.step(A, kWrite, {{mu1, true}, {mu2, true}});
	v.step(B, kWrite, {{mu1, true}, {mu2, true}});
	for (std::uint16_t who : {A, B, C, A})
		for (std::uint8_t op : {kRead, kWrite}) {
			const ls_shadow_result r = v.step(who, op, {{mu1, true}});

			EXPECT_EQ(v.left(r), (Locks{{mu1, true}}));
			EXPECT_FALSE(r.race);
		}
}

struct Transition {
	ls_shadow_state from;
	std::uint16_t who; // A was first, B second, C is new
	std::uint8_t op;
	ls_shadow_state to;
};

// The test's name.
void PrintTo(const Transition &t, std::ostream *out)
{
	constexpr const char *kNames[] = {"virgin", "exclusive", "shared", "shared-modified"};

	*out << kNames[t.from] << (t.op == kRead ? " read by " : " written by ")
	     << (t.who == A   ? "the first"
		 : t.who == B ? "the second"
			      : "a third");
}

class EraserFigure4 : public testing::TestWithParam<Transition> {};

TEST_P(EraserFigure4, Leads)
{
	const Transition &t = GetParam();
	Memory v;

	v.set_state(t.from);
	const ls_shadow_result r = v.step(t.who, t.op, {{mu2, true}});
	EXPECT_EQ(r.before, t.from);
	EXPECT_EQ(r.after, t.to);
	EXPECT_EQ(v.granule.state & 3, t.to + 0u);
	if (t.to == LS_EXCLUSIVE_TO)
		EXPECT_EQ(v.owner(), t.who);
	else if (t.from == LS_EXCLUSIVE_TO)
		EXPECT_EQ(v.left(r), (Locks{{mu2, true}})) << "the owner's locks do not count";
	else
		EXPECT_EQ(r.candidates, LS_LOCKSET_EMPTY) << "mu1 before, mu2 now";
	EXPECT_FALSE(r.handed_over);
	EXPECT_FALSE(r.unknown);
	// Reported only where it is shared and modified, with nothing left.
	const bool empty = r.candidates == LS_LOCKSET_EMPTY;
	EXPECT_EQ(r.race, t.to == LS_SHARED_MODIFIED && empty);
}

INSTANTIATE_TEST_SUITE_P(
	Transitions, EraserFigure4,
	testing::Values(Transition{LS_VIRGIN, A, kRead, LS_EXCLUSIVE_TO},
			Transition{LS_VIRGIN, A, kWrite, LS_EXCLUSIVE_TO},
			Transition{LS_EXCLUSIVE_TO, A, kRead, LS_EXCLUSIVE_TO},
			Transition{LS_EXCLUSIVE_TO, A, kWrite, LS_EXCLUSIVE_TO},
			Transition{LS_EXCLUSIVE_TO, B, kRead, LS_SHARED_READ},
			Transition{LS_EXCLUSIVE_TO, B, kWrite, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_READ, A, kRead, LS_SHARED_READ},
			Transition{LS_SHARED_READ, B, kRead, LS_SHARED_READ},
			Transition{LS_SHARED_READ, C, kRead, LS_SHARED_READ},
			Transition{LS_SHARED_READ, A, kWrite, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_READ, C, kWrite, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_MODIFIED, A, kRead, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_MODIFIED, A, kWrite, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_MODIFIED, C, kRead, LS_SHARED_MODIFIED},
			Transition{LS_SHARED_MODIFIED, C, kWrite, LS_SHARED_MODIFIED}));

TEST(Eraser, SharedMemoryThatIsOnlyReadNeedsNoLock)
{
	Memory v;

	v.step(A, kWrite);
	for (std::uint16_t who : {B, C, A, B})
		EXPECT_FALSE(v.step(who, kRead).race);
	// Until a write.
	EXPECT_TRUE(v.step(A, kWrite).race);
}

TEST(EraserReadWriteLocks, ReadersMayHoldItEitherWayWritersExclusively)
{
	Memory v;

	v.step(A, kWrite, {{mu1, true}});
	for (std::uint16_t who : {B, C, A, B}) {
		EXPECT_FALSE(v.step(who, kRead, {{mu1, false}}).race);
		const ls_shadow_result r = v.step(who, kWrite, {{mu1, true}});

		EXPECT_EQ(v.left(r).size(), 1u);
		EXPECT_FALSE(r.race);
	}
}

TEST(EraserReadWriteLocks, AWriterThatOnlyHasItSharedIsReported)
{
	Memory v;

	v.step(A, kRead, {{mu1, false}});
	v.step(B, kRead, {{mu1, false}});
	const ls_shadow_result r = v.step(B, kWrite, {{mu1, false}});
	EXPECT_EQ(r.candidates, LS_LOCKSET_EMPTY);
	EXPECT_TRUE(r.race);
	EXPECT_EQ(r.other_context, A);
}

TEST(EraserReadWriteLocks, OfAWritersLocksThoseHeldExclusivelyStay)
{
	Memory v;

	v.step(A, kWrite);
	v.step(B, kRead, {{mu1, false}, {mu2, false}});
	EXPECT_EQ(v.left(v.step(C, kWrite, {{mu1, false}, {mu2, true}})).count(mu1), 0u);
	EXPECT_FALSE(v.step(B, kRead, {{mu2, false}}).race);
	EXPECT_TRUE(v.step(B, kRead, {{mu1, true}}).race);
}

TEST(ShadowRace, NeedsAnAccessThatMayHappenAtTheSameTime)
{
	Memory v;

	// No lock is common to all three, yet any two of them are apart.
	const std::uint64_t mu3 = 0xffff888000003000ull;
	v.step(A, kWrite, {{mu1, true}, {mu2, true}});
	v.step(B, kWrite, {{mu2, true}, {mu3, true}});
	const ls_shadow_result r = v.step(C, kWrite, {{mu1, true}, {mu3, true}});
	EXPECT_FALSE(r.race);
	EXPECT_EQ(v.step(A, kWrite, {{mu1, true}, {mu2, true}}).candidates, LS_LOCKSET_EMPTY);
	EXPECT_FALSE(v.step(B, kWrite, {{mu2, true}, {mu3, true}}).race);
	EXPECT_TRUE(v.step(B, kWrite, {{mu3, true}}).race);
}

TEST(ShadowRace, NeighboursInOneGranuleNeverRace)
{
	Memory v;

	for (int repeat = 0; repeat < 3; repeat++)
		for (int i = 0; i < 3; i++)
			EXPECT_FALSE(v.step(static_cast<std::uint16_t>(A + i), kWrite, {},
					    static_cast<std::uint8_t>(3 << 2 * i))
					     .race);
	// One byte is enough.
	EXPECT_TRUE(v.step(A, kWrite, {}, 0x04 | 0x01).race);
}

TEST(ShadowRace, TheBytesOfOneSiteAddUp)
{
	Memory v;

	// A loop over bytes: the last one is not all it did.
	for (int i = 0; i < 8; i++)
		v.step(A, kWrite, {}, static_cast<std::uint8_t>(1 << i));
	EXPECT_TRUE(v.step(B, kWrite, {}, 0x02).race);
}

TEST(ShadowRace, TheBytesOfOneSiteDoNotAddUpOverLocks)
{
	Memory v;

	v.step(A, kWrite, {{mu1, true}}, 0x01);
	v.step(A, kWrite, {}, 0x02);
	EXPECT_FALSE(v.step(B, kWrite, {{mu1, true}}, 0x01).race) << "byte 0 had the lock";
	EXPECT_FALSE(v.step(B, kRead, {}, 0x04).race);
}

TEST(ShadowRace, TwoMarkedSidesAreSilent)
{
	const std::uint8_t marked[] = {kMarkedRead, kMarkedWrite, kAtomic};

	for (std::uint8_t first : marked)
		for (std::uint8_t second : marked) {
			Memory v;

			v.step(A, first);
			EXPECT_FALSE(v.step(B, second).race);
			EXPECT_FALSE(v.step(A, first).race);
		}
}

TEST(ShadowRace, OneMarkedSideIsNotEnough)
{
	const struct {
		std::uint8_t first, second;
		bool race;
	} cases[] = {
		{kMarkedWrite, kWrite, true}, {kWrite, kMarkedWrite, true},
		{kMarkedRead, kWrite, true},  {kWrite, kMarkedRead, true},
		{kAtomic, kRead, true},	      {kRead, kAtomic, true},
		{kMarkedRead, kRead, false},  {kRead, kRead, false},
	};

	for (const auto &c : cases) {
		Memory v;

		// Modified it is, in bytes apart, and no lock is left.
		v.step(A, kWrite, {}, 0x80);
		v.step(B, kWrite, {}, 0x40);
		v.step(A, c.first, {}, 0x01);
		EXPECT_EQ(v.step(B, c.second, {}, 0x01).race, c.race)
			<< int{c.first} << " then " << int{c.second};
	}
}

TEST(ShadowRace, NamesThePlainSideIfThereIsOne)
{
	for (bool plain_first : {true, false}) {
		Memory v;

		v.step(plain_first ? A : B, plain_first ? kRead : kMarkedRead);
		v.step(plain_first ? B : A, plain_first ? kMarkedRead : kRead);
		const ls_shadow_result r = v.step(C, kWrite);
		ASSERT_TRUE(r.race);
		EXPECT_EQ(r.other, Memory::site(A, kRead));
		EXPECT_EQ(r.other_context, A);
	}
}

TEST(ShadowEntries, AContextGivesUpItsOwnReadFirst)
{
	Memory v;
	const auto at = [&](std::uint32_t site, std::uint8_t op) {
		ls_shadow_access a = v.make(A, op, {});

		a.site = site;
		v.step(a);
	};

	at(1, kWrite);
	at(2, kRead);
	at(3, kWrite);
	at(4, kWrite);
	std::map<std::uint32_t, int> sites;
	for (ls_u64 e : v.granule.entry)
		sites[ls_entry_site(e)]++;
	EXPECT_EQ(sites, (std::map<std::uint32_t, int>{{1, 1}, {3, 1}, {4, 1}}));
	// No other entry was evicted: it can still be handed over.
	v.order([](ls_u32, ls_u32, ls_u32) { return true; });
	EXPECT_TRUE(v.step(B, kWrite).handed_over);
}

TEST(ShadowEntries, OthersGoInTurn)
{
	Memory v;

	for (std::uint16_t who = 20; who < 30; who++)
		v.step(who, kRead);
	std::map<std::uint32_t, int> contexts;
	for (ls_u64 e : v.granule.entry)
		contexts[ls_entry_context(e)]++;
	EXPECT_EQ(contexts, (std::map<std::uint32_t, int>{{27, 1}, {28, 1}, {29, 1}}));
}

TEST(ShadowEntries, KeepTheirFieldsApart)
{
	Memory v;
	ls_shadow_access a = v.make(0xffff, kWrite, {{mu1, true}}, 0xa5);

	a.site = LS_SHADOW_MAX_SITE;
	v.step(a);
	const ls_u64 e = v.granule.entry[0];
	EXPECT_EQ(ls_entry_site(e), a.site);
	EXPECT_EQ(ls_entry_lockset(e), a.lockset);
	EXPECT_EQ(ls_entry_context(e), 0xffffu);
	EXPECT_EQ(ls_entry_bytes(e), 0xa5u);
	EXPECT_TRUE(ls_entry_initial(e));
	a.context = B;
	v.step(a);
	EXPECT_FALSE(ls_entry_initial(v.granule.entry[1]));
	EXPECT_EQ(ls_entry_context(v.granule.entry[0]), 0xffffu);
}

} // namespace
} // namespace lockscope::test
