// SPDX-License-Identifier: GPL-2.0
// What speaks against a data race.
#include "race_test.h"

using namespace lockscope;
using namespace lockscope::test;

TEST_F(RaceTest, ACounterIsANote)
{
	/* count++ of two tasks, and a reader that prints it. */
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
	/* The reader writes something else. */
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
		return side(
			pid, "count", LS_ACC_READ | LS_ACC_WRITE,
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
	/* The same code, with another caller. */
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
	/* foo_update acquires the lock only on request, then calls foo_set. */
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
	/* Another caller that forgot the lock is no such case. */
	log.race(locked, set(3, "foo_reset", {}));
	EXPECT_FALSE(filter(only(), "conditional-locking"));
}

/* lock bts before, lock and behind: both functions have the word to themselves. */
TEST_F(RaceTest, BitsUsedAsLocksDemote)
{
	data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const std::uint16_t rmw = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC;
	const auto change = [&](const char *function, std::uint32_t word, std::uint32_t at) {
		log.access({.pid = 1}, {.data = data,
					.offset = word,
					.size = 8,
					.op = rmw,
					.function = function,
					.at = at});
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
	const auto touch = [&](const char *function, std::uint32_t at, std::uint16_t op,
			       bool locked) {
		std::vector<GuardedBy> guards;
		if (locked)
			guards = {{.lock = {.cls = lock, .function = function}}};
		log.access({.pid = 1}, {.data = data,
					.offset = 40,
					.size = 1,
					.op = op,
					.function = function,
					.at = at,
					.guards = guards});
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
