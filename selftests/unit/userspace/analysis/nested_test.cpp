// SPDX-License-Identifier: GPL-2.0
// Two and more instances of one class in a deadlock: in a ring of them, and in a cycle with
// locks of other classes. Each beside the twin that is none.
#include "support.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

class NestedTest : public testing::Test {
protected:
	NestedTest()
	{
		a = log.add_class("a_cache+0x8 struct a.lock", LS_KIND_RWLOCK, LS_ORIGIN_SLAB);
		b = log.add_class("b", LS_KIND_SPINLOCK);
		gate = log.add_class("gate", LS_KIND_MUTEX);
	}

	/* Lock @outer of a, then @inner; each time by another task. */
	std::uint32_t nest(std::uint64_t outer, std::uint64_t inner, std::vector<Lock> around = {})
	{
		around.push_back({.cls = a, .address = outer, .function = "nest"});
		return log.acquire({.pid = ++pid, .stack = {"nest"}, .irq_off = true}, around,
				   {.cls = a, .address = inner, .function = "nest"});
	}
	void ab(std::uint64_t lock, std::vector<Lock> around = {})
	{
		around.push_back({.cls = a, .address = lock, .function = "one"});
		log.acquire({.pid = ++pid, .stack = {"one"}, .irq_off = true}, around,
			    {.cls = b, .function = "one"});
	}
	void ba(std::uint64_t lock, std::vector<Lock> around = {})
	{
		around.push_back({.cls = b, .function = "two"});
		log.acquire({.pid = ++pid, .stack = {"two"}, .irq_off = true}, around,
			    {.cls = a, .address = lock, .function = "two"});
	}
	Lock around() const { return {.cls = gate, .function = "around"}; }
	std::vector<Finding> findings()
	{
		model = model_of(log);
		return analyse(model).findings;
	}
	std::vector<Finding> visible()
	{
		auto all = findings();
		std::erase_if(all, [](const Finding &finding) { return finding.hidden(); });
		return all;
	}

	LogBuilder log;
	Model model;
	std::uint32_t a = 0, b = 0, gate = 0, pid = 0;
};

} // namespace

/* One of the shortest cycles under a gate hides nothing of the others. */
TEST_F(NestedTest, ARingOfThreeIsFoundBehindOneWithAGate)
{
	nest(0x100, 0x200);
	nest(0x200, 0x400, {around()});
	nest(0x100, 0x300);
	nest(0x300, 0x400);
	const auto last = nest(0x400, 0x100, {around()});
	log.inversion(a, false, 2, last);
	const auto all = visible();
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all[0].kind, FindingKind::RecursiveLock);
	EXPECT_EQ(all[0].severity, Severity::Error);
	EXPECT_EQ(all[0].edges.size(), 3u);
}

TEST_F(NestedTest, AnObservationWithoutAGateCountsWhicheverComesFirst)
{
	for (bool gated_first : {false, true}) {
		log = LogBuilder();
		a = log.add_class("a_cache+0x8 struct a.lock", LS_KIND_RWLOCK, LS_ORIGIN_SLAB);
		gate = log.add_class("gate", LS_KIND_MUTEX);
		const std::vector<Lock> held = {around()};
		nest(0x100, 0x200, gated_first ? held : std::vector<Lock>{});
		nest(0x100, 0x200, gated_first ? std::vector<Lock>{} : held);
		nest(0x200, 0x300);
		const auto last = nest(0x300, 0x100, held);
		log.inversion(a, false, 0, last);
		const auto all = visible();
		ASSERT_EQ(all.size(), 1u);
		EXPECT_EQ(all[0].edges.size(), 3u);
		EXPECT_EQ(all[0].severity, Severity::Error);
	}
}

TEST_F(NestedTest, ACycleWithTwoInstancesOfOneClass)
{
	/* The a that b is acquired under is not the one that is acquired under b. */
	ab(0x200, {around()});
	ba(0x100, {around()});
	EXPECT_TRUE(visible().empty());
	ab(0x200);
	ba(0x100);
	nest(0x100, 0x200);
	const auto all = visible();
	/* That of the classes alone is a warning, which does not stand for an error. */
	ASSERT_EQ(all.size(), 2u);
	EXPECT_EQ(all[0].classes.size(), 3u);
	EXPECT_EQ(all[0].severity, Severity::Error);
	EXPECT_EQ(all[1].classes.size(), 2u);
	EXPECT_EQ(all[1].severity, Severity::Warning);
}

/* The cycle of the classes is hidden: whatever a is locked twice is locked under the gate. */
TEST_F(NestedTest, ACycleWithTwoInstancesWhereTheOneOfTheClassesIsHidden)
{
	for (bool nests : {false, true}) {
		log = LogBuilder();
		a = log.add_class("o_cache+0x8 struct o.a", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x8,
				  0x100);
		b = log.add_class("o_cache+0x18 struct o.b", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x18,
				  0x100);
		const auto take = [&](std::uint32_t outer, std::uint64_t held, std::uint32_t inner,
				      std::uint64_t lock) {
			log.acquire({.pid = ++pid, .stack = {"f"}, .irq_off = true},
				    {{.cls = outer, .address = held, .function = "f"}},
				    {.cls = inner, .address = lock, .function = "f"});
		};
		/* Both locks of one object; of two objects, another one each time. */
		take(b, 0x1018, a, 0x1008);
		take(b, 0x2018, a, 0x2008);
		take(a, 0x1008, b, 0x2018);
		take(a, 0x1008, b, 0x3018);
		if (nests)
			take(b, 0x2018, b, 0x1018);
		const auto all = visible();
		ASSERT_EQ(all.size(), nests ? 1u : 0u);
		if (!nests)
			continue;
		EXPECT_EQ(all[0].kind, FindingKind::LockOrderCycle);
		EXPECT_EQ(all[0].classes.size(), 3u);
		EXPECT_EQ(all[0].severity, Severity::Error);
		ASSERT_TRUE(all[0].meeting.has_value());
		EXPECT_TRUE(all[0].meeting->whole);
		/* It is none of the cycles of classes. */
		EXPECT_TRUE(all[0].further);
	}
}

/* Each side holds the lock beside the one of the class, but those lie in two objects. */
TEST_F(NestedTest, ALockInEachOfTwoObjectsIsNoGate)
{
	log = LogBuilder();
	a = log.add_class("o_cache+0x8 struct o.a", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x8, 0x100);
	b = log.add_class("b", LS_KIND_SPINLOCK);
	gate = log.add_class("o_cache+0x18 struct o.b", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x18,
			     0x100);
	ab(0x2008, {{.cls = gate, .address = 0x2018}});
	log.acquire({.pid = ++pid, .stack = {"two"}, .irq_off = true},
		    {{.cls = b}, {.cls = gate, .address = 0x1018}}, {.cls = a, .address = 0x1008});
	EXPECT_TRUE(visible().empty());
	nest(0x1008, 0x2008);
	const auto all = visible();
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all[0].classes.size(), 3u);
	EXPECT_EQ(all[0].severity, Severity::Error);
}

TEST_F(NestedTest, OtherInstancesMakeNoCycle)
{
	log = LogBuilder();
	a = log.add_class("o_cache+0x8 struct o.a", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x8, 0x100);
	b = log.add_class("o_cache+0x18 struct o.b", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0x18, 0x100);
	const auto take = [&](std::uint32_t outer, std::uint64_t held, std::uint32_t inner,
			      std::uint64_t lock) {
		log.acquire({.pid = ++pid, .stack = {"f"}, .irq_off = true},
			    {{.cls = outer, .address = held, .function = "f"}},
			    {.cls = inner, .address = lock, .function = "f"});
	};
	take(b, 0x1018, a, 0x1008);
	take(b, 0x2018, a, 0x2008);
	take(a, 0x1008, b, 0x2018);
	take(a, 0x1008, b, 0x3018);
	/* Downwards as well, and of an object that is nowhere else. */
	take(b, 0x1018, b, 0x2018);
	take(b, 0x2018, b, 0x4018);
	EXPECT_TRUE(visible().empty());
}

/* A reader in a softirq does not wait for the reader that it interrupts, but for a writer that
 * waits for that one with the other lock held. */
TEST_F(NestedTest, AWriterOfTwoBetweenAnInterruptAndAReader)
{
	for (bool same : {false, true}) {
		log = LogBuilder();
		a = log.add_class("a_cache+0x8 struct a.lock", LS_KIND_RWLOCK, LS_ORIGIN_SLAB);
		log.acquire({.pid = 99, .stack = {"reader"}}, {},
			    {.cls = a, .address = 0x100, .read = LS_RECURSIVE});
		log.acquire({.comm = "swapper/0",
			     .level = LS_SOFTIRQ,
			     .stack = {"tick", "call_timer_fn", "__do_softirq"},
			     .irq_off = true},
			    {}, {.cls = a, .address = 0x200, .read = LS_RECURSIVE});
		EXPECT_TRUE(visible().empty());
		if (same)
			nest(0x100, 0x300);
		else
			nest(0x200, 0x100);
		const auto all = visible();
		ASSERT_EQ(all.size(), 1u);
		EXPECT_EQ(all[0].kind, FindingKind::IrqInversion);
		ASSERT_EQ(all[0].classes.size(), 3u);
		EXPECT_EQ(all[0].classes[2], kSoftirqClass);
		EXPECT_EQ(all[0].severity, same ? Severity::Warning : Severity::Error);
	}
}
