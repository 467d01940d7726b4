// SPDX-License-Identifier: GPL-2.0
// The judge: which observations make a deadlock possible, and which do not.
#include <set>

#include <gtest/gtest.h>

#include "court.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t A = 1, B = 2, C = 3, D = 4, G = 9, H = 10;

TEST(Judge, OppositeOrdersAreACycle)
{
	Court j;

	j.takes({W(A)}, W(B));
	EXPECT_TRUE(j.findings.empty());
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Judge, OneOrderIsNoCycleHoweverOften)
{
	Court j;

	for (int i = 0; i < 3; i++) {
		j.takes({W(A)}, W(B));
		j.takes({W(A), W(B)}, W(C));
		j.takes({W(B)}, W(C));
	}
	EXPECT_TRUE(j.findings.empty());
}

TEST(Judge, TheSameCycleIsReportedOnce)
{
	Court j;

	for (int i = 0; i < 3; i++) {
		j.takes({W(A)}, W(B));
		j.takes({W(B)}, W(A));
		j.takes({R(B)}, W(A));
	}
	EXPECT_EQ(j.findings.size(), 1u);
}

TEST(Judge, ThreeLocksMakeOneCycleFoundWhenItCloses)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(C));
	j.takes({W(C)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B, C}}));
}

TEST(Judge, TheShortestOfSeveralCyclesIsReported)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(C));
	j.takes({W(A)}, W(C));
	j.takes({W(C)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, C}}));
}

TEST(Judge, AnInstanceInsideAnotherOneWaitsForReadersToo)
{
	// B is waited for recursively with A held, and held as a reader where A is acquired: no
	// deadlock by itself. A writer of another B that holds the first one does wait for it.
	for (bool nests_first : {false, true}) {
		Court j;

		if (nests_first)
			j.takes({W(B, 0x100)}, W(B, 0x200));
		j.takes({W(A)}, RR(B, 0x100));
		j.takes({RR(B, 0x200)}, W(A));
		EXPECT_EQ(j.findings.size(), nests_first ? 1u : 0u);
		if (!nests_first)
			j.takes({W(B, 0x100)}, W(B, 0x200));
		EXPECT_EQ(j.findings, (Findings{{A, B, B}}));
	}
}

TEST(Judge, NestingThatDoesNotWaitForReadersClosesNothing)
{
	const Holding held[] = {{W(B, 0x100)}, {RR(B, 0x100)}, {W(B, 0x200)}};
	const Hold next[] = {RR(B, 0x200), W(B, 0x200), W(B, 0x200)};

	for (std::size_t i = 0; i < std::size(held); i++) {
		Court j;

		j.takes({W(A)}, RR(B, 0x100));
		j.takes({RR(B, 0x200)}, W(A));
		j.takes(held[i], next[i]);
		EXPECT_TRUE(j.findings.empty()) << i;
	}
}

TEST(Judge, NestingAloneIsNoCycle)
{
	Court j;

	j.takes({W(A)}, W(B, 0x100));
	j.takes({W(A), W(B, 0x100)}, W(B, 0x200));
	j.takes({W(B, 0x200)}, W(B, 0x100));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_EQ(j.edges.size(), 1u);
}

TEST(Judge, EveryHeldLockOrdersTheAcquiredOne)
{
	Court j;

	// A is held over B: C comes after both of them.
	j.takes({W(A), W(B)}, W(C));
	j.takes({W(C)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, C}}));
}

TEST(Judge, ARingIsFoundOrCounted)
{
	for (std::uint32_t length : {8u, 10u, 16u, 17u, 40u}) {
		Court j;

		for (std::uint32_t i = 0; i < length; i++)
			j.takes({W(1 + i)}, W(1 + (i + 1) % length));
		const bool room = length <= LS_CYCLE_MAX;
		EXPECT_EQ(j.findings.size(), room ? 1u : 0u) << length;
		EXPECT_EQ(j.judge.cut_searches, room ? 0u : 1u) << length;
	}
}

TEST(Judge, AClassInsideItselfIsNoCycle)
{
	Court j;

	j.takes({W(A, 0x100)}, W(A, 0x200));
	j.takes({W(A, 0x200)}, W(A, 0x100));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_TRUE(j.edges.empty());
}

TEST(Judge, ASightLeadsBackToWhereItWasSeen)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(C)}, W(D));
	j.takes({W(B)}, W(A));
	ASSERT_EQ(j.reports.size(), 1u);
	std::set<std::uint32_t> sights;
	for (const ls_finding_edge &e : j.reports[0]) {
		sights.insert(e.sight);
		EXPECT_EQ(e.kinds, LS_DEP_EN);
	}
	EXPECT_EQ(sights, (std::set<std::uint32_t>{0, 2}));
}

// A path is strong when no dependency that ends in a recursive reader is followed
// by one that starts at a shared holder.
TEST(StrongPath, RecursiveReadersDoNotBlockEachOther)
{
	Court j;

	j.takes({RR(A)}, RR(B));
	j.takes({RR(B)}, RR(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(StrongPath, AWaitingWriterStandsBetweenPlainReaders)
{
	Court j;

	j.takes({R(A)}, R(B));
	j.takes({R(B)}, R(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(StrongPath, ARecursiveReaderDoesNotWaitForAReader)
{
	Court j;

	// One holds A and reads B; the other reads B already and wants A.
	j.takes({W(A)}, RR(B));
	j.takes({R(B)}, W(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(StrongPath, ARecursiveReaderWaitsForAWriter)
{
	Court j;

	j.takes({W(A)}, RR(B));
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(StrongPath, APlainReaderWaitsForAReaderBehindAWriter)
{
	Court j;

	j.takes({W(A)}, R(B));
	j.takes({RR(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(StrongPath, WeakAtOneOfThreePlacesIsEnough)
{
	// The reader's gap at B, at C, at A.
	for (int gap = 0; gap < 3; gap++) {
		Court j;
		const std::uint32_t ids[] = {A, B, C};

		for (int i = 0; i < 3; i++) {
			const std::uint32_t from = ids[i], to = ids[(i + 1) % 3];

			j.takes({i == (gap + 1) % 3 ? RR(from) : W(from)},
				i == gap ? RR(to) : W(to));
		}
		EXPECT_TRUE(j.findings.empty()) << "gap " << gap;
	}
}

TEST(StrongPath, AGapFilledLaterCompletesTheCycle)
{
	Court j;

	j.takes({W(A)}, RR(B));
	j.takes({R(B)}, W(A));
	ASSERT_TRUE(j.findings.empty());
	j.takes({W(A)}, W(B));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(StrongPath, TheTwoEndsOfAnEdgeMayBeSeenInDifferentKinds)
{
	Court j;

	// A->B as ER and as SN: the former closes only at the writer of B, the latter only at
	// an exclusive waiter for A. There is neither.
	j.takes({W(A)}, RR(B));
	j.takes({R(A)}, W(B));
	j.takes({R(B)}, RR(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(Trylock, WhoDoesNotWaitAddsNoOrder)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, Try(W(A)));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_EQ(j.edges.size(), 1u);
}

TEST(Trylock, WhatWasTriedIsHeldAllTheSame)
{
	Court j;

	j.takes({Try(W(A))}, W(B));
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(WoundWait, AnAcquireContextBacksOffByItself)
{
	Court j;

	j.takes({Ctx(W(A))}, Ctx(W(B)));
	j.takes({Ctx(W(B))}, Ctx(W(A)));
	EXPECT_TRUE(j.findings.empty());
	j.takes({Ctx(W(A))}, W(B));
	j.takes({Ctx(W(B))}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Gate, ALockAroundBothOrdersKeepsThemApart)
{
	Court j;

	j.takes({W(G), W(A)}, W(B));
	j.takes({W(G), W(B)}, W(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(Gate, AroundOneOrderOnlyItKeepsNothingApart)
{
	for (bool first : {true, false}) {
		Court j;

		j.takes(first ? Holding{W(G), W(A)} : Holding{W(A)}, W(B));
		j.takes(first ? Holding{W(B)} : Holding{W(G), W(B)}, W(A));
		EXPECT_EQ(j.findings, (Findings{{A, B}}));
	}
}

TEST(Gate, TakenBetweenTheTwoLocksItCountsToo)
{
	Court j;

	j.takes({W(A), W(G)}, W(B));
	j.takes({W(G), W(B)}, W(A));
	EXPECT_TRUE(j.findings.empty());
	// A gate is a lock like any other: nothing keeps these two apart.
	j.takes({W(A)}, W(G));
	EXPECT_EQ(j.findings, (Findings{{A, G}}));
}

TEST(Gate, OnlyTheSameInstanceExcludes)
{
	Court j;

	j.takes({W(G, 0x9000), W(A)}, W(B));
	j.takes({W(G, 0x9040), W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Gate, TwoReadersOfAGatePassItTogether)
{
	Court j;

	j.takes({R(G), W(A)}, W(B));
	j.takes({R(G), W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Gate, AReaderAndAWriterOfAGateExcludeEachOther)
{
	for (bool first : {true, false}) {
		Court j;

		j.takes({first ? W(G) : R(G), W(A)}, W(B));
		j.takes({first ? RR(G) : W(G), W(B)}, W(A));
		EXPECT_TRUE(j.findings.empty());
	}
}

TEST(Gate, TwoOfThreeEdgesThatExcludeEachOtherAreEnough)
{
	Court j;

	j.takes({W(G), W(A)}, W(B));
	j.takes({W(B)}, W(C));
	j.takes({W(G), W(C)}, W(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(Gate, LeftOutLaterTheCycleIsReported)
{
	for (bool first : {true, false}) {
		Court j;

		j.takes({W(G), W(A)}, W(B));
		j.takes({W(G), W(B)}, W(A));
		ASSERT_TRUE(j.findings.empty());
		j.takes({W(first ? A : B)}, W(first ? B : A));
		EXPECT_EQ(j.findings, (Findings{{A, B}}));
	}
}

// What has to be observed without a gate: the two dependencies that it keeps apart, no others.
TEST(Gate, TheCallerHearsWhatAGateSpeaksAgainst)
{
	using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;
	Court j;

	j.takes({W(G), W(A)}, W(B));
	j.takes({W(G), W(B)}, W(C));
	EXPECT_TRUE(j.gated.empty());
	j.takes({W(C)}, W(A));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_EQ(Edges(j.gated.begin(), j.gated.end()), (Edges{{A, B}, {B, C}}));
	// Without the gate there is nothing more to hear.
	j.gated.clear();
	j.takes({W(G, 0x9040), W(B)}, W(C));
	EXPECT_EQ(j.findings, (Findings{{A, B, C}}));
	EXPECT_TRUE(j.gated.empty());
}

TEST(Gate, WeakenedToAReaderLaterTheCycleIsReported)
{
	Court j;

	j.takes({W(G), W(A)}, W(B));
	j.takes({R(G), W(B)}, W(A));
	ASSERT_TRUE(j.findings.empty());
	j.takes({R(G), W(A)}, W(B));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Gate, AnotherGateInsteadDoesNotReplaceTheFirst)
{
	Court j;

	j.takes({W(G), W(A)}, W(B));
	j.takes({W(H), W(A)}, W(B));
	j.takes({W(G), W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Gate, AGatedShortCycleDoesNotHideALongerOne)
{
	Court j;

	j.takes({W(G), W(B)}, W(A));
	j.takes({W(B)}, W(C));
	j.takes({W(C)}, W(A));
	j.takes({W(G), W(A)}, W(B));
	EXPECT_EQ(j.findings, (Findings{{A, B, C}}));
}

TEST(Gate, EitherOfTwoEdgesThatExcludeEachOtherMayBeLeftOut)
{
	constexpr std::uint32_t E = 5;
	Court j;

	// A -> B excludes C -> E. There is another way from A to B, but none from C to E.
	j.takes({W(G), W(A)}, W(B));
	j.takes({W(B)}, W(C));
	j.takes({W(G), W(C)}, W(E));
	j.takes({W(A)}, W(D));
	j.takes({W(D)}, W(B));
	EXPECT_TRUE(j.findings.empty());
	j.takes({W(E)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, D, B, C, E}}));
	EXPECT_EQ(j.judge.cut_searches, 0u);
}

TEST(Gate, ManyLocksInAnyOrderUnderOneGate)
{
	constexpr std::uint32_t kFirst = 10, kEnd = 30;
	Court j;
	std::set<std::pair<std::uint32_t, std::uint32_t>> wanted;

	for (std::uint32_t from = kFirst; from < kEnd; from++)
		for (std::uint32_t to = kFirst; to < kEnd; to++)
			if (from != to)
				j.takes({W(G), W(from)}, W(to));
	EXPECT_TRUE(j.findings.empty());
	EXPECT_EQ(j.judge.cut_searches, 0u);
	// Any of the orders may be observed without the gate.
	wanted.insert(j.gated.begin(), j.gated.end());
	EXPECT_EQ(wanted.size(), (kEnd - kFirst) * (kEnd - kFirst - 1));
	// One of them without it can deadlock with its opposite, and only with that.
	j.takes({W(kFirst)}, W(kFirst + 1));
	EXPECT_EQ(j.findings, (Findings{{kFirst, kFirst + 1}}));
	EXPECT_EQ(j.judge.cut_searches, 0u);
}

TEST(Gate, TheOldestLockOfADeepStackCounts)
{
	Court j;
	Holding deep{W(G)};

	for (std::uint32_t id = 20; id < 30; id++)
		deep.push_back(W(id));
	Holding one = deep, two = deep;
	one.push_back(W(A));
	two.push_back(W(B));
	j.takes(one, W(B));
	j.takes(two, W(A));
	EXPECT_TRUE(j.findings.empty());
}

TEST(Union, ClassesWithOneNameAreOneClass)
{
	Court j;

	ls_judge_unite(&j.judge, C, A);
	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(C));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
}

TEST(Union, TwoNamesOfOneLockHaveNoOrder)
{
	Court j;

	ls_judge_unite(&j.judge, C, A);
	j.takes({W(A)}, W(C));
	j.takes({W(C)}, W(A));
	EXPECT_TRUE(j.edges.empty());
	EXPECT_TRUE(j.findings.empty());
}

TEST(Judge, ForgetsEverythingButTheUnions)
{
	Court j;

	ls_judge_unite(&j.judge, C, A);
	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(A));
	ls_judge_clear(&j.judge);
	j.findings.clear();
	j.takes({W(B)}, W(A));
	EXPECT_TRUE(j.findings.empty());
	j.takes({W(C)}, W(B));
	EXPECT_EQ(j.findings, (Findings{{A, B}})) << "new again, and C is still A";
}

TEST(Judge, WhatCountsEventsClosesNoCycle)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(C));
	ls_judge_signal(&j.judge, B, true);
	ls_judge_signal(&j.judge, B, true);
	EXPECT_EQ(j.judge.nr_signals, 1u);
	j.takes({W(C)}, W(A));
	j.takes({W(B)}, W(A));
	EXPECT_TRUE(j.findings.empty()) << "all ways lead over a signal";
	EXPECT_EQ(j.edges.size(), 3u) << "and it gets no more of them";
}

TEST(Judge, ASignalHidesNoOtherCycle)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(D));
	j.takes({W(A)}, W(C));
	j.takes({W(C)}, W(D));
	ls_judge_signal(&j.judge, B, true);
	j.takes({W(D)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, C, D}}));
}

TEST(Judge, ASignalThatIsALockAfterAll)
{
	Court j;

	j.takes({W(A)}, W(B));
	ls_judge_signal(&j.judge, B, true);
	j.takes({W(B)}, W(A));
	ls_judge_signal(&j.judge, B, false);
	EXPECT_EQ(j.judge.nr_signals, 0u);
	j.takes({W(B)}, W(A));
	EXPECT_EQ(j.findings, (Findings{{A, B}}));
	// Nor does it stay one when all is forgotten.
	ls_judge_signal(&j.judge, B, true);
	ls_judge_clear(&j.judge);
	EXPECT_EQ(j.judge.nr_signals, 0u);
	EXPECT_FALSE(ls_judge_usage(&j.judge, B) & LS_JUDGE_SIGNAL);
	ls_judge_signal(&j.judge, 1u << 19, true);
	EXPECT_EQ(j.judge.nr_signals, 0u) << "no such class";
}

TEST(Judge, WhatWasClosedWhileItWasASignalIsFoundLater)
{
	Court j;

	j.takes({W(A)}, W(B));
	j.takes({W(B)}, W(C));
	ls_judge_signal(&j.judge, B, true);
	j.takes({W(C)}, W(A));
	EXPECT_TRUE(j.settled().empty());
	// Everything is unlearnt and learnt again whenever one of them changes.
	ls_judge_signal(&j.judge, B, false);
	ls_judge_signal(&j.judge, B, true);
	EXPECT_TRUE(j.settled().empty()) << "it is one still";
	ls_judge_signal(&j.judge, B, false);
	EXPECT_TRUE(j.findings.empty()) << "others may change at the same time";
	EXPECT_EQ(j.settled(), (Findings{{A, B, C}}));
	EXPECT_EQ(j.settled().size(), 1u) << "once is enough";
}

TEST(Judge, EdgesAreToldOnceForEachKind)
{
	Court j;

	for (int i = 0; i < 2; i++) {
		j.takes({W(A)}, W(B));
		j.takes({R(A)}, RR(B));
	}
	EXPECT_EQ(j.edges,
		  (std::vector<Court::Edge>{{A, B, LS_DEP_EN}, {A, B, LS_DEP_EN | LS_DEP_SR}}));
}

TEST(Capacity, EdgesThatFindNoRoomAreCounted)
{
	Court j(50, 3);

	for (std::uint32_t id = 2; id <= 6; id++)
		j.takes({W(A)}, W(id));
	EXPECT_EQ(j.edges.size(), 3u);
	EXPECT_EQ(j.judge.lost_edges, 2u);
	j.takes({W(2)}, W(A));
	EXPECT_EQ(j.judge.lost_edges, 3u);
	EXPECT_TRUE(j.findings.empty());
	// What is known can still get a new kind.
	j.takes({R(A)}, W(2));
	EXPECT_EQ(j.judge.lost_edges, 3u);
}

TEST(Capacity, WithoutMemoryEdgesAreCountedAsLost)
{
	Court j;

	j.out_of_memory = true;
	j.takes({W(A)}, W(B));
	EXPECT_EQ(j.judge.lost_edges, 1u);
	EXPECT_TRUE(j.edges.empty());
}

TEST(Capacity, AClassBeyondTheTableIsLeftOut)
{
	Court j(5, 10);

	j.takes({W(6)}, W(5));
	j.takes({W(5)}, W(6));
	ls_judge_unite(&j.judge, 6, 1);
	ls_judge_unite(&j.judge, 1, 6);
	EXPECT_TRUE(j.edges.empty());
	j.takes({W(4)}, W(5));
	EXPECT_EQ(j.edges.size(), 1u);
}

TEST(Capacity, MoreCyclesThanCanBeRememberedAreReportedAllTheSame)
{
	constexpr std::uint32_t kClasses = 190;
	Court j(kClasses, kClasses * kClasses);

	for (std::uint32_t a = 1; a <= kClasses; a++)
		for (std::uint32_t b = 1; b < a; b++)
			j.takes({W(a)}, W(b));
	for (std::uint32_t a = 1; a <= kClasses; a++)
		for (std::uint32_t b = 1; b < a; b++)
			j.takes({W(b)}, W(a));
	const std::size_t pairs = kClasses * (kClasses - 1) / 2;
	const std::set<Finding> different(j.findings.begin(), j.findings.end());

	EXPECT_EQ(different.size(), pairs);
	EXPECT_GT(j.judge.lost_cycles, 0u);
	EXPECT_EQ(j.findings.size(), pairs) << "each was closed once";
}

} // namespace
} // namespace lockscope::test
