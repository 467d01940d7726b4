// SPDX-License-Identifier: GPL-2.0
// Which observations of a cycle's dependencies can be those of one deadlock.
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kA1 = 0x1000, kA2 = 0x1100, kB1 = 0x2000, kB2 = 0x2100, kC1 = 0x3000,
			kGate = 0x9000, kOther = 0x9100;
constexpr std::uint64_t kShared = 1;

ls_meeting_side side(std::uint64_t from, std::uint64_t to, std::vector<std::uint64_t> gates = {},
		     std::uint32_t kind = LS_DEP_EN)
{
	ls_meeting_side s{};
	s.from = from;
	s.to = to;
	s.kind = kind;
	for (auto gate : gates)
		s.gates[s.nr_gates++] = gate;
	return s;
}

using Sides = std::vector<std::vector<ls_meeting_side>>;

ls_meeting_result find(const Sides &sides, std::vector<std::uint32_t> *chosen = nullptr)
{
	ls_meeting m{};
	std::uint32_t at[LS_MEETING_EDGES] = {};
	m.nr_edges = static_cast<std::uint32_t>(sides.size());
	for (std::size_t e = 0; e < sides.size(); e++) {
		m.nr[e] = static_cast<std::uint32_t>(sides[e].size());
		m.sides[e] = sides[e].data();
	}
	const auto result = ls_meeting_find(&m, at);
	if (chosen)
		chosen->assign(at, at + sides.size());
	return result;
}

TEST(Meeting, TheSameTwoInstancesMeet)
{
	EXPECT_EQ(find({{side(kA1, kB1)}, {side(kB1, kA1)}}), LS_MEETING_FOUND);
}

TEST(Meeting, InstancesOnOneSideOnlyDoNot)
{
	EXPECT_EQ(find({{side(kA1, kB1)}, {side(kB2, kA1)}}), LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1)}, {side(kB1, kA2)}}), LS_MEETING_NONE);
}

TEST(Meeting, EachLockSeenOnBothSidesIsNotEnough)
{
	EXPECT_EQ(find({{side(kA1, kB1), side(kA2, kB2)}, {side(kB1, kA2), side(kB2, kA1)}}),
		  LS_MEETING_NONE);
}

TEST(Meeting, ALaterObservationIsChosen)
{
	std::vector<std::uint32_t> chosen;
	EXPECT_EQ(
		find({{side(kA1, kB1), side(kA2, kB2)}, {side(kB1, kA2), side(kB2, kA2)}}, &chosen),
		LS_MEETING_FOUND);
	EXPECT_EQ(chosen, (std::vector<std::uint32_t>{1, 1}));
}

TEST(Meeting, GlobalLocksAreTheirOwnInstance)
{
	EXPECT_EQ(find({{side(LS_INSTANCE_GLOBAL, kB1)}, {side(kB1, LS_INSTANCE_GLOBAL)}}),
		  LS_MEETING_FOUND);
}

TEST(Meeting, UnknownInstancesNeverMeet)
{
	EXPECT_EQ(find({{side(kA1, 0)}, {side(0, kA1)}}), LS_MEETING_NONE);
}

TEST(Meeting, AGateHeldExclusivelyOnOneSideKeepsThemApart)
{
	EXPECT_EQ(find({{side(kA1, kB1, {kGate})}, {side(kB1, kA1, {kOther, kGate})}}),
		  LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1, {kGate | kShared})}, {side(kB1, kA1, {kGate})}}),
		  LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1, {kGate | kShared})}, {side(kB1, kA1, {kGate | kShared})}}),
		  LS_MEETING_FOUND);
	EXPECT_EQ(find({{side(kA1, kB1, {kGate})}, {side(kB1, kA1, {kOther})}}), LS_MEETING_FOUND);
}

TEST(Meeting, OneObservationWithoutTheGateIsEnough)
{
	std::vector<std::uint32_t> chosen;
	EXPECT_EQ(find({{side(kA1, kB1, {kGate}), side(kA1, kB1)}, {side(kB1, kA1, {kGate})}},
		       &chosen),
		  LS_MEETING_FOUND);
	EXPECT_EQ(chosen[0], 1u);
}

TEST(Meeting, AGateOfAnySidesOfALongerCycleCounts)
{
	EXPECT_EQ(find({{side(kA1, kB1, {kGate})}, {side(kB1, kC1)}, {side(kC1, kA1, {kGate})}}),
		  LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1)}, {side(kB1, kC1)}, {side(kC1, kA1, {kGate})}}),
		  LS_MEETING_FOUND);
}

TEST(Meeting, ARecursiveReaderWaitsForNoReader)
{
	EXPECT_EQ(find({{side(kA1, kB1, {}, LS_DEP_ER)}, {side(kB1, kA1, {}, LS_DEP_SN)}}),
		  LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1, {}, LS_DEP_EN)}, {side(kB1, kA1, {}, LS_DEP_SN)}}),
		  LS_MEETING_FOUND);
	EXPECT_EQ(find({{side(kA1, kB1, {}, LS_DEP_ER)}, {side(kB1, kA1, {}, LS_DEP_EN)}}),
		  LS_MEETING_FOUND);
	// Around the end as well.
	EXPECT_EQ(find({{side(kA1, kB1, {}, LS_DEP_SN)}, {side(kB1, kA1, {}, LS_DEP_ER)}}),
		  LS_MEETING_NONE);
}

TEST(Meeting, NothingIsFoundInNothing)
{
	EXPECT_EQ(find({}), LS_MEETING_NONE);
	EXPECT_EQ(find({{side(kA1, kB1)}, {}}), LS_MEETING_NONE);
}

TEST(Meeting, TooManyCombinationsAreGivenUp)
{
	// Every path fits but for its last step, so all would have to be tried.
	Sides sides(LS_MEETING_EDGES);
	for (std::size_t e = 0; e < sides.size(); e++)
		sides[e].assign(112, side(LS_INSTANCE_GLOBAL,
					  e + 1 < sides.size() ? LS_INSTANCE_GLOBAL : kA1));
	EXPECT_EQ(find(sides), LS_MEETING_GIVEN_UP);
}

// Against all combinations, tried one by one.
bool meets(const Sides &sides)
{
	std::vector<std::size_t> at(sides.size());
	auto follows = [](const ls_meeting_side &a, const ls_meeting_side &b) {
		return a.to != 0 && a.to == b.from &&
		       !((a.kind == LS_DEP_ER || a.kind == LS_DEP_SR) &&
			 (b.kind == LS_DEP_SR || b.kind == LS_DEP_SN));
	};
	auto apart = [](const ls_meeting_side &a, const ls_meeting_side &b) {
		for (std::uint32_t i = 0; i < a.nr_gates; i++)
			for (std::uint32_t k = 0; k < b.nr_gates; k++)
				if ((a.gates[i] | 1) == (b.gates[k] | 1) &&
				    (a.gates[i] % 2 == 0 || b.gates[k] % 2 == 0))
					return true;
		return false;
	};
	for (;;) {
		bool good = true;
		for (std::size_t e = 0; e < sides.size() && good; e++) {
			good = follows(sides[e][at[e]],
				       sides[(e + 1) % sides.size()][at[(e + 1) % sides.size()]]);
			for (std::size_t i = 0; i < e && good; i++)
				good = !apart(sides[i][at[i]], sides[e][at[e]]);
		}
		if (good)
			return true;
		std::size_t e = 0;
		while (e < at.size() && ++at[e] == sides[e].size())
			at[e++] = 0;
		if (e == at.size())
			return false;
	}
}

TEST(Meeting, AgreesWithTryingEverything)
{
	std::mt19937 random(17);
	int found = 0;

	for (int round = 0; round < 20000; round++) {
		Sides sides(2 + random() % 3);
		for (auto &edge : sides)
			for (std::size_t i = 1 + random() % 4; i-- > 0;) {
				auto s = side(random() % 3 * 0x100, random() % 3 * 0x100, {},
					      1u << random() % 4);
				for (auto n = random() % 3; n-- > 0;)
					s.gates[s.nr_gates++] =
						0x9000 + random() % 3 * 0x100 + random() % 2;
				edge.push_back(s);
			}
		const bool expected = meets(sides);
		ASSERT_EQ(find(sides), expected ? LS_MEETING_FOUND : LS_MEETING_NONE) << round;
		found += expected;
	}
	EXPECT_GT(found, 1000);
	EXPECT_LT(found, 19000);
}

} // namespace
} // namespace lockscope::test
