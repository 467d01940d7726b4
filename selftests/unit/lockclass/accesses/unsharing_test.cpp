// SPDX-License-Identifier: GPL-2.0
// An object's way from context to context, against a happens-before reference.

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "locksets.h"

namespace lockscope::test {
namespace {

constexpr ls_u32 A = 10, B = 11, C = 12;
constexpr ls_u64 kStart = 0xffff888000001000;
constexpr std::uint64_t kL = 0x1000, kM = 0x2000;

struct Object {
	Locksets sets;
	ls_object object{};
	ls_u32 clock = 100;

	// Returns the stamp of the access.
	ls_u32 touch(ls_u32 context, const Locks &locks = {}, ls_u64 start = kStart)
	{
		ls_object_follow(&object, start, context, sets.of(locks), &sets.all, &clock);
		return clock;
	}
	bool passed(ls_u32 from, ls_u32 to, ls_u32 stamp, ls_u64 start = kStart) const
	{
		return ls_object_passed(&object, start, from, to, stamp & LS_STAMP_MASK);
	}
};

TEST(Unsharing, ALockThatBothHoldHandsOver)
{
	Object o;
	const ls_u32 used = o.touch(A);

	o.touch(A, {{kL, true}});
	o.touch(B, {{kL, true}});
	EXPECT_TRUE(o.passed(A, B, used));
	EXPECT_FALSE(o.passed(B, A, used));
	EXPECT_FALSE(o.passed(A, C, used));
}

TEST(Unsharing, NoLockNoOtherLockAndNoReaderHandsOver)
{
	for (const auto &[first, second] :
	     std::vector<std::pair<Locks, Locks>>{{{}, {}},
						  {{{kL, true}}, {}},
						  {{}, {{kL, true}}},
						  {{{kL, true}}, {{kM, true}}},
						  {{{kL, false}}, {{kL, false}}}}) {
		Object o;
		const ls_u32 used = o.touch(A);

		o.touch(A, first);
		o.touch(B, second);
		EXPECT_FALSE(o.passed(A, B, used));
	}
}

TEST(Unsharing, WhatComesAfterTheLastAccessUnderTheLockIsNotHandedOver)
{
	Object o;

	o.touch(A, {{kL, true}});
	o.clock++; // A has released the lock
	const ls_u32 late = o.clock;
	o.touch(B, {{kL, true}});
	EXPECT_FALSE(o.passed(A, B, late));
	EXPECT_TRUE(o.passed(A, B, late - 1));

	// The object itself was touched again: then there is no hand-over at all.
	Object again;
	const ls_u32 used = again.touch(A);
	again.touch(A, {{kL, true}});
	again.touch(A);
	again.touch(B, {{kL, true}});
	EXPECT_FALSE(again.passed(A, B, used));
}

TEST(Unsharing, HandsFollowOneAnother)
{
	Object o;
	const ls_u32 a = o.touch(A, {{kL, true}});
	o.touch(B, {{kL, true}});
	const ls_u32 b = o.touch(B, {{kM, true}});
	o.touch(C, {{kM, true}});

	EXPECT_TRUE(o.passed(A, B, a));
	EXPECT_TRUE(o.passed(B, C, b));
	EXPECT_TRUE(o.passed(A, C, a));
	EXPECT_FALSE(o.passed(A, C, o.clock));
	EXPECT_FALSE(o.passed(C, A, a));
}

TEST(Unsharing, TheWayBackIsNoWayForward)
{
	Object o;
	const ls_u32 c = o.touch(C, {{kM, true}});
	o.touch(B, {{kM, true}});
	o.touch(A, {{kL, true}});
	// B had it from C, but B -> A is no hand-over: no lock in common.
	EXPECT_FALSE(o.passed(C, A, c));
	EXPECT_TRUE(o.passed(C, B, c));
}

// The oracle of accesses found it, once in 655,463 programs.
TEST(Unsharing, FiveHandsAreRemembered)
{
	Object o;
	const ls_u32 used = o.touch(A, {{kL, true}});

	for (ls_u32 context : {B, C, B, C, C + 1})
		o.touch(context, {{kL, true}});
	EXPECT_TRUE(o.passed(A, C + 1, used));
	EXPECT_EQ(sizeof(o.object), 64u);
}

TEST(Unsharing, AnotherObjectAtTheSamePlaceOfTheTable)
{
	Object o;
	const ls_u32 a = o.touch(A, {{kL, true}});

	o.touch(B, {{kL, true}});
	o.touch(B, {{kL, true}}, kStart + 0x1000);
	EXPECT_FALSE(o.passed(A, B, a));
	EXPECT_FALSE(o.passed(A, B, a, kStart + 0x1000));
	o.touch(B, {{kL, true}});
	EXPECT_FALSE(o.passed(A, B, a));
}

TEST(Unsharing, TheClockWraps)
{
	Object o;

	o.clock = LS_STAMP_MASK - 1;
	const ls_u32 a = o.touch(A, {{kL, true}});
	o.clock += 3;
	const ls_u32 late = o.clock;
	o.touch(B, {{kL, true}});
	EXPECT_TRUE(o.passed(A, B, a));
	EXPECT_FALSE(o.passed(A, B, late));
}

// Every access is one tick. Happens-before: program order, and from each access under a lock to
// the next access of the object when that has a lock in common with it.
TEST(Unsharing, RandomWaysAgainstHappensBefore)
{
	std::mt19937 random(20261125);
	unsigned passed = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct Access {
			ls_u32 context, stamp;
			Locks locks;
			std::vector<bool> before; // accesses that happen before it
		};
		std::vector<Access> all;
		Object o;

		o.clock = random();
		for (unsigned i = 0; i < 12; i++) {
			Access a{A + static_cast<std::uint32_t>(random() % 4),
				 0,
				 {},
				 std::vector<bool>(i)};

			if (random() % 4)
				a.locks[random() % 2 ? kL : kM] = random() % 4;
			o.clock++;
			a.stamp = o.touch(a.context, a.locks);
			for (unsigned k = 0; k < i; k++)
				if (all[k].context == a.context ||
				    (k == i - 1 && apart(all[k].locks, a.locks))) {
					a.before[k] = true;
					for (unsigned j = 0; j < k; j++)
						a.before[j] = a.before[j] || all[k].before[j];
				}
			all.push_back(a);
			for (unsigned k = 0; k < i; k++)
				if (all[k].context != a.context &&
				    o.passed(all[k].context, a.context, all[k].stamp)) {
					EXPECT_TRUE(a.before[k])
						<< "round " << round << ", " << k << " to " << i;
					passed++;
				}
			// What is handed over just now is known.
			if (i && all[i - 1].context != a.context &&
			    apart(all[i - 1].locks, a.locks)) {
				EXPECT_TRUE(
					o.passed(all[i - 1].context, a.context, all[i - 1].stamp));
			}
		}
	}
	EXPECT_GT(passed, 10000u);
}

} // namespace
} // namespace lockscope::test
