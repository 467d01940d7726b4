// SPDX-License-Identifier: GPL-2.0
// Two instances of one class: only taking them in both orders is a fault.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t P = 0xffff888000001000ull, Q = 0xffff888000002000ull;
constexpr std::uint64_t kGate = 0xffff888000009000ull;

using Gates = std::vector<std::uint32_t>;

std::uint32_t tag(std::uint64_t gate, ls_read read = LS_EXCLUSIVE)
{
	return ls_pair_tag(gate, read << LS_VAL_READ_SHIFT);
}

struct Pairs {
	explicit Pairs(std::uint32_t bits = 8) : memory(ls_pairs_bytes(bits))
	{
		ls_pairs_init(&pairs, memory.get(), bits);
	}
	ls_pair_result see(std::uint64_t first, std::uint64_t second, std::uint32_t gen = 0,
			   const Gates &gates = {}, std::uint32_t kind = LS_DEP_EN)
	{
		return ls_pairs_see(&pairs, first, second, gen, gates.data(),
				    static_cast<std::uint32_t>(gates.size()), kind);
	}
	ls_pair *bucket(std::uint64_t a, std::uint64_t b) const
	{
		const std::uint64_t key = ls_mix(ls_mix(a < b ? a : b) + (a < b ? b : a));

		return &pairs.slots[(key >> pairs.shift) * LS_PAIR_WAYS];
	}

	Zeroed memory;
	ls_pairs pairs{};
};

TEST(Pairs, AConsistentOrderIsSilent)
{
	Pairs p;

	EXPECT_EQ(p.see(P, Q), LS_PAIR_NEW);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(p.see(P, Q), LS_PAIR_KNOWN);
}

TEST(Pairs, OrderByAddressIsSilentInEitherDirection)
{
	// Descending is as good as ascending, if it is consistent.
	for (bool ascending : {true, false}) {
		Pairs p(12);

		for (int repeat = 0; repeat < 2; repeat++)
			for (std::uint64_t i = 0; i < 20; i++)
				for (std::uint64_t k = i + 1; k < 20; k++) {
					const std::uint64_t low = P + i * 64, high = P + k * 64;

					EXPECT_NE(ascending ? p.see(low, high) : p.see(high, low),
						  LS_PAIR_INVERTED);
				}
	}
}

TEST(Pairs, AnInversionIsReportedOnce)
{
	for (bool swapped : {false, true}) {
		Pairs p;
		const std::uint64_t a = swapped ? Q : P, b = swapped ? P : Q;

		p.see(a, b);
		EXPECT_EQ(p.see(b, a), LS_PAIR_INVERTED);
		EXPECT_EQ(p.see(b, a), LS_PAIR_KNOWN);
		EXPECT_EQ(p.see(a, b), LS_PAIR_KNOWN);
	}
}

TEST(Pairs, OtherInstancesHaveTheirOwnOrder)
{
	Pairs p;

	p.see(P, Q);
	EXPECT_EQ(p.see(Q, P + 64), LS_PAIR_NEW);
	EXPECT_EQ(p.see(P + 64, P), LS_PAIR_NEW);
}

TEST(Pairs, AnotherLifeOfTheObjectsForgetsTheOrder)
{
	Pairs p;

	p.see(P, Q, 1);
	EXPECT_EQ(p.see(Q, P, 2), LS_PAIR_NEW);
	EXPECT_EQ(p.see(Q, P, 2), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q, 2), LS_PAIR_INVERTED);
}

TEST(Pairs, OneGateAroundBothOrdersKeepsThemApart)
{
	const Gates gate{tag(kGate)};
	Pairs p;

	EXPECT_EQ(p.see(P, Q, 0, gate), LS_PAIR_NEW);
	EXPECT_EQ(p.see(Q, P, 0, gate), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(Q, P, 0, gate), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q, 0, gate), LS_PAIR_KNOWN);
}

TEST(Pairs, TheOrderSeenUnderAGateIsNotForgotten)
{
	const Gates gate{tag(kGate)};
	Pairs p;

	p.see(P, Q, 0, gate);
	p.see(Q, P, 0, gate);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_INVERTED);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_KNOWN);
}

TEST(Pairs, AReaderInsideAReaderIsAnOrderToo)
{
	Pairs p;

	EXPECT_EQ(p.see(P, Q, 0, {}, LS_DEP_SN), LS_PAIR_NEW);
	EXPECT_EQ(p.see(Q, P, 0, {}, LS_DEP_EN), LS_PAIR_INVERTED);
}

TEST(Pairs, ARecursiveReaderWaitsForNoReader)
{
	Pairs p;

	/* Held as a reader, then a writer; held as a writer, then a recursive reader. */
	EXPECT_EQ(p.see(P, Q, 0, {}, LS_DEP_SN), LS_PAIR_NEW);
	EXPECT_EQ(p.see(Q, P, 0, {}, LS_DEP_ER), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(Q, P, 0, {}, LS_DEP_SR), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(Q, P, 0, {}, LS_DEP_EN), LS_PAIR_INVERTED);
	EXPECT_EQ(p.see(Q, P, 0, {}, LS_DEP_SN), LS_PAIR_KNOWN);
}

TEST(Pairs, FewerGatesThanBeforeAreNews)
{
	const Gates gate{tag(kGate)};
	Pairs p;

	EXPECT_EQ(p.see(P, Q, 0, gate), LS_PAIR_NEW);
	EXPECT_EQ(p.see(P, Q, 0, gate), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q, 0, gate), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(Q, P, 0, gate), LS_PAIR_INVERTED);
}

TEST(Pairs, AGateAroundOneOrderOnlyKeepsNothingApart)
{
	const Gates gate{tag(kGate)};
	Pairs gated_first, gated_second;

	gated_first.see(P, Q, 0, gate);
	EXPECT_EQ(gated_first.see(Q, P), LS_PAIR_INVERTED);
	gated_second.see(P, Q);
	EXPECT_EQ(gated_second.see(Q, P, 0, gate), LS_PAIR_INVERTED);
}

TEST(Pairs, AGateThatIsLeftOutOnceNoLongerCounts)
{
	const Gates gate{tag(kGate)};
	Pairs p;

	p.see(P, Q, 0, gate);
	p.see(P, Q);
	EXPECT_EQ(p.see(Q, P, 0, gate), LS_PAIR_INVERTED);
}

TEST(Pairs, TwoDifferentGatesKeepNothingApart)
{
	Pairs p;

	p.see(P, Q, 0, {tag(kGate)});
	EXPECT_EQ(p.see(Q, P, 0, {tag(kGate + 64)}), LS_PAIR_INVERTED);
}

TEST(Pairs, AnotherGateInsteadIsNewsHoweverManyThereAre)
{
	Pairs p;

	/* A signature of a few bits would take some of them for the first one. */
	p.see(P, Q, 0, {tag(kGate)});
	for (std::uint64_t i = 1; i < 100; i++) {
		Pairs other;

		other.see(P, Q, 0, {tag(kGate)});
		EXPECT_EQ(other.see(P, Q, 0, {tag(kGate + i * 64)}), LS_PAIR_FEWER);
		EXPECT_EQ(p.see(P, Q, 0, {tag(kGate), tag(kGate + i * 64)}), LS_PAIR_KNOWN);
	}
}

TEST(Pairs, AReaderOfTheGateKeepsNoReaderApart)
{
	Pairs p, held;

	p.see(P, Q, 0, {tag(kGate, LS_SHARED)});
	EXPECT_EQ(p.see(Q, P, 0, {tag(kGate, LS_SHARED)}), LS_PAIR_INVERTED);
	/* Once it is held as a reader only, it counts as such. */
	held.see(P, Q, 0, {tag(kGate)});
	EXPECT_EQ(held.see(P, Q, 0, {tag(kGate, LS_SHARED)}), LS_PAIR_FEWER);
	EXPECT_EQ(held.see(P, Q, 0, {tag(kGate)}), LS_PAIR_KNOWN);
}

TEST(Pairs, WithoutAGateHeldAsAReaderIsNews)
{
	Pairs p;

	/* Another side of a ring may hold it exclusively. */
	p.see(P, Q, 0, {tag(kGate, LS_SHARED)});
	EXPECT_EQ(p.see(P, Q, 0, {tag(kGate, LS_SHARED)}), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(P, Q), LS_PAIR_KNOWN);
}

TEST(Pairs, OfManyGatesNoneIsForgotten)
{
	Gates many;
	Pairs p;

	for (std::uint64_t i = 0; i < 6; i++)
		many.push_back(tag(kGate + i * 64));
	p.see(P, Q, 0, many);
	/* Each of the last ones may be a gate of both. */
	EXPECT_EQ(p.see(Q, P, 0, {many[5]}), LS_PAIR_FEWER);
	EXPECT_EQ(p.see(Q, P, 0, {many[5]}), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(P, Q, 0, many), LS_PAIR_KNOWN);
	EXPECT_EQ(p.see(Q, P), LS_PAIR_INVERTED);
}

TEST(Pairs, AFullBucketForgetsAPairAndInventsNone)
{
	Pairs p(4);

	// Far more pairs than places, each in its one order: forgetting is allowed,
	// a report is not.
	for (int repeat = 0; repeat < 3; repeat++)
		for (std::uint64_t i = 0; i < 200; i++)
			EXPECT_NE(p.see(P, Q + i * 64), LS_PAIR_INVERTED);
}

TEST(Pairs, ABucketHoldsEightPairs)
{
	Pairs p(8);
	std::vector<std::uint64_t> second;

	for (std::uint64_t q = Q; second.size() < LS_PAIR_WAYS; q += 64)
		if (p.bucket(P, q) == p.bucket(P, Q))
			second.push_back(q);
	for (std::uint64_t q : second)
		EXPECT_EQ(p.see(P, q), LS_PAIR_NEW);
	for (std::uint64_t q : second)
		EXPECT_EQ(p.see(q, P), LS_PAIR_INVERTED);
}

TEST(Pairs, RacingOrdersAreReportedAtMostOnceAndNeverWithoutReason)
{
	constexpr std::uint64_t kPairs = 2000;
	Pairs p(14);
	std::vector<int> reports[2];

	for (auto &mine : reports)
		mine.resize(kPairs);
	// Even pairs are taken in both orders, odd ones in one.
	together(2, [&](unsigned self) {
		for (int repeat = 0; repeat < 4; repeat++)
			for (std::uint64_t i = 0; i < kPairs; i++) {
				const std::uint64_t low = P + i * 128, high = low + 64;
				const bool swap = self && i % 2 == 0;

				reports[self][i] += (swap ? p.see(high, low) : p.see(low, high)) ==
						    LS_PAIR_INVERTED;
			}
	});
	for (std::uint64_t i = 0; i < kPairs; i++)
		EXPECT_LE(reports[0][i] + reports[1][i], i % 2 ? 0 : 2) << "pair " << i;
}

} // namespace
} // namespace lockscope::test
