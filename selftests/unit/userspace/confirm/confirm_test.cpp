// SPDX-License-Identifier: GPL-2.0
// Plans for findings, and verdicts from what gates count: docs/confirm.md.
#include "support.h"

#include "analysis/evidence.h"
#include "confirm/judgement.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr std::uint64_t kA = 0x1000, kB = 0x2000, kGate = 0x3000;

class ConfirmTest : public testing::Test {
protected:
	/* A -> B by one task, B -> A by another. */
	PlannedFinding abba(ls_kind kind = LS_KIND_SPINLOCK)
	{
		const auto a = log.add_class("a", kind), b = log.add_class("b");
		log.acquire({.pid = 1, .stack = {"take_ab", "main"}}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 2, .stack = {"take_ba", "main"}}, {{.cls = b}}, {.cls = a});
		return planned();
	}
	PlannedFinding planned()
	{
		model = model_of(log);
		auto plan = plan_for(model, only_finding(model));
		EXPECT_TRUE(plan.ok()) << plan.error().what;
		return plan ? *plan : PlannedFinding{};
	}
	/* @n executions of @side, which hold @held before @first. */
	void executions(std::size_t side, std::uint64_t n, std::uint64_t first, std::uint64_t last,
			const std::vector<std::uint64_t> &held = {}, std::uint32_t val = 7)
	{
		ls_confirm_side &to = state->sides[side];
		for (std::uint64_t i = 0; i < n; i++) {
			ls_confirm_arrival &arrival = to.arrivals[to.lasts++ % LS_CONFIRM_ARRIVALS];
			arrival = {};
			arrival.first = first;
			arrival.last = last;
			for (const auto lock : held)
				arrival.held[arrival.nr_held++] = {val, 0, 0, lock};
			arrival.held[arrival.nr_held++] = {1, 0, 0, first};
		}
		to.firsts = to.lasts;
	}
	void waits(std::size_t side, std::uint64_t n, double seconds)
	{
		state->sides[side].waits = n;
		state->sides[side].waited_ns = static_cast<std::uint64_t>(seconds * 1e9);
	}
	Verdict judged(const PlannedFinding &plan) { return judge(plan, *state, 10, names); }

	LogBuilder log;
	Model model;
	std::unique_ptr<ls_confirm_state> state = std::make_unique<ls_confirm_state>();
	ConfirmNames names{[](std::uint32_t id) { return "class " + std::to_string(id); },
			   [](std::uint64_t ip) { return "f+" + std::to_string(ip); }};
};

/* Two functions race over one variable, one of them at two places. */
class RacePlanTest : public ConfirmTest {
protected:
	PlannedFinding race(std::uint16_t op = LS_ACC_READ)
	{
		const auto w = log.access({.pid = 1}, {.op = LS_ACC_WRITE, .function = "writes"}),
			   v = log.access({.pid = 1},
					  {.op = LS_ACC_WRITE, .function = "writes", .at = 40}),
			   r = log.access({.pid = 2}, {.op = op, .function = "reads"});
		log.race(w, r);
		log.race(v, r);
		return planned();
	}
};

TEST_F(RacePlanTest, PlansTheAccessSitesOfBothSides)
{
	const auto plan = race();
	ASSERT_EQ(plan.sides.size(), 2u);
	std::size_t sites = 0;
	for (const auto &side : plan.sides) {
		EXPECT_TRUE(side.access());
		EXPECT_FALSE(side.accesses.empty());
		sites += side.first.size();
	}
	EXPECT_EQ(sites, 3u);
	const auto plans =
		resolve({plan}, [](const Code &) { return std::vector<std::uint64_t>{1}; });
	ASSERT_EQ(plans.plans.size(), 1u);
	EXPECT_EQ(plans.plans[0].flags[0], LS_CONFIRM_ACCESS);
	EXPECT_EQ(plans.plans[0].flags[1], LS_CONFIRM_ACCESS);
	EXPECT_EQ(plans.points.size(), 3u);
	for (const auto &point : plans.points)
		EXPECT_EQ(point.role, LS_CONFIRM_FIRST);
}

TEST_F(RacePlanTest, ASideOfAWatchpointAloneHasNoPlan)
{
	const auto w = log.access({.pid = 1}, {.op = LS_ACC_WRITE, .function = "writes"}),
		   r = log.access({.pid = 2},
				  {.op = LS_ACC_READ | LS_ACC_TRAP, .function = "reads"});
	log.race(w, r, LS_RACE_CAUGHT);
	model = model_of(log);
	EXPECT_FALSE(plan_for(model, only_finding(model)).ok());
}

TEST_F(RacePlanTest, ConfirmedWithTheValuesOfBothSides)
{
	const auto plan = race();
	state->confirmed = 1;
	state->contexts[0].at.last = 7;
	state->contexts[1].at.last = 8;
	const auto verdict = judged(plan);
	EXPECT_EQ(verdict.result, VerdictResult::Confirmed);
	EXPECT_NE(verdict.evidence.find("\"value\":7"), std::string::npos);
	EXPECT_NE(verdict.evidence.find("\"value\":8"), std::string::npos);
	EXPECT_NE(verdict.evidence.find("\"accesses\""), std::string::npos);
}

/* An order is not refuted: a side that waits may be what starts the other one. */
TEST_F(RacePlanTest, RefutedByOtherMemoryAlone)
{
	const auto plan = race();
	executions(0, 30, kA, 0);
	executions(1, 30, kA, 0);
	for (auto &arrival : state->sides[1].arrivals)
		arrival.pid = 2;
	waits(0, 30, 5);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached);
	state->sides[0].strangers = 25;
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached) << "but some match";
	for (auto &arrival : state->sides[1].arrivals)
		arrival.first = kB;
	EXPECT_EQ(judged(plan).result, VerdictResult::Refuted);
	EXPECT_EQ(judged(plan).reason, "instances");
}

TEST_F(ConfirmTest, PlansBothSides)
{
	const auto plan = abba();
	ASSERT_EQ(plan.sides.size(), 2u);
	EXPECT_EQ(plan.sides[0].holds, plan.sides[1].acquires);
	EXPECT_EQ(plan.sides[1].holds, plan.sides[0].acquires);
	for (const auto &side : plan.sides) {
		EXPECT_EQ(side.first.size(), 1u);
		EXPECT_EQ(side.last.size(), 1u);
		EXPECT_TRUE(side.interrupt.empty());
	}
	const auto plans = resolve({plan}, [](const Code &) {
		return std::vector<std::uint64_t>{1, 2};
	});
	ASSERT_EQ(plans.plans.size(), 1u);
	EXPECT_EQ(plans.points.size(), 8u) << "two functions of each name";
}

TEST_F(ConfirmTest, DeadlyWhereTasksSleepForBothLocks)
{
	auto plan = abba(LS_KIND_MUTEX);
	const auto refused = make_deadly(model, only_finding(model), plan);
	ASSERT_FALSE(refused.ok()) << "the other one is a spinlock";
	EXPECT_NE(refused.error().what.find("sleep"), std::string::npos);
	EXPECT_FALSE(refused.error().hint.empty());
	EXPECT_EQ(refused.error().exit, Exit::Usage);
	EXPECT_FALSE(plan.deadly);

	LogBuilder mutexes;
	const auto a = mutexes.add_class("a", LS_KIND_MUTEX),
		   b = mutexes.add_class("b", LS_KIND_RWSEM);
	mutexes.acquire({.pid = 1, .stack = {"take_ab", "main"}}, {{.cls = a}}, {.cls = b});
	mutexes.acquire({.pid = 2, .stack = {"take_ba", "main"}}, {{.cls = b}}, {.cls = a});
	const Model sleeping = model_of(mutexes);
	const Finding finding = only_finding(sleeping);
	plan = *plan_for(sleeping, finding);
	ASSERT_TRUE(make_deadly(sleeping, finding, plan).ok());
	const auto plans =
		resolve({plan}, [](const Code &) { return std::vector<std::uint64_t>{1}; });
	ASSERT_EQ(plans.plans.size(), 1u);
	EXPECT_EQ(plans.plans[0].flags[0], LS_CONFIRM_DEADLY);
	EXPECT_EQ(plans.plans[0].flags[1], LS_CONFIRM_DEADLY);
	state->confirmed = 3;
	EXPECT_EQ(judged(plan).result, VerdictResult::Confirmed);
	EXPECT_NE(judged(plan).why.find("deadlock"), std::string::npos);
}

TEST_F(RacePlanTest, IsNoDeadlock)
{
	auto plan = race();
	EXPECT_FALSE(make_deadly(model, only_finding(model), plan).ok());
}

TEST_F(ConfirmTest, LeavesOutWhatIsNotLoaded)
{
	const auto plan = abba();
	const auto plans = resolve({plan, plan}, [&](const Code &place) {
		return place.function == plan.sides[0].last.front().function
			       ? std::vector<std::uint64_t>{}
			       : std::vector<std::uint64_t>{1};
	});
	EXPECT_TRUE(plans.plans.empty());
	EXPECT_TRUE(plans.points.empty());
	ASSERT_FALSE(plans.absent.empty());
}

TEST_F(ConfirmTest, KeepsToTheModulesBounds)
{
	const auto plan = abba();
	const auto plans = resolve(std::vector<PlannedFinding>(LS_CONFIRM_PLANS + 9, plan),
				   [](const Code &) { return std::vector<std::uint64_t>(20, 5); });
	EXPECT_LE(plans.plans.size(), std::size_t{LS_CONFIRM_PLANS});
	EXPECT_LE(plans.points.size(), std::size_t{LS_CONFIRM_POINTS});
	EXPECT_GT(plans.plans.size(), 5u);
}

TEST_F(ConfirmTest, ConfirmedWithItsEvidence)
{
	const auto plan = abba();
	executions(0, 3, kA, kB);
	executions(1, 3, kB, kA);
	waits(0, 4, 0.1);
	state->confirmed = 1;
	for (std::size_t i = 0; i < 2; i++) {
		auto &context = state->contexts[i];
		context.at = state->sides[i].arrivals[0];
		std::strcpy(context.comm, i ? "one" : "tw\xffo");
		context.nr_stack = 2;
	}
	const auto verdict = judged(plan);
	EXPECT_EQ(verdict.result, VerdictResult::Confirmed);
	EXPECT_EQ(verdict.finding, plan.id);
	EXPECT_EQ(verdict.tries, 4u);
	EXPECT_FALSE(fully_confirmed(plan, *state));
	EXPECT_NE(verdict.evidence.find("\"held\":[\"class 1 at f+0\"]"), std::string::npos)
		<< verdict.evidence;
	EXPECT_EQ(verdict.evidence.find('\xff'), std::string::npos);
	state->confirmed = 3;
	EXPECT_TRUE(fully_confirmed(plan, *state));
}

TEST_F(ConfirmTest, RefutedByAGate)
{
	const auto plan = abba();
	executions(0, 100, kA, kB, {kGate});
	executions(1, 100, kB, kA, {kGate});
	waits(0, 40, 2);
	const auto verdict = judged(plan);
	EXPECT_EQ(verdict.result, VerdictResult::Refuted);
	EXPECT_EQ(verdict.reason, "gate");
	EXPECT_NE(verdict.why.find("class 7"), std::string::npos) << verdict.why;
}

TEST_F(ConfirmTest, AGateBetweenReadersIsNone)
{
	const auto plan = abba();
	const std::uint32_t reader = 7 | LS_SHARED << LS_VAL_READ_SHIFT;
	executions(0, 100, kA, kB, {kGate}, reader);
	executions(1, 100, kB, kA, {kGate}, reader);
	waits(0, 40, 2);
	EXPECT_NE(judged(plan).reason, "gate");
}

TEST_F(ConfirmTest, AGateOfOneExecutionIsNone)
{
	const auto plan = abba();
	executions(0, 100, kA, kB, {kGate});
	executions(0, 1, kA, kB);
	executions(1, 100, kB, kA, {kGate});
	waits(0, 40, 2);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached);
}

TEST_F(ConfirmTest, RefutedByAGateAroundAnInterrupt)
{
	auto plan = abba();
	plan.sides[1].interrupt = "hardirq";
	executions(0, 100, kA, kB, {kGate});
	executions(1, 8, kB, kA, {kGate});
	executions(1, 8, 0, kA);
	waits(0, 40, 4);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached)
		<< "eight came with the lock held";
	executions(1, 26, kB, kA, {kGate});
	EXPECT_EQ(judged(plan).reason, "gate");
	executions(1, 1, kB, kA);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached);
}

TEST_F(ConfirmTest, InterruptsAreNeitherOrderedNorStrange)
{
	auto plan = abba();
	plan.sides[1].interrupt = "hardirq";
	executions(0, 100, kA, kB);
	executions(1, 100, kB, kA);
	waits(0, 40, 2);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached) << "no order";
	executions(1, 100, 0, kA);
	state->sides[0].strangers = 30;
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached) << "no other instances";
}

TEST_F(ConfirmTest, RefutedByInstances)
{
	const auto plan = abba();
	executions(0, 100, kA, kB);
	executions(1, 100, kB + 1, kA + 1);
	waits(0, 40, 2);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached);
	state->sides[0].strangers = 30;
	EXPECT_EQ(judged(plan).reason, "instances");
	state->sides[1].firsts = 10;
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached)
		<< "ten walks: others are not kept";
	state->sides[1].firsts = state->sides[1].lasts;
	state->sides[0].met = 1;
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached) << "met, and still on its way";
	state->sides[0].parted = 1;
	EXPECT_EQ(judged(plan).reason, "instances");
	executions(1, 1, kB, kA);
	EXPECT_EQ(judged(plan).result, VerdictResult::NotReached) << "one does match";
}

/* A test that runs one side after the other orders them, and the next one may not. */
TEST_F(ConfirmTest, AnOrderIsNoReason)
{
	const auto plan = abba();
	executions(0, 100, kA, kB);
	executions(1, 100, kB, kA);
	waits(0, 40, 1);
	const auto verdict = judged(plan);
	EXPECT_EQ(verdict.result, VerdictResult::NotReached);
	EXPECT_NE(verdict.why.find("one after the other"), std::string::npos) << verdict.why;
}

TEST_F(ConfirmTest, SaysWhatDidNotHappen)
{
	const auto plan = abba();
	EXPECT_NE(judged(plan).why.find("never ran"), std::string::npos);
	executions(0, 3, kA, kB);
	state->sides[1].firsts = 5;
	EXPECT_NE(judged(plan).why.find("but never"), std::string::npos) << judged(plan).why;
	executions(1, 3, kB, kA);
	EXPECT_NE(judged(plan).why.find("no side could be held"), std::string::npos);
	waits(0, 1, 0.1);
	const auto seldom = judged(plan).why;
	EXPECT_EQ(seldom.rfind("lock_it came 3 times and lock_it 3 times in 10 s, never while the "
			       "other one waited (0.1 s in all): too seldom",
			       0),
		  0u)
		<< seldom;
	EXPECT_EQ(seldom.find("--deadly"), std::string::npos) << "spinlocks";
	EXPECT_EQ(seldom.find(" tr"), std::string::npos) << "the number of tries stands beside it";
}

/* What a test can do depends on what was seen. */
TEST_F(ConfirmTest, AdvisesByWhatWasSeen)
{
	auto plan = abba();
	const auto says = [&](const char *words) {
		const auto verdict = judged(plan);
		EXPECT_EQ(verdict.result, VerdictResult::NotReached);
		EXPECT_NE(verdict.why.find(words), std::string::npos) << verdict.why;
	};
	executions(0, 100, kA, kB);
	executions(1, 100, kB + 1, kA + 1);
	waits(0, 40, 4);
	says("run both on the same objects");
	executions(1, 1, kB, kA);
	for (auto &side : state->sides)
		side.kept_ns = side.waited_ns;
	says("may keep the other one away");
	waits(0, 40, 0.1);
	says("run several copies of the test at once");
	plan.may_be_deadly = true;
	says("--deadly");
	plan.deadly = true;
	EXPECT_EQ(judged(plan).why.find("--deadly"), std::string::npos);
}

TEST_F(ConfirmTest, MutexesMayBeLetDeadlock)
{
	const auto a = log.add_class("a", LS_KIND_MUTEX), b = log.add_class("b", LS_KIND_MUTEX);
	log.acquire({.pid = 1, .stack = {"take_ab", "main"}}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2, .stack = {"take_ba", "main"}}, {{.cls = b}}, {.cls = a});
	EXPECT_TRUE(planned().may_be_deadly);
}

/* One context is enough, so that there is nothing to meet. */
TEST_F(ConfirmTest, WhatWaitsForItselfHasNoPlan)
{
	const auto m = log.add_class("m", LS_KIND_MUTEX, LS_ORIGIN_INIT);
	const Lock first{.cls = m, .address = 0x300, .function = "begin"},
		again{.cls = m, .address = 0x300, .function = "again"};
	const auto at = log.acquire({.pid = 1, .stack = {"twice"}}, {first}, again);
	log.inversion(m, true, at, at);
	model = model_of(log);
	const auto finding = only_finding(model);
	EXPECT_TRUE(waits_for_itself(model, finding));
	EXPECT_EQ(plan_for(model, finding).error().what.rfind("one context alone", 0), 0u);
	EXPECT_TRUE(std::any_of(finding.features.begin(), finding.features.end(), [](auto &f) {
		return f.name == "contexts" && f.why == "one context alone waits for itself";
	}));
}

/* Two readers wait for a writer in between; two instances for another context. */
TEST_F(ConfirmTest, OthersNeedASecondContext)
{
	const auto m = log.add_class("m", LS_KIND_RWSEM, LS_ORIGIN_INIT);
	const Lock reads{.cls = m, .address = 0x300, .read = LS_SHARED, .function = "begin"},
		again{.cls = m, .address = 0x300, .read = LS_SHARED, .function = "again"};
	const auto at = log.acquire({.pid = 1, .stack = {"twice"}}, {reads}, again);
	log.inversion(m, true, at, at);
	model = model_of(log);
	EXPECT_FALSE(waits_for_itself(model, only_finding(model)));
}

TEST_F(ConfirmTest, AddsUpWhatReplacedPlansSaw)
{
	executions(0, 30, kA, kB);
	waits(0, 2, 0.1);
	auto sum = std::make_unique<ls_confirm_state>();
	add_state(*sum, *state);
	state->confirmed = 2;
	state->contexts[1].at.pid = 99;
	add_state(*sum, *state);
	EXPECT_EQ(sum->sides[0].lasts, 60u);
	EXPECT_EQ(sum->sides[0].waits, 4u);
	EXPECT_EQ(sum->confirmed, 2u);
	EXPECT_EQ(sum->contexts[1].at.pid, 99u);
	state->contexts[1].at.pid = 5;
	add_state(*sum, *state);
	EXPECT_EQ(sum->contexts[1].at.pid, 99u) << "of the first confirmation";
}

} // namespace
