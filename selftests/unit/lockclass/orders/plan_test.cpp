// SPDX-License-Identifier: GPL-2.0
// Gates: meetings of the sides of a deadlock, step by step and with random programs.
#include "core.h"

extern "C" {
#include "lockclass/plan.h"
}

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace {

constexpr ls_u64 kMs = 1000000;
constexpr ls_u64 kA = 0x1000, kB = 0x2000, kC = 0x3000;

/* Sites of plan p: side s begins at 16 * (p * 4 + s) + 1 and ends at the next one. */
ls_u64 first_site(unsigned int plan, unsigned int side)
{
	return 16 * (plan * LS_CONFIRM_SIDES + side) + 1;
}

struct Plans {
	explicit Plans(std::vector<ls_confirm_plan> wanted) : plans(std::move(wanted))
	{
		for (unsigned int p = 0; p < plans.size(); p++)
			for (unsigned int s = 0; s < plans[p].nr_sides; s++)
				for (__u8 role : {LS_CONFIRM_FIRST, LS_CONFIRM_LAST})
					if (role == LS_CONFIRM_FIRST ||
					    plans[p].flags[s] != LS_CONFIRM_ACCESS)
						points.push_back({first_site(p, s) + role,
								  static_cast<__u16>(p),
								  static_cast<__u8>(s), role, 0});
		EXPECT_TRUE(valid());
		meets = std::make_unique<ls_plan[]>(plans.size());
		ls_confirm_init(&confirm, meets.get(), plans.data(),
				static_cast<ls_u32>(plans.size()), points.data(),
				static_cast<ls_u32>(points.size()), 0);
	}
	bool valid() const
	{
		return ls_confirm_valid(plans.data(), static_cast<ls_u32>(plans.size()),
					points.data(), static_cast<ls_u32>(points.size()));
	}
	ls_plan &operator[](std::size_t i) { return meets[i]; }

	std::vector<ls_confirm_plan> plans;
	std::vector<ls_confirm_point> points;
	std::unique_ptr<ls_plan[]> meets;
	ls_confirm confirm{};
};

ls_confirm_plan sides(__u32 nr, int interrupted = -1)
{
	ls_confirm_plan plan{};
	plan.nr_sides = nr;
	if (interrupted >= 0)
		plan.flags[interrupted] = LS_CONFIRM_INTERRUPTED;
	return plan;
}

ls_confirm_plan race(__u32 nr)
{
	ls_confirm_plan plan{};
	plan.nr_sides = nr;
	for (__u32 i = 0; i < nr; i++)
		plan.flags[i] = LS_CONFIRM_ACCESS;
	return plan;
}

ls_confirm_plan deadly(__u32 nr)
{
	ls_confirm_plan plan{};
	plan.nr_sides = nr;
	for (__u32 i = 0; i < nr; i++)
		plan.flags[i] = LS_CONFIRM_DEADLY;
	return plan;
}

/* @task holds @first and is about to acquire @last, and waits. */
bool stand(ls_plan &m, ls_u32 side, ls_u64 task, ls_u64 first, ls_u64 last)
{
	const ls_gate_object at{last, 0, 0, 0, first};
	return ls_gate_enter(&m, side, task, 0, &at, kMs);
}

/* @task is about to acquire @lock. */
bool enter(ls_plan &m, ls_u32 side, ls_u64 task, ls_u32 cpu, ls_u64 lock, ls_u64 now)
{
	const ls_gate_object at{lock, 0, 0, 0, 0};
	return ls_gate_enter(&m, side, task, cpu, &at, now);
}

/* Locksets of one number are of one lock, 0 is empty. */
bool apart(ls_u32 a, ls_u32 b)
{
	return a && a == b;
}

TEST(Plan, FindsPointsOfEachSite)
{
	Plans p({sides(2), sides(3)});
	EXPECT_EQ(ls_confirm_find(&p.confirm, 0x999999), 0u);
	const auto at = ls_confirm_find(&p.confirm, first_site(1, 2) + 1);
	ASSERT_NE(at, 0u);
	EXPECT_EQ(p.points[at - 1].plan, 1);
	EXPECT_EQ(p.points[at - 1].side, 2);
	EXPECT_EQ(p.points[at - 1].role, LS_CONFIRM_LAST);
	EXPECT_EQ(ls_confirm_next(&p.confirm, at), 0u);
	EXPECT_TRUE(ls_confirm_begins(&p.confirm, 1, 2, first_site(1, 2)));
	EXPECT_TRUE(ls_confirm_begins(&p.confirm, 1, LS_CONFIRM_SIDES, first_site(1, 2)));
	EXPECT_FALSE(ls_confirm_begins(&p.confirm, 1, 1, first_site(1, 2)));
	EXPECT_FALSE(ls_confirm_begins(&p.confirm, 0, 2, first_site(1, 2)));
	EXPECT_FALSE(ls_confirm_begins(&p.confirm, 1, 2, first_site(1, 2) + 1));
}

TEST(Plan, RefusesWhatIsOutOfRange)
{
	Plans good({sides(2), sides(1, 0)});
	const auto refused = [&](auto change) {
		Plans bad({sides(2), sides(1, 0)});
		change(bad);
		return !bad.valid();
	};
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].nr_sides = 0; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].nr_sides = LS_CONFIRM_SIDES + 1; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].nr_sides = 1; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].nr_sides = 3; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].pad = 1; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[0] = 2; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[3] = LS_CONFIRM_INTERRUPTED; }));
	EXPECT_TRUE(refused([](Plans &p) {
		p.plans[0].flags[0] = p.plans[0].flags[1] = LS_CONFIRM_INTERRUPTED;
	}));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].ip = 0; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].pad = 1; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].plan = 2; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].side = 2; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].role = 2; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points[0].role = LS_CONFIRM_LAST; }));
	EXPECT_TRUE(refused([](Plans &p) { p.points.clear(); }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans.clear(); }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[0] = 3; }));

	Plans races({race(2), race(1), sides(2)});
	const auto no_race = [&](auto change) {
		Plans bad({race(2), race(1), sides(2)});
		change(bad);
		return !bad.valid();
	};
	EXPECT_TRUE(no_race([](Plans &p) { p.plans[0].flags[1] = 0; }));
	EXPECT_TRUE(no_race([](Plans &p) { p.plans[0].flags[1] = LS_CONFIRM_INTERRUPTED; }));
	EXPECT_TRUE(no_race([](Plans &p) { p.plans[0] = race(3); })) << "three sides";
	EXPECT_TRUE(no_race([](Plans &p) { p.points[1].role = LS_CONFIRM_LAST; }));
	EXPECT_TRUE(no_race([](Plans &p) { p.points[1].side = 0; })) << "a side without sites";
}

TEST(Plan, ADeadlyPlanIsDeadlyOnAllSides)
{
	Plans good({deadly(2), deadly(LS_CONFIRM_SIDES)});
	EXPECT_EQ(ls_gate_patience(&good[0], 0, LS_GATE_SLEEP, kMs), 100 * kMs);
	EXPECT_EQ(ls_gate_patience(&good[0], 1, LS_GATE_SPIN, kMs), 20 * kMs);
	const auto refused = [&](auto change) {
		Plans bad({deadly(2)});
		change(bad);
		return !bad.valid();
	};
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[1] = 0; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[1] = LS_CONFIRM_INTERRUPTED; }));
	EXPECT_TRUE(refused([](Plans &p) { p.plans[0].flags[0] = LS_CONFIRM_DEADLY | 1; }));
	EXPECT_TRUE(refused([](Plans &p) {
		p.plans[0] = deadly(1);
		p.points.resize(2);
	})) << "one side makes no ring";
}

TEST(Plan, ADeadlyPlanOpensWhenTheRingIsWhole)
{
	Plans p({deadly(2), deadly(3)});
	ls_plan &m = p[0];
	EXPECT_EQ(ls_gate_ring(&m, 0, 1, kA, kB), LS_GATE_NOTHING) << "alone";
	ASSERT_TRUE(stand(m, 0, 1, kA, kB));
	EXPECT_EQ(ls_gate_ring(&m, 1, 2, kC, kA), LS_GATE_NOTHING) << "it does not hold B";
	EXPECT_EQ(ls_gate_ring(&m, 1, 2, kB, kC), LS_GATE_NOTHING) << "it does not want A";
	EXPECT_EQ(ls_gate_ring(&m, 1, 1, kB, kA), LS_GATE_NOTHING) << "the same task";
	EXPECT_FALSE(ls_gate_opened(&m, 0));
	ASSERT_EQ(ls_gate_ring(&m, 1, 2, kB, kA), LS_GATE_MET);
	EXPECT_TRUE(ls_plan_records(&m));
	ls_gate_open(&m, 1, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_opened(&m, 0));
	EXPECT_EQ(m.state.confirmed, 3u);
	EXPECT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs));
	EXPECT_EQ(ls_gate_ring(&m, 1, 2, kB, kA), LS_GATE_NOTHING) << "once is enough";
	EXPECT_EQ(ls_gate_patience(&m, 1, LS_GATE_SLEEP, kMs), 0u);

	ls_plan &three = p[1];
	ASSERT_TRUE(stand(three, 0, 1, kA, kB));
	EXPECT_EQ(ls_gate_ring(&three, 2, 3, kC, kA), LS_GATE_NOTHING);
	ASSERT_TRUE(stand(three, 2, 3, kC, kA));
	EXPECT_EQ(ls_gate_ring(&three, 1, 2, kB, kA), LS_GATE_NOTHING) << "a ring without it";
	ASSERT_EQ(ls_gate_ring(&three, 1, 2, kB, kC), LS_GATE_MET);
	ls_gate_open(&three, 1, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_opened(&three, 0) && ls_gate_opened(&three, 2));
	EXPECT_EQ(three.state.confirmed, 7u);
}

/* Both may begin to wait before either looks for the other one again. */
TEST(Plan, DeadlySidesThatWaitAtOnceFindEachOther)
{
	Plans p({deadly(2)});
	ls_plan &m = p[0];
	ASSERT_TRUE(stand(m, 0, 1, kA, kB));
	ASSERT_TRUE(stand(m, 1, 2, kB, kA));
	ASSERT_EQ(ls_gate_ring(&m, 0, 1, kA, kB), LS_GATE_MET);
	ls_gate_open(&m, 0, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_leave(&m, 1, LS_GATE_SLEEP, 2 * kMs));
	EXPECT_FALSE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs))
		<< "it found the other one itself";
	EXPECT_EQ(m.state.confirmed, 3u);
}

/* An access waits until the other side is about to access one of its bytes. */
TEST(Plan, AccessesMeetAtTheSameBytes)
{
	Plans p({race(2)});
	ls_plan &m = p[0];
	const ls_gate_object waits{kA + 4, 4, LS_ACC_WRITE, 5, 0};
	const auto arrives = [&](ls_gate_object at, ls_u64 task = 2) {
		return ls_gate_access(&m, 1, task, &at, apart);
	};
	ASSERT_GT(ls_gate_patience(&m, 0, LS_GATE_SLEEP, kMs), 0u);
	ASSERT_GT(ls_gate_patience(&m, 1, LS_GATE_SLEEP, kMs), 0u)
		<< "the other may be an interrupt";
	ASSERT_TRUE(ls_gate_enter(&m, 0, 1, 0, &waits, kMs));
	EXPECT_EQ(arrives({kA, 4, LS_ACC_WRITE, 0, 0}), LS_GATE_NOTHING) << "the bytes before";
	EXPECT_EQ(arrives({kA + 8, 4, LS_ACC_WRITE, 0, 0}), LS_GATE_NOTHING) << "the bytes behind";
	EXPECT_EQ(m.state.sides[0].strangers, 1u) << "in one wait";
	EXPECT_EQ(arrives({kA + 4, 4, LS_ACC_WRITE, 5, 0}), LS_GATE_NOTHING) << "one lock";
	EXPECT_EQ(arrives({kA + 4, 4, LS_ACC_WRITE, 0, 0}, 1), LS_GATE_NOTHING) << "itself";
	ASSERT_EQ(arrives({kA, 8, LS_ACC_READ, 6, 0}), LS_GATE_MET);
	ls_gate_open(&m, 1, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_opened(&m, 0));
	EXPECT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs));
	EXPECT_EQ(m.state.confirmed, 0u);
	ls_gate_prove(&m, 0);
	EXPECT_EQ(m.state.confirmed, 2u) << "side 1 was the one that arrived";
	EXPECT_EQ(ls_gate_patience(&m, 1, LS_GATE_SLEEP, 9 * kMs), 0u) << "nothing is left";
	EXPECT_EQ(m.state.sides[0].met, 1u);
	EXPECT_EQ(m.gates[0].state, LS_GATE_FREE);
}

TEST(Plan, AccessesThatDoNotConflictDoNotMeet)
{
	const ls_u32 plain = LS_ACC_WRITE, read = LS_ACC_READ,
		     marked = LS_ACC_WRITE | LS_ACC_MARKED,
		     atomic = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC;
	const struct {
		ls_u32 a, b;
		ls_gate_arrival met;
	} cases[] = {
		{read, read, LS_GATE_NOTHING},
		{read, plain, LS_GATE_MET},
		{plain, read, LS_GATE_MET},
		{marked, atomic, LS_GATE_NOTHING},
		{marked, plain, LS_GATE_MET},
		{atomic, read, LS_GATE_MET},
		{marked, LS_ACC_READ | LS_ACC_MARKED, LS_GATE_NOTHING},
	};
	for (const auto &c : cases) {
		Plans p({race(1)});
		const ls_gate_object waits{kA, 8, c.a, 0, 0}, comes{kA, 8, c.b, 0, 0};
		ASSERT_TRUE(ls_gate_enter(&p[0], 0, 1, 0, &waits, kMs));
		EXPECT_EQ(ls_gate_access(&p[0], 0, 2, &comes, apart), c.met) << c.a << " " << c.b;
	}
}

/* The whole way of an ABBA: A -> B waits at its gate, B -> A comes. */
TEST(Plan, TwoSidesMeetInBothDirections)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	EXPECT_EQ(m.turn, 1u);
	EXPECT_GT(ls_gate_patience(&m, 0, LS_GATE_SLEEP, kMs), 0u);
	EXPECT_EQ(ls_gate_patience(&m, 1, LS_GATE_SLEEP, kMs), 0u) << "it has the turn to arrive";

	ASSERT_TRUE(enter(m, 0, 1, 0, kA, kMs));
	EXPECT_FALSE(enter(m, 0, 3, 0, kA, kMs)) << "one at a time";
	EXPECT_FALSE(ls_gate_opened(&m, 0));
	EXPECT_EQ(ls_gate_arrive(&m, 1, 2, kB, kA), LS_GATE_MET);
	ls_gate_open(&m, 1, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_opened(&m, 0));
	EXPECT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs));
	EXPECT_EQ(m.state.confirmed, 0u) << "it may still take another lock";
	EXPECT_EQ(ls_gate_watch(&m, 0, 3, kA, kB), LS_GATE_UNWATCHED) << "another task";
	EXPECT_EQ(ls_gate_watch(&m, 0, 1, kA, kB), LS_GATE_PROVEN);
	ls_gate_prove(&m, 0);
	EXPECT_EQ(m.state.confirmed, 2u) << "side 1 was the one that arrived";

	EXPECT_EQ(m.turn, 0u);
	ASSERT_TRUE(enter(m, 1, 2, 0, kB, 10 * kMs));
	EXPECT_EQ(ls_gate_arrive(&m, 0, 1, kA, kB), LS_GATE_MET);
	ls_gate_open(&m, 0, LS_GATE_MET, false);
	EXPECT_TRUE(ls_gate_leave(&m, 1, LS_GATE_SLEEP, 11 * kMs));
	EXPECT_EQ(ls_gate_watch(&m, 1, 2, kB, kA), LS_GATE_PROVEN);
	ls_gate_prove(&m, 1);
	EXPECT_EQ(m.state.confirmed, 3u);
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_SLEEP, 1000 * kMs), 0u) << "nothing is left";
	EXPECT_EQ(ls_gate_patience(&m, 1, LS_GATE_SLEEP, 1000 * kMs), 0u);
}

TEST(Plan, OtherInstancesDoNotMeet)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	ASSERT_TRUE(enter(m, 0, 1, 0, kA, kMs));
	EXPECT_EQ(ls_gate_arrive(&m, 1, 2, kB, kC), LS_GATE_NOTHING);
	EXPECT_EQ(m.state.sides[0].strangers, 1u);
	EXPECT_EQ(ls_gate_arrive(&m, 1, 1, kB, kA), LS_GATE_NOTHING) << "the waiting task itself";
	EXPECT_FALSE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 3 * kMs));
	EXPECT_EQ(m.state.sides[0].met, 0u);
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_SLEEP, 4 * kMs), 0u) << "half of the time";
	EXPECT_GT(ls_gate_patience(&m, 0, LS_GATE_SLEEP, 5 * kMs), 0u);
}

TEST(Plan, AWaitWithALockOrTheCpuMayKeepOthersAway)
{
	for (const auto how :
	     {LS_GATE_SLEEP, LS_GATE_HOLD, LS_GATE_YIELD, LS_GATE_SPIN, LS_GATE_STAY}) {
		Plans p({sides(2)});
		ASSERT_TRUE(enter(p[0], 0, 1, 0, kA, kMs));
		EXPECT_FALSE(ls_gate_leave(&p[0], 0, how, 3 * kMs));
		EXPECT_EQ(p[0].state.sides[0].waited_ns, 2u * kMs);
		EXPECT_EQ(p[0].state.sides[0].kept_ns, how == LS_GATE_SLEEP ? 0 : 2u * kMs) << how;
	}
}

TEST(Plan, SidesThatPartAreNotConfirmed)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	ASSERT_TRUE(enter(m, 0, 1, 0, kA, kMs));
	ASSERT_EQ(ls_gate_arrive(&m, 1, 2, kB, kA), LS_GATE_MET);
	ls_gate_open(&m, 1, LS_GATE_MET, false);
	ASSERT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs));
	EXPECT_EQ(ls_gate_watch(&m, 0, 1, kA, kC), LS_GATE_PARTED);
	EXPECT_EQ(m.state.confirmed, 0u);
	/* It took another way altogether: the next round begins. */
	ASSERT_TRUE(enter(m, 0, 1, 0, kA, 10 * kMs));
	ASSERT_EQ(ls_gate_arrive(&m, 1, 2, kB, kA), LS_GATE_MET);
	ls_gate_open(&m, 1, LS_GATE_MET, false);
	ASSERT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 12 * kMs));
	EXPECT_FALSE(enter(m, 0, 5, 0, kA, 20 * kMs)) << "still watched";
	EXPECT_TRUE(enter(m, 0, 1, 0, kA, 20 * kMs)) << "by its own task";
	EXPECT_EQ(m.state.sides[0].parted, 2u);
}

/* It acquires the locks of all that is on a list, that of the other side among them. */
TEST(Plan, AWalkComesToTheRightLock)
{
	for (const bool comes : {false, true}) {
		Plans p({sides(2)});
		ls_plan &m = p[0];
		ASSERT_TRUE(enter(m, 0, 1, 0, kA, kMs));
		ASSERT_EQ(ls_gate_arrive(&m, 1, 2, kB, kA), LS_GATE_MET);
		ls_gate_open(&m, 1, LS_GATE_MET, false);
		ASSERT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2000 * kMs));
		for (ls_u64 other = kC; other < kC + 8; other++)
			EXPECT_EQ(ls_gate_watch(&m, 0, 1, kA, other), LS_GATE_PARTED);
		EXPECT_FALSE(enter(m, 0, 3, 0, kA, 2050 * kMs)) << "it goes on";
		if (comes) {
			EXPECT_EQ(ls_gate_watch(&m, 0, 1, kA, kB), LS_GATE_PROVEN);
			ls_gate_prove(&m, 0);
		}
		EXPECT_TRUE(enter(m, 0, 3, 0, kA, 2150 * kMs));
		EXPECT_EQ(m.state.sides[0].parted, comes ? 0u : 1u);
		EXPECT_EQ(m.state.confirmed, comes ? 2u : 0u);
	}
}

TEST(Plan, OneSideMeetsItself)
{
	Plans p({sides(1)});
	ls_plan &m = p[0];
	ASSERT_TRUE(enter(m, 0, 1, 0, kA, kMs));
	EXPECT_EQ(ls_gate_arrive(&m, 0, 1, kB, kA), LS_GATE_NOTHING);
	EXPECT_EQ(ls_gate_arrive(&m, 0, 2, kB, kC), LS_GATE_NOTHING);
	ASSERT_EQ(ls_gate_arrive(&m, 0, 2, kB, kA), LS_GATE_MET);
	ls_gate_open(&m, 0, LS_GATE_MET, false);
	ASSERT_TRUE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, 2 * kMs));
	ASSERT_EQ(ls_gate_watch(&m, 0, 1, kA, kB), LS_GATE_PROVEN);
	ls_gate_prove(&m, 0);
	EXPECT_EQ(m.state.confirmed, 1u);
}

TEST(Plan, AnInterruptComesToTheWaitingCpu)
{
	Plans p({sides(1, 0)});
	ls_plan &m = p[0];
	ASSERT_TRUE(enter(m, 0, 1, 3, kA, kMs));
	EXPECT_EQ(ls_gate_interrupt(&m, 0, 2, kA), LS_GATE_NOTHING) << "another CPU";
	EXPECT_EQ(ls_gate_interrupt(&m, 0, 3, kB), LS_GATE_NOTHING) << "another lock";
	ASSERT_EQ(ls_gate_interrupt(&m, 0, 3, kA), LS_GATE_MET);
	ls_gate_open(&m, 0, LS_GATE_MET, true);
	EXPECT_EQ(m.state.confirmed, 1u);
	EXPECT_TRUE(ls_gate_leave(&m, 0, LS_GATE_STAY, 2 * kMs));
	EXPECT_EQ(m.gates[0].state, LS_GATE_FREE);
}

/* A -> B; B is held while a handler comes that takes A. Either may come first. */
TEST(Plan, AnInterruptAndAnotherSideMeet)
{
	for (const bool interrupt_first : {true, false}) {
		Plans p({sides(2, 1)});
		ls_plan &m = p[0];
		EXPECT_EQ(m.turn, 0u);
		ASSERT_TRUE(enter(m, 1, 1, 0, kB, kMs));
		const auto interrupt = [&](ls_u64 lock, ls_gate_arrival expected) {
			const auto met = ls_gate_interrupt(&m, 1, 0, lock);
			EXPECT_EQ(met, expected);
			if (met != LS_GATE_NOTHING)
				ls_gate_open(&m, 1, met, true);
		};
		const auto side = [&](ls_u64 holds, ls_gate_arrival expected) {
			const auto met = ls_gate_arrive(&m, 0, 2, holds, kB);
			EXPECT_EQ(met, expected);
			if (met != LS_GATE_NOTHING)
				ls_gate_open(&m, 0, met, false);
		};
		side(kC, LS_GATE_HALF);
		EXPECT_FALSE(ls_gate_opened(&m, 1));
		if (interrupt_first) {
			interrupt(kA, LS_GATE_HALF);
			EXPECT_FALSE(ls_gate_opened(&m, 1));
			side(kA, LS_GATE_MET);
		} else {
			side(kA, LS_GATE_HALF);
			interrupt(kA, LS_GATE_MET);
		}
		EXPECT_TRUE(ls_gate_opened(&m, 1));
		EXPECT_EQ(m.state.confirmed, 1u);
		EXPECT_TRUE(ls_gate_leave(&m, 1, LS_GATE_STAY, 2 * kMs));
	}
}

TEST(Plan, ThreeSidesMeetAtOnce)
{
	Plans p({sides(3)});
	ls_plan &m = p[0];
	EXPECT_EQ(m.turn, 0u);
	ASSERT_TRUE(enter(m, 1, 1, 0, kB, kMs));
	EXPECT_EQ(ls_gate_arrive(&m, 0, 9, kA, kB), LS_GATE_NOTHING) << "one is missing";
	ASSERT_TRUE(enter(m, 2, 2, 0, kC, kMs));
	ASSERT_EQ(ls_gate_arrive(&m, 0, 9, kA, kB), LS_GATE_MET);
	ls_gate_open(&m, 0, LS_GATE_MET, false);
	ASSERT_TRUE(ls_gate_leave(&m, 1, LS_GATE_SLEEP, 2 * kMs));
	ASSERT_TRUE(ls_gate_leave(&m, 2, LS_GATE_SLEEP, 2 * kMs));
	ASSERT_EQ(ls_gate_watch(&m, 1, 1, kB, kC), LS_GATE_PROVEN);
	ls_gate_prove(&m, 1);
	EXPECT_EQ(m.state.confirmed, 0u);
	ASSERT_EQ(ls_gate_watch(&m, 2, 2, kC, kA), LS_GATE_PROVEN);
	ls_gate_prove(&m, 2);
	EXPECT_EQ(m.state.confirmed, 1u);
}

/* A context that acquired locks at these sites. */
std::unique_ptr<ls_ctx> holding(std::vector<ls_u64> ips)
{
	auto ctx = std::make_unique<ls_ctx>();
	for (std::size_t i = 0; i < ips.size(); i++) {
		ctx->held[i].ip = ips[i];
		ctx->held[i].lock = kA + i;
	}
	ctx->depth = static_cast<ls_u32>(ips.size());
	return ctx;
}

TEST(Plan, FindsTheFirstLockOfASide)
{
	Plans p({sides(2)});
	const auto ctx = holding({5, first_site(0, 1), 7});
	EXPECT_EQ(ls_confirm_first(&p.confirm, ctx.get(), 0, 1), kA + 1);
	EXPECT_EQ(ls_confirm_first(&p.confirm, ctx.get(), 0, LS_CONFIRM_SIDES), kA + 1);
	EXPECT_EQ(ls_confirm_first(&p.confirm, ctx.get(), 0, 0), 0u);
	EXPECT_EQ(ls_confirm_first(&p.confirm, holding({}).get(), 0, 1), 0u);
}

TEST(Plan, OneSideIsInsideAtATime)
{
	Plans p({sides(2), sides(1), sides(2, 1), deadly(2), race(2)});
	const auto idle = holding({});
	const auto bars = [&](ls_u64 ip, ls_u64 other, const ls_ctx *own) {
		return ls_confirm_bars(&p.confirm, own, ip, other);
	};
	EXPECT_TRUE(bars(first_site(0, 0), first_site(0, 1), idle.get()));
	EXPECT_TRUE(bars(first_site(0, 1), first_site(0, 0), idle.get()));
	EXPECT_FALSE(bars(first_site(0, 0), first_site(0, 0), idle.get())) << "runs of one side";
	EXPECT_FALSE(bars(first_site(0, 0), first_site(0, 1) + 1, idle.get())) << "not its first";
	EXPECT_FALSE(bars(first_site(0, 0), first_site(1, 0), idle.get())) << "another plan";
	EXPECT_FALSE(bars(first_site(0, 0), 0x999999, idle.get()));
	EXPECT_FALSE(bars(first_site(0, 1), first_site(0, 0), holding({first_site(0, 0)}).get()))
		<< "inside already";
	EXPECT_TRUE(bars(first_site(1, 0), first_site(1, 0), idle.get()))
		<< "the only side excludes itself";
	for (unsigned int plan : {2u, 3u, 4u})
		EXPECT_FALSE(bars(first_site(plan, 0), first_site(plan, 1), idle.get())) << plan;

	EXPECT_TRUE(ls_confirm_inside(&p.confirm, first_site(0, 1)));
	EXPECT_TRUE(ls_confirm_inside(&p.confirm, first_site(1, 0)));
	EXPECT_FALSE(ls_confirm_inside(&p.confirm, first_site(0, 1) + 1));
	EXPECT_FALSE(ls_confirm_inside(&p.confirm, first_site(2, 1))) << "where it is interrupted";
	EXPECT_FALSE(ls_confirm_inside(&p.confirm, first_site(3, 0))) << "deadly";
}

/* Sides of two plans begin at one site: each of them counts. */
TEST(Plan, OneSiteBeginsSidesOfTwoPlans)
{
	Plans p({sides(2), sides(2)});
	p.points.push_back({first_site(0, 0), 1, 0, LS_CONFIRM_FIRST, 0});
	ls_confirm_init(&p.confirm, p.meets.get(), p.plans.data(), 2, p.points.data(),
			static_cast<ls_u32>(p.points.size()), 0);
	const auto bars = [&](ls_u64 other, const ls_ctx *own) {
		return ls_confirm_bars(&p.confirm, own, first_site(0, 0), other);
	};
	EXPECT_TRUE(bars(first_site(0, 1), holding({}).get()));
	EXPECT_TRUE(bars(first_site(1, 1), holding({}).get()));
	const auto own = holding({first_site(0, 1)});
	EXPECT_FALSE(bars(first_site(0, 1), own.get()));
	EXPECT_TRUE(bars(first_site(1, 1), own.get())) << "of the other plan it is outside";
}

TEST(Plan, TheTurnPassesWhenNothingComes)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	ls_u64 now = kMs;
	std::set<unsigned int> waited;
	for (int i = 0; i < 40; i++) {
		for (unsigned int side : {0u, 1u}) {
			now += 1000 * kMs;
			if (!ls_gate_patience(&m, side, LS_GATE_SLEEP, now))
				continue;
			ASSERT_TRUE(enter(m, side, side, 0, kA, now));
			ASSERT_FALSE(ls_gate_leave(&m, side, LS_GATE_SLEEP, now + kMs));
			waited.insert(side);
		}
	}
	EXPECT_EQ(waited.size(), 2u);
}

TEST(Plan, PatienceIsBounded)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	m.gates[0].fails = 1000000;
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_SLEEP, kMs), 64 * kMs);
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_YIELD, kMs), 4 * kMs);
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_STAY, kMs), 4 * kMs);
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_SPIN, kMs), kMs / 4);
}

/* A test that does one thing after the other: each side comes a few times a second. */
TEST(Plan, AWaitSpansTheTimeBetweenTwoArrivals)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	const auto patience = [&](ls_gate_how how) {
		return ls_gate_patience(&m, 0, how, 6000 * kMs);
	};
	m.state.sides[0].lasts = 1000;
	m.gates[0].fails = 4;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 8 * kMs) << "the other one never came";
	m.state.sides[1].lasts = 12;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 1000 * kMs) << "every 500 ms";
	EXPECT_EQ(patience(LS_GATE_HOLD), 1000 * kMs);
	EXPECT_EQ(patience(LS_GATE_YIELD), 4 * kMs) << "it has a CPU";
	m.gates[0].fails = 1;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 2 * kMs) << "short ones first";
	m.gates[0].fails = 64;
	m.state.sides[1].lasts = 1;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 2000 * kMs) << "no longer than that";
	m.state.sides[1].lasts = 6000;
	m.state.sides[1].firsts = 12;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 1000 * kMs) << "each of its runs walks a list";
	m.state.sides[1].firsts = 6000;
	EXPECT_EQ(patience(LS_GATE_SLEEP), 64 * kMs) << "it comes often";
}

TEST(Plan, ARaceWaitsAsBriefly)
{
	ls_confirm_plan plan = sides(2);
	plan.flags[0] = plan.flags[1] = LS_CONFIRM_ACCESS;
	Plans p({plan});
	ls_plan &m = p[0];
	m.gates[0].fails = 64;
	m.state.sides[0].lasts = m.state.sides[1].lasts = 2;
	EXPECT_EQ(ls_gate_patience(&m, 0, LS_GATE_SLEEP, 6000 * kMs), 64 * kMs);
	EXPECT_FALSE(ls_gate_spares(&m, 0, holding({}).get()));
}

TEST(Plan, LongWaitsPassTheTurnSooner)
{
	Plans p({sides(2)});
	ls_plan &m = p[0];
	for (ls_u64 i = 0; i < 3; i++) {
		EXPECT_EQ(m.turn, 1u) << i;
		ASSERT_TRUE(enter(m, 0, 1, 0, kA, 10000 * i * kMs));
		EXPECT_FALSE(ls_gate_leave(&m, 0, LS_GATE_SLEEP, (10000 * i + 2000) * kMs));
	}
	EXPECT_EQ(m.turn, 0u);
}

TEST(Plan, ATaskSleepsWithLocksThatTheOthersDoNotHave)
{
	constexpr ls_u32 kShared = LS_SHARED << LS_VAL_READ_SHIFT;
	Plans p({sides(2)});
	ls_plan &m = p[0];
	const auto ctx = holding({first_site(5, 0)});
	ctx->held[0].lock = kC;
	EXPECT_FALSE(ls_gate_spares(&m, 0, ctx.get())) << "what the other one needs is not known";
	ls_confirm_arrival *other = ls_plan_arrival(&m, 1);
	other->nr_held = 2;
	other->held[0].lock = kA;
	EXPECT_TRUE(ls_gate_spares(&m, 0, ctx.get()));
	other->held[1].lock = kC;
	EXPECT_FALSE(ls_gate_spares(&m, 0, ctx.get()));
	other->held[1].val = kShared;
	EXPECT_FALSE(ls_gate_spares(&m, 0, ctx.get())) << "a reader excludes a writer";
	ctx->held[0].val = kShared;
	EXPECT_TRUE(ls_gate_spares(&m, 0, ctx.get()));
	other->nr_held = LS_CONFIRM_HELD + 1;
	EXPECT_FALSE(ls_gate_spares(&m, 0, ctx.get())) << "not all are kept";
}

/*
 * Random executions of two sides, each step as the hooks would take it. A confirmation needs a
 * waiting execution of one side and one of the other that overlap, with the same instances;
 * where a gate or an order of instances excludes that, there is none.
 */
TEST(Plan, RandomSidesAreConfirmedOnlyWhereTheyCanMeet)
{
	enum class Excluded { No, Gate, Instances };
	std::size_t confirmed = 0;
	for (unsigned int seed = 0; seed < 600; seed++) {
		const auto excluded = static_cast<Excluded>(seed % 3);
		std::mt19937 random(seed);
		Plans p({sides(2)});
		ls_plan &m = p[0];
		struct Run {
			int step = 0; // 0 outside, 1 at its gate, 2 holds the first lock
			bool waits = false, gate = false;
			ls_u64 first = 0, last = 0, until = 0;
		};
		Run runs[2][2];
		bool gate_held = false;
		ls_u64 now = kMs;
		for (int i = 0; i < 4000; i++) {
			now += 50000;
			const unsigned int side = random() % 2, task = random() % 2;
			Run &r = runs[side][task];
			const ls_u64 id = 1 + side * 2 + task;
			if (r.step == 0) {
				if (excluded == Excluded::Gate) {
					if (gate_held)
						continue;
					gate_held = r.gate = true;
				}
				const ls_u64 a = kA + random() % 2, b = kB + random() % 2;
				r.first = side ? b : a;
				r.last = side ? a : b;
				if (excluded == Excluded::Instances)
					(side ? r.last : r.first) = kA + 100 + side;
				r.until = ls_gate_patience(&m, side, LS_GATE_SLEEP, now);
				r.waits = r.until && enter(m, side, id, 0, r.first, now);
				r.until += now;
				r.step = 1;
			} else if (r.step == 1) {
				if (r.waits && !ls_gate_opened(&m, side) && now < r.until)
					continue;
				if (r.waits)
					ls_gate_leave(&m, side, LS_GATE_SLEEP, now);
				r.step = 2;
			} else {
				if (ls_gate_watch(&m, side, id, r.first, r.last) == LS_GATE_PROVEN)
					ls_gate_prove(&m, side);
				else if (const auto met =
						 ls_gate_arrive(&m, side, id, r.first, r.last);
					 met != LS_GATE_NOTHING)
					ls_gate_open(&m, side, met, false);
				if (r.gate)
					gate_held = r.gate = false;
				r.step = 0;
			}
		}
		if (excluded != Excluded::No)
			EXPECT_EQ(m.state.confirmed, 0u) << "seed " << seed;
		else
			confirmed += m.state.confirmed == 3;
		for (const auto &gate : m.gates)
			EXPECT_NE(gate.state, LS_GATE_CLAIMED) << "seed " << seed;
	}
	EXPECT_GT(confirmed, 190u) << "of 200";
}

} // namespace
