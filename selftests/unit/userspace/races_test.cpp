// SPDX-License-Identifier: GPL-2.0
// Data races: what is reported, what is not, how sure it is and where it ranks.
// Every fault has a twin that stays silent or is demoted.
#include "support.h"

#include "analysis/race_weights.h"

using namespace lockscope;
using namespace lockscope::test;
using Kind = FindingKind;

namespace {

class RaceTest : public testing::Test {
protected:
	RaceTest() { data = log.add_data("stats", LS_DATA_STATIC, 0, "foo"); }

	/* A side: a task of its own number, one function. */
	std::uint32_t side(std::uint32_t pid, const std::string &function, std::uint16_t op,
			   std::vector<GuardedBy> guards = {}, std::uint16_t size = 4)
	{
		return log.access({.pid = pid, .stack = {function + "_caller"}},
				  {.data = data,
				   .offset = 8,
				   .size = size,
				   .op = op,
				   .function = function,
				   .guards = std::move(guards)});
	}

	Finding only() { return only_finding(model = model_of(log)); }
	std::size_t findings() { return analyse(model = model_of(log)).findings.size(); }

	LogBuilder log;
	std::uint32_t data;
	Model model;
};

const Feature *feature(const Finding &finding, const std::string &name)
{
	for (const auto &each : finding.features)
		if (each.name == name)
			return &each;
	return nullptr;
}

} // namespace

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

TEST_F(RaceTest, ACounterIsANote)
{
	/* count++ of two tasks, and somebody who shows it. */
	const auto read = side(1, "count", LS_ACC_READ);
	const auto write = log.access(
		{.pid = 2}, {.data = data, .offset = 8, .size = 4, .function = "count", .at = 56});
	side(3, "show", LS_ACC_READ);
	log.race(write, read);
	const Finding finding = only();
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_TRUE(filter(finding, "statistics-counter"));
	EXPECT_LT(feature(finding, "statistics-counter")->points, 0);
}

TEST_F(RaceTest, ACountThatSomethingDependsOnIsNone)
{
	const auto read = side(1, "count", LS_ACC_READ);
	const auto write = log.access(
		{.pid = 2}, {.data = data, .offset = 8, .size = 4, .function = "count", .at = 56});
	/* Who reads it writes something else. */
	side(3, "decide", LS_ACC_READ);
	log.access({.pid = 3}, {.data = data, .offset = 64, .size = 4, .function = "decide"});
	log.race(write, read);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorIsOneThatALockIsHeldForElsewhere)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "count", LS_ACC_READ | LS_ACC_WRITE);
	side(2, "count_locked", LS_ACC_READ | LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	log.race(write, write);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, ACounterWhoseCallersHoldLocksIsOneAllTheSame)
{
	/* Of one function, called with several locks and without. */
	const auto one = log.add_class("foo:inode"), two = log.add_class("foo:buffer");
	const auto count = [&](std::uint32_t pid, std::vector<GuardedBy> locks) {
		return side(pid, "count", LS_ACC_READ | LS_ACC_WRITE, std::move(locks));
	};
	const GuardedBy inode{.lock = {.cls = one}, .relation = LS_REL_OTHER},
		buffer{.lock = {.cls = two}, .relation = LS_REL_OTHER};
	count(1, {inode});
	count(2, {inode, buffer});
	log.race(count(3, {buffer}), count(4, {}));
	EXPECT_EQ(only().severity, Severity::Note);
}

TEST_F(RaceTest, ALockOfTheCallersIsNoGuardWhenItWasAnotherOneThatRaced)
{
	const auto lock = log.add_class("foo:inode");
	const auto count = [&](std::uint32_t pid, std::uint64_t address) {
		return side(pid, "count", LS_ACC_READ | LS_ACC_WRITE,
			    {{.lock = {.cls = lock, .address = address}, .relation = LS_REL_OTHER}});
	};
	log.race(count(1, 0x10), count(2, 0x20));
	EXPECT_EQ(only().severity, Severity::Note);
}

TEST_F(RaceTest, PlainAssignmentIsNoCounter)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(2, "b", LS_ACC_WRITE));
	EXPECT_FALSE(filter(only(), "statistics-counter"));
}

TEST_F(RaceTest, InitCodeDemotes)
{
	const auto init =
		log.access({.pid = 1, .stack = {"do_one_initcall"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_setup"});
	log.race(init, side(2, "b", LS_ACC_READ));
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "initialisation-only"));
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_FALSE(finding.hidden());
}

TEST_F(RaceTest, NotWhatWasCaughtInTheAct)
{
	const auto init =
		log.access({.pid = 1, .stack = {"do_one_initcall"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_setup"});
	log.race(init, side(2, "b", LS_ACC_READ), LS_RACE_CAUGHT);
	const Finding finding = only();
	EXPECT_TRUE(finding.filters.empty());
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(RaceTest, TheSameWorkFunctionDemotes)
{
	auto work = [&](std::uint32_t pid, const char *entry) {
		return log.access({.pid = pid,
				   .flags = LS_TASK_KTHREAD | LS_TASK_WORKER,
				   .stack = {"helper", entry, "process_one_work"}},
				  {.data = data, .offset = 8, .size = 4, .function = "work_do"});
	};
	const auto a = work(1, "foo_work"), b = work(2, "foo_work");
	log.race(a, b);
	EXPECT_TRUE(filter(only(), "same-entry-point"));
	/* Two work functions run side by side. */
	log.race(a, work(3, "bar_work"));
	EXPECT_FALSE(filter(only(), "same-entry-point"));
}

TEST_F(RaceTest, AnObjectInTheMakingDemotes)
{
	data = log.add_data("foo_alloc", LS_DATA_ALLOC, 64, "foo");
	const auto init =
		log.access({.pid = 1, .stack = {"foo_alloc", "open"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_fill"});
	log.race(init, side(2, "foo_show", LS_ACC_READ));
	EXPECT_TRUE(filter(only(), "thread-local-allocation"));
	/* The same code, called by somebody else. */
	const auto later =
		log.access({.pid = 1, .stack = {"foo_ioctl"}},
			   {.data = data, .offset = 8, .size = 4, .function = "foo_fill"});
	log.race(later, side(2, "foo_show", LS_ACC_READ));
	EXPECT_FALSE(filter(only(), "thread-local-allocation"));
}

TEST_F(RaceTest, TakingAnObjectApartDemotes)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const auto read = side(2, "foo_show", LS_ACC_READ);
	log.race(read, side(1, "foo_free", LS_ACC_WRITE));
	EXPECT_TRUE(filter(only(), "unsharing"));
}

TEST_F(RaceTest, AnythingElseDoesNot)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const auto read = side(2, "foo_show", LS_ACC_READ);
	log.race(read, side(1, "foo_set_freezing", LS_ACC_WRITE));
	EXPECT_FALSE(filter(only(), "unsharing"));
}

TEST_F(RaceTest, ConditionalLockingDemotes)
{
	const auto lock = log.add_class("foo:lock");
	/* foo_update takes the lock only if asked to, then calls foo_set. */
	auto set = [&](std::uint32_t pid, const char *caller, std::vector<GuardedBy> guards) {
		return log.access({.pid = pid, .stack = {caller, "write"}},
				  {.data = data,
				   .offset = 8,
				   .size = 4,
				   .function = "foo_set",
				   .guards = std::move(guards)});
	};
	const auto locked =
		set(1, "foo_update", {{.lock = {.cls = lock, .function = "foo_update"}}});
	const auto bare = set(2, "foo_update", {});
	log.race(locked, bare);
	EXPECT_TRUE(filter(only(), "conditional-locking"));
	/* Another caller who forgot the lock is no such case. */
	log.race(locked, set(3, "foo_reset", {}));
	EXPECT_FALSE(filter(only(), "conditional-locking"));
}

/* lock bts before, lock and behind: both functions have the word to themselves. */
TEST_F(RaceTest, BitsUsedAsLocksDemote)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const std::uint16_t rmw = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC;
	const auto change = [&](const char *function, std::uint32_t word, std::uint32_t at) {
		log.access({.pid = 1}, {.data = data, .offset = word, .size = 8, .op = rmw,
					.function = function, .at = at});
	};
	change("foo_put", 16, 8);
	change("foo_put", 20, 90);
	change("foo_get", 16, 8);
	const auto put = side(1, "foo_put", LS_ACC_WRITE), get = side(2, "foo_get", LS_ACC_READ);
	log.race(put, get);
	EXPECT_FALSE(filter(only(), "bit-lock")) << "one does not clear it";
	change("foo_get", 40, 90);
	EXPECT_FALSE(filter(only(), "bit-lock")) << "another word";
	change("foo_get", 16, 90);
	EXPECT_TRUE(filter(only(), "bit-lock"));
}

/* lock; if (flag) return; flag = 1; unlock; ... copy(); flag = 0, as nfsd's session slots. */
TEST_F(RaceTest, ObjectsThatAFlagClaimsDemote)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const auto lock = log.add_class("foo:lock");
	const auto touch = [&](const char *function, std::uint32_t at, std::uint16_t op, bool locked) {
		std::vector<GuardedBy> guards;
		if (locked)
			guards = {{.lock = {.cls = lock, .function = function}}};
		log.access({.pid = 1}, {.data = data, .offset = 40, .size = 1, .op = op,
					.function = function, .at = at, .guards = guards});
	};
	const auto copy = [&](std::uint32_t pid, const char *caller) {
		return log.access({.pid = pid, .stack = {caller, "serve"}},
				  {.data = data, .offset = 8, .size = 8, .function = "foo_copy"});
	};
	const auto first = copy(1, "foo_done"), second = copy(2, "foo_done");
	log.race(first, second);
	touch("foo_claim", 8, LS_ACC_READ, true);
	touch("foo_claim", 20, LS_ACC_WRITE, false);
	touch("foo_done", 200, LS_ACC_WRITE, false);
	EXPECT_FALSE(filter(only(), "claimed-by-flag")) << "claimed without the lock";
	touch("foo_claim", 20, LS_ACC_WRITE, true);
	EXPECT_TRUE(filter(only(), "claimed-by-flag"));
	EXPECT_LT(only().severity, Severity::Error);
	/* One that is no part of it. */
	log.race(first, copy(3, "foo_reset"));
	EXPECT_FALSE(filter(only(), "claimed-by-flag"));
}

TEST_F(RaceTest, MemoryOfTwoTypesDemotes)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const auto write = side(1, "foo_set", LS_ACC_WRITE);
	data = log.add_data("bar_cache", LS_DATA_SLAB, 64);
	log.race(write, side(2, "bar_get", LS_ACC_READ));
	EXPECT_TRUE(filter(only(), "different-objects"));
}

TEST_F(RaceTest, SequenceCountersHide)
{
	auto seq = [&](std::uint32_t pid, const char *function, std::uint16_t op,
		       std::uint32_t where) {
		return log.access({.pid = pid}, {.data = data,
						 .offset = 8,
						 .size = 4,
						 .op = op,
						 .function = function,
						 .where = where});
	};
	const auto write = seq(1, "update", LS_ACC_WRITE, LS_WHERE_SEQ_WRITE);
	log.race(write, seq(2, "sample", LS_ACC_READ, LS_WHERE_SEQ_READ));
	EXPECT_TRUE(only().hidden());
	/* A reader outside of the section. */
	log.race(write, seq(3, "peek", LS_ACC_READ, 0));
	const auto all = analyse(model_of(log)).findings;
	ASSERT_EQ(all.size(), 2u);
	EXPECT_FALSE(all[0].hidden());
	EXPECT_TRUE(all[1].hidden());
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

TEST_F(RaceTest, RanksByWeightsThatAUserCanChange)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(2, "b", LS_ACC_WRITE), LS_RACE_CAUGHT);
	log.race(side(3, "c", LS_ACC_WRITE), side(4, "d", LS_ACC_READ));
	model = model_of(log);
	auto findings = analyse(model).findings;
	ASSERT_EQ(findings.size(), 2u);
	EXPECT_EQ(findings[0].confidence, Confidence::Confirmed);
	EXPECT_GT(findings[0].score, findings[1].score);
	double sum = 0;
	for (const auto &each : findings[0].features)
		sum += each.points;
	EXPECT_EQ(sum, findings[0].score);

	auto weights = RaceWeights::parse("# turned around\nconfidence = -1300\n", "w");
	ASSERT_TRUE(weights.ok());
	findings = analyse(model, {.raw_nesting = false, .weights = *weights}).findings;
	EXPECT_EQ(findings[1].confidence, Confidence::Confirmed);
}

TEST_F(RaceTest, VariablesTakeTurns)
{
	/* Three sure races on one variable, one of less weight on another. */
	const auto writer = side(1, "a", LS_ACC_WRITE);
	for (const char *reader : {"b", "c", "d"})
		log.race(writer, side(2, reader, LS_ACC_WRITE), LS_RACE_CAUGHT);
	const auto other = log.add_data("other");
	auto at = [&](std::uint32_t pid, const char *function, std::uint16_t op) {
		return log.access({.pid = pid},
				  {.data = other, .size = 4, .op = op, .function = function});
	};
	log.race(at(3, "e", LS_ACC_WRITE), at(4, "f", LS_ACC_READ), LS_RACE_CAUGHT);
	model = model_of(log);
	const auto findings = analyse(model).findings;
	ASSERT_EQ(findings.size(), 4u);
	EXPECT_NE(findings[0].race->variable.stable, findings[1].race->variable.stable);
	EXPECT_FALSE(feature(findings[0], "same-variable"));
	EXPECT_FALSE(feature(findings[1], "same-variable"));
	for (std::size_t i = 2; i < 4; i++) {
		EXPECT_TRUE(feature(findings[i], "same-variable"));
		double sum = 0;
		for (const auto &each : findings[i].features)
			sum += each.points;
		EXPECT_EQ(sum, findings[i].score);
	}
	EXPECT_GT(findings[2].score, findings[3].score);
}

TEST(RaceWeights, MistakesAreToldWithFileAndLine)
{
	struct {
		const char *text, *words;
	} cases[] = {
		{"plain = 1\n\nnonsense = 1\n", "w.conf:3: unknown feature nonsense"},
		{"plain\n", "w.conf:1: no ="},
		{"plain = much\n", "w.conf:1: \"much\" is no number"},
		{"plain = 1e999\n", "w.conf:1:"},
		{"plain = nan\n", "w.conf:1:"},
		{"plain = 1 2\n", "w.conf:1:"},
		{"plain = 1\nplain = 2\n", "w.conf:2: plain is given twice"},
		{" = 2\n", "w.conf:1: unknown feature"},
	};
	for (const auto &each : cases) {
		auto parsed = RaceWeights::parse(each.text, "w.conf");
		ASSERT_FALSE(parsed.ok()) << each.text;
		EXPECT_EQ(parsed.error().what.rfind(each.words, 0), 0u) << parsed.error().what;
		EXPECT_EQ(parsed.error().exit, Exit::Usage);
		EXPECT_FALSE(parsed.error().hint.empty());
	}
	auto fine = RaceWeights::parse("\n  plain=2.5 # why\r\n", "w.conf");
	ASSERT_TRUE(fine.ok());
	EXPECT_EQ((*fine)["plain"], 2.5);
	EXPECT_EQ((*fine)["write"], RaceWeights()["write"]);
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
		chains[i].at = model.intern(
			Code{functions[i], 16, i < 3 ? "foo" : "vmlinux", "", {}});
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

TEST_F(RaceTest, AWordThatReadersReadWithoutTheLockIsAWarning)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_set", LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	log.race(write, side(2, "foo_show", LS_ACC_READ), LS_RACE_CAUGHT);
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "lockless-read"));
	EXPECT_EQ(finding.severity, Severity::Warning);
	/* That it races is not in doubt. */
	EXPECT_FALSE(feature(finding, "doubt"));
}

TEST_F(RaceTest, NotWhenOtherReadersHoldIt)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_set", LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	side(3, "foo_get", LS_ACC_READ, {{.lock = {.cls = lock}}});
	side(3, "foo_ask", LS_ACC_READ, {{.lock = {.cls = lock}}});
	log.race(write, side(2, "foo_show", LS_ACC_READ));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhenAWriterLeavesItOut)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_set", LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	side(3, "foo_reset", LS_ACC_WRITE);
	log.race(write, side(2, "foo_show", LS_ACC_READ));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhenTheValueTears)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_set", LS_ACC_WRITE, {{.lock = {.cls = lock}}}, 8);
	log.race(write, side(2, "foo_show", LS_ACC_READ, {}, 4));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhenWhatWasReadDecidesWhatIsWritten)
{
	const auto lock = log.add_class("foo:lock");
	const auto locked = std::vector<GuardedBy>{{.lock = {.cls = lock}}};
	const auto read = side(2, "foo_next", LS_ACC_READ);
	side(2, "foo_next", LS_ACC_WRITE, locked);
	log.race(side(1, "foo_set", LS_ACC_WRITE, locked), read);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, WhatIsCheckedAgainUnderTheLockIsAWarning)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_set", LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	const auto read = side(2, "foo_get", LS_ACC_READ);
	/* The function that it calls looks with the lock held, and makes what is missing. */
	const auto locked = std::vector<GuardedBy>{{.lock = {.cls = lock}}};
	log.access({.pid = 2, .stack = {"foo_get"}}, {.data = data, .offset = 8, .size = 4,
						      .op = LS_ACC_READ, .function = "foo_make",
						      .guards = locked});
	log.race(write, read);
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "checked-again"));
	EXPECT_EQ(finding.severity, Severity::Warning);
}

TEST_F(RaceTest, AConditionThatIsWaitedForIsANote)
{
	const auto lock = log.add_class("foo:lock");
	const auto write = side(1, "foo_done", LS_ACC_WRITE, {{.lock = {.cls = lock}}});
	log.race(write, log.access({.pid = 2}, {.data = data, .offset = 8, .size = 4,
						.op = LS_ACC_READ, .function = "foo_wait",
						.where = LS_WHERE_WAITING}));
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "wait-condition"));
	EXPECT_EQ(finding.severity, Severity::Note);
}

namespace {

/* A store of its own function that was seen @count times, as the other sides are. */
Touch store(std::uint32_t data, const std::string &function, std::uint32_t count,
	    std::vector<GuardedBy> guards = {})
{
	return {.data = data, .offset = 8, .size = 8, .op = LS_ACC_WRITE, .function = function,
		.guards = std::move(guards), .count = count};
}

} // namespace

TEST_F(RaceTest, TwoStoresOfOneConstantAreANote)
{
	const auto a = log.access({.pid = 1}, store(data, "foo_read", 2)),
		   b = log.access({.pid = 2}, store(data, "foo_write", 2));
	log.race(a, b, LS_RACE_CAUGHT);
	auto judged = [&](std::optional<std::uint64_t> first, std::optional<std::uint64_t> second) {
		Model model = model_of(log);
		model.accesses[model.races.front().first].constant = first;
		model.accesses[model.races.front().second].constant = second;
		const auto findings = analyse(model).findings;
		EXPECT_EQ(findings.size(), 1u);
		EXPECT_EQ(filter(findings[0], "same-constant") != nullptr,
			  findings[0].severity == Severity::Note);
		return findings[0].severity;
	};
	EXPECT_EQ(judged(1, 1), Severity::Note);
	EXPECT_EQ(judged(0, 0), Severity::Note);
	EXPECT_EQ(judged(1, 0), Severity::Error);
	EXPECT_EQ(judged(1, std::nullopt), Severity::Error);
	EXPECT_EQ(judged(std::nullopt, std::nullopt), Severity::Error);
}

TEST_F(RaceTest, AWordThatAllStoreAndNobodyLocksIsAWarning)
{
	const auto a = log.access({.pid = 1}, store(data, "foo_read", 60)),
		   b = log.access({.pid = 2}, store(data, "foo_write", 60));
	log.race(a, b, LS_RACE_CAUGHT);
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "last-store-wins"));
	EXPECT_EQ(finding.severity, Severity::Warning);
	/* That it races is not in doubt. */
	EXPECT_FALSE(feature(finding, "doubt"));
}

TEST_F(RaceTest, AndSoIsWhoReadsIt)
{
	const auto a = log.access({.pid = 1}, store(data, "foo_read", 100));
	log.race(a, side(2, "foo_idle", LS_ACC_READ, {}, 8));
	EXPECT_EQ(only().severity, Severity::Warning);
}

TEST_F(RaceTest, LocksOfTheCallersChangeNothing)
{
	/* One place, with the locks of whatever is going on. */
	const auto lock = log.add_class("foo:inode");
	const GuardedBy inode{.lock = {.cls = lock}, .relation = LS_REL_OTHER};
	const auto a = log.access({.pid = 1}, store(data, "foo_touch", 60, {inode}));
	log.access({.pid = 3}, store(data, "foo_touch", 60));
	log.race(a, log.access({.pid = 2}, store(data, "foo_write", 60)));
	EXPECT_EQ(only().severity, Severity::Warning);
}

TEST_F(RaceTest, EachSideMayBeKnownByAnotherElementOfAnArray)
{
	Touch other = store(data, "foo_write", 60);
	other.offset = 40;
	log.race(log.access({.pid = 1}, store(data, "foo_read", 60)),
		 log.access({.pid = 2}, other));
	EXPECT_EQ(only().severity, Severity::Warning);
}

TEST_F(RaceTest, ButNotWhatIsStoredNowAndThen)
{
	/* A pointer that is published, a state. */
	log.race(log.access({.pid = 1}, store(data, "foo_start", 5)),
		 log.access({.pid = 2}, store(data, "foo_stop", 5)));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhatALockIsHeldForElsewhere)
{
	const auto lock = log.add_class("foo:lock");
	log.access({.pid = 3}, store(data, "foo_reset", 100, {{.lock = {.cls = lock}}}));
	log.race(log.access({.pid = 1}, store(data, "foo_read", 100)),
		 log.access({.pid = 2}, store(data, "foo_write", 100)));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhatDependsOnWhatWasThere)
{
	side(2, "foo_write", LS_ACC_READ, {}, 8);
	log.race(log.access({.pid = 1}, store(data, "foo_read", 100)),
		 log.access({.pid = 2}, store(data, "foo_write", 100)));
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(RaceTest, NorWhatIsStoredInParts)
{
	side(3, "foo_half", LS_ACC_WRITE, {}, 4);
	log.race(log.access({.pid = 1}, store(data, "foo_read", 100)),
		 log.access({.pid = 2}, store(data, "foo_write", 100)));
	for (const auto &finding : analyse(model = model_of(log)).findings)
		EXPECT_EQ(finding.severity, Severity::Error);
}

/* What is read plainly and what an atomic operation changes have nothing to do with each other. */
TEST_F(RaceTest, AnAtomicOperationWritesNothingBack)
{
	const auto read = side(1, "foo_check", LS_ACC_READ, {}, 8);
	side(1, "foo_check", LS_ACC_WRITE | LS_ACC_ATOMIC, {}, 8);
	log.race(side(2, "foo_done", LS_ACC_WRITE | LS_ACC_ATOMIC, {}, 8), read);
	EXPECT_EQ(only().severity, Severity::Note);
}

TEST_F(RaceTest, AMarkedWriteDoes)
{
	const auto read = side(1, "foo_check", LS_ACC_READ, {}, 8);
	side(1, "foo_check", LS_ACC_WRITE | LS_ACC_MARKED, {}, 8);
	log.race(side(2, "foo_done", LS_ACC_WRITE | LS_ACC_ATOMIC, {}, 8), read);
	EXPECT_EQ(only().severity, Severity::Error);
}

/* Two things that one function allocates, whose types are not known. */
TEST_F(RaceTest, AllocationsOfOneFunctionAreToldApartBySize)
{
	const auto lock = log.add_class("foo:lock");
	const auto small = log.add_data("foo_setup", LS_DATA_ALLOC, 128, "foo"),
		   large = log.add_data("foo_setup", LS_DATA_ALLOC, 1024, "foo");
	log.access({.pid = 3}, store(large, "foo_reset", 100, {{.lock = {.cls = lock}}}));
	log.race(log.access({.pid = 1}, store(small, "foo_read", 100)),
		 log.access({.pid = 2}, store(small, "foo_write", 100)));
	EXPECT_EQ(only().severity, Severity::Warning);
}
