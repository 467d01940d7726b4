// SPDX-License-Identifier: GPL-2.0
// Entry points found in stacks.
#include "support.h"

#include "analysis/context.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

Context context(const Task &task)
{
	LogBuilder log;
	const auto a = log.add_class("a");
	log.acquire(task, {}, {.cls = a, .function = "taker"});
	const Model model = model_of(log);
	return context_of(model, model.observations.at(0));
}

Task task(std::vector<std::string> stack, std::uint32_t flags = 0, ls_level level = LS_TASK)
{
	Task out;
	out.flags = flags;
	out.level = level;
	out.stack = std::move(stack);
	return out;
}

} // namespace

TEST(Context, SystemCall)
{
	const auto c = context(task({"do_filp_open", "__x64_sys_openat", "do_syscall_64"}));
	EXPECT_EQ(c.kind, EntryKind::Syscall);
	EXPECT_EQ(c.describe(), "system call openat");
}

TEST(Context, WorkFunctionIsJustAboveProcessOneWork)
{
	const auto c =
		context(task({"helper", "foo_work", "process_one_work", "worker_thread", "kthread"},
			     LS_TASK_KTHREAD | LS_TASK_WORKER));
	EXPECT_EQ(c.kind, EntryKind::Work);
	EXPECT_EQ(c.entry, "foo_work");
	EXPECT_EQ(c.callee, "helper");
	EXPECT_TRUE(c.serialised());
}

TEST(Context, ThreadFunction)
{
	const auto c = context(task({"loop", "kthread", "ret_from_fork"}, LS_TASK_KTHREAD));
	EXPECT_EQ(c.kind, EntryKind::Kthread);
	EXPECT_EQ(c.entry, "loop");
	EXPECT_TRUE(c.kernel_thread());
}

TEST(Context, InterruptsLookAboveTheInterruptedTask)
{
	const std::vector<std::string> below = {"asm_common_interrupt", "__x64_sys_read",
						"do_syscall_64"};
	auto with = [&](std::vector<std::string> top) {
		top.insert(top.end(), below.begin(), below.end());
		return top;
	};
	auto c = context(task(with({"my_handler", "__handle_irq_event_percpu", "handle_irq_event"}),
			      0, LS_HARDIRQ));
	EXPECT_EQ(c.kind, EntryKind::Irq);
	EXPECT_EQ(c.entry, "my_handler");
	c = context(task(with({"tick", "__hrtimer_run_queues"}), 0, LS_HARDIRQ));
	EXPECT_EQ(c.kind, EntryKind::Hrtimer);
	c = context(task(with({"my_timer", "call_timer_fn", "__run_timers.part.0", "__do_softirq"}),
			 0, LS_SOFTIRQ));
	EXPECT_EQ(c.kind, EntryKind::Timer);
	EXPECT_EQ(c.entry, "my_timer");
	c = context(task(with({"my_tasklet", "tasklet_action_common.isra.0", "__do_softirq"}), 0,
			 LS_SOFTIRQ));
	EXPECT_EQ(c.kind, EntryKind::Tasklet);
	c = context(task(with({"net_rx_action", "__do_softirq"}), 0, LS_SOFTIRQ));
	EXPECT_EQ(c.kind, EntryKind::Softirq);
}

TEST(Context, InitFunctionOfAModule)
{
	const auto c = context(
		task({"foo_init", "do_one_initcall", "do_init_module", "__x64_sys_finit_module"}));
	EXPECT_EQ(c.kind, EntryKind::Init);
	EXPECT_TRUE(c.init());
}

TEST(Context, TheLockFunctionMayBeCalledByTheEntryItself)
{
	const auto c = context(task({"kthread"}, LS_TASK_KTHREAD));
	EXPECT_EQ(c.entry, "taker");
}

TEST(Context, UnknownStackStillHasALevel)
{
	EXPECT_EQ(context(task({}, 0, LS_SOFTIRQ)).describe(), "softirq");
	EXPECT_EQ(context(task({})).describe(), "task");
}

TEST(Context, KeysTellApartWhatCanOverlap)
{
	Task a = task({"x", "__x64_sys_read"}), b = a;
	b.pid = a.pid + 1;
	EXPECT_NE(context(a).key(), context(b).key());
	EXPECT_EQ(context(a).key(), context(a).key());
	/* One work function is one context, whichever worker runs it. */
	Task w1 = task({"foo_work", "process_one_work"}, LS_TASK_KTHREAD | LS_TASK_WORKER), w2 = w1;
	w2.pid = 999;
	EXPECT_EQ(context(w1).key(), context(w2).key());
	Task w3 = task({"bar_work", "process_one_work"}, LS_TASK_KTHREAD | LS_TASK_WORKER);
	EXPECT_NE(context(w1).key(), context(w3).key());
	/* A task and an interrupt that borrows its id. */
	Task irq = task({"my_handler", "__handle_irq_event_percpu"}, 0, LS_HARDIRQ);
	EXPECT_NE(context(a).key(), context(irq).key());
}

TEST(Context, PlainFunctionNames)
{
	EXPECT_EQ(plain_function("f.isra.0"), "f");
	EXPECT_EQ(plain_function("f"), "f");
	EXPECT_EQ(plain_function(""), "");
}
