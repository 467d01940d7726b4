// SPDX-License-Identifier: GPL-2.0
// Which memory is watched, and what code that seldom runs brings into the watch.
#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kBlock = 1ull << LS_BLOCK_SHIFT;
constexpr std::uint64_t kBase = 0xffff888000000000ull;

struct Sample : ls_sample {
	Sample() : ls_sample{} { ls_sample_era(this); }
	bool has(std::uint64_t addr) const { return ls_sample_has(this, addr); }
	std::uint32_t term(std::uint64_t addr) const { return ls_sample_term(this, addr); }

	// What a source of accesses does. Is the access seen?
	bool access(std::uint64_t addr, std::uint64_t ip, bool last = false)
	{
		if (!has(addr)) {
			if (!ls_sample_is_cold(this, ip))
				return false;
			ls_sample_turn(this, ip);
			ls_sample_take(this, addr);
		}
		if (!ls_sample_lasts(this, addr))
			ls_sample_spend(this, addr, last);
		return true;
	}
	std::uint32_t watched_blocks() const
	{
		std::uint32_t sum = 0;

		for (auto word : watched)
			sum += std::popcount(word);
		return sum;
	}
};

// An address whose block is not watched.
std::uint64_t unwatched(const Sample &s)
{
	std::uint64_t at = kBase;

	while (s.has(at))
		at += kBlock;
	return at;
}

TEST(Sample, NothingIsWatchedBeforeTheFirstEpoch)
{
	Sample s;

	s.open = 0;
	EXPECT_EQ(s.watched_blocks(), 0u);
	EXPECT_FALSE(s.access(kBase, 1));
}

TEST(Sample, AShareOfOneIsAllMemoryForGood)
{
	Sample s;

	ls_sample_epoch(&s, 1, 0, false);
	EXPECT_EQ(s.watched_blocks(), LS_BLOCKS);
	for (int i = 0; i < 3 * LS_TERM_ACCESSES; i++)
		ASSERT_TRUE(s.access(kBase, 1));
}

TEST(Sample, APageOfAnObjectIsWatchedWithItsOthers)
{
	Sample s;

	ls_sample_epoch(&s, 16, 3, false);
	for (std::uint64_t block = 0; block < 200; block++)
		for (std::uint64_t at = 0; at < kBlock; at += 4096)
			EXPECT_EQ(s.has(kBase + block * kBlock),
				  s.has(kBase + block * kBlock + at));
}

TEST(Sample, EachBlockHasItsTurnOnceInAllPhases)
{
	Sample s;

	for (std::uint32_t share : {2u, 16u, LS_BLOCKS}) {
		for (std::uint64_t block = 0; block < 20; block++) {
			std::uint32_t turns = 0;

			for (std::uint32_t phase = 0; phase < share; phase++) {
				ls_sample_epoch(&s, share, phase, false);
				EXPECT_EQ(s.watched_blocks(), LS_BLOCKS / share);
				turns += s.has(kBase + block * kBlock);
			}
			EXPECT_EQ(turns, 1u);
		}
	}
}

TEST(Sample, ColdCodeBringsInWhatItAccessesAndOthersAreSeenThereToo)
{
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	const auto at = unwatched(s);
	EXPECT_TRUE(s.access(at, 1));
	ls_sample_turn(&s, 2); // code that may bring in nothing now
	EXPECT_FALSE(ls_sample_is_cold(&s, 2));
	EXPECT_TRUE(s.access(at + 8, 2));
}

TEST(Sample, WhatWasTakenInGoesAfterSoManyAccesses)
{
	Sample s;
	int seen = 0;

	ls_sample_epoch(&s, 16, 0, true);
	const auto at = unwatched(s);
	while (s.access(at, 1) && seen < 10 * LS_TERM_ACCESSES)
		seen++;
	EXPECT_EQ(seen, LS_TERM_ACCESSES);
	EXPECT_FALSE(s.has(at));
}

TEST(Sample, TheLastAccessThatACpuHasLeftEndsATerm)
{
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	const auto at = unwatched(s);
	EXPECT_TRUE(s.access(at, 1));
	EXPECT_TRUE(s.access(at, 1, true));
	EXPECT_FALSE(s.has(at));
}

TEST(Sample, TheShareIsUsedUpLater)
{
	Sample s;
	int seen = 0;

	ls_sample_epoch(&s, 16, 0, true);
	std::uint64_t at = kBase;
	while (!s.has(at))
		at += kBlock;
	for (; s.has(at) && seen < 10 * LS_SHARE_ACCESSES; seen++)
		ls_sample_spend(&s, at, false);
	EXPECT_EQ(seen, LS_SHARE_ACCESSES);
}

TEST(Sample, SoManyBlocksAreTakenInInAnEraAndNoMore)
{
	Sample s;

	ls_sample_epoch(&s, LS_BLOCKS, 0, true);
	const auto before = s.watched_blocks();
	for (std::uint64_t i = 0; i < 100; i++)
		s.access(kBase + i * kBlock, 1 + i);
	EXPECT_GT(s.watched_blocks(), before);
	EXPECT_LE(s.watched_blocks(), before + LS_ERA_BLOCKS);
}

TEST(Sample, AnotherTermHasAnotherNumber)
{
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	const auto at = unwatched(s);
	ASSERT_TRUE(s.access(at, 1));
	const auto first = s.term(at);
	ls_sample_spend(&s, at, true);
	ASSERT_TRUE(s.access(at, 2));
	EXPECT_NE(s.term(at), first);
	ls_sample_epoch(&s, 1, 0, false);
	EXPECT_NE(s.term(at), first);
}

TEST(Sample, HotCodeWaitsLongerEachTimeAndNoLongerThanTheLimit)
{
	Sample s;
	std::uint32_t turns = 0, wait = 0, longest = 0;

	ls_sample_epoch(&s, 16, 0, true);
	for (int era = 0; era < 1000; era++, ls_sample_era(&s)) {
		if (!ls_sample_is_cold(&s, 1)) {
			longest = std::max(longest, ++wait);
			continue;
		}
		ls_sample_turn(&s, 1);
		wait = 0;
		turns++;
		EXPECT_FALSE(ls_sample_is_cold(&s, 1));
	}
	EXPECT_EQ(longest + 1, 1u << LS_MAX_BACKOFF);
	EXPECT_LE(turns, LS_MAX_BACKOFF + 1000u / (1 << LS_MAX_BACKOFF) + 1);
}

TEST(Sample, CodeThatWasAwayIsColdAgain)
{
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	for (int era = 0; era < 500; era++, ls_sample_era(&s))
		if (ls_sample_is_cold(&s, 1))
			ls_sample_turn(&s, 1);
	for (int era = 0; era < 3 << LS_MAX_BACKOFF; era++)
		ls_sample_era(&s);
	ASSERT_TRUE(ls_sample_is_cold(&s, 1));
	ls_sample_turn(&s, 1);
	ls_sample_era(&s);
	EXPECT_TRUE(ls_sample_is_cold(&s, 1));
}

TEST(Sample, NothingIsTakenInUntilTheNextEraOnceItIsClosed)
{
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	s.open = 0;
	EXPECT_FALSE(s.access(unwatched(s), 1));
	ls_sample_era(&s);
	EXPECT_TRUE(s.access(unwatched(s), 1));
	EXPECT_EQ(s.taken, 1u);
	ls_sample_era(&s);
	EXPECT_EQ(s.taken, 0u);
}

// For any order of code and memory: no access of a term is checked after another one of that
// term was missed.
TEST(Sample, TermsHaveNoGaps)
{
	std::mt19937_64 random(7);
	std::map<std::uint32_t, std::uint32_t> missed; // block -> its term when one was
	std::uint32_t seen = 0;
	Sample s;

	ls_sample_epoch(&s, 16, 0, true);
	for (int step = 0; step < 300000; step++) {
		const std::uint64_t at = kBase + random() % 40 * kBlock;
		const auto block = ls_block(at);

		if (random() % 20000 == 0)
			ls_sample_era(&s);
		if (random() % 70000 == 0)
			ls_sample_epoch(&s, 16, random() % 16, true);
		if (!s.access(at, 1 + random() % 50, random() % 200 == 0)) {
			missed[block] = s.term(at);
			continue;
		}
		seen++;
		EXPECT_FALSE(missed.contains(block) && missed[block] == s.term(at))
			<< "step " << step;
	}
	EXPECT_GT(seen, 10000u);
	EXPECT_LT(seen, 290000u);
}

} // namespace
} // namespace lockscope::test
