// SPDX-License-Identifier: GPL-2.0
// What the hooks remember of dependencies: enough to distinguish new ones from known ones.
#include <atomic>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

struct Edges {
	Edges(std::uint32_t bits, std::uint32_t max) : memory(ls_edges_bytes(bits))
	{
		ls_edges_init(&set, memory.get(), bits, max);
	}
	ls_edge_result peek(std::uint32_t prev, std::uint32_t next, std::uint32_t gates = 0) const
	{
		return ls_edges_peek(&set, prev, next, gates);
	}
	ls_edge_result mark(std::uint32_t prev, std::uint32_t next, std::uint32_t gates = 0)
	{
		return ls_edges_mark(&set, prev, next, gates);
	}

	Zeroed memory;
	ls_edges set{};
};

constexpr std::uint32_t A = 1, B = 2;

TEST(DependencyKind, FollowsWhatIsHeldAndWhatIsTaken)
{
	EXPECT_EQ(ls_dep_kind(taken(A), taken(B)), LS_DEP_EN);
	EXPECT_EQ(ls_dep_kind(taken(A), taken(B, LS_SHARED)), LS_DEP_EN);
	EXPECT_EQ(ls_dep_kind(taken(A), taken(B, LS_RECURSIVE)), LS_DEP_ER);
	EXPECT_EQ(ls_dep_kind(taken(A, LS_SHARED), taken(B)), LS_DEP_SN);
	EXPECT_EQ(ls_dep_kind(taken(A, LS_RECURSIVE), taken(B)), LS_DEP_SN);
	EXPECT_EQ(ls_dep_kind(taken(A, LS_SHARED), taken(B, LS_SHARED)), LS_DEP_SN);
	EXPECT_EQ(ls_dep_kind(taken(A, LS_RECURSIVE), taken(B, LS_RECURSIVE)), LS_DEP_SR);
}

TEST(Edges, AFewPairsOfInstancesAndMoreInACycle)
{
	Edges e(6, 32);
	std::uint32_t n = 0;

	EXPECT_FALSE(ls_edges_want_pair(&e.set, taken(A), taken(B)));
	e.mark(taken(A), taken(B));
	for (; ls_edges_want_pair(&e.set, taken(A), taken(B)); n++)
		ls_edges_count_pair(&e.set, taken(A), taken(B));
	EXPECT_EQ(n, LS_EDGE_PAIRS);
	ls_edges_wanted(&e.set, taken(A), taken(B));
	for (; ls_edges_want_pair(&e.set, taken(A), taken(B)); n++)
		ls_edges_count_pair(&e.set, taken(A), taken(B));
	EXPECT_EQ(n, LS_EDGE_PAIRS_WANTED);
	// However many come at once.
	for (n = 0; n < 300; n++)
		ls_edges_count_pair(&e.set, taken(A), taken(B));
	EXPECT_FALSE(ls_edges_want_pair(&e.set, taken(A), taken(B)));
	ls_edges_clear(&e.set);
	e.mark(taken(A), taken(B));
	EXPECT_TRUE(ls_edges_want_pair(&e.set, taken(A), taken(B)));
}

TEST(Edges, NewsOnceThenKnown)
{
	Edges e(6, 32);

	EXPECT_EQ(e.peek(taken(A), taken(B)), LS_EDGE_NEW);
	EXPECT_EQ(e.mark(taken(A), taken(B)), LS_EDGE_NEW);
	EXPECT_EQ(e.peek(taken(A), taken(B)), LS_EDGE_KNOWN);
	EXPECT_EQ(e.mark(taken(A), taken(B)), LS_EDGE_KNOWN);
	EXPECT_EQ(e.set.nr, 1u);
}

TEST(Edges, PeekingRecordsNothing)
{
	Edges e(6, 32);

	e.peek(taken(A), taken(B));
	EXPECT_EQ(e.peek(taken(A), taken(B)), LS_EDGE_NEW);
	EXPECT_EQ(e.set.nr, 0u);
}

TEST(Edges, TheOtherDirectionIsAnotherEdge)
{
	Edges e(6, 32);

	e.mark(taken(A), taken(B));
	EXPECT_EQ(e.peek(taken(B), taken(A)), LS_EDGE_NEW);
}

TEST(Edges, EveryKindAtEveryLevelIsNewsOnce)
{
	Edges e(6, 32);
	unsigned news = 0;

	for (int repeat = 0; repeat < 2; repeat++)
		for (ls_read held : {LS_EXCLUSIVE, LS_RECURSIVE})
			for (ls_read next : {LS_EXCLUSIVE, LS_RECURSIVE})
				for (ls_level level : {LS_TASK, LS_SOFTIRQ, LS_HARDIRQ, LS_NMI}) {
					const auto prev = taken(A, held, level),
						   val = taken(B, next, level);

					EXPECT_EQ(e.peek(prev, val),
						  repeat ? LS_EDGE_KNOWN : LS_EDGE_NEW);
					news += e.mark(prev, val) == LS_EDGE_NEW;
				}
	EXPECT_EQ(news, 16u);
	EXPECT_EQ(e.set.nr, 1u);
}

TEST(Edges, MarksOfTheContextAreNoDependencyOfTheirOwn)
{
	Edges e(6, 32);

	e.mark(taken(A), taken(B));
	EXPECT_EQ(e.peek(taken(A) | LS_VAL_IRQ_OFF, taken(B) | LS_VAL_IRQ_OFF), LS_EDGE_KNOWN);
	EXPECT_EQ(e.peek(taken(A) | LS_VAL_TRY, taken(B)), LS_EDGE_KNOWN);
}

TEST(Edges, AGateLessIsNewsAGateMoreIsNot)
{
	Edges e(6, 32);

	e.mark(taken(A), taken(B), 0b110);
	EXPECT_EQ(e.peek(taken(A), taken(B), 0b111), LS_EDGE_KNOWN);
	EXPECT_EQ(e.mark(taken(A), taken(B), 0b111), LS_EDGE_KNOWN);
	EXPECT_EQ(e.peek(taken(A), taken(B), 0b011), LS_EDGE_NEW);
	EXPECT_EQ(e.mark(taken(A), taken(B), 0b011), LS_EDGE_NEW);
	// Only 0b010 was there every time.
	EXPECT_EQ(e.peek(taken(A), taken(B), 0b010), LS_EDGE_KNOWN);
	EXPECT_EQ(e.mark(taken(A), taken(B), 0), LS_EDGE_NEW);
	EXPECT_EQ(e.mark(taken(A), taken(B), 0), LS_EDGE_KNOWN);
}

TEST(Edges, ANewKindNarrowsTheGatesToo)
{
	Edges e(6, 32);

	e.mark(taken(A), taken(B), 0b10);
	EXPECT_EQ(e.mark(taken(A, LS_SHARED), taken(B), 0b01), LS_EDGE_NEW);
	EXPECT_EQ(e.peek(taken(A), taken(B), 0), LS_EDGE_KNOWN);
}

TEST(GateSignature, AnExclusiveHolderShowsMoreThanAReader)
{
	for (std::uint64_t lock = 0x1000; lock < 0x3000; lock += 8) {
		const std::uint32_t writer = ls_gate_bits(lock, taken(A));
		const std::uint32_t reader = ls_gate_bits(lock, taken(A, LS_SHARED));

		EXPECT_NE(reader, 0u);
		EXPECT_EQ(reader, ls_gate_bits(lock, taken(B, LS_RECURSIVE)));
		// A writer is a holder too: from writer to reader bits may only go.
		EXPECT_EQ(reader & ~writer, 0u);
	}
}

TEST(Edges, TheBoundIsKeptAndSaid)
{
	Edges e(6, 5);

	for (std::uint32_t id = 2; id <= 6; id++)
		EXPECT_EQ(e.mark(taken(A), taken(id)), LS_EDGE_NEW);
	EXPECT_EQ(e.mark(taken(A), taken(7)), LS_EDGE_FULL);
	EXPECT_EQ(e.peek(taken(A), taken(7)), LS_EDGE_NEW);
	EXPECT_EQ(e.mark(taken(A), taken(3)), LS_EDGE_KNOWN);
	EXPECT_EQ(e.mark(taken(A, LS_SHARED), taken(3)), LS_EDGE_NEW);
	EXPECT_EQ(e.set.nr, 5u);
}

TEST(Edges, ATableIsNeverFilledToTheLastSlot)
{
	// A search for what is not there must come to an end.
	Edges e(4, 1000);
	unsigned kept = 0;

	for (std::uint32_t id = 2; id < 40; id++)
		kept += e.mark(taken(A), taken(id)) == LS_EDGE_NEW;
	EXPECT_EQ(kept, 15u);
}

TEST(Edges, ClassIdsOfAllWidthsStayApart)
{
	Edges e(8, 200);
	const std::uint32_t top = LS_VAL_CLASS_MASK;

	for (std::uint32_t prev : {1u, top, top - 1, 1u << 19})
		for (std::uint32_t next : {1u, top, top - 1, 1u << 19})
			EXPECT_EQ(e.mark(taken(prev), taken(next)), LS_EDGE_NEW);
	EXPECT_EQ(e.set.nr, 16u);
}

TEST(Edges, ClearedIsAsNew)
{
	Edges e(6, 32);

	e.mark(taken(A), taken(B), 0b1);
	ls_edges_clear(&e.set);
	EXPECT_EQ(e.set.nr, 0u);
	EXPECT_EQ(e.mark(taken(A), taken(B), 0b10), LS_EDGE_NEW);
	EXPECT_EQ(e.peek(taken(A), taken(B), 0b10), LS_EDGE_KNOWN);
}

TEST(Edges, RacingForAnEdgeKeepsItOnceWithEveryKind)
{
	constexpr std::uint32_t kIds = 1500;
	Edges e(13, 1 << 12);
	std::atomic<std::uint32_t> news[4] = {};

	together(4, [&](unsigned self) {
		const ls_read held = self & 1 ? LS_SHARED : LS_EXCLUSIVE;
		const ls_read next = self & 2 ? LS_RECURSIVE : LS_EXCLUSIVE;

		for (std::uint32_t id = 2; id < 2 + kIds; id++)
			news[self] += e.mark(taken(A, held), taken(id, next)) == LS_EDGE_NEW;
	});
	EXPECT_EQ(e.set.nr, kIds);
	for (auto &n : news)
		EXPECT_EQ(n, kIds);
	for (std::uint32_t id = 2; id < 2 + kIds; id++)
		for (ls_read held : {LS_EXCLUSIVE, LS_SHARED})
			for (ls_read next : {LS_EXCLUSIVE, LS_RECURSIVE})
				EXPECT_EQ(e.peek(taken(A, held), taken(id, next)), LS_EDGE_KNOWN);
}

// The signature may be too large for a while, which only makes known dependencies new once
// more. A gate that was always held must never get lost: an observation without it would then
// not be new, and never reach the judge.
TEST(Edges, RacingSightsNeverLoseTheGateThatBothHad)
{
	constexpr std::uint32_t kIds = 3000;
	Edges e(14, 1 << 13);
	std::uint32_t lost = 0;

	together(2, [&](unsigned self) {
		for (std::uint32_t id = 2; id < 2 + kIds; id++)
			e.mark(taken(A), taken(id), self ? 0b101 : 0b110);
	});
	for (std::uint32_t id = 2; id < 2 + kIds; id++)
		lost += e.peek(taken(A), taken(id), 0b011) == LS_EDGE_KNOWN;
	EXPECT_EQ(lost, 0u);
}

} // namespace
} // namespace lockscope::test
