/* SPDX-License-Identifier: GPL-2.0 */
/* Waits at gates, and what is recorded of contexts there. Preemption off by the hook's level. */
#ifndef LOCKSCOPE_GATE_WAIT_H
#define LOCKSCOPE_GATE_WAIT_H

#include <linux/timekeeping.h>

#include "core/state.h"
#include "plan.h"

/*
 * ns. Not local_clock(): where clocks of CPUs are not trusted it goes no further than a tick, and
 * there is none with interrupts off.
 */
static inline u64 ls_gate_clock(void)
{
	return ktime_get_mono_fast_ns();
}

/* NULL: none. Preemption off, or counted in its waiting since it was looked up. */
struct ls_confirm *ls_plan_now(void);
/* Is any context inside a side of @c that @next, or NULL, does not know? Preemption is off. */
bool ls_plans_busy(const struct ls_confirm *c, const struct ls_confirm *next);

/* What a context waits before, and where. */
struct ls_gate_visit {
	const struct ls_confirm *plan;
	struct ls_gate_object at;
	u64 ip;
	unsigned long count;		/* preempt_count() of the hook */
	bool spin;			/* in a trap: no other wait */
};

/* What @ctx holds; and all of the current context. */
void ls_confirm_fill_arrival(struct ls_confirm_arrival *to, const struct ls_ctx *ctx, u64 first,
			     u64 last);
void ls_confirm_fill(struct ls_confirm_context *to, struct ls_ctx *ctx, u32 level, u64 first,
		     u64 last, u64 ip, bool waited);

enum ls_gate_waited {
	LS_GATE_NO_WAIT,
	LS_GATE_ALONE,
	LS_GATE_TOGETHER,		/* met */
};
/* Wait at the gate of @side. */
enum ls_gate_waited ls_gate_wait(struct ls_plan *m, u32 side, const struct ls_gate_visit *v, u64 now);
/*
 * Wait, for a short time, until no other side of a plan that begins at @v is inside. The context
 * is inside until ls_confirm_done(), and while it holds the lock. Preemption is off in between.
 */
void ls_gate_begin(const struct ls_gate_visit *v);

#endif /* LOCKSCOPE_GATE_WAIT_H */
