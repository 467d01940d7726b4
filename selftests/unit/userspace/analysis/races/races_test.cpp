// SPDX-License-Identifier: GPL-2.0
// Data races: what is reported, what is not, and how sure it is. Every fault has a twin that
// stays silent or is demoted.
#include "race_test.h"

using namespace lockscope;
using namespace lockscope::test;
using Kind = FindingKind;

TEST_F(RaceTest, PlainWriteAgainstPlainRead)
{
	const auto read = side(2, "foo_show", LS_ACC_READ),
		   write = side(1, "foo_add", LS_ACC_WRITE);
	log.race(read, write);
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::DataRace);
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_EQ(finding.title, "data race: stats+0x8 (write in foo_add vs read in foo_show)");
	ASSERT_TRUE(finding.race);
	EXPECT_EQ(finding.race->variable.name, "foo:stats+0x8");
	EXPECT_TRUE(finding.filters.empty());
}

TEST_F(RaceTest, AccessesAloneAreNoRace)
{
	side(1, "foo_add", LS_ACC_WRITE);
	side(2, "foo_show", LS_ACC_READ);
	EXPECT_EQ(findings(), 0u);
}

TEST_F(RaceTest, TwoReadsAreNone)
{
	log.race(side(1, "a", LS_ACC_READ), side(2, "b", LS_ACC_READ));
	EXPECT_EQ(findings(), 0u);
}

TEST_F(RaceTest, TwoMarkedSidesAreNone)
{
	log.race(side(1, "a", LS_ACC_WRITE | LS_ACC_MARKED),
		 side(2, "b", LS_ACC_READ | LS_ACC_ATOMIC));
	EXPECT_EQ(findings(), 0u);
}

TEST_F(RaceTest, OneMarkedSideIsANote)
{
	log.race(side(1, "a", LS_ACC_WRITE | LS_ACC_MARKED), side(2, "b", LS_ACC_READ));
	const Finding finding = only();
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_EQ(finding.title, "data race: stats+0x8 (marked write in a vs read in b)");
}

TEST_F(RaceTest, UnlessItTears)
{
	log.race(side(1, "a", LS_ACC_WRITE | LS_ACC_MARKED, {}, 8),
		 side(2, "b", LS_ACC_READ, {}, 4));
	const Finding finding = only();
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_TRUE(feature(finding, "torn"));
}

TEST_F(RaceTest, UnlessTheValueChanged)
{
	log.race(side(1, "a", LS_ACC_WRITE | LS_ACC_MARKED), side(2, "b", LS_ACC_READ),
		 LS_RACE_CHANGED);
	EXPECT_EQ(only().severity, Severity::Error);
}

/* A watchpoint does not say whether an access is marked. */
TEST_F(RaceTest, AnAccessThatOnlyAWatchpointSawIsJudgedAsIfMarked)
{
	log.race(side(1, "a", LS_ACC_READ), side(2, "b", LS_ACC_WRITE | LS_ACC_TRAP),
		 LS_RACE_CAUGHT);
	const Finding finding = only();
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_EQ(finding.confidence, Confidence::Confirmed);
	EXPECT_EQ(finding.title.find("marked"), std::string::npos);
}

TEST_F(RaceTest, AndIsAnErrorWhereTheValueChanged)
{
	log.race(side(1, "a", LS_ACC_READ), side(2, "b", LS_ACC_WRITE | LS_ACC_TRAP),
		 LS_RACE_CAUGHT | LS_RACE_CHANGED);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, CaughtInTheActIsConfirmed)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(2, "b", LS_ACC_READ), LS_RACE_CAUGHT);
	EXPECT_EQ(only().confidence, Confidence::Confirmed);
}

TEST_F(RaceTest, OneContextIsOnlyPossible)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(1, "b", LS_ACC_READ));
	EXPECT_EQ(only().confidence, Confidence::Possible);
}

TEST_F(RaceTest, TheTasksAreThoseOfTheRaceNotOfTheFirstSight)
{
	const auto write = side(1, "a", LS_ACC_WRITE);
	side(2, "b", LS_ACC_READ);
	log.race(write, write, 0, {}, 0xffff888000001000u, 1, 2);
	const Finding finding = only();
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_EQ(finding.race->sides[1].context.pid, 2u);
}

TEST_F(RaceTest, ASideWhoseCallersAreNotKnownIsNotInInitCodeOfAnotherTask)
{
	const auto init =
		log.access({.pid = 1, .comm = "insmod", .stack = {"do_one_initcall"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_setup"});
	const auto read = side(2, "b", LS_ACC_READ);
	const auto raced = [&](const Task &task, bool own_stack) {
		LogBuilder again = log;
		again.race(init, read);
		again.side(init, task, LS_SIDE_TASK, {}, own_stack);
		again.side(read, {.pid = 2}, LS_SIDE_SECOND | LS_SIDE_TASK, {}, true);
		return only_finding(model = model_of(again));
	};
	EXPECT_FALSE(filter(raced({.pid = 5, .comm = "cat"}, false), "initialisation-only"));
	EXPECT_TRUE(filter(raced({.pid = 1, .comm = "insmod"}, false), "initialisation-only"));
	EXPECT_FALSE(filter(raced({.pid = 1, .comm = "insmod", .stack = {"foo_ioctl"}}, true),
			    "initialisation-only"));
	EXPECT_TRUE(filter(raced({.pid = 5, .comm = "insmod", .stack = {"do_one_initcall"}}, true),
			   "initialisation-only"));
}

TEST_F(RaceTest, ATaskOfWhichOnlyTheLowBitsAreKnownHasNoName)
{
	const auto write = side(40000, "a", LS_ACC_WRITE);
	log.race(write, write, 0, {}, 0xffff888000001000u, 7232, 2);
	log.side(write, {.pid = 7232, .comm = ""}, 0);
	log.side(write, {.pid = 2, .comm = "reader"}, LS_SIDE_SECOND | LS_SIDE_TASK, {}, true);
	const Finding finding = only();
	EXPECT_EQ(finding.race->sides[0].context.pid, 7232u);
	EXPECT_TRUE(finding.race->sides[0].context.comm.empty());
	EXPECT_EQ(finding.race->sides[1].context.comm, "reader");
	EXPECT_EQ(finding.race->sides[1].stack.size(), 1u);
}

TEST_F(RaceTest, OnePairIsOneFindingHoweverOftenAndWhoeverComesFirst)
{
	const auto write = side(1, "a", LS_ACC_WRITE), read = side(2, "b", LS_ACC_READ);
	log.race(write, read);
	log.race(read, write, LS_RACE_CAUGHT);
	const Finding finding = only();
	EXPECT_EQ(finding.race->races.size(), 2u);
	EXPECT_EQ(finding.confidence, Confidence::Confirmed);
	/* Another function is another pair. */
	log.race(write, side(3, "c", LS_ACC_READ));
	EXPECT_EQ(findings(), 2u);
}

TEST_F(RaceTest, IdsSurviveOtherRunsAndPlaces)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(2, "b", LS_ACC_READ));
	LogBuilder later(2);
	/* Other numbers, other places in the functions, the sides the other way. */
	later.add_data("nothing");
	const auto again = later.add_data("stats", LS_DATA_STATIC, 0, "foo");
	const auto read = later.access({.pid = 70}, {.data = again,
						     .offset = 8,
						     .size = 4,
						     .op = LS_ACC_READ,
						     .function = "b",
						     .at = 100});
	later.race(
		read,
		later.access({.pid = 71},
			     {.data = again, .offset = 8, .size = 4, .function = "a", .at = 200}));
	const Model one = model_of(log), two = model_of(later);
	EXPECT_EQ(only_finding(one).id, only_finding(two).id);
	const Model both = model_of({&log, &later});
	EXPECT_EQ(only_finding(both).race->races.size(), 2u);
}

TEST_F(RaceTest, CandidatesAreLocksThatSomeHold)
{
	const auto good = log.add_class("foo:stats_lock"), rare = log.add_class("foo:rare_lock");
	side(3, "c", LS_ACC_WRITE, {{.lock = {.cls = good}}, {.lock = {.cls = rare}}});
	side(4, "d", LS_ACC_WRITE, {{.lock = {.cls = good}}});
	const auto write = side(1, "a", LS_ACC_WRITE, {{.lock = {.cls = good}}});
	log.race(write, side(2, "b", LS_ACC_READ));
	const Finding finding = only();
	EXPECT_EQ(finding.race->candidates,
		  (std::vector<std::string>{"foo:stats_lock", "foo:rare_lock"}));
	EXPECT_TRUE(feature(finding, "candidate-lock"));
	EXPECT_TRUE(feature(finding, "never-locked"));
}

TEST_F(RaceTest, ALockThatAllHoldIsNoCandidate)
{
	const auto lock = log.add_class("foo:lock");
	log.race(side(1, "a", LS_ACC_WRITE, {{.lock = {.cls = lock, .address = 0x10}}}),
		 side(2, "b", LS_ACC_WRITE, {{.lock = {.cls = lock, .address = 0x20}}}));
	EXPECT_TRUE(only().race->candidates.empty());
}

TEST_F(RaceTest, InterruptsCount)
{
	const auto write =
		log.access({.level = LS_HARDIRQ, .stack = {"foo_irq", "__handle_irq_event_percpu"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_hit"});
	log.race(write, side(2, "foo_show", LS_ACC_READ));
	const Finding finding = only();
	EXPECT_TRUE(feature(finding, "interrupt-writes"));
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_EQ(finding.race->sides[0].context.describe(), "interrupt handler foo_irq");
}

TEST_F(RaceTest, TheVariableIsNamedByWhoKnowsIt)
{
	const auto known = side(1, "a", LS_ACC_WRITE);
	data = log.add_data("copier", LS_DATA_OTHER);
	log.race(side(2, "copier", LS_ACC_READ, {}, 64), known);
	EXPECT_EQ(only().race->variable.name, "foo:stats+0x8");
}

namespace {

/* Code of a module with call-outs takes two locks a thousand times. */
Model sections(ls_access_mode mode)
{
	LogBuilder log;
	const auto used = log.add_class("foo:used"), idle = log.add_class("foo:idle"),
		   other = log.add_class("other");
	const auto data = log.add_data("value");
	log.module("foo", {"work", "touch_it"});
	log.acquire_again({}, {}, {.cls = used, .function = "work"}, 1000);
	log.acquire_again({}, {}, {.cls = idle, .function = "rest"}, 1000);
	log.acquire_again({}, {}, {.cls = other, .function = "elsewhere"}, 1000);
	log.access({}, {.data = data, .guards = {{.lock = {.cls = used, .function = "work"}}}});
	log.access_info().mode = mode;
	/* Chains are read when the log is done, from a module that is still there. */
	Model model = model_of(log);
	const char *functions[] = {"", "work", "rest", "elsewhere"};
	auto &chains = model.runs[0].chains;
	for (std::size_t i = 1; i < chains.size(); i++)
		chains[i].at =
			model.intern(Code{functions[i], 16, i < 3 ? "foo" : "vmlinux", "", {}});
	return model;
}

} // namespace

TEST(EmptySections, AreNotedOnRequestWhereNothingIsTouched)
{
	const Finding finding = only_finding(sections(LS_ACCESSES_ALL));
	EXPECT_EQ(finding.kind, Kind::EmptyCriticalSection);
	EXPECT_EQ(finding.title, "empty critical section: idle (rest)");
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_TRUE(finding.hidden());
}

TEST(EmptySections, SamplingSaysNothing)
{
	EXPECT_TRUE(analyse(sections(LS_ACCESSES_SAMPLED)).findings.empty());
}
