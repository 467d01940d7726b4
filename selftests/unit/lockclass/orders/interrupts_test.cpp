// SPDX-License-Identifier: GPL-2.0
// Interrupts as classes of the graph: lockdep's rules of usage bits, by how locks are held.
#include <gtest/gtest.h>

#include "court.h"

extern "C" {
#include "lockclass/exempt.h"
}

namespace lockscope::test {
namespace {

constexpr std::uint32_t A = 1, B = 2, C = 3, M = 9;
constexpr std::uint32_t kHard = LS_CLASS_HARDIRQ, kSoft = LS_CLASS_SOFTIRQ;

// Held with all interrupts on.
Hold on(Hold h)
{
	h.val &= ~(LS_VAL_IRQ_OFF | LS_VAL_BH_OFF);
	return h;
}

Hold Ex(std::uint32_t id)
{
	return on(W(id));
}

Hold Sh(std::uint32_t id)
{
	return on(R(id));
}

Hold Rr(std::uint32_t id)
{
	return on(RR(id));
}

Hold in(std::uint32_t level, Hold h)
{
	h.val |= level << LS_VAL_LEVEL_SHIFT |
		 (level == LS_HARDIRQ ? LS_VAL_IRQ_OFF : LS_VAL_BH_OFF);
	return h;
}

Hold irqs_off(Hold h)
{
	h.val |= LS_VAL_IRQ_OFF;
	return h;
}

Hold bh_off(Hold h)
{
	h.val |= LS_VAL_BH_OFF;
	return h;
}

TEST(Usage, SaysWhichInterruptsCanComeWhileItIsHeld)
{
	EXPECT_EQ(ls_usage(Ex(A).val), LS_USE_ON_HARDIRQ | LS_USE_ON_SOFTIRQ);
	EXPECT_EQ(ls_usage(Sh(A).val), LS_USE_ON_HARDIRQ_READ | LS_USE_ON_SOFTIRQ_READ);
	EXPECT_EQ(ls_usage(bh_off(Ex(A)).val), LS_USE_ON_HARDIRQ);
	EXPECT_EQ(ls_usage(irqs_off(Ex(A)).val), 0u);
	EXPECT_EQ(ls_usage(irqs_off(bh_off(Ex(A))).val), 0u);
}

TEST(Usage, SaysInWhichInterruptItIsWaitedFor)
{
	EXPECT_EQ(ls_usage(in(LS_HARDIRQ, Ex(A)).val), LS_USE_IN_HARDIRQ);
	EXPECT_EQ(ls_usage(in(LS_HARDIRQ, Rr(A)).val), LS_USE_IN_HARDIRQ_READ);
	EXPECT_EQ(ls_usage(in(LS_HARDIRQ, Sh(A)).val), LS_USE_IN_HARDIRQ);
	EXPECT_EQ(ls_usage(in(LS_SOFTIRQ, Ex(A)).val), LS_USE_IN_SOFTIRQ | LS_USE_ON_HARDIRQ);
	EXPECT_EQ(ls_usage(in(LS_HARDIRQ, Try(Ex(A))).val), 0u);
	EXPECT_EQ(ls_usage(in(LS_NMI, Ex(A)).val), 0u);
}

TEST(Interrupts, ALockOfTheInterruptHeldWithItOnIsInconsistent)
{
	Court j;

	j.takes({}, Ex(A));
	EXPECT_TRUE(j.findings.empty());
	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	ASSERT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_STATE}));
	ASSERT_EQ(j.reports[0].size(), 2u);
	EXPECT_EQ(j.reports[0][0].from, kHard);
	EXPECT_EQ(j.reports[0][0].to, A);
	EXPECT_EQ(j.reports[0][0].sight, 1u);
	EXPECT_EQ(j.reports[0][1].from, A);
	EXPECT_EQ(j.reports[0][1].to, kHard);
	EXPECT_EQ(j.reports[0][1].sight, 0u);
}

TEST(Interrupts, WithItOffThereIsNoFault)
{
	Court j;

	j.takes({}, irqs_off(Ex(A)));
	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	j.takes({}, bh_off(Ex(B)));
	j.takes({}, in(LS_SOFTIRQ, Ex(B)));
	EXPECT_TRUE(j.kinds.empty());
}

TEST(Interrupts, SoftirqsOffDoNotKeepAHardirqAway)
{
	Court j;

	j.takes({}, bh_off(Ex(A)));
	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	ASSERT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_STATE}));
	EXPECT_EQ(j.reports[0][0].from, kHard);
}

TEST(Interrupts, ReadersThatRecurseDoNotWaitForEachOther)
{
	Court j;

	j.takes({}, Sh(A));
	j.takes({}, in(LS_SOFTIRQ, Rr(A)));
	EXPECT_TRUE(j.kinds.empty());
	j.takes({}, Ex(A));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_STATE}));
}

TEST(Interrupts, AnInversionIsFoundInWhateverOrderItsPartsCome)
{
	for (int order = 0; order < 6; order++) {
		static const int permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
		Court j;

		for (int part : permutations[order]) {
			if (part == 0)
				j.takes({}, in(LS_SOFTIRQ, Ex(A)));
			else if (part == 1)
				j.takes({bh_off(Ex(A))}, bh_off(Ex(B)));
			else
				j.takes({}, Ex(B));
		}
		ASSERT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION})) << order;
		ASSERT_EQ(j.reports[0].size(), 3u);
		EXPECT_EQ(j.reports[0][0].from, kSoft);
		EXPECT_EQ(j.reports[0][0].to, A);
		EXPECT_EQ(j.reports[0][2].from, B);
		EXPECT_EQ(j.reports[0][2].to, kSoft);
	}
}

TEST(Interrupts, APathMayHaveSeveralSteps)
{
	Court j;

	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	j.takes({irqs_off(Ex(A))}, irqs_off(Ex(B)));
	j.takes({irqs_off(Ex(B))}, irqs_off(Ex(C)));
	EXPECT_TRUE(j.kinds.empty());
	j.takes({}, Ex(C));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION}));
}

TEST(Interrupts, ALongPathIsFoundOrCounted)
{
	for (std::uint32_t locks : {9u, 15u, 16u, 40u}) {
		Court j;

		j.takes({}, in(LS_HARDIRQ, Ex(1)));
		for (std::uint32_t id = 1; id < locks; id++)
			j.takes({W(id)}, W(id + 1));
		j.takes({}, bh_off(Ex(locks)));
		const bool room = locks + 1 <= LS_CYCLE_MAX;
		EXPECT_EQ(j.kinds.size(), room ? 1u : 0u) << locks;
		EXPECT_EQ(j.judge.cut_searches, room ? 0u : 1u) << locks;
	}
}

TEST(Interrupts, AReaderInTheInterruptNeedsAWriterToWaitFor)
{
	Court silent, j;

	silent.takes({}, in(LS_HARDIRQ, Rr(A)));
	silent.takes({irqs_off(Sh(A))}, irqs_off(Ex(B)));
	silent.takes({}, Ex(B));
	EXPECT_TRUE(silent.kinds.empty());

	j.takes({}, in(LS_HARDIRQ, Rr(A)));
	j.takes({irqs_off(Ex(A))}, irqs_off(Ex(B)));
	j.takes({}, Ex(B));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION}));
}

TEST(Interrupts, AGateKeepsTheTwoSidesApart)
{
	Court j;

	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	j.takes({Ex(M), irqs_off(Ex(A))}, irqs_off(Ex(B)));
	j.takes({Ex(M)}, Ex(B));
	EXPECT_TRUE(j.kinds.empty());
	j.takes({}, Ex(B));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION}));
}

TEST(Interrupts, AGatedCycleOfLocksHidesNoInversion)
{
	Court j;

	// A and B in both orders under M, which keeps the two apart; the interrupt needs A
	// whatever is held.
	j.takes({W(M), W(B)}, W(A));
	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	j.takes({}, Ex(B));
	EXPECT_TRUE(j.kinds.empty());
	j.takes({W(M), W(A)}, W(B));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION}));
}

TEST(Interrupts, ACycleOfLocksHidesNoInversion)
{
	Court j;

	j.takes({W(B)}, W(A));
	j.takes({}, in(LS_SOFTIRQ, Ex(A)));
	j.kinds.clear();
	j.takes({}, Ex(B));
	j.takes({W(A)}, W(B));
	EXPECT_EQ(j.kinds,
		  (std::vector<std::uint32_t>{LS_FINDING_ORDER_CYCLE, LS_FINDING_IRQ_INVERSION}));
}

TEST(Interrupts, AGatedWayHidesNoLongerOne)
{
	for (bool last : {true, false}) {
		Court j;

		// From A to B under M, or over C without.
		j.takes({}, in(LS_HARDIRQ, Ex(A)));
		j.takes({Ex(M)}, Ex(B));
		j.takes({W(M), W(A)}, W(B));
		if (last)
			j.takes({W(A)}, W(C));
		j.takes({W(M), W(C)}, W(B));
		if (!last)
			j.takes({W(A)}, W(C));
		EXPECT_TRUE(j.kinds.empty());
		j.takes({}, Ex(C));
		EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_INVERSION}));
	}
}

TEST(Interrupts, HeldWhenTheyCameOnAgainCounts)
{
	Court held, given;

	held.takes({}, in(LS_HARDIRQ, Ex(A)));
	held.takes({irqs_off(Ex(A))}, Ex(B));
	EXPECT_EQ(held.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_STATE}));

	given.takes({}, in(LS_HARDIRQ, Ex(A)));
	given.releases(irqs_off(Ex(A)));
	EXPECT_TRUE(given.kinds.empty());
	given.releases(Ex(A));
	EXPECT_EQ(given.kinds, (std::vector<std::uint32_t>{LS_FINDING_IRQ_STATE}));
}

TEST(Interrupts, AWayThroughOneDoesNotHideACycleOfLocks)
{
	Court j;

	j.takes({}, Ex(A));
	j.takes({irqs_off(Ex(C))}, irqs_off(Ex(A)));
	j.takes({irqs_off(Ex(A))}, irqs_off(Ex(B)));
	j.takes({}, in(LS_HARDIRQ, Ex(C)));
	j.kinds.clear();
	j.takes({irqs_off(Ex(B))}, irqs_off(Ex(C)));
	ASSERT_FALSE(j.kinds.empty());
	EXPECT_EQ(j.kinds[0], static_cast<std::uint32_t>(LS_FINDING_ORDER_CYCLE));
}

TEST(Interrupts, AFaultThatASightShowsAddsNothingToTheOrder)
{
	Court j;
	ls_rec_sight s{};

	s.hdr.len = sizeof(s);
	s.what = LS_FINDING_SLEEP_ATOMIC;
	s.val = A;
	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	j.sight(s);
	EXPECT_TRUE(j.kinds.empty());
	EXPECT_EQ(ls_judge_usage(&j.judge, A), LS_USE_IN_HARDIRQ);
}

TEST(Exempt, AClassOrdersNothingAndIsNotOrderedEvenAfterClearing)
{
	Court j;

	ls_judge_exempt(&j.judge, B);
	for (int round = 0; round < 2; round++) {
		j.takes({Ex(A)}, Ex(B));
		j.takes({Ex(B)}, Ex(A));
		j.takes({}, in(LS_HARDIRQ, Ex(B)));
		EXPECT_TRUE(j.kinds.empty());
		ls_judge_clear(&j.judge);
	}
	EXPECT_TRUE(ls_exempt("&dev->mutex @ device_initialize"));
	EXPECT_FALSE(ls_exempt("&dev->mutex @ device_initialize_too"));
	EXPECT_FALSE(ls_exempt("&dev->mutex @ device_initialize (usb/usb_device depth 3)"));
	EXPECT_TRUE(ls_exempt("mutex of mca_bucket_alloc+0x45"));
	EXPECT_FALSE(ls_exempt("mutex of mca_bucket_alloc_too+0x45"));
	EXPECT_FALSE(ls_exempt("mutex of mca_bucket_alloc"));
	EXPECT_FALSE(ls_exempt("&dev->mutex"));
	EXPECT_FALSE(ls_exempt(""));
}

TEST(Interrupts, ClearingForgetsUsage)
{
	Court j;

	j.takes({}, in(LS_HARDIRQ, Ex(A)));
	ls_judge_clear(&j.judge);
	j.takes({}, Ex(A));
	EXPECT_TRUE(j.kinds.empty());
}

} // namespace
} // namespace lockscope::test
