// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions. Any context, NMI included. Takes no lock, does not allocate, sleep or print;
 * only touches this CPU's state, the held-lock stack of the current context, and tables that
 * are updated by compare-and-exchange.
 */
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/workqueue.h>

#include "check/check.h"
#include "check/events.h"
#include "check/hang.h"
#include "check/instances.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/wrappers.h"

/* Report a sleeping lock that is acquired in atomic context, with the spinning locks held. */
static void look_at_sleep(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val,
			  unsigned long count)
{
	u64 mask = ls_spinning_mask(ctx, ctx->depth);

	if (mask)
		ls_fault(pc, ctx, LS_FINDING_WAIT_CONTEXT, lock, ip, val, mask, 0);
	else if (val & LS_VAL_ATOMIC)
		ls_fault(pc, ctx, LS_FINDING_SLEEP_ATOMIC, lock, ip, val, 0, ls_atomic_in(count));
}

/* One acquisition in @sample_weight is counted, for all since the last one. */
static noinline void count_chain(struct ls_cpu *pc, struct ls_ctx *ctx, u64 key)
{
	struct ls_chain *data;
	u32 id = ls_tagtab_find(&ls.chains.tab, key);

	data = ls_chains_get(&ls.chains, id & LS_CHAIN_INDEX);
	if (data) {
		ls_fetch_add(&data->count, pc->sample_weight);
		ls_chains_counted(&ls.chains, key, id, data);
	}
	pc->random = pc->random * 1664525u + 1013904223u;
	pc->sample_weight = LS_SAMPLE / 2 + (pc->random >> 26);
	/* While statistics or a plan are on each acquisition is counted, and none takes the fast path. */
	if (static_branch_unlikely(&ls_each_key)) {
		pc->sample_weight = 1;
		if (ctx->begins == ctx->held[ctx->depth - 1].ip)
			ctx->begins = 0;
	}
	pc->sample = pc->sample_weight;
}

/*
 * An annotation declares the order of this lock's class: while one lock of it is held,
 * acquiring another adds no dependency.
 */
static u32 nested(const struct ls_ctx *ctx, u32 val)
{
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK)) {
			ls_fetch_add(&ls.classes.table[val & LS_VAL_CLASS_MASK]
					      .nested[LS_NEST_ANNOTATED], 1);
			return val | LS_VAL_TRY;
		}
	return val;
}

/*
 * On kernels with __hrtimer_rearm_deferred(), an interrupt programs the timer at its very end,
 * when preempt_count() does not show the interrupt any more. The interrupted code, which may
 * be this module's slow path or half of an entry, holds other locks. The scheduler calls the
 * same function for itself, with the run queue's lock held.
 */
static bool in_tail(const struct ls_ctx *ctx, u64 ip, u32 level)
{
	return ls_rearms(ip) && level < LS_HARDIRQ &&
	       (ctx->busy || !ctx->depth || !ls_in_schedule(ctx->held[ctx->depth - 1].ip));
}

/*
 * A chain that is not known, or is looked at each time, or an interrupt that is about to spin.
 * The observation comes before the text: printing may take long, or never end. @ctx is busy.
 * Is the acquisition to be noted (passed.h)?
 */
static bool learn(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u64 ip, u32 val, u64 key)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	const struct ls_held *held = NULL;
	bool noted;

	if (READ_ONCE(ls_hang_report) && !(ls_load(&c->marks) & LS_CLASS_TOLD))
		held = ls_hang_find(pc, ctx, level, lock, val);
	if (unlikely(held) && ls_fetch_or(&c->marks, LS_CLASS_TOLD) & LS_CLASS_TOLD)
		held = NULL;
	noted = ls_chain_learn(pc, ctx, lock, ip, val, key);
	if (unlikely(held))
		ls_hang_say(ctx, lock, ip, val, held, false);
	return noted;
}

/*
 * Report @lock, whose memory is free. The event has the code that freed it as its topmost held
 * entry, for which @ctx has room. @ctx not busy.
 */
static noinline void taken_in_freed(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	u64 by = ls_freed_by(lock);

	pc->in_freed = 0;
	/* It may have been allocated since. */
	if (!by)
		return;
	ctx->busy = 1;
	barrier();
	ctx->held[ctx->depth] = (struct ls_held){ .lock = lock, .ip = by, .val = val & LS_VAL_CLASS_MASK };
	ctx->depth++;
	ls_fault(pc, ctx, LS_FINDING_IN_FREED, lock, ip, val, 1ull << (ctx->depth - 1), 0);
	ctx->depth--;
	barrier();
	ctx->busy = 0;
}

/* The class of @lock, of @kind; that of a work item is its function. */
static u32 class_of(struct ls_ctx *ctx, u64 lock, u32 kind, u64 ip)
{
	if (unlikely(kind == LS_KIND_WORK))
		lock = (u64)READ_ONCE(((struct work_struct *)(lock - LS_ENDED))->func);
	return ls_class_at(ctx, lock, kind, ip);
}

/* Slow path of an acquisition. Preemption off, hooks active. */
noinline void ls_acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	unsigned long count = ls_count_mend(preempt_count());
	struct ls_ctx *ctx;
	u32 level, val, stamp = 0;
	bool noted = false;
	u64 key, place;

	ctx = ls_context_in(pc, count, &level);
	if (unlikely(in_tail(ctx, ip, level))) {
		/* The fast path is off until its release. */
		pc->tail = lock;
		pc->behind = pc->cur;
		pc->cur = NULL;
		ctx = ls_context_in(pc, count, &level);
	}
	this_cpu_inc(ls_cpus.acquisitions[level]);
	if (unlikely(ctx->busy)) {
		if (!ctx->ignoring)
			ls_lose(LS_LOSS_RECURSION);
		return;
	}
	place = ls_lock_place(ip);
	val = class_of(ctx, lock, desc >> LS_DESC_KIND_SHIFT, place);
	if (unlikely(place != ip)) {
		ls_class_ask(lock, desc >> LS_DESC_KIND_SHIFT);
		ip = place;
	}
	if (unlikely(ctx->depth >= LS_MAX_DEPTH))
		ls_make_room(ctx, level);
	if (unlikely(!val || ctx->depth >= LS_MAX_DEPTH)) {
		if (val)
			ls_lose(LS_LOSS_HELD_OVERFLOW);
		ctx->lost++;
		return;
	}
	if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_SEMAPHORE &&
	    !ls_semaphore_taken(ctx, lock, val, level, &stamp)) {
		if (static_branch_unlikely(&ls_stat_key))
			ls_stat_acquired(ctx, lock, ip, val | ls_how(desc, count) | level << LS_VAL_LEVEL_SHIFT,
					 false);
		return;
	}
	val |= ls_how(desc, count) | level << LS_VAL_LEVEL_SHIFT;
	if (unlikely(pc->in_freed == lock))
		taken_in_freed(pc, ctx, lock, ip, val);
	/* Whether interrupts could come is not known then. */
	if (unlikely(ls_load(&ls_nr_repaired)) && level == LS_TASK && ls_task_repaired(ls_entry(level)))
		val |= LS_VAL_IRQ_OFF | LS_VAL_BH_OFF;
	if (unlikely(LS_AWAITED_KINDS >> (desc >> LS_DESC_KIND_SHIFT) & 1))
		val |= LS_VAL_WAIT;
	/* As for __might_resched(): a suspended kernel has one CPU and one task. */
	if (desc & LS_DESC_SLEEPS && ls_is_atomic(count) && system_state == SYSTEM_RUNNING)
		val |= LS_VAL_ATOMIC;
	if (unlikely(ctx->nest)) {
		ctx->nest = 0;
		val = nested(ctx, val);
	}
	/*
	 * A queued rwlock lets readers pass waiting writers only in interrupt
	 * context, which includes code that has softirqs off.
	 */
	if ((val & LS_VAL_READ_MASK) && desc >> LS_DESC_KIND_SHIFT == LS_KIND_RWLOCK &&
	    (level || (val & LS_VAL_BH_OFF)))
		val = (val & ~LS_VAL_READ_MASK) | LS_RECURSIVE << LS_VAL_READ_SHIFT;

	key = ls_chain_mix(ctx->key, val);
	if (unlikely(!ls_tagtab_below(&ls.chains.tab, key, LS_CHAIN_SLOW_MIN)) ||
	    unlikely(ls_hang_suspected(level, lock, desc))) {
		ctx->busy = 1;
		barrier();
		ip = ls_caller(ip);
		/*
		 * Acquired on behalf of another context, as for lockdep: the current one never
		 * owns it.
		 */
		if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_RWSEM && ls_non_owner(ip)) {
			barrier();
			ctx->busy = 0;
			return;
		}
		if (ctx->depth) {
			ls_drop_moved(ctx, level);
			key = ls_chain_mix(ctx->key, val);
		}
		if (unlikely(ls_load(&ls.nr_unrefined)) && ls_refine_held(ctx))
			key = ls_chain_mix(ctx->key, val);
		/* Asserted to be held before its first acquisition. */
		if (unlikely(!ls_kind_of(val)))
			ls.classes.table[val & LS_VAL_CLASS_MASK].kind = desc >> LS_DESC_KIND_SHIFT;
		ls_drop_gone_frames(pc, ctx, ip, &key, val);
		if (desc & LS_DESC_SLEEPS)
			look_at_sleep(pc, ctx, lock, ip, val, count);
		if (unlikely(ls_never_initialised(lock, desc >> LS_DESC_KIND_SHIFT)))
			ls_fault(pc, ctx, LS_FINDING_NOT_INIT, lock, ip, val, 0, 0);
		noted = learn(pc, ctx, level, lock, ip, val, key);
		barrier();
		ctx->busy = 0;
	}
	ls_held_push(ctx, lock, ip, val, key);
	if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_SEMAPHORE)
		ctx->held[ctx->depth - 1].stamp = stamp;
	if (unlikely(!--pc->sample))
		count_chain(pc, ctx, key);
	if (unlikely(noted))
		ls_passed_take(ctx);
	ctx->timed = 0;
	if (static_branch_unlikely(&ls_stat_key))
		ls_stat_acquired(ctx, lock, ip, val, true);
}
