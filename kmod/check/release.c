// SPDX-License-Identifier: GPL-2.0
/* Releases. Same contexts and constraints as acquire.c. */
#include <linux/hardirq.h>
#include <linux/kernel.h>

#include "check/check.h"
#include "check/events.h"
#include "check/usage.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stat.h"
#include "identity/identity.h"

/*
 * A lock was acquired with interrupts off and is released with interrupts on: they could occur
 * while it was held. @val: how it was held, with the current context.
 */
static void release_usage(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	struct ls_event *e;

	if (!ls_usage_is_new(ctx, lock, val, ls_usage_on(val, val)))
		return;
	ctx->busy = 1;
	barrier();
	e = ls_event_reserve(pc, ctx);
	if (e) {
		ls_usage_mark(ctx, lock, val, ls_usage_on(val, val));
		ls_event_fill(e, ctx, LS_SIGHT_RELEASE, lock, ip, val, 0, 0, 0, 0);
		ls_ring_commit(e);
		ls_wake_worker();
	}
	barrier();
	ctx->busy = 0;
}

/*
 * The current context has no entry of the lock. The lock word shows whether it is held: then
 * it was acquired before the module was loaded, or by another context.
 */
static void release_unknown(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 desc)
{
	u32 kind = desc >> LS_DESC_KIND_SHIFT, what = 0, id;

	switch (ls_lock_word(lock, kind, desc & LS_VAL_READ_MASK)) {
	case LS_WORD_FREE:
		what = LS_FINDING_DOUBLE_UNLOCK;
		break;
	case LS_WORD_OTHER:
		what = LS_FINDING_BAD_UNLOCK;
		break;
	case LS_WORD_UNKNOWN:
	case LS_WORD_HELD:
	case LS_WORD_MINE:
		break;
	}
	if (what) {
		id = ls_class_at(ctx, lock, kind, ip);
		ctx->busy = 1;
		barrier();
		ls_fault(pc, ctx, what, lock, ip, id | (desc & LS_VAL_READ_MASK), 0, 0);
		barrier();
		ctx->busy = 0;
		ls_held_distrust(ctx);
		return;
	}
	this_cpu_inc(ls_cpus.unknown_releases);
	/* Only these may be released by another context; signals have no entries. */
	if (kind == LS_KIND_RWSEM ||
	    (kind == LS_KIND_SEMAPHORE &&
	     !(ls_load(&ls.classes.table[ls_class_at(ctx, lock, kind, ip)].marks) & LS_CLASS_SIGNAL)))
		ls_add_orphan(lock);
}

static LS_COLD void release_slow(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 desc,
				 u32 now)
{
	int i;

	if (ctx->busy && !ctx->ignoring) {
		ls_lose(LS_LOSS_RECURSION);
		return;
	}
	i = ls_held_find(ctx, lock);
	if (i >= 0) {
		u32 val = ctx->held[i].val;
		bool trusted = !ls_held_distrusted(ctx) && !ls_task_repaired(0);

		if (static_branch_unlikely(&ls_stat_key) && !ctx->busy)
			ls_stat_released(ctx, i);
		ls_held_remove(ctx, i);
		if (trusted && !ctx->busy && val & ~now & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF))
			release_usage(pc, ctx, lock, ip, (val & (LS_VAL_CLASS_MASK | LS_VAL_READ_MASK)) | now);
		return;
	}
	if (ctx->lost) {
		ctx->lost--;
		return;
	}
	if (!ctx->busy)
		release_unknown(pc, ctx, lock, ip, desc);
}

noinline void ls_release(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	struct ls_ctx *ctx;
	u32 level, now;

	ctx = ls_context_in(pc, preempt_count(), &level);
	now = ls_how(0, ls_count_mend(preempt_count())) | level << LS_VAL_LEVEL_SHIFT;
	this_cpu_inc(ls_cpus.releases);
	if (likely(ls_held_is_top(ctx, lock) && !ctx->busy &&
		   !(ctx->held[ctx->depth - 1].val & ~now & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF)))) {
		if (static_branch_unlikely(&ls_stat_key))
			ls_stat_released(ctx, ctx->depth - 1);
		ls_held_pop_top(ctx);
	} else {
		release_slow(pc, ctx, lock, ip, desc, now);
	}
	if (unlikely(ls_has_tail(pc)) && pc->tail == lock) {
		pc->tail = 0;
		pc->cur = pc->behind;
	}
}
