// SPDX-License-Identifier: GPL-2.0
// Faults that one observation shows.
#include "support.h"

#include "analysis/evidence.h"
#include "analysis/faults/faults.h"
#include "report/report.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace lockscope;
using namespace lockscope::test;

namespace {

using Kind = FindingKind;

class FaultTest : public testing::Test {
protected:
	FaultTest()
	{
		spin = log.add_class("foo:s_lock");
		mutex = log.add_class("m_mutex", LS_KIND_MUTEX);
	}

	Finding only() { return only_finding(model = model_of(log)); }

	LogBuilder log;
	Model model;
	std::uint32_t spin = 0, mutex = 0;
	Task task = {.pid = 5,
		     .comm = "user",
		     .stack = {"foo_open", "__x64_sys_openat"},
		     .irq_off = true};
};

} // namespace

TEST_F(FaultTest, AcquisitionsAndReleasesAloneAreSilent)
{
	log.acquire(task, {{.cls = spin}}, {.cls = mutex});
	log.release(task, {{.cls = spin}}, {.cls = mutex});
	EXPECT_TRUE(analyse(model_of(log)).findings.empty());
}

TEST_F(FaultTest, AFaultOrdersNothing)
{
	log.acquire(task, {{.cls = spin}}, {.cls = mutex});
	log.fault(LS_FINDING_BAD_UNLOCK, {.pid = 6}, {{.cls = mutex}}, {.cls = spin});
	EXPECT_EQ(only().kind, Kind::BadUnlock);
}

TEST_F(FaultTest, SleepingLockUnderASpinningOne)
{
	log.fault(LS_FINDING_WAIT_CONTEXT, task, {{.cls = spin, .function = "foo_open"}},
		  {.cls = mutex, .function = "take_m"}, 1);
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::InvalidWaitContext);
	EXPECT_EQ(finding.title,
		  "invalid wait context: mutex m_mutex taken under spinlock s_lock (take_m)");
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	ASSERT_EQ(finding.classes.size(), 1u);
	EXPECT_EQ(model[finding.classes[0]].name, "m_mutex");
	ASSERT_EQ(finding.edges.size(), 1u);
	EXPECT_EQ(finding.edges[0].from, finding.edges[0].to);
	ASSERT_EQ(finding.stacks.size(), 1u);
	EXPECT_EQ(finding.stacks[0].role, "where");
	EXPECT_EQ(model[finding.stacks[0].stack[0]].function, "take_m");
	EXPECT_TRUE(finding.filters.empty());
}

TEST_F(FaultTest, WhyNobodyMaySleep)
{
	auto title = [&](const Task &where) {
		LogBuilder other;
		const auto m = other.add_class("m", LS_KIND_MUTEX);
		other.fault(LS_FINDING_WAIT_CONTEXT, where, {}, {.cls = m});
		return only_finding(model_of(other)).title;
	};
	EXPECT_EQ(title({.level = LS_SOFTIRQ}),
		  "invalid wait context: mutex m taken in softirq (lock_it)");
	EXPECT_EQ(title({.level = LS_HARDIRQ}),
		  "invalid wait context: mutex m taken in hardirq (lock_it)");
	EXPECT_EQ(title({.irq_off = true}),
		  "invalid wait context: mutex m taken with interrupts off (lock_it)");
	EXPECT_EQ(title({.bh_off = true}),
		  "invalid wait context: mutex m taken with softirqs off (lock_it)");
	EXPECT_EQ(
		title({}),
		"invalid wait context: mutex m taken with preemption off or in an RCU read side (lock_it)");
}

TEST_F(FaultTest, SleepInAtomicContext)
{
	log.fault(LS_FINDING_SLEEP_ATOMIC, task, {{.cls = spin}}, {.cls = mutex, .function = "f"},
		  1);
	EXPECT_EQ(only().title, "sleep in atomic context: mutex m_mutex under spinlock s_lock (f)");
}

TEST_F(FaultTest, SleepWithoutALockHasNoClass)
{
	log.fault(LS_FINDING_SLEEP_ATOMIC, task, {{.cls = spin}}, {.function = "msleep_call"}, 1);
	const Finding finding = only();
	EXPECT_EQ(finding.title, "sleep in atomic context: under spinlock s_lock (foo_open)");
	EXPECT_TRUE(finding.classes.empty());
	ASSERT_EQ(finding.stacks.size(), 1u);
	/* About the lock that is held: the same words. */
	LogBuilder other;
	const auto s = other.add_class("s");
	other.fault(LS_FINDING_SLEEP_ATOMIC, task, {{.cls = s}}, {.cls = s, .function = "f"}, 1);
	EXPECT_EQ(only_finding(model_of(other)).title,
		  "sleep in atomic context: under spinlock s (f)");
}

TEST_F(FaultTest, TheUnlocks)
{
	log.acquire(task, {}, {.cls = mutex, .function = "took_it"});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex, .function = "gave_twice"});
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::DoubleUnlock);
	EXPECT_EQ(finding.title, "double unlock of m_mutex (gave_twice)");
	/* Where it had been taken. */
	ASSERT_EQ(finding.stacks.size(), 2u);
	EXPECT_EQ(finding.stacks[1].role, "taken-before");
	EXPECT_EQ(model[finding.stacks[1].stack[0]].function, "took_it");
	EXPECT_EQ(finding.edges[0].from_stack, finding.stacks[1].stack);
}

TEST_F(FaultTest, TakenBeforePrefersTheInstance)
{
	const auto d = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
	log.acquire(task, {}, {.cls = d, .address = 0x108, .function = "this_one"});
	log.acquire(task, {}, {.cls = d, .address = 0x208, .function = "another"});
	log.fault(LS_FINDING_BAD_UNLOCK, task, {}, {.cls = d, .address = 0x108});
	const Finding finding = only();
	EXPECT_EQ(finding.title, "bad unlock of cache+0x8 by one who does not hold it (lock_it)");
	ASSERT_EQ(finding.stacks.size(), 2u);
	EXPECT_EQ(model[finding.stacks[1].stack[0]].function, "this_one");
}

TEST_F(FaultTest, HeldLocksThatGoAway)
{
	log.fault(LS_FINDING_HELD_FREED, task, {{.cls = spin, .function = "foo_open"}},
		  {.cls = spin, .function = "free_it"}, 1);
	const Finding freed = only();
	EXPECT_EQ(freed.title, "lock s_lock freed while held (free_it)");
	ASSERT_EQ(freed.stacks.size(), 2u);
	EXPECT_EQ(freed.stacks[1].role, "taken");
	EXPECT_EQ(model[freed.stacks[1].stack[0]].function, "foo_open");

	LogBuilder other;
	const auto m = other.add_class("m", LS_KIND_MUTEX);
	other.fault(LS_FINDING_HELD_INIT, task, {{.cls = m}}, {.cls = m, .function = "init_it"}, 1);
	EXPECT_EQ(only_finding(model_of(other)).title, "lock m initialised while held (init_it)");
}

TEST_F(FaultTest, HeldAtTheEndIsToldByWhoTookIt)
{
	for (const char *taker : {"one", "two"})
		log.fault(LS_FINDING_HELD_EXIT, task, {{.cls = mutex, .function = taker}},
			  {.cls = mutex, .function = "do_exit"}, 1);
	const auto found = analyse(model_of(log)).findings;
	ASSERT_EQ(found.size(), 2u);
	EXPECT_NE(found[0].id, found[1].id);
	EXPECT_EQ(found[0].title, "task exits holding m_mutex (one)");
	EXPECT_EQ(found[1].title, "task exits holding m_mutex (two)");
}

TEST_F(FaultTest, ALockThatIsOnlyMarkedInTheHeldStack)
{
	log.fault(LS_FINDING_HELD_USER, task, {{.cls = spin}, {.cls = mutex, .function = "taker"}},
		  {.function = "exit_to_user_mode_prepare"}, 2);
	const Finding finding = only();
	EXPECT_EQ(finding.title, "return to user mode holding m_mutex (taker)");
	EXPECT_EQ(model[finding.classes.at(0)].name, "m_mutex");
}

TEST_F(FaultTest, TheOtherKinds)
{
	auto title = [&](ls_finding_kind kind) {
		LogBuilder other;
		const auto m = other.add_class("m", LS_KIND_WW_MUTEX);
		other.fault(kind, task, {}, {.cls = m, .function = "f"});
		return only_finding(model_of(other)).title;
	};
	EXPECT_EQ(title(LS_FINDING_NOT_HELD), "lock m not held where it has to be (f)");
	EXPECT_EQ(title(LS_FINDING_WW), "ww_mutex misuse: m (f)");
	EXPECT_EQ(title(LS_FINDING_NOT_INIT), "lock m never initialised (f)");
	EXPECT_EQ(title(LS_FINDING_AT_END), "atomic at its end: ? (f)");
	EXPECT_EQ(title(LS_FINDING_IN_FREED), "ww_mutex m taken in freed memory (f)");
}

TEST_F(FaultTest, ALockInFreedMemoryHasTheCodeThatFreedIt)
{
	const Lock outer{.cls = spin, .function = "outer"};
	log.fault(LS_FINDING_IN_FREED, task,
		  {outer, {.cls = mutex, .address = 0x10, .function = "put_it"}},
		  {.cls = mutex, .address = 0x10, .function = "use_it"}, 2);
	const Finding finding = only();
	EXPECT_EQ(finding.title, "mutex m_mutex taken in freed memory (use_it)");
	ASSERT_EQ(finding.stacks.size(), 2u);
	EXPECT_EQ(finding.stacks[1].role, "freed");
	EXPECT_EQ(model[finding.stacks[1].stack.at(0)].function, "put_it");
	/* It is not held. */
	EXPECT_EQ(model.observations[finding.stacks[0].observation].held.size(), 1u);
	const std::string text = text_report(model, analyse(model), {}, {80, false});
	EXPECT_NE(text.find("the memory of [A] was freed here"), text.npos) << text;
	EXPECT_NE(text.find("put_it"), text.npos);
}

TEST_F(FaultTest, LongHoldSaysHowLong)
{
	log.fault(LS_FINDING_LONG_HOLD, task, {}, {.cls = mutex, .function = "waiter"}, 0,
		  1500000000);
	log.fault(LS_FINDING_LONG_HOLD, task, {}, {.cls = mutex, .function = "waiter"}, 0,
		  2300000000);
	const Finding finding = only();
	EXPECT_EQ(finding.title, "long hold: m_mutex waited for 2.300 s (waiter)");
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_EQ(finding.edges[0].count, 2u);
}

TEST_F(FaultTest, OneFindingForEachFunctionAndLock)
{
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex, .function = "f"});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, {.pid = 9}, {}, {.cls = mutex, .function = "f"});
	const Finding one = only();
	EXPECT_EQ(one.edges[0].count, 2u);
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex, .function = "g"});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = spin, .function = "f"});
	log.fault(LS_FINDING_BAD_UNLOCK, task, {}, {.cls = mutex, .function = "f"});
	const auto found = analyse(model_of(log)).findings;
	EXPECT_EQ(found.size(), 4u);
	std::set<std::string> ids;
	for (const auto &finding : found)
		ids.insert(finding.id);
	EXPECT_EQ(ids.size(), 4u);
	EXPECT_TRUE(ids.count(one.id));
}

TEST_F(FaultTest, TheSameIdOnAnotherBoot)
{
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex, .function = "f.isra.0"});
	LogBuilder other(2);
	const auto m = other.add_class("m_mutex", LS_KIND_MUTEX);
	other.fault(LS_FINDING_DOUBLE_UNLOCK, {.pid = 77}, {}, {.cls = m, .function = "f"});
	EXPECT_EQ(only().id, only_finding(model_of(other)).id);
}

TEST_F(FaultTest, RanksAboveADeadlockThatHasYetToHappen)
{
	const auto b = log.add_class("b");
	log.acquire({.pid = 1, .irq_off = true}, {{.cls = spin}}, {.cls = b});
	log.acquire({.pid = 2, .irq_off = true}, {{.cls = b}}, {.cls = spin});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex});
	const auto found = analyse(model_of(log)).findings;
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0].kind, Kind::DoubleUnlock);
}

TEST_F(FaultTest, SaysWhyATaskIsAtomicWhereItIsKnown)
{
	const auto title = [&](std::uint64_t extra) {
		LogBuilder one = log;
		one.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 5, .stack = {"foo_open"}}, {},
			  {.function = "slow"}, 0, extra);
		return only_finding(model_of(one)).title;
	};
	EXPECT_EQ(title(LS_ATOMIC_PREEMPT), "sleep in atomic context: with preemption off (slow)");
	EXPECT_EQ(title(LS_ATOMIC_RCU), "sleep in atomic context: in an RCU read side (slow)");
	EXPECT_EQ(title(LS_ATOMIC_PREEMPT | LS_ATOMIC_RCU),
		  "sleep in atomic context: with preemption off and in an RCU read side (slow)");
	EXPECT_EQ(title(0),
		  "sleep in atomic context: with preemption off or in an RCU read side (slow)");
}

/* What a long wait waits for is its owner's. */
TEST_F(FaultTest, AWaiterDoesNotHoldWhatItWaitsFor)
{
	const auto other = log.add_class("other", LS_KIND_MUTEX);
	log.fault(LS_FINDING_LONG_HOLD, task,
		  {{.cls = other, .function = "outer"}, {.cls = mutex, .function = "owner_takes"}},
		  {.cls = mutex, .function = "waiter"}, 2, 3000000000);
	const Model model = model_of(log);
	const auto finding = only_finding(model);
	const auto held = own_locks(model.observations[0]);
	ASSERT_EQ(held.size(), 1u);
	EXPECT_EQ(model[held[0].cls].name, "other");
	const std::string text = text_finding(model, finding, {});
	EXPECT_NE(text.find("holds mutex other, taken at outer"), std::string::npos) << text;
	EXPECT_EQ(text.find("holds mutex m"), std::string::npos) << text;
	EXPECT_NE(text.find("who has [A] took it here"), std::string::npos) << text;
	EXPECT_NE(text.find("owner_takes"), std::string::npos) << text;
}

/* Its own stack has only the return: that of the acquisition was not kept. */
TEST_F(FaultTest, CallersOfALockThatIsKeptComeFromWhileItWasHeld)
{
	const auto inner = log.add_class("inner", LS_KIND_MUTEX);
	const Lock kept = {.cls = mutex, .function = "foo_open"};
	const Task opener = {.pid = 5, .stack = {"foo_open", "vfs_open", "__x64_sys_openat"}};
	log.acquire(opener, {kept}, {.cls = inner, .function = "foo_look"});
	log.fault(LS_FINDING_HELD_USER, {.pid = 5}, {kept}, {.cls = mutex, .function = "foo_open"},
		  1);
	const auto finding = only();
	ASSERT_EQ(finding.stacks.size(), 2u);
	ASSERT_EQ(finding.stacks[1].role, "taken");
	ASSERT_EQ(finding.stacks[1].stack.size(), 3u);
	EXPECT_EQ(model[finding.stacks[1].stack[1]].function, "vfs_open");
	EXPECT_EQ(model[finding.stacks[1].stack[2]].function, "__x64_sys_openat");
	EXPECT_EQ(finding.stacks[1].observation, 0u);
}

TEST_F(FaultTest, SelfCheckCountsKinds)
{
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = mutex});
	EXPECT_EQ(analyse(model_of(log)).self_check.only_here.size(), 1u);
	log.finding({mutex}, LS_FINDING_DOUBLE_UNLOCK);
	EXPECT_TRUE(analyse(model_of(log)).self_check.empty());
	log.finding({0}, LS_FINDING_SLEEP_ATOMIC);
	ASSERT_EQ(analyse(model_of(log)).self_check.missing.size(), 1u);
	EXPECT_NE(analyse(model_of(log)).self_check.missing[0].find("sleep-in-atomic"),
		  std::string::npos);
	/* What was lost explains it. */
	log.info().losses[LS_LOSS_RECORDS] = 1;
	EXPECT_TRUE(analyse(model_of(log)).self_check.empty());
}

TEST_F(FaultTest, EachKindHasWordsOfItsOwn)
{
	std::set<std::string> titles;
	for (std::uint32_t kind = LS_FINDING_WAIT_CONTEXT; kind <= LS_NR_FINDINGS; kind++) {
		if (kind == LS_FINDING_DEADLOCK)
			continue;
		LogBuilder other;
		const auto m = other.add_class("m", LS_KIND_MUTEX);
		other.fault(LS_FINDING_WW, task, {{.cls = m}}, {.cls = m}, 1);
		model = model_of(other);
		model.observations[0].what = kind;
		const std::string title = only_finding(model).title;
		EXPECT_TRUE(titles.insert(title).second) << title;
		EXPECT_EQ(title.starts_with("ww_mutex"), kind == LS_FINDING_WW) << title;
	}
}

/* The allocator sleeps here on one boot, elsewhere on the next; so does what it calls. */
TEST_F(FaultTest, SleepingBeneathOneHoldIsOneFinding)
{
	log.module("quota", {"quota_check", "quota_make"});
	const Task check = {.pid = 5, .stack = {"proc_create", "quota_check", "xt_check_match"}};
	log.fault(LS_FINDING_SLEEP_ATOMIC, check, {{.cls = spin, .function = "quota_check"}},
		  {.function = "kmem_cache_alloc"}, 1);
	const Finding first = only();
	EXPECT_EQ(first.title, "sleep in atomic context: under spinlock s_lock (quota_check)");
	EXPECT_EQ(first.id, [&] {
		LogBuilder other(2);
		const auto s = other.add_class("foo:s_lock");
		other.module("quota", {"quota_check"});
		other.fault(LS_FINDING_SLEEP_ATOMIC, check, {{.cls = s, .function = "quota_check"}},
			    {.function = "allocate_slab"}, 1);
		return only_finding(model_of(other)).id;
	}());
	log.fault(LS_FINDING_SLEEP_ATOMIC, check, {{.cls = spin, .function = "quota_check"}},
		  {.function = "allocate_slab"}, 1);
	log.fault(LS_FINDING_WAIT_CONTEXT, check, {{.cls = spin, .function = "quota_check"}},
		  {.cls = mutex, .function = "proc_register"}, 1);
	const Finding all = only();
	EXPECT_EQ(all.id, first.id);
	EXPECT_EQ(all.kind, Kind::SleepInAtomic);
	EXPECT_EQ(all.edges[0].count, 3u);
	EXPECT_EQ(sleepers(model, all),
		  (std::vector<std::string>{"kmem_cache_alloc", "allocate_slab",
					    "mutex m_mutex in proc_register"}));
	/* Another function of the driver below the hold, and another hold. */
	log.fault(LS_FINDING_SLEEP_ATOMIC,
		  {.pid = 5, .stack = {"quota_make", "quota_check", "xt_check_match"}},
		  {{.cls = spin, .function = "quota_check"}}, {.function = "kmem_cache_alloc"}, 1);
	EXPECT_EQ(analyse(model_of(log)).findings.size(), 2u);
	const auto b = log.add_class("b_lock");
	log.fault(LS_FINDING_SLEEP_ATOMIC, check, {{.cls = b, .function = "quota_check"}},
		  {.function = "kmem_cache_alloc"}, 1);
	EXPECT_EQ(analyse(model_of(log)).findings.size(), 3u);
}

TEST_F(FaultTest, InTheKernelItselfTheCalleeIdentifies)
{
	const Task task = {.pid = 5, .stack = {"rmap_walk", "page_mkclean", "clear_dirty"}};
	const std::vector<Lock> held = {{.cls = spin, .function = "clear_dirty"}};
	log.fault(LS_FINDING_WAIT_CONTEXT, task, held, {.cls = mutex, .function = "rmap_walk_file"},
		  1);
	log.fault(LS_FINDING_SLEEP_ATOMIC, task, held, {.function = "__cond_resched"}, 1);
	EXPECT_EQ(only().edges[0].count, 2u);
}

TEST_F(FaultTest, ATitleNamesTheModulesFunction)
{
	log.module("apfs", {"apfs_end"});
	log.module("ext4", {"ext4_write"});
	/* What an interrupt came to is no caller of it. */
	const Task end = {.level = LS_SOFTIRQ,
			  .stack = {"drop_buffers", "apfs_end", "call_timer_fn", "__do_softirq",
				    "asm_sysvec_timer", "ext4_write"}};
	log.fault(LS_FINDING_DOUBLE_UNLOCK, end, {},
		  {.cls = mutex, .function = "try_to_free_buffers"});
	EXPECT_EQ(only().title, "double unlock of m_mutex (apfs_end)");
	LogBuilder other;
	const auto m = other.add_class("m", LS_KIND_MUTEX);
	other.module("ext4", {"ext4_write"});
	Task plain = end;
	plain.stack[1] = "end_page";
	other.fault(LS_FINDING_DOUBLE_UNLOCK, plain, {},
		    {.cls = m, .function = "try_to_free_buffers"});
	EXPECT_EQ(only_finding(model_of(other)).title, "double unlock of m (drop_buffers)");
}

TEST_F(FaultTest, ARepairedCountHasConsequences)
{
	log.module("disk", {"disk_submit"});
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 5, .stack = {"disk_submit"}}, {},
		  {.cls = mutex, .function = "disk_submit"});
	const std::string cause = only().id;
	const Task later = {.pid = 5, .flags = LS_TASK_REPAIRED, .stack = {"vfs_read"}};
	log.fault(LS_FINDING_SLEEP_ATOMIC, later, {}, {.function = "read_zero"});
	log.fault(LS_FINDING_SLEEP_ATOMIC, later, {}, {.function = "submit_bio"});
	auto found = analyse(model_of(log)).findings;
	ASSERT_EQ(found.size(), 3u);
	EXPECT_EQ(found[0].id, cause);
	EXPECT_EQ(found[0].consequences, 2u);
	for (std::size_t i = 1; i < found.size(); i++) {
		EXPECT_TRUE(found[i].hidden());
		EXPECT_EQ(found[i].cause, cause);
	}
	/* The same place where nothing was repaired is an error of its own. */
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 6, .stack = {"vfs_read"}}, {},
		  {.function = "read_zero"});
	found = analyse(model_of(log)).findings;
	EXPECT_EQ(std::count_if(found.begin(), found.end(),
				[](const Finding &finding) { return !finding.hidden(); }),
		  2);
}

TEST_F(FaultTest, WhatAWorkItemLeavesHasConsequences)
{
	log.fault(LS_FINDING_AT_END, {.pid = 5, .stack = {"process_one_work", "worker_thread"}}, {},
		  {.function = "disk_work"}, 0, LS_ATOMIC_PREEMPT | LS_ATOMIC_RCU);
	EXPECT_EQ(only().title,
		  "atomic at its end: preemption off and an RCU read side (disk_work)");
	EXPECT_EQ(only().severity, Severity::Error);
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 5, .flags = LS_TASK_REPAIRED, .stack = {"next"}},
		  {}, {.function = "next"});
	const auto found = analyse(model_of(log)).findings;
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0].consequences, 1u);
	EXPECT_TRUE(found[1].hidden());
}

TEST_F(FaultTest, AConsequenceWithoutItsCauseStands)
{
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 5, .flags = LS_TASK_REPAIRED}, {},
		  {.function = "read_zero"});
	EXPECT_FALSE(only().hidden());
}

TEST_F(FaultTest, LongHoldsBehindADeadlockAreItsConsequence)
{
	const auto other = log.add_class("n_mutex", LS_KIND_MUTEX),
		   third = log.add_class("o_mutex", LS_KIND_MUTEX);
	log.fault(LS_FINDING_DEADLOCK, {.pid = 1}, {{.cls = mutex}}, {.cls = other}, 1, 7);
	log.fault(LS_FINDING_DEADLOCK, {.pid = 2}, {{.cls = other}}, {.cls = mutex}, 1, 7);
	/* One waits for a lock of it, the next for one that the first holds. */
	log.fault(LS_FINDING_LONG_HOLD, {.pid = 3}, {{.cls = third}},
		  {.cls = mutex, .function = "first"}, 0, 2000000000);
	log.fault(LS_FINDING_LONG_HOLD, {.pid = 4}, {}, {.cls = third, .function = "second"}, 0,
		  2000000000);
	const auto apart = log.add_class("p_mutex", LS_KIND_MUTEX);
	log.fault(LS_FINDING_LONG_HOLD, {.pid = 5}, {}, {.cls = apart, .function = "apart"}, 0,
		  2000000000);
	model = model_of(log);
	std::string deadlock;
	std::size_t folded = 0;
	const auto found = analyse(model).findings;
	for (const auto &finding : found)
		if (finding.kind == Kind::Deadlock)
			deadlock = finding.id;
	ASSERT_FALSE(deadlock.empty());
	for (const auto &finding : found) {
		if (finding.kind != Kind::LongHold)
			continue;
		const bool alone = finding.title.find("apart") != std::string::npos;
		EXPECT_EQ(finding.cause, alone ? "" : deadlock) << finding.title;
		folded += !alone;
	}
	EXPECT_EQ(folded, 2u);
}
