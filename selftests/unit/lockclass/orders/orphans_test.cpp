// SPDX-License-Identifier: GPL-2.0
// Semaphores that another context has released: since when, and what a full table gives up.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kLock = 0xffff888012345678ull;

struct Orphans {
	explicit Orphans(std::uint32_t bits = 8) : memory(ls_orphans_bytes(bits))
	{
		ls_orphans_init(&orphans, memory.get(), bits);
	}
	std::uint32_t acquire() { return ls_orphans_tick(&orphans); }
	bool release(std::uint64_t lock) { return ls_orphans_add(&orphans, lock); }
	bool since(std::uint64_t lock, std::uint32_t stamp) const
	{
		return ls_orphans_since(&orphans, lock, stamp);
	}
	void done(std::uint64_t lock) { ls_orphans_done(&orphans, lock); }
	// As many semaphores are acquired.
	void pass(std::uint64_t acquisitions) { orphans.clock += acquisitions; }
	// Locks of one bucket.
	std::vector<std::uint64_t> crowd(std::size_t nr) const
	{
		std::vector<std::uint64_t> found;

		for (std::uint64_t lock = kLock; found.size() < nr; lock += 64)
			if (ls_orphan_bucket(&orphans, lock) == ls_orphan_bucket(&orphans, kLock))
				found.push_back(lock);
		return found;
	}

	Zeroed memory;
	ls_orphans orphans{};
};

TEST(Orphans, AReleaseEndsTheHoldThatCameBefore)
{
	Orphans o;
	const auto stamp = o.acquire();

	EXPECT_FALSE(o.since(kLock, stamp));
	EXPECT_FALSE(o.release(kLock));
	EXPECT_TRUE(o.since(kLock, stamp));
	EXPECT_FALSE(o.since(kLock, o.acquire()));
	EXPECT_FALSE(o.since(kLock + 64, stamp));
}

// 2^18 and 2^19: halves and ends of the range of stamps that were cut to 19 bits.
TEST(Orphans, TheOrderHoldsHoweverManyWereAcquiredBetween)
{
	for (std::uint64_t between : {1ull << 16, 1ull << 18, (1ull << 18) + 1, 1ull << 19,
				      (1ull << 19) + 5, 1ull << 31, (1ull << 32) - 2}) {
		Orphans late, early;
		const auto held = late.acquire();

		late.pass(between);
		late.release(kLock);
		EXPECT_TRUE(late.since(kLock, held)) << between;

		early.acquire();
		early.release(kLock);
		early.pass(between);
		EXPECT_FALSE(early.since(kLock, early.acquire())) << between;
	}
}

TEST(Orphans, TheOrderHoldsWhereTheEntrysStampGoesRound)
{
	Orphans o;

	o.pass((1ull << 32) - 1);
	const auto stamp = o.acquire();
	EXPECT_EQ(stamp, 0u);
	EXPECT_FALSE(o.since(kLock, stamp));
	o.pass(10);
	o.release(kLock);
	EXPECT_TRUE(o.since(kLock, stamp));
	EXPECT_FALSE(o.since(kLock, o.acquire()));
}

TEST(Orphans, AFullBucketGivesUpTheOldestAndSaysSo)
{
	Orphans o(4);
	const auto lock = o.crowd(LS_ORPHAN_WAYS + 1);
	std::vector<std::uint32_t> stamp;

	for (std::size_t i = 0; i < LS_ORPHAN_WAYS; i++) {
		stamp.push_back(o.acquire());
		EXPECT_FALSE(o.release(lock[i]));
	}
	EXPECT_TRUE(o.release(lock[LS_ORPHAN_WAYS]));
	EXPECT_FALSE(o.since(lock[0], stamp[0]));
	for (std::size_t i = 1; i < LS_ORPHAN_WAYS; i++)
		EXPECT_TRUE(o.since(lock[i], stamp[i]));
}

TEST(Orphans, OneThatIsNeededNoMoreGoesFirstAndIsNoLoss)
{
	Orphans o(4);
	const auto lock = o.crowd(LS_ORPHAN_WAYS + 1);
	const auto stamp = o.acquire();

	for (std::size_t i = 0; i < LS_ORPHAN_WAYS; i++)
		o.release(lock[i]);
	o.done(lock[5]);
	EXPECT_TRUE(o.since(lock[5], stamp));
	EXPECT_FALSE(o.release(lock[LS_ORPHAN_WAYS]));
	EXPECT_FALSE(o.since(lock[5], stamp));
	EXPECT_TRUE(o.since(lock[0], stamp));
	// Released again, it is needed again.
	o.done(lock[0]);
	o.acquire();
	o.release(lock[0]);
	EXPECT_TRUE(o.release(lock[5]));
}

TEST(Orphans, RemovedOnesLeaveRoom)
{
	Orphans o(4);
	const auto lock = o.crowd(LS_ORPHAN_WAYS + 1);
	const auto stamp = o.acquire();

	for (std::size_t i = 0; i < LS_ORPHAN_WAYS; i++)
		o.release(lock[i]);
	ls_orphans_remove(&o.orphans, lock[3]);
	EXPECT_FALSE(ls_orphans_has(&o.orphans, lock[3]));
	EXPECT_FALSE(o.since(lock[3], stamp));
	EXPECT_FALSE(o.release(lock[LS_ORPHAN_WAYS]));
	EXPECT_TRUE(ls_orphans_has(&o.orphans, lock[0]));
}

} // namespace
} // namespace lockscope::test
