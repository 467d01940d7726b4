// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions. Any context, NMI included. They take no lock, allocate nothing,
 * never sleep or print; they only touch this CPU's state, the held stack of
 * their own context, and tables updated by compare-and-swap.
 */
#include <linux/hardirq.h>
#include <linux/kernel.h>

#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "identity/alloc.h"
#include "identity/identity.h"

/* Is a sleeping lock taken where nobody may sleep? Under which spinning one? */
static void look_at_sleep(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	u64 mask = ls_spinning_mask(ctx, ctx->depth);

	if (mask)
		ls_fault(pc, ctx, LS_FINDING_WAIT_CONTEXT, lock, ip, val, mask, 0);
	else if (val & LS_VAL_ATOMIC)
		ls_fault(pc, ctx, LS_FINDING_SLEEP_ATOMIC, lock, ip, val, 0, 0);
}

/* Every so often an acquisition counts for all those since the last one. */
static noinline void count_chain(struct ls_cpu *pc, u64 key)
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
	/* Each acquisition is one to count then, and none of them as usual. */
	if (static_branch_unlikely(&ls_stat_key))
		pc->sample_weight = 1;
	pc->sample = pc->sample_weight;
}

/*
 * The author vouches for the order of this lock's class: when one of it is held
 * already, taking another orders nothing.
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
 * Where a kernel has __hrtimer_rearm_deferred(), an interrupt programs the timer last of
 * all, when preempt_count() knows of no interrupt any more: what it came upon, be it our
 * own slow path or half of an entry, holds other locks. The scheduler calls the same
 * function for itself, with the run queue's lock held.
 */
static bool in_tail(const struct ls_ctx *ctx, u64 ip, u32 level)
{
	return ls_rearms(ip) && level < LS_HARDIRQ &&
	       (ctx->busy || !ctx->depth || !ls_in_schedule(ctx->held[ctx->depth - 1].ip));
}

/* The whole way of an acquisition. Preemption off, hooks active. */
noinline void ls_acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	unsigned long count = preempt_count();
	struct ls_ctx *ctx;
	u32 level, val, stamp = 0;
	u64 key;

	ctx = ls_context_in(pc, count, &level);
	if (unlikely(in_tail(ctx, ip, level))) {
		/* Hooks leave their usual way until it is given back. */
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
	val = ls_class_at(ctx, lock, desc >> LS_DESC_KIND_SHIFT, ip);
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
	if (unlikely(LS_AWAITED_KINDS >> (desc >> LS_DESC_KIND_SHIFT) & 1))
		val |= LS_VAL_WAIT;
	if (desc & LS_DESC_SLEEPS && ls_is_atomic(count))
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
	if (unlikely(!ls_tagtab_below(&ls.chains.tab, key, LS_CHAIN_SLOW_MIN))) {
		ctx->busy = 1;
		barrier();
		ip = ls_caller(ip);
		/* Acquired for another context, as lockdep sees it too: this one never has it. */
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
		/* Somebody asserted that it is held before anybody had taken it. */
		if (unlikely(!ls_kind_of(val)))
			ls.classes.table[val & LS_VAL_CLASS_MASK].kind = desc >> LS_DESC_KIND_SHIFT;
		ls_drop_gone_frames(pc, ctx, ip, &key, val);
		if (desc & LS_DESC_SLEEPS)
			look_at_sleep(pc, ctx, lock, ip, val);
		ls_chain_learn(pc, ctx, lock, ip, val, key);
		barrier();
		ctx->busy = 0;
	}
	ls_held_push(ctx, lock, ip, val, key);
	if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_SEMAPHORE)
		ctx->held[ctx->depth - 1].stamp = stamp;
	if (unlikely(!--pc->sample))
		count_chain(pc, key);
	ctx->timed = 0;
	if (static_branch_unlikely(&ls_stat_key))
		ls_stat_acquired(ctx, lock, ip, val, true);
}
