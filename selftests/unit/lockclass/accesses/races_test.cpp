// SPDX-License-Identifier: GPL-2.0
// Which races are one.

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

class RacesTest : public ::testing::Test {
protected:
	RacesTest() : memory_(ls_tagtab_bytes(8)) { ls_tagtab_init(&reported_, memory_.get(), 8); }

	struct Side {
		std::uint64_t function = 0x1000;
		std::uint32_t op = LS_ACC_WRITE, offset = 0, size = 4, data = 1, line = 16;
	};
	ls_race_result take(const Side &a, const Side &b, std::uint32_t flags = 0)
	{
		ls_rec_access access[2]{};
		ls_race_place side[2];

		for (int i = 0; i < 2; i++) {
			const Side &s = i ? b : a;
			access[i].ip = s.function + s.line;
			access[i].op = static_cast<__u16>(s.op);
			access[i].size = static_cast<__u16>(s.size);
			access[i].offset = s.offset;
			access[i].data = s.data;
			side[i] = {&access[i], s.function};
		}
		id = next;
		const auto news = ls_race_take(&reported_, &side[0], &side[1], flags, &id);
		if (news == LS_RACE_NEW)
			next++;
		return news;
	}

	ls_u32 id = 0, next = 1;

private:
	Zeroed memory_;
	ls_tagtab reported_{};
};

TEST_F(RacesTest, TwoFunctionsAndAMemberAreOneRace)
{
	const Side a, b{.function = 0x2000};

	EXPECT_EQ(take(a, b), LS_RACE_NEW);
	EXPECT_EQ(take(b, a), LS_RACE_KNOWN);
	EXPECT_EQ(take({.line = 32}, b), LS_RACE_KNOWN);
	EXPECT_EQ(take(a, {.function = 0x3000}), LS_RACE_NEW);
	EXPECT_EQ(id, 2u);
	EXPECT_EQ(take({.offset = 8, .line = 48}, {.function = 0x2000, .offset = 8, .line = 48}),
		  LS_RACE_NEW);
}

TEST_F(RacesTest, BytesOfAWiderMemberAreThatMember)
{
	const Side wide{.size = 8};

	EXPECT_EQ(take(wide, {.function = 0x2000, .offset = 1, .size = 1, .line = 16}),
		  LS_RACE_NEW);
	EXPECT_EQ(take({.function = 0x2000, .offset = 5, .size = 1, .line = 32}, wide),
		  LS_RACE_KNOWN);
}

TEST_F(RacesTest, TwoInstructionsAtSeveralPlacesAreElements)
{
	EXPECT_EQ(take({.offset = 0}, {.function = 0x2000, .offset = 0}), LS_RACE_NEW);
	EXPECT_EQ(take({.offset = 64}, {.function = 0x2000, .offset = 64}), LS_RACE_KNOWN);
}

TEST_F(RacesTest, CaughtInTheActIsMoreOfTheSame)
{
	const Side a, b{.function = 0x2000};

	EXPECT_EQ(take(a, b), LS_RACE_NEW);
	EXPECT_EQ(take(a, b, LS_RACE_CAUGHT), LS_RACE_MORE);
	EXPECT_EQ(id, 1u);
	EXPECT_EQ(take(a, b, LS_RACE_CAUGHT), LS_RACE_KNOWN);
}

// The first one may be a note that a marked side makes of it, or be demoted as a reader's.
TEST_F(RacesTest, AWorseOneOfTheSameFunctionsIsMore)
{
	const Side reader{.op = LS_ACC_READ}, writer{.function = 0x2000};

	EXPECT_EQ(take(reader, writer), LS_RACE_NEW);
	EXPECT_EQ(take({.line = 32}, writer), LS_RACE_MORE);
	EXPECT_EQ(id, 1u);
	EXPECT_EQ(take({.line = 32}, writer), LS_RACE_KNOWN);
	EXPECT_EQ(take({.size = 8, .line = 48}, writer), LS_RACE_MORE);
	EXPECT_EQ(take({.op = LS_ACC_READ, .size = 8, .line = 64}, writer), LS_RACE_MORE);
	EXPECT_EQ(take({.op = LS_ACC_READ, .size = 8, .line = 64}, writer), LS_RACE_KNOWN);
	EXPECT_EQ(take(reader, writer), LS_RACE_KNOWN);
	EXPECT_EQ(next, 2u);
}

TEST_F(RacesTest, AtomicIsMarkedAndPlainIsNot)
{
	const Side writer{.function = 0x2000};

	EXPECT_EQ(take({.op = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC}, writer), LS_RACE_NEW);
	EXPECT_EQ(take({.op = LS_ACC_READ | LS_ACC_WRITE, .line = 32}, writer), LS_RACE_NEW);
}

TEST_F(RacesTest, OneThatFindsNoRoomIsNotForgottenSilently)
{
	int lost = 0;

	for (std::uint32_t i = 0; i < 1000; i++)
		lost += take({.function = 0x10000u * i}, {.function = 0x2000}) == LS_RACE_NO_ROOM;
	EXPECT_GT(lost, 0);
}

} // namespace
} // namespace lockscope::test
