// SPDX-License-Identifier: GPL-2.0
/*
 * What a dying kernel still prints: the locks held, when a task oopses or hangs, a CPU locks up,
 * RCU stalls, the kernel panics, or sysrq-d asks for it; in the form of lockdep's
 * debug_show_all_locks(), which log scanners parse. Any context, NMI included: takes no lock but
 * printk()'s, allocates nothing, waits for nothing, is bounded.
 *
 * The last acquisitions cost the hooks nothing: an entry that was released stays where it was,
 * above the depth of its stack, until another lock takes its place.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sysrq.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "base/lookup.h"
#include "base/tracepoint.h"
#include "base/wrapper/ftrace.h"
#include "base/wrapper/hrtimer.h"
#include "core/context.h"
#include "core/say.h"
#include "core/state.h"
#include "out/out.h"

#include "features.h"

bool ls_last_words = true;

#define MOST_TASKS 128		/* printed at one time */
#define MOST_CPUS 64		/* with their last acquisitions */
#define MOST_RELEASED 3		/* released entries of one stack */

static atomic_t speaks;		/* 1 + the CPU that prints */

/* @last: the other CPUs have been stopped, one of them perhaps while it printed. */
static bool begin(bool last)
{
	int me = 1 + raw_smp_processor_id(), was;

	if (!READ_ONCE(ls_last_words))
		return false;
	was = last ? atomic_xchg(&speaks, me) : atomic_cmpxchg(&speaks, 0, me);
	/* Not again on a fault in here. */
	return last ? was != me : !was;
}

static void end(void)
{
	atomic_set(&speaks, 0);
}

/* Stack @level of @cpu: of the task that runs there, or of its interrupts. */
static const struct ls_ctx *stack_of(int cpu, u32 level)
{
	const struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

	return level ? &pc->level[level - 1] : READ_ONCE(pc->task);
}

static u32 depth_of(const struct ls_ctx *ctx)
{
	return min_t(u32, READ_ONCE(ctx->depth), LS_MAX_DEPTH);
}

/* "N locks held by COMM/PID:", or "no locks held by COMM/PID." */
static void say_task(const struct task_struct *task, u32 nr)
{
	char comm[TASK_COMM_LEN] = "?";
	pid_t pid = 0;

	/* A task that is gone may still be noted. */
	copy_from_kernel_nofault(comm, task->comm, sizeof(comm) - 1);
	get_kernel_nofault(pid, &task->pid);
	if (nr)
		ls_say(vprintk, KERN_DEFAULT "%u lock%s held by %s/%d:\n", nr, nr > 1 ? "s" : "", comm, pid);
	else
		ls_say(vprintk, KERN_DEFAULT "no locks held by %s/%d.\n", comm, pid);
}

/*
 * What @task, which runs on @cpu, and the interrupts on top of it hold. False: nothing, which is
 * printed if @none.
 */
static bool say_running(int cpu, const struct task_struct *task, bool none)
{
	u32 depths[LS_NR_LEVELS], level, nr = 0;

	for (level = 0; level < LS_NR_LEVELS; level++)
		nr += depths[level] = depth_of(stack_of(cpu, level));
	if (!nr && !none)
		return false;
	say_task(task, nr);
	nr = 0;
	for (level = 0; level < LS_NR_LEVELS; level++)
		nr = ls_say_entries(vprintk, "", stack_of(cpu, level), depths[level], nr);
	return nr;
}

/* The locks that @cpu acquired last and has released: one for each number of locks held. */
static void say_released(int cpu)
{
	u32 level, i, nr = 0;

	for (level = 0; level < LS_NR_LEVELS; level++) {
		const struct ls_ctx *ctx = stack_of(cpu, level);
		u32 depth = depth_of(ctx);

		for (i = depth; i < depth + MOST_RELEASED && i < LS_MAX_DEPTH; i++) {
			struct ls_held h = ctx->held[i];

			if (!h.lock)
				break;
			if (!nr++)
				ls_say(vprintk, KERN_DEFAULT "lockscope: CPU %d acquired last, and has released:\n", cpu);
			ls_say_entry(vprintk, "", "  ", &h);
		}
	}
}

/* Is @ctx that of a task which runs? */
static bool is_running(const struct ls_ctx *ctx)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&ls_cpus, cpu)->task) == ctx)
			return true;
	return false;
}

/* All tasks with locks held, as debug_show_all_locks() prints them. */
static void show_all(bool last)
{
	u32 i, printed = 0, more = 0, cpus = 0;
	struct task_struct *task;
	int cpu;

	if (!begin(last))
		return;
	ls_say(vprintk, KERN_WARNING "\n");
	ls_say(vprintk, KERN_WARNING "Showing all locks held in the system:\n");
	if (!READ_ONCE(ls_active))
		ls_say(vprintk, KERN_WARNING "INFO: lockscope is turned off.\n");
	rcu_read_lock();
	for_each_online_cpu(cpu) {
		task = READ_ONCE(per_cpu_ptr(&ls_cpus, cpu)->cur);
		if (task && say_running(cpu, task, false))
			printed++;
		touch_nmi_watchdog();
	}
	for (i = ls_context_next(0); i < ls_context_count(); i = ls_context_next(i + 1)) {
		const struct ls_ctx *ctx = ls_context_sleeping(i, &task);
		u32 depth = depth_of(ctx);

		if (!task || !depth || is_running(ctx))
			continue;
		if (printed++ >= MOST_TASKS) {
			more++;
			continue;
		}
		say_task(task, depth);
		ls_say_entries(vprintk, "", ctx, depth, 0);
		touch_nmi_watchdog();
	}
	rcu_read_unlock();
	if (more)
		ls_say(vprintk, KERN_WARNING "lockscope: %u more tasks hold locks\n", more);
	for_each_online_cpu(cpu)
		if (cpus++ < MOST_CPUS)
			say_released(cpu);
	ls_say(vprintk, KERN_WARNING "\n");
	ls_say(vprintk, KERN_WARNING "=============================================\n");
	ls_say(vprintk, KERN_WARNING "\n");
	end();
}

/* Of the current task alone. */
static int on_die(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct ls_cpu *pc;

	if (what != DIE_OOPS || !begin(false))
		return NOTIFY_DONE;
	preempt_disable();
	pc = this_cpu_ptr(&ls_cpus);
	if (pc->cur == current)
		say_running(raw_smp_processor_id(), current, true);
	preempt_enable();
	end();
	return NOTIFY_DONE;
}

static int on_panic(struct notifier_block *nb, unsigned long what, void *data)
{
	show_all(true);
	return NOTIFY_DONE;
}

static struct notifier_block die_block = { .notifier_call = on_die };
static struct notifier_block panic_block = { .notifier_call = on_panic };

static void on_sysrq(int key)
{
	show_all(false);
}

#ifdef LS_HAVE_SYSRQ_U8
static void on_sysrq_key(u8 key)
{
	on_sysrq(key);
}
#else
#define on_sysrq_key on_sysrq
#endif

/* lockdep's own, where there is none. */
static const struct sysrq_key_op sysrq = {
	.handler = on_sysrq_key,
	.help_msg = "show-all-locks(d)",
	.action_msg = "Show Locks Held",
	.enable_mask = SYSRQ_ENABLE_DUMP,
};
static bool sysrq_on;

/*
 * The kernel prints what it found before or after the place that can be hooked. Interrupts are
 * off there, so this interrupt comes when it has printed all; if it panics there, never.
 */
static void on_printed(struct irq_work *work)
{
	show_all(false);
}
static struct irq_work printed_work = IRQ_WORK_INIT_HARD(on_printed);

static void on_stall(void *data, const char *name, const char *what)
{
	if (READ_ONCE(ls_last_words))
		irq_work_queue(&printed_work);
}

/* khungtaskd has printed its tasks after this time. */
#define HUNG_PRINTED (200 * NSEC_PER_MSEC)
static struct hrtimer hung_timer;

static enum hrtimer_restart on_hung_printed(struct hrtimer *timer)
{
	show_all(false);
	return HRTIMER_NORESTART;
}

static void on_hang(void *data, struct task_struct *task)
{
	if (READ_ONCE(ls_last_words))
		hrtimer_start(&hung_timer, ns_to_ktime(HUNG_PRINTED), HRTIMER_MODE_REL_SOFT);
}

/*
 * Lockups have neither notifier nor tracepoint. A soft one taints the kernel when it has been
 * printed. For a hard one nothing follows but the panic, if that is on: the list of modules
 * precedes its stack.
 */
static unsigned long taint, modules;
static unsigned long watchdogs[2];	/* functions that find a hard lockup */

static void on_lockup(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	unsigned long caller;

	if (!READ_ONCE(ls_last_words))
		return;
	if (ip - taint < 16) {
		if (ftrace_regs_get_argument(fregs, 0) == TAINT_SOFTLOCKUP)
			irq_work_queue(&printed_work);
		return;
	}
	caller = ls_function_of(parent);
	if (caller == watchdogs[0] || caller == watchdogs[1])
		show_all(false);
}
static struct ftrace_ops lockups = { .func = on_lockup };
static bool lockups_on, attached;

static int attach_lockups(void)
{
	typeof(ftrace_location) *location = (void *)ls_symbol("ftrace_location");
	unsigned long ips[2];
	int rc;

	taint = ls_symbol("add_taint");
	modules = ls_symbol("print_modules");
	watchdogs[0] = ls_symbol("watchdog_overflow_callback");
	watchdogs[1] = ls_symbol("watchdog_hardlockup_check");
	ips[0] = taint && location ? location(taint) : 0;
	ips[1] = modules && location ? location(modules) : 0;
	if (!ips[0] || !ips[1])
		return -ENOENT;
	rc = ftrace_set_filter_ips(&lockups, ips, ARRAY_SIZE(ips), 0, 1);
	return rc ? rc : register_ftrace_function(&lockups);
}

/* The module works without any of these. */
void ls_last_words_attach(void)
{
	int rc;

	hrtimer_setup(&hung_timer, on_hung_printed, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	attached = true;
	register_die_notifier(&die_block);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	/* Taken under lockdep, which prints the same. */
	sysrq_on = !register_sysrq_key('d', &sysrq);
	ls_tracepoint_attach("rcu_stall_warning", on_stall, NULL);
	ls_tracepoint_attach("sched_process_hang", on_hang, NULL);
	rc = attach_lockups();
	lockups_on = !rc;
	if (rc)
		pr_warn("lockups are not seen (%d)\n", rc);
}

/* Nothing of it runs any more when this returns. */
void ls_last_words_detach(void)
{
	if (!attached)
		return;
	attached = false;
	if (lockups_on)
		unregister_ftrace_function(&lockups);
	ftrace_free_filter(&lockups);
	ls_tracepoint_detach("sched_process_hang", on_hang, NULL);
	ls_tracepoint_detach("rcu_stall_warning", on_stall, NULL);
	tracepoint_synchronize_unregister();
	if (sysrq_on)
		unregister_sysrq_key('d', &sysrq);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_die_notifier(&die_block);
	hrtimer_cancel(&hung_timer);
	irq_work_sync(&printed_work);
}
