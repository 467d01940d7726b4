/* SPDX-License-Identifier: GPL-2.0 */
/* What work items, timers' functions and softirq handlers leave behind. Preemption off. */
#ifndef LOCKSCOPE_AT_END_H
#define LOCKSCOPE_AT_END_H

#include "base/wrapper/tracepoint.h"
#include "core/context.h"

/* What makes code atomic, as the handler of a tracepoint sees it. */
struct ls_atomic {
	unsigned long count;	/* preempt_count() */
	u32 rcu;		/* nested RCU read sides */
	bool irqs_off;
};

static inline struct ls_atomic ls_atomic_now(void)
{
	return (struct ls_atomic){ preempt_count(), ls_rcu_depth(), irqs_disabled() };
}

/* How a work item begins. */
static inline struct ls_atomic ls_not_atomic(void)
{
	return (struct ls_atomic){ .count = PREEMPT_OFFSET * (1 + LS_TRACEPOINT_PREEMPT) };
}

/* What runs to its end on one CPU, each on top of those before it only. */
enum ls_run {
	LS_RUN_SOFTIRQ,		/* a handler */
	LS_RUN_TIMER,		/* a timer's function, or a high-resolution timer's in softirq */
	LS_RUN_HARDIRQ,		/* a high-resolution timer's */
	LS_NR_RUNS
};

static inline enum ls_run ls_hrtimer_run(void)
{
	return in_hardirq() ? LS_RUN_HARDIRQ : LS_RUN_TIMER;
}

void ls_begins(enum ls_run run, u64 function);
void ls_ends(enum ls_run run);
void ls_part_ends(enum ls_run run, u64 function);
bool ls_in_run(enum ls_run run);
void ls_work_ends(struct ls_cpu *pc, u64 function);
void ls_work_begins(void);

#endif /* LOCKSCOPE_AT_END_H */
