// SPDX-License-Identifier: GPL-2.0
// The shadow of memory against Eraser with all it ever saw, over random programs.
#include <random>

#include <gtest/gtest.h>

#include "shadow_program.h"

namespace lockscope::test {
namespace {

// Of the bits of an operation, those that are drawn: with fewer contexts, sites or
// sizes a granule lives long with few parties, or with one.
constexpr std::uint16_t kHabits[] = {0xffff, 0x07f0, 0x01f0, 0xc110, 0x38f0, 0x0310, 0xc300};

ShadowProgram random_program(std::uint32_t seed, std::size_t length, std::uint16_t habits)
{
	std::mt19937 random(seed);
	ShadowProgram program;

	for (std::size_t i = 0; i < length; i++) {
		const std::uint32_t bits = random();
		// Which kind it is stays open: otherwise nothing would be touched.
		program.push_back(
			shadow_op(static_cast<std::uint8_t>(bits & ((habits & 0xf0) | 0x0f)),
				  static_cast<std::uint8_t>(bits >> 8 & habits >> 8)));
	}
	return program;
}

void agree(ShadowMode mode, std::uint32_t rounds)
{
	for (std::uint32_t seed = 0; seed < rounds; seed++) {
		const std::uint16_t habits = kHabits[seed % std::size(kHabits)];
		const ShadowProgram program = random_program(seed, 20 + seed % 120, habits);
		const std::string wrong = disagreement(program, mode);

		ASSERT_EQ(wrong, "") << "seed " << seed << ", at least this is needed:\n"
				     << to_text(shrunk(program, mode));
	}
}

TEST(ShadowAgainstEraser, StatesCandidatesAndRacesAgree)
{
	agree({}, 1500);
}

TEST(ShadowAgainstEraser, WithoutRoomForLocksetsNothingIsInvented)
{
	agree({.tight = true}, 800);
}

TEST(ShadowAgainstEraser, WhatIsHandedOverIsDoneWith)
{
	agree({.ordered = true}, 800);
}

TEST(ShadowAgainstEraser, PassingOnHidesButInventsNothing)
{
	agree({.pass_on = true}, 400);
	agree({.pass_on = true, .ordered = true}, 400);
	agree({.pass_on = true, .ordered = true, .tight = true}, 400);
}

// Programs are to reach everything: what never comes up would agree, too.
TEST(ShadowAgainstEraser, RandomProgramsReachWhatIsCompared)
{
	ShadowTally plain, ordered, tight;

	for (std::uint32_t seed = 0; seed < 300; seed++) {
		const ShadowProgram program =
			random_program(seed, 100, kHabits[seed % std::size(kHabits)]);

		disagreement(program, {}, &plain);
		disagreement(program, {.ordered = true}, &ordered);
		disagreement(program, {.tight = true}, &tight);
	}
	for (int state : {LS_EXCLUSIVE_TO, LS_SHARED_READ, LS_SHARED_MODIFIED})
		EXPECT_GT(plain.states[state], 100u) << state;
	EXPECT_GT(plain.races, 200u);
	EXPECT_GT(plain.complete, 200u);
	EXPECT_GT(plain.again, 100u);
	EXPECT_GT(plain.guarded, 100u);
	EXPECT_EQ(plain.handed_over + plain.unknown, 0u);
	EXPECT_GT(ordered.handed_over, 100u);
	EXPECT_GT(tight.unknown, 100u);
	EXPECT_GT(tight.races, 100u);
}

} // namespace
} // namespace lockscope::test
