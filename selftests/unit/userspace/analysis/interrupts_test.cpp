// SPDX-License-Identifier: GPL-2.0
// Deadlocks with interrupts: each fault beside the twin that must stay silent.
#include "support.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

class InterruptTest : public testing::Test {
protected:
	InterruptTest()
	{
		a = log.add_class("a");
		b = log.add_class("b");
		c = log.add_class("c");
	}

	Task task(std::uint32_t pid = 1)
	{
		return {.pid = pid, .comm = "user", .stack = {"foo_open", "__x64_sys_openat"}};
	}
	Task irqs_off(std::uint32_t pid = 1)
	{
		Task out = task(pid);
		out.irq_off = true;
		return out;
	}
	Task bhs_off(std::uint32_t pid = 1)
	{
		Task out = task(pid);
		out.bh_off = true;
		return out;
	}
	Task timer()
	{
		return {.pid = 0,
			.comm = "swapper/0",
			.level = LS_SOFTIRQ,
			.stack = {"tick", "call_timer_fn", "__do_softirq"}};
	}
	Task handler()
	{
		return {.pid = 0,
			.comm = "swapper/0",
			.level = LS_HARDIRQ,
			.stack = {"foo_irq", "__handle_irq_event_percpu"}};
	}
	/* A softirq that the hardirqs are shut out of as well. */
	Task quiet_timer()
	{
		Task out = timer();
		out.irq_off = true;
		return out;
	}

	std::vector<Finding> findings() { return analyse(model = model_of(log)).findings; }
	Finding only() { return only_finding(model = model_of(log)); }

	LogBuilder log;
	Model model;
	std::uint32_t a = 0, b = 0, c = 0;
};

using Kind = FindingKind;

} // namespace

TEST_F(InterruptTest, TakenInSoftirqAndWithSoftirqsOn)
{
	log.acquire(quiet_timer(), {}, {.cls = a, .function = "tick_take"});
	log.acquire(task(), {}, {.cls = a, .function = "open_take"});
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::InconsistentIrqState);
	EXPECT_EQ(finding.title,
		  "irq safety: a taken in softirq and with softirqs on (tick_take vs open_take)");
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	ASSERT_EQ(finding.classes.size(), 2u);
	EXPECT_EQ(finding.classes[1], kSoftirqClass);
	ASSERT_EQ(finding.edges.size(), 2u);
	EXPECT_TRUE(to_interrupt(finding.edges[0]));
	EXPECT_TRUE(from_interrupt(finding.edges[1]));
	for (const auto &edge : finding.edges) {
		EXPECT_FALSE(edge.from_stack.empty());
		EXPECT_FALSE(edge.to_stack.empty());
	}
	/* From where the interrupt began. */
	EXPECT_EQ(model[finding.edges[1].from_stack.front()].function, "tick");
	EXPECT_TRUE(finding.filters.empty());
}

TEST_F(InterruptTest, TakenInSoftirqAndWithSoftirqsOffIsSilent)
{
	log.acquire(quiet_timer(), {}, {.cls = a});
	log.acquire(bhs_off(), {}, {.cls = a});
	log.acquire(irqs_off(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
}

TEST_F(InterruptTest, AHardirqInterruptsSoftirqsAndThoseWhoShutThemOut)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
	log.acquire(timer(), {}, {.cls = a});
	const Finding finding = only();
	EXPECT_EQ(finding.title, "irq safety: a taken in hardirq and with hardirqs on (lock_it)");
	EXPECT_EQ(finding.classes[1], kHardirqClass);
}

TEST_F(InterruptTest, TryingInAnInterruptNeverHangsIt)
{
	log.acquire(handler(), {}, {.cls = a, .try_lock = true});
	log.acquire(task(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
	/* But a lock acquired that way is held. */
	log.acquire(handler(), {}, {.cls = b});
	log.acquire(task(), {}, {.cls = b, .try_lock = true});
	EXPECT_EQ(only().kind, Kind::InconsistentIrqState);
}

TEST_F(InterruptTest, AnNmiGivesNothing)
{
	Task nmi = handler();
	nmi.level = LS_NMI;
	log.acquire(nmi, {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
}

TEST_F(InterruptTest, ReadersInAnInterruptMindWritersOnly)
{
	log.acquire(handler(), {}, {.cls = a, .read = LS_RECURSIVE});
	log.acquire(task(), {}, {.cls = a, .read = LS_RECURSIVE});
	EXPECT_TRUE(findings().empty());
	log.acquire(task(), {}, {.cls = a});
	EXPECT_EQ(only().kind, Kind::InconsistentIrqState);
}

TEST_F(InterruptTest, AWriterInAnInterruptMindsReaders)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a, .read = LS_SHARED});
	EXPECT_EQ(only().edges[0].kind, LS_DEP_SN);
}

TEST_F(InterruptTest, HeldWhileInterruptsComeOnAgain)
{
	log.acquire(handler(), {}, {.cls = a, .function = "irq_take"});
	log.acquire(irqs_off(), {}, {.cls = a, .function = "foo_open"});
	EXPECT_TRUE(findings().empty());
	/* Interrupts were enabled in between: the next acquire shows it. */
	log.acquire(task(), {{.cls = a, .function = "foo_open"}},
		    {.cls = b, .function = "foo_more"});
	const Finding finding = only();
	EXPECT_EQ(finding.title,
		  "irq safety: a taken in hardirq and with hardirqs on (irq_take vs foo_more)");
	EXPECT_EQ(model[finding.edges[0].from_stack.front()].function, "foo_open");
	EXPECT_EQ(model[finding.edges[0].to_stack.front()].function, "foo_more");
}

TEST_F(InterruptTest, AReleaseShowsInterruptsThatAreOn)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(), {}, {.cls = a});
	log.release(irqs_off(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
	log.release(task(), {}, {.cls = a, .function = "give_back"});
	const Finding finding = only();
	EXPECT_NE(finding.title.find("give_back"), std::string::npos) << finding.title;
}

TEST_F(InterruptTest, AReleaseInAnInterruptIsNoAcquire)
{
	log.release(handler(), {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a});
	EXPECT_TRUE(findings().empty());
}

TEST_F(InterruptTest, AReleaseOrdersNothing)
{
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.release(irqs_off(2), {{.cls = b}}, {.cls = a});
	EXPECT_TRUE(findings().empty());
}

TEST_F(InterruptTest, InversionOverAPath)
{
	log.acquire(handler(), {}, {.cls = a, .function = "irq_take"});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(irqs_off(2), {{.cls = b}}, {.cls = c});
	EXPECT_TRUE(findings().empty());
	log.acquire(task(3), {}, {.cls = c, .function = "unsafe_take"});
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::IrqInversion);
	EXPECT_EQ(finding.title,
		  "irq inversion: a (hardirq) -> b -> c (hardirqs on) (irq_take vs unsafe_take)");
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_EQ(finding.classes.size(), 4u);
	EXPECT_EQ(finding.edges.size(), 4u);
	for (std::size_t i = 0; i < 4; i++) {
		EXPECT_EQ(finding.edges[i].from, finding.classes[i]);
		EXPECT_EQ(finding.edges[i].to, finding.classes[(i + 1) % 4]);
	}
	EXPECT_TRUE(finding.filters.empty());
}

TEST_F(InterruptTest, TheOtherWayRoundIsSilent)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {}, {.cls = b});
	/* b is unsafe, but it comes before the safe one. */
	log.acquire(task(2), {}, {.cls = b});
	log.acquire(irqs_off(2), {{.cls = b}}, {.cls = a});
	EXPECT_TRUE(findings().empty());
}

TEST_F(InterruptTest, APathThatOnlyReadersWalkIsSilent)
{
	log.acquire(handler(), {}, {.cls = a, .read = LS_RECURSIVE});
	log.acquire(irqs_off(1), {{.cls = a, .read = LS_RECURSIVE}}, {.cls = b});
	log.acquire(task(2), {}, {.cls = b});
	EXPECT_TRUE(findings().empty());
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	EXPECT_EQ(only().kind, Kind::IrqInversion);
}

TEST_F(InterruptTest, OneInversionForTwoEndsTheShortest)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(irqs_off(1), {{.cls = b}}, {.cls = c});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = c});
	log.acquire(task(2), {}, {.cls = c});
	EXPECT_EQ(only().edges.size(), 3u);
}

TEST_F(InterruptTest, WhatIsInsideALongerOneIsEnough)
{
	/* a -> b -> c, with b taken in the interrupt as well: b -> c says it all. */
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(handler(), {}, {.cls = b});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(irqs_off(1), {{.cls = b}}, {.cls = c});
	log.acquire(task(2), {}, {.cls = c});
	EXPECT_EQ(only().title, "irq inversion: b (hardirq) -> c (hardirqs on) (lock_it)");
}

TEST_F(InterruptTest, AnEndThatIsInconsistentByItselfIsLeftOut)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(task(2), {}, {.cls = b});
	EXPECT_EQ(only().kind, Kind::IrqInversion);
	log.acquire(handler(), {}, {.cls = b});
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::InconsistentIrqState);
	EXPECT_EQ(model[finding.classes[0]].name, "b");
}

TEST_F(InterruptTest, BothInterruptsAreJudgedApart)
{
	log.acquire(quiet_timer(), {}, {.cls = a});
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(bhs_off(), {}, {.cls = a});
	EXPECT_EQ(only().classes[1], kHardirqClass);
	log.acquire(task(), {}, {.cls = a});
	EXPECT_EQ(findings().size(), 2u);
}

TEST_F(InterruptTest, CyclesOfLocksAreFoundAllTheSame)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(task(2), {{.cls = b}}, {.cls = c});
	log.acquire(irqs_off(3), {{.cls = c}}, {.cls = a});
	std::set<Kind> kinds;
	for (const auto &finding : findings())
		kinds.insert(finding.kind);
	EXPECT_TRUE(kinds.count(Kind::LockOrderCycle));
	EXPECT_TRUE(kinds.count(Kind::IrqInversion));
}

TEST_F(InterruptTest, OneTaskOnBothOtherSidesIsNoDoubt)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(7), {{.cls = a}}, {.cls = b});
	log.acquire(task(7), {}, {.cls = b});
	const Finding finding = only();
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_FALSE(filter(finding, "one-context-only"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(InterruptTest, DifferentInstancesAreADoubt)
{
	const auto d = log.add_class("cache+0x8", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 8, 64);
	log.acquire(quiet_timer(), {}, {.cls = d, .address = 0x108});
	log.acquire(task(), {}, {.cls = d, .address = 0x208});
	const Finding doubtful = only();
	ASSERT_TRUE(filter(doubtful, "different-instances"));
	EXPECT_FALSE(doubtful.hidden());
	EXPECT_EQ(doubtful.confidence, Confidence::Possible);
	EXPECT_EQ(doubtful.severity, Severity::Warning);
	/* One object in both states settles it, and is the one shown. */
	log.acquire(task(2), {}, {.cls = d, .address = 0x108});
	const Finding sure = only();
	EXPECT_TRUE(sure.filters.empty());
	EXPECT_EQ(sure.confidence, Confidence::Observed);
	EXPECT_EQ(model.observations[sure.edges[0].shown().observation].acquired.instance,
		  model.observations[sure.edges[1].shown().observation].acquired.instance);
}

TEST_F(InterruptTest, HeldInInitCodeOnlyIsADoubt)
{
	Task init = task();
	init.stack = {"foo_setup", "do_one_initcall"};
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(init, {}, {.cls = a});
	const Finding finding = only();
	EXPECT_TRUE(filter(finding, "initialisation-only"));
	EXPECT_FALSE(finding.hidden());
}

TEST_F(InterruptTest, AGateBetweenTheLocksHides)
{
	const auto gate = log.add_class("gate");
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = gate}, {.cls = a}}, {.cls = b});
	log.acquire(irqs_off(2), {{.cls = gate}, {.cls = b}}, {.cls = c});
	log.acquire(task(3), {}, {.cls = c});
	EXPECT_TRUE(only().hidden());
}

/* The shortest way between the two is behind a gate, another one is not. */
TEST_F(InterruptTest, AnotherWayBetweenTheLocksIsShown)
{
	const auto gate = log.add_class("gate"), d = log.add_class("d");
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = gate}, {.cls = a}}, {.cls = c});
	log.acquire(task(2), {{.cls = gate}}, {.cls = c});
	EXPECT_TRUE(only().hidden());
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = d});
	log.acquire(irqs_off(3), {{.cls = d}}, {.cls = c});
	const auto all = findings();
	ASSERT_EQ(all.size(), 2u);
	EXPECT_EQ(all[0].severity, Severity::Error);
	EXPECT_FALSE(all[0].hidden());
	EXPECT_EQ(all[0].classes.size(), 4u);
	EXPECT_TRUE(all[1].hidden());
}

/* The handler never gets to the second one while the first is held. */
TEST_F(InterruptTest, WhatTheInterruptTakesBeforeDemotes)
{
	log.acquire(handler(), {{.cls = a}}, {.cls = b});
	log.acquire(task(), {{.cls = a}}, {.cls = b});
	ASSERT_EQ(findings().size(), 1u);
	EXPECT_EQ(only().severity, Severity::Warning);
	ASSERT_TRUE(filter(only(), "gate-lock"));
	EXPECT_FALSE(only().hidden());
}

TEST_F(InterruptTest, AnInterruptWithoutTheOtherLockDemotesNothing)
{
	log.acquire(handler(), {{.cls = a}}, {.cls = b});
	log.acquire(task(), {{.cls = a}}, {.cls = b});
	log.acquire(handler(), {}, {.cls = b});
	EXPECT_EQ(only().severity, Severity::Error);
}

/* A net device: its lock is taken in softirq, to transmit or not, and where it is opened. */
class TransmitTest : public InterruptTest {
protected:
	TransmitTest()
	{
		lock = {.cls = log.add_class("driver+0x8", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 8, 64),
			.address = 0x108};
		queue = {.cls = log.add_class("queue+0x80", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 128,
					      320),
			 .address = 0x280};
		down = queue;
		down.quiet = true;
	}

	Task transmits(std::vector<std::string> stack = {"foo_xmit", "dev_hard_start_xmit",
							 "net_tx_action", "__do_softirq"})
	{
		Task out = quiet_timer();
		out.stack = std::move(stack);
		return out;
	}

	Lock lock, queue, down;
};

TEST_F(TransmitTest, ADeviceThatIsOpenedDoesNotTransmit)
{
	log.acquire(task(), {down}, lock);
	log.acquire(transmits(), {queue}, lock);
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::InconsistentIrqState);
	EXPECT_TRUE(filter(finding, "device-inactive"));
	EXPECT_FALSE(finding.hidden());
	EXPECT_EQ(finding.severity, Severity::Note);
}

TEST_F(TransmitTest, ADeviceThatIsUpDoes)
{
	log.acquire(task(), {down}, lock);
	log.acquire(transmits(), {queue}, lock);
	log.acquire(task(), {}, lock);
	EXPECT_EQ(only().severity, Severity::Error);
	EXPECT_TRUE(only().filters.empty());
}

TEST_F(TransmitTest, AnotherDeviceMayTransmit)
{
	log.acquire(task(), {down}, lock);
	queue.address = 0x480;
	log.acquire(transmits(), {queue}, lock);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(TransmitTest, ASoftirqWithoutTheQueueMayComeAnyTime)
{
	log.acquire(task(), {down}, lock);
	log.acquire(transmits(), {queue}, lock);
	log.acquire(quiet_timer(), {}, lock);
	EXPECT_EQ(only().severity, Severity::Error);
}

/* A poll that cleans the queue may run while the device is closed. */
TEST_F(TransmitTest, ASoftirqThatDoesNotTransmitIsAnOrdinaryGate)
{
	log.acquire(task(), {down}, lock);
	log.acquire(transmits({"foo_clean", "napi_poll", "__do_softirq"}), {queue}, lock);
	EXPECT_EQ(only().severity, Severity::Warning);
	EXPECT_TRUE(filter(only(), "gate-lock"));
}

/* What is only a gate is neither held while a softirq can come nor ordered before the lock. */
TEST_F(TransmitTest, AGateIsNoDependency)
{
	log.acquire(task(), {down}, lock);
	log.acquire(transmits(), {}, queue);
	Task off = task();
	off.bh_off = true;
	off.irq_off = true;
	log.acquire(off, {lock}, queue);
	EXPECT_TRUE(findings().empty());
}

/* The instance that is held is one that the interrupt only reads, like the holder. */
TEST_F(InterruptTest, ReadersOfOneInstanceProveNothing)
{
	const auto rw = log.add_class("cache+0x0", LS_KIND_RWLOCK, LS_ORIGIN_SLAB, 0, 64);
	const Lock one{.cls = rw, .address = 0x1000, .read = LS_RECURSIVE};
	log.acquire(handler(), {}, one);
	log.acquire(handler(), {}, {.cls = rw, .address = 0x2000});
	log.acquire(task(), {}, {.cls = rw, .address = 0x1000, .read = LS_SHARED});
	log.acquire(task(), {}, {.cls = rw, .address = 0x3000});
	EXPECT_EQ(only().severity, Severity::Warning);
	EXPECT_TRUE(filter(only(), "different-instances"));
}

TEST_F(InterruptTest, CountsComeFromChains)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a});
	log.acquire_again(task(), {}, {.cls = a}, 999);
	log.acquire_again(irqs_off(), {}, {.cls = a}, 5000);
	const Finding finding = only();
	EXPECT_EQ(finding.edges[0].count, 1000u);
	EXPECT_EQ(finding.edges[1].count, 1u);
}

TEST_F(InterruptTest, TheSameIdWhateverTheNumbersOfClasses)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(irqs_off(1), {{.cls = a}}, {.cls = b});
	log.acquire(task(2), {}, {.cls = b});
	LogBuilder other(2);
	const auto second = other.add_class("b"), first = other.add_class("a");
	other.acquire(task(2), {}, {.cls = second});
	other.acquire(irqs_off(1), {{.cls = first}}, {.cls = second});
	other.acquire(handler(), {}, {.cls = first});
	EXPECT_EQ(only().id, only_finding(model_of(other)).id);
}

TEST_F(InterruptTest, SelfCheckComparesWithTheModule)
{
	log.acquire(handler(), {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a});
	EXPECT_EQ(analyse(model_of(log)).self_check.only_here.size(), 1u);
	LogBuilder agreed = log;
	agreed.finding({LS_CLASS_HARDIRQ, a}, LS_FINDING_IRQ_STATE);
	EXPECT_TRUE(analyse(model_of(agreed)).self_check.empty());
	/* The other sort of the same thing is no disagreement. */
	LogBuilder earlier = log;
	earlier.finding({LS_CLASS_HARDIRQ, a}, LS_FINDING_IRQ_INVERSION);
	EXPECT_TRUE(analyse(model_of(earlier)).self_check.empty());
	LogBuilder unknown = log;
	unknown.finding({LS_CLASS_SOFTIRQ, b}, LS_FINDING_IRQ_STATE);
	ASSERT_EQ(analyse(model_of(unknown)).self_check.missing.size(), 1u);
	EXPECT_NE(analyse(model_of(unknown)).self_check.missing[0].find("cannot be rebuilt"),
		  std::string::npos);
}

TEST_F(InterruptTest, APathOfAnyLengthIsFound)
{
	std::vector<std::uint32_t> path{a};
	for (int i = 0; i < 12; i++)
		path.push_back(log.add_class("step" + std::to_string(i)));
	log.acquire(handler(), {}, {.cls = a});
	for (std::size_t i = 0; i + 1 < path.size(); i++)
		log.acquire(irqs_off(), {{.cls = path[i]}}, {.cls = path[i + 1]});
	log.acquire(task(), {}, {.cls = path.back()});
	const Finding finding = only();
	EXPECT_EQ(finding.kind, Kind::IrqInversion);
	EXPECT_EQ(finding.edges.size(), path.size() + 1);
}

/* One call of a driver in a softirq, for objects of two kinds. The kernel makes such a call for
 * many: those may be two causes. */
TEST_F(InterruptTest, OneCallOfAModuleIsOneCause)
{
	for (const bool driver : {true, false}) {
		log = LogBuilder();
		if (driver)
			log.module("drv", {"drv_end_write"});
		const Task end{.pid = 0,
			       .comm = "swapper/0",
			       .level = LS_SOFTIRQ,
			       .stack = {"free_buffers", "drv_end_write", "__do_softirq"}};
		for (const auto cls : {log.add_class("one"), log.add_class("two")}) {
			log.acquire(end, {}, {.cls = cls});
			log.acquire(task(), {}, {.cls = cls});
		}
		const auto list = findings();
		ASSERT_EQ(list.size(), 2u);
		EXPECT_EQ(list[0].cause, "");
		EXPECT_EQ(list[1].cause, driver ? list[0].id : "");
	}
}

TEST_F(InterruptTest, ACallThatSleepsIsTheCauseOfWhatItTakes)
{
	log.module("drv", {"drv_end_write"});
	const Task end{.pid = 0,
		       .comm = "swapper/0",
		       .level = LS_SOFTIRQ,
		       .stack = {"free_buffers", "drv_end_write", "__do_softirq"}};
	log.fault(LS_FINDING_SLEEP_ATOMIC, end, {}, {.function = "mkclean"});
	log.acquire(end, {}, {.cls = a});
	log.acquire(task(), {}, {.cls = a});
	const auto list = findings();
	ASSERT_EQ(list.size(), 2u);
	EXPECT_EQ(list[0].kind, Kind::SleepInAtomic);
	EXPECT_EQ(list[1].cause, list[0].id);
}
