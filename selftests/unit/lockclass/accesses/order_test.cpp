// SPDX-License-Identifier: GPL-2.0
// What is known of the order of contexts: what waits, and objects that go round.

#include <memory>

#include <gtest/gtest.h>

#include "locksets.h"

namespace lockscope::test {
namespace {

constexpr ls_u32 A = 100, B = 101, C = 102;
constexpr ls_u64 kItem = 0xffff888000002000, kOther = 0xffff888000003000,
		 kObject = 0xffff888000004000, kStatic = 0xffffffff82000000;
constexpr std::uint64_t kL = 0x1000;

class OrderTest : public ::testing::Test {
protected:
	ls_u32 now() const { return clock_ & LS_STAMP_MASK; }
	void completed(ls_u32 who, ls_u64 what = kItem)
	{
		ls_order_completed(order_.get(), what, who, &clock_);
	}
	void waited(ls_u32 who, ls_u64 what = kItem)
	{
		ls_order_waited(order_.get(), what, who, &clock_);
	}
	// Context @to accesses memory: was all that @from did up to @stamp before?
	bool known(ls_u32 from, ls_u32 to, ls_u32 stamp, ls_u64 addr = kStatic) const
	{
		ls_way w{};

		w.addr = w.unit = addr;
		w.start = addr == kObject ? addr : 0;
		w.context = to;
		w.fixed = addr == kStatic;
		return ls_order_known(order_.get(), &w, from, stamp);
	}
	void touch(ls_u32 context, const Locks &locks, ls_u64 start, ls_u64 addr)
	{
		ls_way w{};

		w.addr = addr;
		w.start = start;
		w.context = context;
		w.lockset = sets_.of(locks);
		ls_order_follow(order_.get(), &w, &sets_.all, &clock_, &left_);
	}

	Locksets sets_;
	std::unique_ptr<ls_order> order_ = std::make_unique<ls_order>();
	ls_u32 clock_ = 100;
	ls_u64 left_ = 0;
};

TEST_F(OrderTest, WhatWaitsComesAfterWhatItWaitsFor)
{
	const ls_u32 before = now();

	completed(A);
	const ls_u32 after = now();
	EXPECT_FALSE(known(A, B, before));
	waited(B);
	EXPECT_TRUE(known(A, B, before));
	EXPECT_FALSE(known(A, B, after));
	EXPECT_FALSE(known(B, A, before));
	EXPECT_FALSE(known(A, C, before));
}

TEST_F(OrderTest, NothingIsKnownOfWhatIsNotWaitedFor)
{
	const ls_u32 before = now();

	completed(A);
	waited(B, kOther);
	EXPECT_FALSE(known(A, B, before));
}

TEST_F(OrderTest, SeveralReleaseOneItem)
{
	const ls_u32 before = now();

	// Some have their low bits in common.
	const ls_u32 all[] = {A, B, A + 4, 0x9000};
	for (ls_u32 who : all)
		completed(who);
	completed(A);
	waited(C);
	for (ls_u32 who : all)
		EXPECT_TRUE(known(who, C, before)) << who;
}

TEST_F(OrderTest, OfMoreThanFourOneFallsOut)
{
	const ls_u32 before = now();
	int lost = 0;

	for (ls_u32 who = A; who < A + 5; who++)
		completed(who);
	waited(C + 100);
	for (ls_u32 who = A; who < A + 5; who++)
		lost += !known(who, C + 100, before);
	EXPECT_EQ(lost, 1);
	EXPECT_TRUE(known(A + 4, C + 100, before)) << "the last one is kept";
}

TEST_F(OrderTest, AnObjectGoesRoundUnderALockUntilItBeginsAnotherLife)
{
	const ls_u32 before = now();

	touch(A, {{kL, true}}, kObject, kObject);
	touch(B, {{kL, true}}, kObject, kObject + 8);
	EXPECT_TRUE(known(A, B, before, kObject));
	EXPECT_FALSE(known(A, B, before));
	ls_order_forget(order_.get(), kObject);
	EXPECT_FALSE(known(A, B, before, kObject));
}

// A word that is accessed under a lock is a link: what lies near goes with it.
TEST_F(OrderTest, OfOtherMemoryNearWordsGoTogether)
{
	const ls_u64 link = kOther + 512;
	const ls_u32 before = now();

	touch(A, {{kL, true}}, 0, link);
	touch(A, {}, 0, link + 64);
	touch(B, {{kL, true}}, 0, link);
	EXPECT_TRUE(known(A, B, before, link + 64));
	EXPECT_TRUE(known(A, B, before, link - 192));
	EXPECT_FALSE(known(A, B, before, link + 200));
}

TEST_F(OrderTest, WhatIsDoneAfterTheLinkIsLeftIsNotBefore)
{
	const ls_u64 link = kOther + 512;

	touch(A, {{kL, true}}, 0, link);
	touch(A, {}, 0, link + 64);
	const ls_u32 late = now();
	touch(B, {{kL, true}}, 0, link);
	EXPECT_FALSE(known(A, B, late, link + 64));
}

TEST_F(OrderTest, StaticMemoryIsNeverPassedOn)
{
	ls_way w{};

	w.addr = kStatic;
	w.fixed = true;
	w.lockset = sets_.of({{kL, true}});
	EXPECT_EQ(ls_order_follow(order_.get(), &w, &sets_.all, &clock_, &left_), nullptr);
}

} // namespace
} // namespace lockscope::test
