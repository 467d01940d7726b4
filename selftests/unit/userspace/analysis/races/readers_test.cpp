// SPDX-License-Identifier: GPL-2.0
// Data races of readers without the lock, and over words that all store.
#include "race_test.h"

using namespace lockscope;
using namespace lockscope::test;

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
	log.access({.pid = 2, .stack = {"foo_get"}}, {.data = data,
						      .offset = 8,
						      .size = 4,
						      .op = LS_ACC_READ,
						      .function = "foo_make",
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
	log.race(write, log.access({.pid = 2}, {.data = data,
						.offset = 8,
						.size = 4,
						.op = LS_ACC_READ,
						.function = "foo_wait",
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
	return {.data = data,
		.offset = 8,
		.size = 8,
		.op = LS_ACC_WRITE,
		.function = function,
		.guards = std::move(guards),
		.count = count};
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
