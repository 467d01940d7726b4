// SPDX-License-Identifier: GPL-2.0
extern "C" {
#include "lockclass/states.h"
}

#include <gtest/gtest.h>

namespace {

class States : public testing::Test {
protected:
	bool meet(ls_state state, std::uint64_t lock, std::uint32_t sight, bool read = false)
	{
		const ls_state_side side{lock, sight, read};
		return ls_states_meet(&states, state, &side, &other);
	}

	ls_states states{};
	ls_u32 other = 0;
};

} // namespace

TEST_F(States, OneInstanceInBothStatesIsADeadlock)
{
	EXPECT_FALSE(meet(LS_STATE_ON, 1, 10));
	EXPECT_FALSE(meet(LS_STATE_IN, 2, 11));
	EXPECT_TRUE(meet(LS_STATE_IN, 1, 12));
	EXPECT_EQ(other, 10u);
}

TEST_F(States, InstancesThatKeepToOneStateAreNone)
{
	for (std::uint32_t i = 1; i < 1000; i++) {
		EXPECT_FALSE(meet(LS_STATE_ON, 2 * i, i));
		EXPECT_FALSE(meet(LS_STATE_IN, 2 * i + 1, i));
		EXPECT_FALSE(meet(LS_STATE_IN, 2 * i + 1, i));
	}
}

TEST_F(States, ReadersDoNotWaitForReaders)
{
	EXPECT_FALSE(meet(LS_STATE_ON, 1, 10, true));
	EXPECT_FALSE(meet(LS_STATE_IN, 1, 11, true));
	EXPECT_TRUE(meet(LS_STATE_ON, 1, 12));
	EXPECT_EQ(other, 11u);
}

TEST_F(States, AWriterReplacesTheReaderOfItsInstance)
{
	EXPECT_FALSE(meet(LS_STATE_IN, 1, 10, true));
	EXPECT_FALSE(meet(LS_STATE_IN, 1, 11));
	EXPECT_TRUE(meet(LS_STATE_ON, 1, 12, true));
	EXPECT_EQ(other, 11u);
}

TEST_F(States, TheLatestInstancesAreKept)
{
	for (std::uint32_t i = 1; i <= LS_STATE_SIDES + 1; i++)
		EXPECT_FALSE(meet(LS_STATE_ON, i, 100 + i));
	EXPECT_FALSE(meet(LS_STATE_IN, 1, 1)) << "replaced";
	EXPECT_TRUE(meet(LS_STATE_IN, 2, 2));
	EXPECT_TRUE(meet(LS_STATE_IN, LS_STATE_SIDES + 1, 3));
	EXPECT_EQ(other, 100u + LS_STATE_SIDES + 1);
}
