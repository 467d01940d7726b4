// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that return with preemption, softirqs or interrupts off, or in an RCU read side, as
 * they did not find them. The kernel prints "workqueue leaked lock or atomic" or "preempt leak"
 * for some of it, once, and goes on: after a timer it puts the count right, after a work item
 * the worker goes on with what was left, and each item after it seems to sleep in atomic context.
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

/*
 * @function has returned; @before: as it began. What runs next in the worker of a @work item
 * finds what was left, so what that shows is a consequence.
 */
void ls_at_end(struct ls_cpu *pc, const struct ls_atomic *before, u64 function, bool work)
{
	u64 left = left_behind(before);
	struct ls_ctx *ctx;
	u32 level;

	if (likely(!left))
		return;
	ctx = ls_context(pc, &level);
	/* Queues with WQ_BH run their items in softirq; a count below zero is of a repair. */
	if (work && (level != LS_TASK || ls_task_repaired(0)))
		return;
	ls_fault_here(pc, ctx, LS_FINDING_AT_END, 0, function + 1, ls_where(level),
		      ls_spinning_mask(ctx, ctx->depth), left);
	if (work)
		ls_count_repaired(1, 0);
}

/* A worker begins with an item. Where nothing is left of the one before, its debt is void. */
void ls_work_begins(void)
{
	const struct ls_atomic none = ls_not_atomic();

	if (unlikely(ls_load(&ls_nr_repaired)) && !left_behind(&none))
		ls_repaired_forget(current);
}
