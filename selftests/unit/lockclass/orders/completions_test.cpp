// SPDX-License-Identifier: GPL-2.0
// The judge on completions: waiter, completer, and the locks that both need.
#include <gtest/gtest.h>

#include "court.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t A = 1, B = 2, G = 3, X = 7, Y = 8; // X and Y are completions

TEST(Completions, WaitingUnderALockThatCompletingNeedsIsACycle)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
	EXPECT_EQ(j.kinds, (std::vector<std::uint32_t>{LS_FINDING_ORDER_CYCLE}));
}

TEST(Completions, TheOrderOfTheSightsDoesNotMatter)
{
	Court j;

	j.waits({W(A)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	j.completes({W(A)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
}

TEST(Completions, NothingIsToldBeforeItIsTime)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_EQ(j.settled().size(), 1u);
	EXPECT_EQ(j.settled().size(), 1u);
}

TEST(Completions, OneCompleterWithoutTheLockIsEnough)
{
	for (bool first : {true, false}) {
		Court j;

		j.completes(first ? Holding{} : Holding{W(A)}, W(X));
		j.waits({W(A)}, W(X));
		j.completes(first ? Holding{W(A)} : Holding{}, W(X));
		EXPECT_TRUE(j.settled().empty()) << first;
		// And it stays so.
		j.completes({W(A)}, W(X));
		j.waits({W(B), W(A)}, W(X));
		EXPECT_TRUE(j.settled().empty()) << first;
	}
}

// It drops its own reference, the last one, and waits for all to be gone.
TEST(Completions, AWaiterThatCompletesNeedsNothing)
{
	Court j;

	j.completes_early({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	j.completes_early({W(A), W(B)}, W(X));
	j.waits({W(B)}, W(X));
	EXPECT_TRUE(j.settled().empty());
}

TEST(Completions, AnotherContextThatCompletesConfirmsTheNeed)
{
	for (bool waited_for : {true, false}) {
		Court j;

		j.completes_early({W(A)}, W(X));
		j.waits({W(A)}, W(X));
		EXPECT_TRUE(j.settled().empty());
		if (waited_for)
			j.completes({W(A)}, W(X));
		else
			j.confirms({W(B)}, W(X));
		EXPECT_EQ(j.settled(), (Findings{{A, X}})) << waited_for;
		// What is shown is of that context, where it is known.
		EXPECT_EQ(j.reports[0][1].sight, waited_for ? 2u : 0u);
	}
}

// What a waiter holds when it learns that is none of the completer's.
TEST(Completions, AConfirmationNarrowsNothing)
{
	Court j;

	j.confirms({W(B)}, W(X));
	j.completes_early({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	j.waits({W(B)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
}

TEST(Completions, AnEarlyCompleterWithoutTheLockIsEnough)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	j.completes_early({}, W(X));
	EXPECT_TRUE(j.settled().empty());
}

TEST(Completions, OnlyWhatAllCompletersHoldIsNeeded)
{
	Court j;

	j.completes({W(A), W(B)}, W(X));
	j.completes({W(B), W(G)}, W(X));
	j.waits({W(A)}, W(X));
	j.waits({W(G)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	j.waits({W(B)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{B, X}}));
}

TEST(Completions, WithoutWaitersOrCompletersThereIsNoCycle)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.waits({W(A)}, W(Y));
	j.takes({W(A)}, W(B));
	EXPECT_TRUE(j.settled().empty());
}

TEST(Completions, ACycleMayGoThroughOtherLocks)
{
	Court j;

	j.completes({W(B)}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.settled(), (Findings{{A, X, B}}));
}

TEST(Completions, ACycleMayGoThroughTwoCompletions)
{
	Court j;

	j.waits({W(A)}, W(X));
	j.completes({W(B)}, W(X));
	j.waits({W(B)}, W(Y));
	j.completes({W(A)}, W(Y));
	EXPECT_EQ(j.settled(), (Findings{{A, X, B, Y}}));
}

TEST(Completions, TheWaiterComesFirstInTheReport)
{
	Court j;

	j.takes({W(B)}, W(A));
	j.completes({W(B)}, W(X));
	j.waits({W(A)}, W(X));
	j.settled();
	ASSERT_EQ(j.reports.size(), 1u);
	ASSERT_EQ(j.reports[0].size(), 3u);
	EXPECT_EQ(j.reports[0][0].from, A);
	EXPECT_EQ(j.reports[0][0].to, X);
	EXPECT_EQ(j.reports[0][0].sight, 2u);
	EXPECT_EQ(j.reports[0][1].to, B);
	EXPECT_EQ(j.reports[0][1].sight, 1u);
}

TEST(Completions, WhatWasTriedForIsNotNeeded)
{
	Court j;

	j.completes({Try(W(A))}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	// The holder of a lock acquired by trylock makes others wait like any holder.
	j.completes({W(A)}, W(Y));
	j.waits({Try(W(A))}, W(Y));
	EXPECT_EQ(j.settled(), (Findings{{A, Y}}));
}

TEST(Completions, WhoGivesUpWaitsForNothing)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.waits({W(A)}, Try(W(X)));
	EXPECT_TRUE(j.settled().empty());
}

TEST(Completions, ReadersAreKeptOutByAWaitingWriterRecursiveOnesAreNot)
{
	Court shared, recursive, writer;

	shared.completes({R(A)}, W(X));
	shared.waits({R(A)}, W(X));
	EXPECT_EQ(shared.settled(), (Findings{{A, X}}));

	recursive.completes({RR(A)}, W(X));
	recursive.waits({R(A)}, W(X));
	EXPECT_TRUE(recursive.settled().empty());

	writer.completes({RR(A)}, W(X));
	writer.waits({W(A)}, W(X));
	EXPECT_EQ(writer.settled(), (Findings{{A, X}}));
}

TEST(Completions, OneWhoReadsRecursivelyNeedsLess)
{
	Court j;

	j.completes({W(A)}, W(X));
	j.completes({RR(A)}, W(X));
	j.waits({R(A)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	j.waits({W(A)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
}

TEST(Completions, AGateOfTheCompleterIsOneMoreLockItNeeds)
{
	Court j;

	j.completes({W(G), W(A)}, W(X));
	j.waits({W(G), W(A)}, W(X));
	j.settled();
	std::sort(j.findings.begin(), j.findings.end());
	EXPECT_EQ(j.findings, (Findings{{A, X}, {G, X}}));
}

TEST(Completions, AGateKeepsTheWaiterApartFromOthers)
{
	Court j;

	j.completes({W(B)}, W(X));
	j.waits({W(G), W(A)}, W(X));
	j.takes({W(G), W(B)}, W(A));
	EXPECT_TRUE(j.settled().empty());
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.settled(), (Findings{{A, X, B}}));
}

TEST(Completions, TheLockOfAnotherObjectIsAnotherLock)
{
	Court j;

	j.waits({W(A, 0x1000)}, W(X, 0x1040));
	j.completes({W(A, 0x2000)}, W(X, 0x1040));
	EXPECT_TRUE(j.settled().empty());
}

TEST(Completions, TheLockOfTheSameObjectIsKnownByItsDistance)
{
	Court j;

	j.waits({W(A, 0x1000)}, W(X, 0x1040));
	j.completes({W(A, 0x2000)}, W(X, 0x2040));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
}

TEST(Completions, OneLockForManyCompletions)
{
	Court j;

	j.waits({W(A, 0x1000)}, W(X, 0x3000));
	j.completes({W(A, 0x1000)}, W(X, 0x4000));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
}

TEST(Completions, TheyAreNoLocksThatInterruptsCouldTake)
{
	Court j;
	const Hold in_irq = {taken(X, LS_EXCLUSIVE, LS_HARDIRQ) | LS_VAL_IRQ_OFF, 0x900};

	j.completes({}, in_irq);
	j.waits({}, {taken(X), 0x900});
	EXPECT_TRUE(j.settled().empty());
	EXPECT_TRUE(j.reports.empty());
	EXPECT_EQ(ls_judge_usage(&j.judge, X), LS_JUDGE_COMPLETED | LS_JUDGE_CONFIRMED);
}

TEST(Completions, ExemptClassesTakeNoPart)
{
	Court j;

	ls_judge_exempt(&j.judge, A);
	j.completes({W(A), W(B)}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_TRUE(j.settled().empty());
	j.waits({W(B)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{B, X}}));
}

TEST(Completions, ClearingForgetsWhoCompletes)
{
	Court j;

	j.completes({}, W(X));
	ls_judge_clear(&j.judge);
	j.completes({W(A)}, W(X));
	j.waits({W(A)}, W(X));
	EXPECT_EQ(j.settled(), (Findings{{A, X}}));
	ls_judge_clear(&j.judge);
	j.waits({W(A)}, W(X));
	EXPECT_EQ(j.settled().size(), 1u);
}

TEST(Completions, NeedsThatFindNoRoomAreCounted)
{
	Court j(LS_JUDGE_NEEDS + 20, LS_JUDGE_NEEDS + 20);

	for (std::uint32_t id = 2; id < LS_JUDGE_NEEDS + 5; id++)
		j.completes({W(A)}, W(id));
	EXPECT_EQ(j.judge.nr_needs, std::uint32_t{LS_JUDGE_NEEDS});
	EXPECT_EQ(j.judge.lost_edges, 3u);
	// One that proves wrong makes room.
	j.completes({}, W(2));
	EXPECT_EQ(j.judge.nr_needs, LS_JUDGE_NEEDS - 1u);
	j.completes({W(A)}, W(LS_JUDGE_NEEDS + 10));
	EXPECT_EQ(j.judge.lost_edges, 3u);
	j.waits({W(A)}, W(LS_JUDGE_NEEDS + 10));
	EXPECT_EQ(j.settled(), (Findings{{A, LS_JUDGE_NEEDS + 10}}));
}

TEST(Needs, SignaturesShrinkToWhatAllHad)
{
	const std::uint64_t a = ls_need_bits(taken(A)), b = ls_need_bits(taken(B));

	EXPECT_NE(a, b);
	EXPECT_EQ(a, ls_need_bits(taken(A, LS_SHARED, LS_SOFTIRQ)));
	// Recursive readers need a part of what others do.
	const std::uint64_t read = ls_need_bits(taken(A, LS_RECURSIVE));
	EXPECT_EQ(read & a, read);
	EXPECT_EQ(read >> 32, 0u);
	EXPECT_NE(a >> 32, 0u);
}

TEST(Needs, TryingAndWaitingNeedNothing)
{
	EXPECT_TRUE(ls_needed(taken(A)));
	EXPECT_FALSE(ls_needed(taken(A) | LS_VAL_TRY));
	EXPECT_FALSE(ls_needed(taken(X) | LS_VAL_WAIT));
	EXPECT_EQ(ls_usage(taken(X) | LS_VAL_WAIT), 0u);
	EXPECT_NE(ls_usage(taken(X)), 0u);
}

} // namespace
} // namespace lockscope::test
