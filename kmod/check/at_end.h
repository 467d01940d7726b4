/* SPDX-License-Identifier: GPL-2.0 */
/* What work items and timers' functions leave behind. Preemption off. */
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

void ls_at_end(struct ls_cpu *pc, const struct ls_atomic *before, u64 function, bool work);
void ls_work_begins(void);

#endif /* LOCKSCOPE_AT_END_H */
