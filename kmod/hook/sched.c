// SPDX-License-Identifier: GPL-2.0
/* Context switches: a task's held locks go with it, the run queue's lock changes owner. */
#include <linux/sched.h>

#include "base/tracepoint.h"
#include "base/wrapper/tracepoint.h"
#include "check/access/access.h"
#include "check/check.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "hook/hook.h"

static bool spins(const struct ls_held *h)
{
	return LS_SPINNING_KINDS >> ls_kind_of(h->val) & 1;
}

/*
 * Was the current task preempted between the hook of a spinning lock and the lock? The direct
 * call of the hook prevents that, ftrace_ops cannot. The lock is dropped: it would stand below
 * all that the scheduler acquires meanwhile. Interrupts are off.
 */
static noinline bool enters_lock(void)
{
	unsigned long frames[32];
	u32 i, nr = ls_stack_save(frames, ARRAY_SIZE(frames));

	for (i = 0; i < nr; i++)
		if (ls_prims_spins_in(frames[i]))
			return true;
	return false;
}

/*
 * Entries that stay with a task across a switch: the lock on top, the run queue's, goes to
 * next. No other spinning lock can be held here; one that is left was released where no hook
 * runs, and must not stand below everything that the CPU does from now on. Returns the index
 * from which entries change owner.
 */
static u32 clean(struct ls_cpu *pc, struct ls_ctx *ctx, bool preempt)
{
	u32 i, level, last, top;

	for (i = 0; i < ctx->depth; i++) {
		if (unlikely(ls_kind_of(ctx->held[i].val) == LS_KIND_SEMAPHORE)) {
			ls_drop_moved(ctx, LS_TASK);
			break;
		}
	}
	last = ctx->depth;
	if (last && spins(&ctx->held[last - 1]))
		last--;
	top = last;
	for (i = last; i-- > 0;) {
		if (spins(&ctx->held[i])) {
			ls_held_remove(ctx, i);
			if (preempt && i + 1 == top && enters_lock())
				ls_lose(LS_LOSS_HELD_OVERFLOW);
			else
				pc->stale++;
			last--;
		}
	}
	/* The same for interrupts: none is being served now. */
	for (level = 0; level < LS_NR_LEVELS - 1; level++) {
		if (unlikely(pc->level[level].depth)) {
			pc->stale += pc->level[level].depth;
			ls_held_clear(&pc->level[level]);
		}
	}
	pc->tail = 0;
	return last;
}

/*
 * Interrupts are off and prev still runs. The run-queue lock that prev took is
 * released by next, so it changes hands.
 */
static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *from, *to;
	bool keeps;		/* the task needs its context when it is switched in again */
	u32 first;

	if (!READ_ONCE(ls_active))
		return;
	from = pc->cur == prev ? pc->task : ls_ctx_fix(pc);
	first = clean(pc, from, preempt);
	from->section = ls_section_leave(prev, preempt);
	keeps = first || from->ignoring || from->may_race || from->wait[LS_WAIT_SLEEP].lock || from->section;
	to = ls_context_registered(next);

	if (from == pc->home) {
		if (unlikely(keeps)) {
			struct ls_ctx *home = prev_state & TASK_DEAD ? NULL : ls_context_get();

			if (home && !ls_addrmap_add(&ls.tasks, (u64)prev, from->id + 1)) {
				ls_context_put(home);
				home = NULL;
			}
			if (home) {
				from->owner = prev;
				pc->home = home;
			} else {
				/* Dead, or no room: the locks of prev are forgotten. */
				if (!(prev_state & TASK_DEAD))
					ls_lose(LS_LOSS_HELD_OVERFLOW);
				while (first) {
					ls_held_remove(from, 0);
					first--;
				}
				/* The context is shared again. */
				from->ignoring = from->may_race = 0;
				from->busy = from->nest = 0;
				from->wait[LS_WAIT_SLEEP].lock = 0;
				from->section = 0;
			}
		}
	} else if (!keeps || prev_state & TASK_DEAD) {
		ls_addrmap_remove(&ls.tasks, (u64)prev);
	}
	if (!to)
		to = pc->home;
	if (to != from) {
		u32 lost = ls_held_move(from, first, to);

		while (lost--)
			ls_lose(LS_LOSS_HELD_OVERFLOW);
		if (from != pc->home && (!keeps || prev_state & TASK_DEAD))
			ls_context_put(from);
	}
	if (unlikely(to->section))
		ls_section_return(next, to->section);
	pc->cur = next;
	pc->task = to;
}

int ls_sched_attach(void)
{
	return ls_tracepoint_attach("sched_switch", on_switch, NULL);
}

void ls_sched_detach(void)
{
	ls_tracepoint_detach("sched_switch", on_switch, NULL);
}
