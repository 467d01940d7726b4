// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that return with preemption, softirqs or interrupts off, or in an RCU read side, as
 * they did not find them. The kernel prints "workqueue leaked lock or atomic" or "preempt leak"
 * for some of it, once, and goes on: after a timer or a softirq it puts the count right, after a
 * work item the worker goes on with what was left, and each item after it seems to sleep in atomic
 * context. So does the task that was interrupted by a high-resolution timer.
 */
#include "check/at_end.h"
#include "check/check.h"
#include "check/events.h"
#include "core/repaired.h"

/* LS_ATOMIC_* of what is there now and was not @before. */
static u64 left_behind(const struct ls_atomic *before)
{
	const struct ls_atomic now = ls_atomic_now();
	/* With more enables than disables the fields have borrowed from each other. */
	bool more = ls_count_value(now.count) > ls_count_value(before->count);

	return (more && (now.count & PREEMPT_MASK) > (before->count & PREEMPT_MASK) ? LS_ATOMIC_PREEMPT : 0) |
	       (more && (now.count & SOFTIRQ_MASK) > (before->count & SOFTIRQ_MASK) ? LS_ATOMIC_BH : 0) |
	       (now.rcu > before->rcu ? LS_ATOMIC_RCU : 0) |
	       (now.irqs_off && !before->irqs_off ? LS_ATOMIC_IRQ : 0);
}

/* What runs on this CPU, and how it began. */
static DEFINE_PER_CPU(struct {
	u64 function;		/* 0: none */
	struct ls_atomic before;
}, runs[LS_NR_RUNS]);

/* @function has returned, and has left @left. */
static void report(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 function, u64 left)
{
	ls_fault_here(pc, ctx, LS_FINDING_AT_END, 0, function + 1, ls_where(level),
		      ls_spinning_mask(ctx, ctx->depth), left);
}

/* What runs next in the worker finds what the item has left: what that shows is a consequence. */
void ls_work_ends(struct ls_cpu *pc, u64 function)
{
	const struct ls_atomic none = ls_not_atomic();
	u64 left = left_behind(&none);
	struct ls_ctx *ctx;
	u32 level;

	if (likely(!left))
		return;
	ctx = ls_context(pc, &level);
	/* Queues with WQ_BH run their items in softirq; a count below zero is of a repair. */
	if (level != LS_TASK || ls_task_repaired(0))
		return;
	report(pc, ctx, level, function, left);
	ls_count_repaired(1, 0);
}

/* @function is about to run. */
void ls_begins(enum ls_run run, u64 function)
{
	this_cpu_write(runs[run].function, function);
	*this_cpu_ptr(&runs[run].before) = ls_atomic_now();
}

/* @function has returned, which is a part of @run, or all of it. */
void ls_part_ends(enum ls_run run, u64 function)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_atomic *before = this_cpu_ptr(&runs[run].before), *other;
	struct ls_atomic now;
	struct ls_ctx *ctx;
	u64 left = left_behind(before);
	u32 level, below;

	if (likely(!left))
		return;
	ctx = ls_context(pc, &level);
	report(pc, ctx, level, function, left);
	/* What this is a part of, or has interrupted, did not leave that. */
	now = ls_atomic_now();
	for (below = 0; below < run; below++) {
		other = this_cpu_ptr(&runs[below].before);
		other->count += now.count - before->count;
		other->rcu += now.rcu - before->rcu;
		other->irqs_off |= now.irqs_off && run != LS_RUN_HARDIRQ;
	}
	*before = now;
	/* The kernel repairs the count after a softirq, not the task's below an interrupt. */
	if (run == LS_RUN_HARDIRQ && left & (LS_ATOMIC_PREEMPT | LS_ATOMIC_BH))
		ls_count_repaired(1, ls_entry(LS_TASK));
}

/* The function of ls_begins() has returned. */
void ls_ends(enum ls_run run)
{
	u64 function = this_cpu_read(runs[run].function);

	this_cpu_write(runs[run].function, 0);
	if (function && READ_ONCE(ls_active))
		ls_part_ends(run, function);
}

/* Is this CPU in @run, with ls_begins() called for it? */
bool ls_in_run(enum ls_run run)
{
	return this_cpu_read(runs[run].function);
}

/* A worker begins with an item. Where nothing is left of the one before, its debt is void. */
void ls_work_begins(void)
{
	const struct ls_atomic none = ls_not_atomic();

	if (unlikely(ls_load(&ls_nr_repaired)) && !left_behind(&none))
		ls_repaired_forget(current);
}
