// SPDX-License-Identifier: GPL-2.0
// Belief analysis against the binomial distribution in double precision.
#include "core.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace lockscope::test {
namespace {

constexpr double kErrors = 1.0 / LS_BELIEF_ERRORS;
constexpr double kLevel = 0.01;

/* P(X >= k) of n tries. */
double tail(std::uint64_t k, std::uint64_t n)
{
	double sum = 0;

	for (std::uint64_t i = k; i <= n; i++) {
		const auto x = static_cast<double>(i), all = static_cast<double>(n);
		sum += std::exp(std::lgamma(all + 1) - std::lgamma(x + 1) -
				std::lgamma(all - x + 1) + x * std::log(kErrors) +
				(all - x) * std::log(1 - kErrors));
	}
	return sum;
}

ls_belief reference(std::uint64_t against, std::uint64_t n)
{
	const bool broken = tail(against, n) <= kLevel, holds = tail(n - against, n) <= kLevel;

	if (broken == holds)
		return LS_BELIEF_OPEN;
	return broken ? LS_BELIEF_BROKEN : LS_BELIEF_HOLDS;
}

TEST(Belief, FewCasesAreExact)
{
	for (std::uint64_t n = 0; n <= LS_BELIEF_EXACT; n++)
		for (std::uint64_t k = 0; k <= n; k++)
			EXPECT_EQ(ls_believe(k, n), reference(k, n)) << k << " of " << n;
}

/* Where the approximation gives a rule up, chance would do so at most once in a
 * hundred, and where it does not, once in four hundred at least. */
TEST(Belief, ManyCasesAreCloseToExact)
{
	for (std::uint64_t n = LS_BELIEF_EXACT + 1; n <= 3000; n += 1 + n / 40) {
		std::uint64_t first = 0;

		while (ls_believe(first, n) == LS_BELIEF_HOLDS)
			first++;
		EXPECT_LE(tail(first, n), kLevel * 1.05) << first << " of " << n;
		EXPECT_GE(tail(first - 1, n), kLevel / 4) << first << " of " << n;
	}
}

TEST(Belief, TheOppositeOfARuleIsARule)
{
	for (std::uint64_t n = 0; n <= 400; n++)
		for (std::uint64_t k = 0; k <= n; k++) {
			const auto rule = ls_believe(k, n), opposite = ls_believe(n - k, n);

			EXPECT_EQ(rule == LS_BELIEF_HOLDS, opposite == LS_BELIEF_BROKEN);
			EXPECT_EQ(rule == LS_BELIEF_OPEN, opposite == LS_BELIEF_OPEN);
		}
}

/* More breaches never make a rule more credible. */
TEST(Belief, EachBreachSpeaksAgainst)
{
	auto trust = [](ls_belief b) {
		return b == LS_BELIEF_HOLDS ? 2 : b == LS_BELIEF_OPEN ? 1 : 0;
	};

	for (std::uint64_t n : {1, 5, 40, 64, 65, 200, 1000})
		for (std::uint64_t k = 1; k <= n; k++)
			EXPECT_LE(trust(ls_believe(k, n)), trust(ls_believe(k - 1, n)));
}

TEST(Belief, ThreeCasesAreTheFewest)
{
	EXPECT_EQ(ls_believe(0, 0), LS_BELIEF_OPEN);
	EXPECT_EQ(ls_believe(2, 2), LS_BELIEF_OPEN);
	EXPECT_EQ(ls_believe(3, 3), LS_BELIEF_BROKEN);
	EXPECT_EQ(ls_believe(0, 3), LS_BELIEF_HOLDS);
	EXPECT_EQ(ls_believe(1, 3), LS_BELIEF_OPEN);
}

TEST(Belief, HugeCountsDoNotOverflow)
{
	constexpr std::uint64_t all = ~std::uint64_t{0};

	EXPECT_EQ(ls_believe(0, all), LS_BELIEF_HOLDS);
	EXPECT_EQ(ls_believe(all, all), LS_BELIEF_BROKEN);
	EXPECT_EQ(ls_believe(all / 2, all), LS_BELIEF_OPEN);
	EXPECT_EQ(ls_believe(all / 10, all), LS_BELIEF_HOLDS);
	EXPECT_EQ(ls_believe(all / 10 * 9, all), LS_BELIEF_BROKEN);
}

/* A semaphore's class, @others releases by other contexts and @own by the one that acquired it. */
struct Semaphore {
	ls_class cls{};
	std::uint32_t changes = 0;

	void release(bool own, int times = 1)
	{
		while (times-- > 0)
			changes += ls_semaphore_released(&cls, own);
	}
	bool signal() const { return cls.marks & LS_CLASS_SIGNAL; }
};

TEST(Semaphore, EventsMakeASignal)
{
	Semaphore s;

	s.release(false, 2);
	EXPECT_FALSE(s.signal()) << "too early to tell";
	s.release(false);
	EXPECT_TRUE(s.signal());
	s.release(false, 100);
	EXPECT_EQ(s.changes, 1u);
	EXPECT_EQ(s.cls.releases, 103u);
	EXPECT_EQ(s.cls.unmatched_releases, 103u);
}

TEST(Semaphore, ALockHandedOverNowAndThenStaysOne)
{
	Semaphore s;

	for (int i = 0; i < 50; i++) {
		s.release(true, 9);
		s.release(false);
		EXPECT_FALSE(s.signal());
	}
	EXPECT_EQ(s.changes, 0u);
}

TEST(Semaphore, ABeliefCanChange)
{
	Semaphore s;

	/* Held by others when recording began. */
	s.release(false, 4);
	EXPECT_TRUE(s.signal());
	s.release(true, 30);
	EXPECT_FALSE(s.signal());
	EXPECT_EQ(s.changes, 2u);
}

TEST(Semaphore, UseFollowsFromReleasesAndInstances)
{
	const struct {
		std::uint64_t releases, unmatched, instances, handed;
		ls_semaphore_use use;
	} cases[] = {
		{0, 0, 0, 0, LS_SEMAPHORE_LOCK},
		{1, 0, 1, 0, LS_SEMAPHORE_LOCK},
		{1000, 20, 1, 1, LS_SEMAPHORE_LOCK},
		{1000, 21, 1, 1, LS_SEMAPHORE_MIXED},
		{49, 1, 1, 1, LS_SEMAPHORE_MIXED},
		{50, 1, 1, 1, LS_SEMAPHORE_LOCK},
		/* Nothing ever showed that it is a lock. */
		{1, 1, 1, 1, LS_SEMAPHORE_SIGNAL},
		{2, 2, 0, 0, LS_SEMAPHORE_SIGNAL},
		{20, 17, 1, 1, LS_SEMAPHORE_SIGNAL},
		/* Mostly released by their takers, and yet nearly all handed over once. */
		{100000, 900, 100, 90, LS_SEMAPHORE_SIGNAL},
		{100000, 900, 100, 15, LS_SEMAPHORE_MIXED},
		/* A load with little asynchronous I/O: xfs_buf.b_sema. */
		{34612, 624, 273, 196, LS_SEMAPHORE_SIGNAL},
		{34612, 624, 273, 136, LS_SEMAPHORE_MIXED},
		/* Few releases, but of more than one instance in 50, and of three at least. */
		{34612, 6, 273, 6, LS_SEMAPHORE_MIXED},
		{34612, 5, 273, 5, LS_SEMAPHORE_LOCK},
		{192, 3, 8, 3, LS_SEMAPHORE_MIXED},
		{192, 2, 8, 2, LS_SEMAPHORE_LOCK},
		/* Acquired and released once more by the task that frees it: xlog_in_core.ic_sema. */
		{860, 620, 240, 45, LS_SEMAPHORE_SIGNAL},
		{5, 3, 1, 1, LS_SEMAPHORE_MIXED},
		/* Many that go either way decide nothing. */
		{2000, 900, 1000, 150, LS_SEMAPHORE_MIXED},
		{2000, 200, 1000, 150, LS_SEMAPHORE_MIXED},
		{~std::uint64_t{0}, 1000, 0, 0, LS_SEMAPHORE_LOCK},
	};

	for (const auto &c : cases)
		EXPECT_EQ(ls_semaphore_used(c.releases, c.unmatched, c.instances, c.handed), c.use)
			<< c.unmatched << " of " << c.releases << ", " << c.handed << " of "
			<< c.instances;
}

TEST(Semaphore, DoubtedWhereARuleIsRefuted)
{
	EXPECT_TRUE(ls_semaphore_doubted(458, 130, 328, 16)) << "xlog_in_core.ic_sema";
	EXPECT_TRUE(ls_semaphore_doubted(20655, 1382, 676, 279)) << "xfs_buf.b_sema";
	EXPECT_FALSE(ls_semaphore_doubted(1000, 21, 1, 1));
	EXPECT_FALSE(ls_semaphore_doubted(1000, 200, 100, 20)) << "a fifth";
	EXPECT_FALSE(ls_semaphore_doubted(50, 1, 2, 2)) << "too few";
	EXPECT_FALSE(ls_semaphore_doubted(0, 0, 0, 0));
}

TEST(Semaphore, InstancesDecideAsWell)
{
	ls_class cls{};
	std::uint32_t changes = 0;

	/* One that is handed over decides nothing, however often. */
	for (int i = 0; i < 10; i++)
		changes += ls_semaphore_instance(&cls, i == 0, i == 0);
	EXPECT_EQ(cls.marks, 0);
	for (int i = 0; i < 2; i++)
		changes += ls_semaphore_instance(&cls, true, true);
	EXPECT_EQ(cls.marks, LS_CLASS_HANDED);
	for (int i = 0; i < 30; i++)
		changes += ls_semaphore_instance(&cls, true, false);
	EXPECT_EQ(cls.marks, 0);
	EXPECT_EQ(changes, 2u);
	EXPECT_EQ(cls.instances, 33u);
	EXPECT_EQ(cls.handed, 3u);
}

TEST(Semaphore, ManyInstancesKeepTheirShare)
{
	ls_class table[2] = {};
	ls_classes all{};
	ls_class_counts counts;

	all.table = table;
	table[1].state = LS_CLASS_READY;
	table[1].releases = 1;
	table[1].instances = 400000;
	table[1].handed = 100000;
	ASSERT_TRUE(ls_classes_counts(&all, 1, &counts));
	EXPECT_EQ(counts.instances, 50000);
	EXPECT_EQ(counts.handed, 12500);
	ls_class_counts_clear(&table[1]);
	EXPECT_EQ(table[1].instances + table[1].handed, 0u);
}

TEST(Semaphore, CountsAreHandedOutAndForgotten)
{
	ls_class table[2] = {};
	ls_classes all{};
	ls_class_counts counts;

	all.table = table;
	table[1].state = LS_CLASS_READY;
	table[1].marks = LS_CLASS_SAME;
	EXPECT_FALSE(ls_classes_counts(&all, 1, &counts)) << "nothing counted";
	for (int i = 0; i < 3; i++) {
		ls_semaphore_released(&table[1], false);
		ls_semaphore_instance(&table[1], true, true);
	}
	table[1].nested[LS_NEST_BACK] = 7;
	ASSERT_TRUE(ls_classes_counts(&all, 1, &counts));
	EXPECT_EQ(counts.id, 1u);
	EXPECT_EQ(counts.unmatched_releases, 3u);
	EXPECT_EQ(counts.nested[LS_NEST_BACK], 7u);
	ls_class_counts_clear(&table[1]);
	EXPECT_FALSE(ls_classes_counts(&all, 1, &counts));
	EXPECT_EQ(table[1].marks, LS_CLASS_SAME) << "a signal no more, all else as it was";
	table[1].releases = 1;
	table[1].state = LS_CLASS_HOLE;
	EXPECT_FALSE(ls_classes_counts(&all, 1, &counts));
}

} // namespace
} // namespace lockscope::test
