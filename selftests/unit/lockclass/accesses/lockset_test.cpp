// SPDX-License-Identifier: GPL-2.0
// Locksets: each kept once, whatever the order of its locks; what two have in common.
#include <atomic>
#include <random>

#include <gtest/gtest.h>

#include "locksets.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t L = 0xffff888000001000ull, M = 0xffff888000002000ull,
			N = 0xffff888000003000ull;

constexpr ls_u64 exclusive(ls_u64 lock)
{
	return lock << 1;
}
constexpr ls_u64 shared(ls_u64 lock)
{
	return lock << 1 | 1;
}

TEST(Lockset, NoLocksAreTheEmptySetWithoutAnyTable)
{
	Locksets s(0, 0, 4);

	EXPECT_EQ(s.of({}), LS_LOCKSET_EMPTY);
	EXPECT_EQ(ls_lockset_find(&s.all, 0), LS_LOCKSET_EMPTY);
	EXPECT_EQ(ls_lockset_size(&s.all, LS_LOCKSET_EMPTY), 0u);
	EXPECT_EQ(ls_lockset_writers(&s.all, LS_LOCKSET_EMPTY), LS_LOCKSET_EMPTY);
}

TEST(Lockset, AnyOrderIsTheSameSet)
{
	Locksets s;
	const std::uint32_t id = s.intern({exclusive(L), exclusive(M), shared(N)});

	EXPECT_NE(id, LS_LOCKSET_NONE);
	EXPECT_NE(id, LS_LOCKSET_EMPTY);
	EXPECT_EQ(s.intern({shared(N), exclusive(M), exclusive(L)}), id);
	EXPECT_EQ(s.intern({exclusive(M), shared(N), exclusive(L)}), id);
	EXPECT_EQ(s.all.nr, 1u);
	EXPECT_EQ(s.read(id), (Locks{{L, true}, {M, true}, {N, false}}));
}

TEST(Lockset, IsKeptSorted)
{
	Locksets s;
	const std::uint32_t id = s.intern({exclusive(N), exclusive(L), shared(M)});

	ASSERT_EQ(ls_lockset_size(&s.all, id), 3u);
	EXPECT_EQ(ls_lockset_get(&s.all, id, 0), exclusive(L));
	EXPECT_EQ(ls_lockset_get(&s.all, id, 1), shared(M));
	EXPECT_EQ(ls_lockset_get(&s.all, id, 2), exclusive(N));
}

TEST(Lockset, AnElementTellsItsLock)
{
	for (ls_u64 lock : {ls_u64{LS_PSEUDO_RCU}, ls_u64{0xffffffffc0000000ull}, ls_u64{L}})
		for (bool read : {false, true})
			EXPECT_EQ(ls_lockset_lock(ls_lockset_element(lock, read)), lock);
}

TEST(Lockset, HowALockIsHeldMakesAnotherSet)
{
	Locksets s;

	EXPECT_NE(s.intern({exclusive(L)}), s.intern({shared(L)}));
	EXPECT_NE(s.intern({exclusive(L), shared(M)}), s.intern({shared(L), exclusive(M)}));
}

TEST(Lockset, ALockTakenTwiceCountsOnceAndExclusivelyIfEither)
{
	Locksets s;

	EXPECT_EQ(s.read(s.intern({exclusive(L), exclusive(L)})), (Locks{{L, true}}));
	EXPECT_EQ(s.read(s.intern({shared(L), shared(L)})), (Locks{{L, false}}));
	EXPECT_EQ(s.read(s.intern({shared(L), exclusive(L), shared(M)})),
		  (Locks{{L, true}, {M, false}}));
	EXPECT_EQ(ls_lockset_size(&s.all, s.intern({shared(L), exclusive(L)})), 1u);
}

TEST(Lockset, IsFoundOnceItIsKnown)
{
	const ls_u64 key = ls_lockset_key(ls_lockset_key(0, exclusive(L)), exclusive(M));
	Locksets s;

	EXPECT_EQ(ls_lockset_find(&s.all, key), LS_LOCKSET_NONE);
	const std::uint32_t id = s.intern({exclusive(M), exclusive(L)});
	EXPECT_EQ(ls_lockset_find(&s.all, key), id);
	EXPECT_EQ(ls_lockset_find(&s.all, ls_lockset_key(0, exclusive(L))), LS_LOCKSET_NONE);
}

TEST(Lockset, InCommonIsWhatIsInBothHeldInTheWeakerWay)
{
	Locksets s;
	const std::uint32_t a = s.intern({exclusive(L), exclusive(M)});
	const std::uint32_t b = s.intern({shared(M), exclusive(N)});
	const ls_meet meet = ls_lockset_meet(&s.all, a, b);

	EXPECT_EQ(s.read(meet.id), (Locks{{M, false}}));
	EXPECT_TRUE(meet.apart) << "one side holds it exclusively";
	EXPECT_EQ(meet.id, s.intern({shared(M)}));
}

TEST(Lockset, ReadersOfOneLockAreNotApart)
{
	Locksets s;
	const std::uint32_t a = s.intern({shared(L), exclusive(M)});
	const std::uint32_t b = s.intern({shared(L), exclusive(N)});
	const ls_meet meet = ls_lockset_meet(&s.all, a, b);

	EXPECT_EQ(s.read(meet.id), (Locks{{L, false}}));
	EXPECT_FALSE(meet.apart);
}

TEST(Lockset, TheSecondMeetingIsRemembered)
{
	Locksets s;
	const std::uint32_t a = s.intern({exclusive(L), shared(M)});
	const std::uint32_t b = s.intern({shared(L), shared(M)});
	const ls_meet first = ls_lockset_meet(&s.all, a, b);
	const std::uint32_t used = s.all.nr;

	for (int i = 0; i < 2; i++) {
		const ls_meet again =
			i ? ls_lockset_meet(&s.all, b, a) : ls_lockset_meet(&s.all, a, b);

		EXPECT_EQ(again.id, first.id);
		EXPECT_EQ(again.apart, first.apart);
	}
	EXPECT_TRUE(first.apart);
	EXPECT_EQ(s.all.nr, used);
}

TEST(Lockset, NothingIsInCommonWithTheEmptySetNorKnownOfAnUnknownOne)
{
	Locksets s;
	const std::uint32_t a = s.intern({exclusive(L)});

	EXPECT_EQ(ls_lockset_meet(&s.all, a, LS_LOCKSET_EMPTY).id, LS_LOCKSET_EMPTY);
	EXPECT_FALSE(ls_lockset_meet(&s.all, a, LS_LOCKSET_EMPTY).apart);
	// Whatever the unknown one has: with nothing it has nothing in common.
	EXPECT_EQ(ls_lockset_meet(&s.all, LS_LOCKSET_NONE, LS_LOCKSET_EMPTY).id, LS_LOCKSET_EMPTY);
	for (std::uint32_t other : {a, LS_LOCKSET_NONE}) {
		const ls_meet meet = ls_lockset_meet(&s.all, LS_LOCKSET_NONE, other);

		EXPECT_EQ(meet.id, LS_LOCKSET_NONE);
		EXPECT_TRUE(meet.apart) << "in doubt nothing is reported";
	}
}

TEST(Lockset, WritersAreTheLocksHeldExclusively)
{
	Locksets s;
	const std::uint32_t mixed = s.intern({exclusive(L), shared(M), exclusive(N)});
	const std::uint32_t all = s.intern({exclusive(L), exclusive(N)});

	// Computed once, then cached.
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(ls_lockset_writers(&s.all, mixed), all);
		EXPECT_EQ(ls_lockset_writers(&s.all, all), all);
		EXPECT_EQ(ls_lockset_writers(&s.all, s.intern({shared(M)})), LS_LOCKSET_EMPTY);
	}
	EXPECT_EQ(ls_lockset_writers(&s.all, LS_LOCKSET_NONE), LS_LOCKSET_NONE);
}

TEST(LocksetBound, MoreLocksThanASetHoldsAreNotKnown)
{
	std::vector<ls_u64> elements;
	Locksets s;

	for (ls_u64 i = 0; i < LS_LOCKSET_LOCKS; i++)
		elements.push_back(shared(L + 64 * i));
	const std::uint32_t most = s.intern(elements);
	EXPECT_EQ(ls_lockset_size(&s.all, most), LS_LOCKSET_LOCKS + 0u);
	EXPECT_EQ(s.read(ls_lockset_meet(&s.all, most, most).id).size(), LS_LOCKSET_LOCKS + 0u);
	elements.push_back(shared(N + 64 * 100));
	EXPECT_EQ(s.intern(elements), LS_LOCKSET_NONE);
	EXPECT_EQ(s.all.nr, 1u);
}

TEST(LocksetBound, AFullTableKnowsNoNewSetsButAllOldOnes)
{
	Locksets s(2, 100, 8);
	const std::uint32_t l = s.intern({exclusive(L)}),
			    lm = s.intern({exclusive(L), exclusive(M)});

	EXPECT_EQ(s.intern({exclusive(N)}), LS_LOCKSET_NONE);
	EXPECT_EQ(s.intern({exclusive(L)}), l);
	EXPECT_EQ(s.intern({exclusive(M), exclusive(L)}), lm);
	EXPECT_EQ(ls_lockset_meet(&s.all, l, lm).id, l);
	EXPECT_EQ(s.all.nr, 2u);
	EXPECT_EQ(s.of({}), LS_LOCKSET_EMPTY);
}

TEST(LocksetBound, WithoutRoomForElementsASetIsNotKnown)
{
	Locksets s(100, 3, 8);
	const std::uint32_t lm = s.intern({exclusive(L), exclusive(M)});

	EXPECT_NE(lm, LS_LOCKSET_NONE);
	EXPECT_EQ(s.intern({exclusive(L), exclusive(N)}), LS_LOCKSET_NONE);
	// A smaller one still finds room.
	EXPECT_EQ(s.read(s.intern({exclusive(N)})), (Locks{{N, true}}));
	EXPECT_EQ(s.intern({shared(N)}), LS_LOCKSET_NONE);
	EXPECT_EQ(s.read(lm), (Locks{{L, true}, {M, true}}));
	EXPECT_EQ(s.all.nr_elements, 3u);
}

TEST(LocksetBound, WhatIsInCommonMayFindNoRoomThenItIsSaidEachTime)
{
	Locksets s(2, 100, 8);
	const std::uint32_t a = s.intern({exclusive(L), exclusive(M), shared(N)});
	const std::uint32_t b = s.intern({exclusive(L), exclusive(M)});

	// A third set has no room; that a lock keeps them apart is known all the same.
	EXPECT_EQ(ls_lockset_meet(&s.all, a, b).id, b);
	ls_locksets_clear(&s.all);
	const std::uint32_t c = s.intern({exclusive(L), exclusive(M)});
	const std::uint32_t d = s.intern({exclusive(L), shared(N)});
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(ls_lockset_meet(&s.all, c, d).id, LS_LOCKSET_NONE);
		EXPECT_TRUE(ls_lockset_meet(&s.all, c, d).apart);
		EXPECT_EQ(ls_lockset_writers(&s.all, d), LS_LOCKSET_NONE);
	}
}

TEST(LocksetBound, MeetingsThatFindNoRoomAreComputedAgain)
{
	// Few slots: sets fit, but far from all their pairs.
	Locksets s(14, 100, 4);
	std::vector<std::uint32_t> ids;

	for (ls_u64 i = 0; i < 7; i++)
		ids.push_back(s.intern({exclusive(L + 64 * i), exclusive(L + 64 * (i + 1))}));
	for (int repeat = 0; repeat < 2; repeat++)
		for (std::uint32_t a : ids)
			for (std::uint32_t b : ids) {
				const ls_meet meet = ls_lockset_meet(&s.all, a, b);

				EXPECT_EQ(meet.apart, apart(s.read(a), s.read(b)));
				if (meet.id != LS_LOCKSET_NONE) {
					EXPECT_EQ(s.read(meet.id), common(s.read(a), s.read(b)));
				}
			}
}

TEST(LocksetBound, TheLargestIdIsNotTakenForAnUnknownSet)
{
	constexpr std::uint32_t kMost = 65534;
	Locksets s(kMost, kMost, 18);
	std::uint32_t last = 0;

	for (ls_u64 i = 0; i < kMost; i++)
		last = s.intern({exclusive(L + 8 * i)});
	EXPECT_EQ(last, kMost);
	EXPECT_EQ(s.intern({exclusive(L - 8)}), LS_LOCKSET_NONE);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(ls_lockset_writers(&s.all, last), last);
		EXPECT_EQ(ls_lockset_meet(&s.all, last, last).id, last);
		EXPECT_TRUE(ls_lockset_meet(&s.all, last, last).apart);
		EXPECT_EQ(ls_lockset_meet(&s.all, last, last - 1).id, LS_LOCKSET_EMPTY);
	}
}

TEST(Lockset, ClearedIsAsNew)
{
	Locksets s(2, 3, 8);

	s.intern({exclusive(L), shared(M)});
	const std::uint32_t n = s.intern({exclusive(N)});
	ls_lockset_meet(&s.all, n, 1);
	ls_locksets_clear(&s.all);
	EXPECT_EQ(ls_lockset_find(&s.all, ls_lockset_key(0, exclusive(N))), LS_LOCKSET_NONE);
	EXPECT_EQ(s.read(s.intern({exclusive(M), exclusive(N)})), (Locks{{M, true}, {N, true}}));
	// Number 1 is another set now, and nothing that was known of the old one holds.
	EXPECT_EQ(ls_lockset_writers(&s.all, 1), 1u);
	const std::uint32_t m = s.intern({exclusive(M)});
	EXPECT_EQ(ls_lockset_meet(&s.all, m, 1).id, m);
}

// Random sets of few locks, with doubles, in any order.
std::vector<ls_u64> random_elements(std::mt19937 &random)
{
	std::vector<ls_u64> elements(random() % 7);

	for (ls_u64 &e : elements)
		e = ls_lockset_element(random() % 6 ? L + 64 * (random() % 6) : LS_PSEUDO_RCU,
				       random() % 2);
	return elements;
}

Locks as_locks(const std::vector<ls_u64> &elements)
{
	Locks locks;

	for (ls_u64 e : elements)
		locks[ls_lockset_lock(e)] = locks[ls_lockset_lock(e)] || !(e & 1);
	return locks;
}

// However many intern at once: every set reads as what was put in, meets as sets do,
// and without doubles has one number.
TEST(Lockset, AgreesWithSetsWhileThreadsRaceForThem)
{
	constexpr unsigned kThreads = 4;
	Locksets s(20000, 120000, 16);
	std::atomic<std::uint32_t> wrong{0};
	std::vector<std::map<Locks, std::uint32_t>> ids(kThreads);

	together(kThreads, [&](unsigned self) {
		std::mt19937 random(self / 2);

		for (int step = 0; step < 4000; step++) {
			const auto x = random_elements(random), y = random_elements(random);
			const Locks a = as_locks(x), b = as_locks(y);
			const std::uint32_t i = s.intern(x), k = s.intern(y);

			if (i == LS_LOCKSET_NONE || k == LS_LOCKSET_NONE || s.read(i) != a ||
			    s.read(k) != b) {
				wrong++;
				continue;
			}
			const ls_meet meet = ls_lockset_meet(&s.all, i, k);

			wrong += s.read(meet.id) != common(a, b) || meet.apart != apart(a, b);
			wrong += s.read(ls_lockset_writers(&s.all, i)) != exclusive_ones(a);
			if (x.size() == a.size())
				wrong += ids[self].try_emplace(a, i).first->second != i;
		}
	});
	EXPECT_EQ(wrong, 0u);
	for (const auto &mine : ids)
		for (const auto &[locks, id] : mine)
			EXPECT_EQ(s.of(locks), id);
	EXPECT_GT(ids[0].size(), 300u);
}

// What runs on a CPU: another one may come in the middle of its access, or it may not.
struct Running {
	ls_level level;
	bool irq_off, bh_off, preempt_off;
};

bool interrupts(const Running &in, const Running &that)
{
	if (in.level == LS_HARDIRQ || that.level < in.level)
		return false;
	if (that.level == LS_HARDIRQ)
		return !in.irq_off;
	if (that.level == LS_SOFTIRQ)
		return in.level == LS_TASK && !in.irq_off && !in.bh_off;
	return !in.irq_off && !in.bh_off && !in.preempt_off;
}

TEST(LocksetOfCpu, KeepsApartWhatCannotInterruptEachOther)
{
	std::vector<Running> all;

	for (int off = 0; off < 8; off++)
		all.push_back({LS_TASK, (off & 1) != 0, (off & 2) != 0, (off & 4) != 0});
	for (bool irq_off : {false, true})
		all.push_back({LS_SOFTIRQ, irq_off, true, false});
	// The count of what it came into stays: softirqs may be off there.
	for (bool bh_off : {false, true})
		all.push_back({LS_HARDIRQ, true, bh_off, false});
	for (const Running &a : all)
		for (const Running &b : all) {
			const auto held = [](const Running &r) {
				return ls_lockset_of_cpu(r.level, r.irq_off, r.bh_off,
							 r.preempt_off);
			};
			EXPECT_EQ((held(a) & held(b)) != 0, !interrupts(a, b) && !interrupts(b, a))
				<< a.level << a.irq_off << a.bh_off << a.preempt_off << " and "
				<< b.level << b.irq_off << b.bh_off << b.preempt_off;
		}
}

// Races for the last places: what is known is right, and nothing is written beyond.
TEST(LocksetBound, ThreadsFillTheTablesToTheirEnds)
{
	std::atomic<std::uint32_t> wrong{0}, unknown{0};

	for (std::uint32_t round = 0; round < 20; round++) {
		Locksets s(round % 2 ? 40 : 400, round % 2 ? 400 : 100, 10);

		together(3, [&](unsigned self) {
			std::mt19937 random(round * 8 + self);

			for (int step = 0; step < 300; step++) {
				const auto x = random_elements(random);
				const std::uint32_t id = s.intern(x);

				unknown += id == LS_LOCKSET_NONE;
				wrong += id != LS_LOCKSET_NONE && s.read(id) != as_locks(x);
			}
		});
		EXPECT_LE(s.all.nr, s.all.max);
		EXPECT_LE(s.all.nr_elements, s.all.max_elements);
	}
	EXPECT_EQ(wrong, 0u);
	EXPECT_GT(unknown, 0u);
}

} // namespace
} // namespace lockscope::test
