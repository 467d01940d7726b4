/* SPDX-License-Identifier: GPL-2.0 */
/* Waits at gates, and what is recorded of contexts there. Preemption off by the hook's level. */
#ifndef LOCKSCOPE_GATE_WAIT_H
#define LOCKSCOPE_GATE_WAIT_H

#include <linux/atomic.h>
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

extern int ls_gates_closing;		/* all gates open */
extern atomic_t ls_at_gates;		/* contexts that wait */

/* What @ctx holds; and all of the current context. */
void ls_confirm_fill_arrival(struct ls_confirm_arrival *to, const struct ls_ctx *ctx, u64 first,
			     u64 last);
void ls_confirm_fill(struct ls_confirm_context *to, struct ls_ctx *ctx, u32 level, u64 first,
		     u64 last, u64 ip, bool waited);

/* Wait at the gate of @side before @lock. False: no wait. @count: preempt_count() of the hook. */
bool ls_gate_wait(struct ls_plan *m, u32 side, u64 lock, u64 ip, unsigned long count, u64 now);
/* Wait, for a short time, until no other side is inside. */
void ls_gate_begin_side(struct ls_plan *m, u32 side, u64 lock, unsigned long count);

#endif /* LOCKSCOPE_GATE_WAIT_H */
