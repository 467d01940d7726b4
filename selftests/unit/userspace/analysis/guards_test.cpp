// SPDX-License-Identifier: GPL-2.0
// Locking rules from hand-made accesses, each with its silent twin.
#include "foo_model.h"

#include "analysis/rules/guards.h"
#include "analysis/rules/violations.h"
#include "report/rules.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr std::uint32_t kPreemptOff = LS_WHERE_PREEMPT_OFF, kInRcu = LS_WHERE_RCU;

} // namespace

TEST(ZTest, IsRacerX)
{
	EXPECT_DOUBLE_EQ(z_test(0, 0), 0);
	EXPECT_NEAR(z_test(80, 100), 0, 1e-9);
	EXPECT_NEAR(z_test(15, 15), 0.2 / std::sqrt(0.16 / 15), 1e-9);
	/* The thresholds as documented. */
	EXPECT_GE(z_test(14, 15), kSureZ);
	EXPECT_LT(z_test(13, 14), kSureZ);
}

TEST(Guards, TheObjectsOwnLock)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}, .where = kPreemptOff});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::Guarded);
	EXPECT_EQ(rule.guard()->guard(), "self.lock");
	EXPECT_TRUE(rule.guard()->exclusive);
	EXPECT_EQ(rule.support.holds, 3u);
	EXPECT_EQ(rule.support.of, 3u);
	EXPECT_EQ(rule.type, "struct foo");
	EXPECT_EQ(rule.member, "count");
	EXPECT_EQ(rule.examples.size(), 3u);
	EXPECT_TRUE(rule.counterexamples.empty());
}

TEST(Guards, TwoPiecesOfEvidenceAreNone)
{
	Foo foo;
	foo.touch_in(2, "writer", {.held = {"self.lock"}});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::TooFew);
}

TEST(Guards, ALockHeldAllTheTimeInFewSectionsIsNotUnclear)
{
	/* Three places in two sections: held each time, and seen too seldom. */
	Foo foo;
	for (const char *function : {"a", "b", "c"})
		for (const char *by : {"caller0", "caller1"})
			foo.touch(function, {.held = {"self.lock"}, .by = by, .pid = 8});
	foo.touch("a", {.held = {"self.lock"}, .by = "caller0"});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::TooFew);
	foo.touch("bare", {});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::Unclear);
}

TEST(Guards, ALoopIsOnePieceOfEvidence)
{
	Foo foo;
	/* Ten instructions of one critical section, seen often. */
	for (std::uint32_t i = 0; i < 10; i++)
		foo.touch("writer", {.held = {"self.lock"}, .at = 40 + 4 * i});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::TooFew);
	EXPECT_EQ(rule.pairs, 10u);
}

TEST(Guards, AHelperOfManySectionsIsOnePieceOfEvidence)
{
	Foo foo;
	for (int i = 0; i < 10; i++)
		foo.touch("helper", {.held = {"self.lock"}, .by = "caller" + std::to_string(i)});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::TooFew);
	/* Helpers and sections crosswise: as many as can be distinguished. */
	for (const char *helper : {"helper2", "helper3"})
		for (const char *caller : {"caller0", "caller1"})
			foo.touch(helper, {.held = {"self.lock"}, .by = caller});
	EXPECT_EQ(foo.rule(AccessKind::Write).support.of, 3u);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
}

TEST(Guards, ALockOfAnotherObjectIsNone)
{
	Foo foo;
	foo.touch_in(5, "writer", {.held = {"other"}});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::ByClass);
	EXPECT_EQ(rule.guard(), nullptr);
	ASSERT_TRUE(rule.believed());
	EXPECT_EQ(rule.believed()->guard(), "other.foo.lock");
	EXPECT_EQ(rule.hypotheses[0].guard(), "other.foo.lock");
	EXPECT_FALSE(rule.hypotheses[0].checked);
	/* The object's own lock beside it is one. */
	Foo own;
	own.touch_in(5, "writer", {.held = {"other", "self.lock"}});
	EXPECT_EQ(own.guard_of(AccessKind::Write), "self.lock");
	/* An access without it breaks no rule. */
	foo.touch_in(10, "more", {.held = {"other"}});
	foo.touch("bare", {});
	EXPECT_EQ(foo.rule(AccessKind::Write).counterexamples.size(), 1u);
	EXPECT_TRUE(guard_violations(foo.model, infer_rules(foo.model)).empty());
}

TEST(Guards, OneOfSeveralStaticLocksOfAClassIsNone)
{
	Foo foo;
	foo.touch_in(5, "writer", {.held = {"list_lock"}});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "global.list_lock");
	foo.model.accesses[2].guards[0].instance = 2;
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
}

TEST(Guards, AWriterThatHoldsItSharedBreaksTheRule)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	const auto shared = foo.touch("sloppy", {.held = {"-self.lock"}});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.guard()->guard(), "self.lock");
	EXPECT_EQ(rule.support.holds, 14u);
	EXPECT_EQ(rule.support.of, 15u);
	EXPECT_EQ(rule.counterexamples, std::vector<std::size_t>{shared});
	/* A reader may. */
	Foo reader;
	reader.touch_in(14, "reader", {.held = {"self.lock"}, .op = LS_ACC_READ});
	reader.touch("other_reader", {.held = {"-self.lock"}, .op = LS_ACC_READ});
	reader.touch_in(3, "writer", {.held = {"self.lock"}});
	EXPECT_TRUE(reader.rule(AccessKind::Read).counterexamples.empty());
}

TEST(Guards, WritersWhoAllHoldItSharedAreToldAndNoRule)
{
	Foo foo;
	foo.touch_in(6, "writer", {.held = {"-self.lock"}});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::Unclear);
	EXPECT_TRUE(std::any_of(rule.hypotheses.begin(), rule.hypotheses.end(), [](const auto &h) {
		return !h.exclusive && !h.accepted() && h.support.holds == 6;
	}));
}

TEST(Guards, AShareBelowNineTenthsIsNoRule)
{
	Foo foo;
	foo.touch_in(8, "writer", {.held = {"self.lock"}});
	foo.touch_in(1, "bare", {});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::Unclear);
	foo.touch_in(1, "more", {.held = {"self.lock"}});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::Guarded);
	EXPECT_EQ(rule.counterexamples.size(), 1u);
}

TEST(Guards, SeveralProtectingLocks)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"list_lock", "self.lock"}});
	foo.touch_in(3, "walker", {.held = {"list_lock"}, .op = LS_ACC_READ});
	foo.touch_in(3, "reader", {.held = {"self.lock"}, .op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "global.list_lock & self.lock");
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "global.list_lock | self.lock");
	/* A reader with neither breaks it. */
	foo.touch("bare", {.op = LS_ACC_READ});
	foo.touch_in(6, "walker1", {.held = {"list_lock"}, .op = LS_ACC_READ});
	EXPECT_EQ(foo.rule(AccessKind::Read).counterexamples.size(), 1u);
}

TEST(Guards, ALockThatReadersNeverNeedIsNoPartOfIt)
{
	Foo foo;
	foo.touch_in(4, "writer", {.held = {"list_lock", "self.lock"}});
	foo.touch_in(4, "reader", {.held = {"self.lock"}, .op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "self.lock");
}

TEST(Guards, TheLockHeldMoreOftenWins)
{
	Foo foo;
	foo.touch_in(4, "writer", {.held = {"list_lock", "self.lock"}});
	foo.touch_in(1, "alone", {.held = {"self.lock"}});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
}

TEST(Guards, RcuReadersOfWhatASpinlockGuards)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	foo.touch_in(3, "lookup", {.where = kInRcu, .op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "rcu");
	foo.touch_in(3, "reader", {.held = {"self.lock"}, .op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "rcu | self.lock");
	foo.touch_in(3, "bare", {.op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "");
}

TEST(Guards, RcuGuardsNothingThatWritersDoNot)
{
	Foo foo;
	foo.touch_in(4, "writer", {.where = kInRcu});
	foo.touch_in(4, "reader", {.where = kInRcu, .op = LS_ACC_READ});
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::NoLock);
	EXPECT_EQ(foo.guard_of(AccessKind::Read), "");
}

TEST(Guards, InterruptsOffGuardPerCpuDataOnly)
{
	Foo foo;
	foo.touch_in(4, "writer", {.where = LS_VAL_IRQ_OFF});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
	Foo cpu;
	const DataId runs = cpu.data(LS_DATA_PERCPU, "percpu:runs", "int");
	cpu.touch_in(3, "writer", {.where = LS_VAL_BH_OFF, .member = "", .data = runs});
	cpu.touch_in(1, "handler",
		     {.where = LS_HARDIRQ << LS_VAL_LEVEL_SHIFT, .member = "", .data = runs});
	EXPECT_EQ(cpu.guard_of(AccessKind::Write), "bh");
}

TEST(Guards, WhatNeedsNoLock)
{
	Foo reads;
	reads.touch_in(4, "reader", {.op = LS_ACC_READ});
	reads.touch("foo_init", {});
	EXPECT_EQ(reads.rule(AccessKind::Read).why, "only read");

	Foo marked;
	marked.touch_in(4, "writer", {.op = LS_ACC_WRITE | LS_ACC_ATOMIC});
	EXPECT_EQ(marked.rule(AccessKind::Write).why, "only marked or atomic accesses");
	EXPECT_EQ(marked.rule(AccessKind::Write).marked, 4u);

	Foo alone;
	for (const char *function : {"one", "two", "three"})
		alone.touch(function, {});
	EXPECT_EQ(alone.rule(AccessKind::Write).why, "one task only");
	/* From an interrupt as well: no longer. */
	alone.touch("four", {.where = LS_SOFTIRQ << LS_VAL_LEVEL_SHIFT});
	EXPECT_EQ(alone.rule(AccessKind::Write).why, "almost never under a lock");
}

TEST(Guards, InitialisationIsNoEvidence)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	for (const char *function :
	     {"foo_init", "alloc_foo", "foo_free", "inode_init_once", "foo_put_last"})
		foo.touch(function, {});
	EXPECT_EQ(foo.rule(AccessKind::Write).initial, 5u);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
	/* Words only, and not where the lock is held. */
	foo.touch("reinitialised", {});
	EXPECT_EQ(foo.rule(AccessKind::Write).initial, 5u);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
	foo.touch("foo_init_locked", {.held = {"self.lock"}});
	EXPECT_EQ(foo.rule(AccessKind::Write).initial, 5u);
}

TEST(Guards, AModulesStartIsNoEvidence)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	foo.touch("setup", {.caller = "do_one_initcall"});
	EXPECT_EQ(foo.rule(AccessKind::Write).initial, 1u);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
	/* The same function later is. */
	foo.touch("setup", {.caller = "reset"});
	EXPECT_EQ(foo.rule(AccessKind::Write).initial, 1u);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
}

TEST(Guards, WhoHasTheMemoryForHimselfBreaksNoRule)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	foo.touch_in(3, "maker", {.alone = true});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "self.lock");
	EXPECT_EQ(rule.support.of, 3u);
	EXPECT_EQ(rule.initial, 3u);
	EXPECT_TRUE(rule.counterexamples.empty());
	/* Once with others about is enough to count against it. */
	foo.touch("maker0", {.pid = 8});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
	EXPECT_EQ(foo.rule(AccessKind::Write).support.of, 4u);
}

TEST(Guards, WhatIsNeverSharedTeachesNothing)
{
	/* Some lock happens to be held, and some accesses do without: no rule. */
	Foo foo;
	foo.touch_in(5, "writer", {.held = {"self.lock"}, .alone = true});
	foo.touch_in(2, "bare", {.alone = true});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "");
	/* A lock held at each access is a belief. */
	Foo careful;
	careful.touch_in(5, "writer", {.held = {"self.lock"}, .alone = true});
	EXPECT_EQ(careful.guard_of(AccessKind::Write), "self.lock");
	/* Nor does doing without make it a rule to need none. */
	Foo bare;
	bare.touch_in(5, "bare", {.alone = true});
	EXPECT_EQ(bare.rule(AccessKind::Write).verdict, RuleVerdict::TooFew);
	EXPECT_EQ(bare.rule(AccessKind::Write).why, "only while nobody else had it");
}

TEST(Guards, LocksOfOtherObjectsGoByWhereTheyLie)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"other"}});
	/* A pointer somewhere else shows what the class is. */
	const auto shown = foo.touch("reader", {.held = {"via i_sb .s_lock"}, .member = "other"});
	auto hypothesis = [&] { return foo.rule(AccessKind::Write).hypotheses.at(0).guard(); };
	foo.model.accesses[shown].guards[0].place = "super_block.s_lock";
	EXPECT_EQ(hypothesis(), "other.super_block.s_lock");
	/* Unless another one shows something else. */
	const auto doubt = foo.touch("reader", {.held = {"self.lock"}, .member = "third"});
	foo.model.accesses[doubt].guards[0].place = "foo.lock";
	EXPECT_EQ(hypothesis(), "other.foo.lock");
	foo.model.accesses[doubt].guards[0].place = "bar.lock";
	EXPECT_EQ(hypothesis(), "other.foo.lock") << "the class's own name";
}

TEST(Guards, TheRightObjectsLockIsOneOfItsClass)
{
	/* The same lock, once known by a pointer, once not: two pointers away. */
	Foo foo;
	foo.touch_in(2, "near", {.held = {"via i_sb .s_lock"}});
	for (auto &access : foo.model.accesses)
		access.guards[0].place = "super_block.s_lock";
	EXPECT_EQ(foo.rule(AccessKind::Write).verdict, RuleVerdict::TooFew);
	foo.touch_in(2, "far", {.held = {"other"}});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.verdict, RuleVerdict::ByClass);
	EXPECT_EQ(rule.believed()->guard(), "other.super_block.s_lock");
	EXPECT_EQ(rule.support.holds, 4u);
	/* Not the other way round: of some object is not of the right one. */
	EXPECT_EQ(rule.guard(), nullptr);
}

TEST(Guards, MarkedAccessesAndBlocksBreakNoRule)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("marked", {.op = LS_ACC_WRITE | LS_ACC_MARKED});
	foo.touch("copy", {.op = LS_ACC_WRITE | LS_ACC_RANGE});
	const Rule rule = foo.rule(AccessKind::Write);
	EXPECT_TRUE(rule.counterexamples.empty());
	EXPECT_EQ(rule.marked, 1u);
	EXPECT_EQ(rule.blocks, 1u);
}

TEST(Guards, ReadsAndWritesTogetherMayBeEnough)
{
	Foo foo;
	foo.touch_in(2, "writer", {.held = {"self.lock"}});
	foo.touch_in(1, "reader", {.held = {"-self.lock"}, .op = LS_ACC_READ});
	EXPECT_EQ(foo.guard_of(AccessKind::Any), "self.lock");
	/* Not when the reader does without. */
	foo.touch_in(1, "bare", {.op = LS_ACC_READ});
	for (const auto &rule : infer_rules(foo.model))
		EXPECT_EQ(rule.verdict, RuleVerdict::TooFew);
}

TEST(Guards, LocksInPointedToObjectsAndInTheVariable)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"via i_sb .s_list_lock"}});
	EXPECT_EQ(foo.guard_of(AccessKind::Write), "via.i_sb.s_list_lock");
	Foo var;
	const DataId table = var.data(LS_DATA_STATIC, "mod:table", "struct table");
	var.touch_in(3, "writer", {.held = {"mod:table+0x8"}, .member = "used", .data = table});
	EXPECT_EQ(var.guard_of(AccessKind::Write), "self+0x8");
	EXPECT_EQ(var.rule(AccessKind::Write).owner(), "mod:table.used");
}

TEST(Guards, TheOnlyMemberOfACriticalSectionStandsOut)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	Rule rule = foo.rule(AccessKind::Write);
	EXPECT_EQ(rule.guard()->standing.only, 3u);
	EXPECT_DOUBLE_EQ(rule.guard()->score(), rule.support.z() + 4);
	/* Two more members in each: first of one, last of none. */
	for (const char *member : {"b", "c"})
		foo.touch_in(3, "writer",
			     {.held = {"self.lock"}, .offset = 0x28, .member = member});
	for (const auto &each : infer_rules(foo.model)) {
		EXPECT_EQ(each.guard()->standing.only, 0u);
		EXPECT_EQ(each.guard()->standing.first, each.member == "count" ? 3u : 0u);
		EXPECT_EQ(each.guard()->standing.last, each.member == "c" ? 3u : 0u);
	}
}

TEST(RuleFormats, CommentForAHeader)
{
	Foo foo;
	foo.touch_in(3, "writer", {.held = {"self.lock"}});
	foo.touch_in(3, "reader", {.held = {"self.lock"}, .op = LS_ACC_READ});
	foo.touch_in(3, "walker", {.op = LS_ACC_READ, .offset = 0x28, .member = "next"});
	foo.touch_in(3, "linker", {.held = {"via i_sb .s_lock"}, .offset = 0x30, .member = "link"});
	EXPECT_EQ(c_rules(foo.model, infer_rules(foo.model)),
		  "/*\n * Locking of struct foo, inferred by LockScope (seen in , 1 run)\n"
		  " *\n * Protected by lock:\n *\tcount\n"
		  " *\n * Needs no lock, only read:\n *\tnext (read)\n"
		  " *\n * Protected by i_sb->s_lock:\n *\tlink (write)\n */\n");
}

TEST(RuleFormats, TextNamesWhoBreaksARule)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("sloppy", {.held = {"-self.lock"}});
	foo.touch_in(1, "reader", {.op = LS_ACC_READ, .offset = 0x28, .member = "rare"});
	const auto rules = infer_rules(foo.model);
	const std::string text = text_rules(foo.model, rules, {}, false);
	EXPECT_NE(text.find("1 guarded, 0 need no lock, 0 unclear, 1 with too few"), text.npos);
	EXPECT_NE(
		text.find(
			"    count   write   self.lock  14 of 15  1.29  guarded; 1 counterexample"),
		text.npos)
		<< text;
	EXPECT_NE(text.find("without it: task task-7, holding self.lock (shared)"), text.npos);
	EXPECT_NE(text.find("=> sloppy+0x28"), text.npos);
	EXPECT_EQ(text.find("rare"), text.npos);
	EXPECT_NE(text_rules(foo.model, rules, {}, true).find("rare"), text.npos);
}

TEST(RuleFormats, JsonHasAllThatWasWeighed)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}, .where = kPreemptOff});
	foo.touch("sloppy", {});
	const auto json = nlohmann::json::parse(json_rules(foo.model, infer_rules(foo.model)));
	EXPECT_EQ(json["schema"], "lockscope-rules/1");
	ASSERT_EQ(json["rules"].size(), 1u);
	const auto &rule = json["rules"][0];
	EXPECT_EQ(rule["type"], "struct foo");
	EXPECT_EQ(rule["guard"], "self.lock");
	EXPECT_EQ(rule["mode"], "w");
	EXPECT_EQ(rule["holds"], 14);
	EXPECT_EQ(rule["of"], 15);
	EXPECT_EQ(rule["z"], 1.29);
	EXPECT_EQ(rule["hypotheses"].size(), 2u);
	EXPECT_EQ(rule["examples"].size(), 14u);
	ASSERT_EQ(rule["counterexamples"].size(), 1u);
	EXPECT_EQ(rule["counterexamples"][0]["stack"][0]["function"], "sloppy");
}
