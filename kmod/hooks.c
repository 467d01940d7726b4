// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks. Any context, NMI included. They take no lock, allocate nothing,
 * never sleep or print; they only touch this CPU's state, the held stack of
 * their own context, and tables updated by compare-and-swap.
 */
#include <linux/hardirq.h>
#include <linux/kernel.h>

#include "instances.h"
#include "lockscope.h"
#include "core/lockword.h"
#include "identity/lookup.h"
#include "identity/refine.h"
#include "identity/slab.h"

/* Signature of everything held. */
static u32 gates_of(const struct ls_ctx *ctx)
{
	u32 i, gates = 0;

	for (i = 0; i < ctx->depth; i++)
		gates |= ls_gate_bits(ctx->held[i].lock, ctx->held[i].val);
	return gates;
}

static void find_news(const struct ls_ctx *ctx, u32 val, struct ls_news *news)
{
	u32 i, gates = gates_of(ctx);

	for (i = 0; i < ctx->depth; i++) {
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK))
			news->self = true;
		if (!ls_orders(ctx->held[i].val, val))
			continue;
		if (ls_edges_peek(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_NEWS)
			news->mask |= 1ull << i;
	}
}

static void mark_edges(const struct ls_ctx *ctx, u32 val, u64 mask)
{
	u32 i, gates = gates_of(ctx);

	for (i = 0; i < ctx->depth; i++)
		if (mask & (1ull << i) &&
		    ls_edges_mark(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_FULL)
			ls_lose(LS_LOSS_EDGES);
}

/* Is @use of class @c with @gates held something that nobody was told of? */
static bool use_is_new(const struct ls_class *c, u32 use, u32 gates)
{
	return use & ~ls_load(&c->usage) ||
	       (use & LS_USE_ON_ANY_HARDIRQ && ~(ls_load(&c->absent[0]) | gates)) ||
	       (use & LS_USE_ON_ANY_SOFTIRQ && ~(ls_load(&c->absent[1]) | gates)) ||
	       (use & LS_USE_IN_ANY_HARDIRQ && ~(ls_load(&c->absent_in[0]) | gates)) ||
	       (use & LS_USE_IN_ANY_SOFTIRQ && ~(ls_load(&c->absent_in[1]) | gates));
}

static void mark_use(struct ls_class *c, u32 use, u32 gates)
{
	ls_fetch_or(&c->usage, use);
	if (use & LS_USE_ON_ANY_HARDIRQ)
		ls_fetch_or(&c->absent[0], ~gates);
	if (use & LS_USE_ON_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent[1], ~gates);
	if (use & LS_USE_IN_ANY_HARDIRQ)
		ls_fetch_or(&c->absent_in[0], ~gates);
	if (use & LS_USE_IN_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent_in[1], ~gates);
}

/* Does taking @val with what is held, or giving it back, show a use not seen before? */
static bool usage_is_new(const struct ls_ctx *ctx, u32 val, u32 own)
{
	u32 i, gates = gates_of(ctx);

	if (use_is_new(&ls.classes.table[val & LS_VAL_CLASS_MASK], own, gates))
		return true;
	for (i = 0; i < ctx->depth; i++)
		if (use_is_new(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK],
			       ls_usage_on(ctx->held[i].val, val), gates))
			return true;
	return false;
}

static void mark_usage(const struct ls_ctx *ctx, u32 val, u32 own)
{
	u32 i, gates = gates_of(ctx);

	mark_use(&ls.classes.table[val & LS_VAL_CLASS_MASK], own, gates);
	for (i = 0; i < ctx->depth; i++)
		mark_use(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK],
			 ls_usage_on(ctx->held[i].val, val), gates);
}

/* One event of a kind is enough for a class: the thread reports it once. */
static void mark_told(u32 val, u32 flags)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];

	if (flags & (LS_EV_SAME | LS_EV_STRICT))
		ls_fetch_or(&c->marks, LS_CLASS_SAME);
}

/* Is the class of @val one of objects that were still being made when it was taken? */
static bool is_unrefined(u32 val)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].marks & LS_CLASS_UNREFINED;
}

static bool holds_unrefined(const struct ls_ctx *ctx)
{
	u32 i;

	if (likely(!ls_load(&ls.nr_unrefined)))
		return false;
	for (i = 0; i < ctx->depth; i++)
		if (is_unrefined(ctx->held[i].val))
			return true;
	return false;
}

/*
 * A chain not seen before, or one that is looked at again: it nests a class in itself, or
 * instances are wanted of its dependencies. Learns what is new; when there is no room for
 * it now, forgets that it was here, so that the next time round tries again: nothing is
 * lost, only put off.
 */
static LS_COLD void slow_path(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val,
			      u64 key)
{
	struct ls_news news = { 0 };
	struct ls_chain *data = NULL;
	struct ls_event *e = NULL;
	enum ls_chain_result r;
	u64 pairs;
	u32 chain;

	if (ls_chains_refused(&ls.chains, key))
		return;
	chain = ls_tagtab_find(&ls.chains.tab, key);
	if (chain && !(chain & LS_CHAIN_SLOW))
		return;		/* lay further along its probe run */
	if (chain & LS_CHAIN_DERIVED)
		chain = 0;	/* held before, but never taken like this */

	if (unlikely(ls_held_distrusted(ctx)))
		return;
	if (!chain) {
		find_news(ctx, val, &news);
	} else {
		data = ls_chains_get(&ls.chains, chain & LS_CHAIN_INDEX);
		news.self = !data || ls_load(&data->looks) & LS_LOOKS_SELF;
	}
	if (news.self)
		ls_instances_look(ctx, lock, val, &news);
	pairs = ls_instances_new(ctx, lock, val, &news) | ls_gates_new(ctx, lock, val, &news);
	news.mask |= pairs;
	if (data && !news.gated && ls_load(&data->looks) & LS_LOOKS_GATED)
		ls_chains_ungate(data);
	if (chain && !news.flags && !pairs) {
		if (data)
			ls_chains_looked(&ls.chains, key, data);
		return;
	}
	news.usage = usage_is_new(ctx, val, ls_usage(val));

	if (news.mask || news.usage) {
		e = ls_event_reserve(pc, ctx);
		if (!e) {
			ls_instances_forget(ctx, lock, val, &news);
			return;
		}
	}
	/* A chain with an unrefined class is looked at each time: see refine_held(). */
	if (news.self || holds_unrefined(ctx))
		news.looks |= LS_LOOKS_SELF;
	r = chain ? LS_CHAIN_NEW : ls_chains_add(&ls.chains, ctx, key, val, ip, news.looks, &chain);
	if (r == LS_CHAIN_FULL) {
		ls_lose(LS_LOSS_CHAINS);
		if (!e)
			return;		/* nothing for the thread to do */
	}
	if (e) {
		if (r == LS_CHAIN_DEFER) {
			ls_store_release(&e->state, LS_EVENT_SKIP);
			ls_fetch_add(&pc->ring.hdr->deferred, 1);
			ls_instances_forget(ctx, lock, val, &news);
			return;
		}
		mark_edges(ctx, val, news.mask);
		ls_instances_seen(ctx, lock, val, news.mask);
		ls_gates_seen(ctx, lock, val, news.mask);
		mark_told(val, news.flags);
		mark_usage(ctx, val, ls_usage(val));
		ls_event_fill(e, ctx, LS_SIGHT_ACQUIRE, lock, ip, val, news.mask,
			      chain & LS_CHAIN_INDEX, news.flags, news.related);
		ls_ring_commit(e);
	}
	if (data)
		ls_chains_looked(&ls.chains, key, data);
	ls_wake_worker();
}

/*
 * A lock was taken with interrupts off and is given back with interrupts on: it
 * has been held while they could come. @val: as which it was held, where we are.
 */
static void release_usage(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	struct ls_event *e;

	if (!usage_is_new(ctx, val, ls_usage_on(val, val)))
		return;
	ctx->busy = 1;
	barrier();
	e = ls_event_reserve(pc, ctx);
	if (e) {
		mark_usage(ctx, val, ls_usage_on(val, val));
		ls_event_fill(e, ctx, LS_SIGHT_RELEASE, lock, ip, val, 0, 0, 0, 0);
		ls_ring_commit(e);
		ls_wake_worker();
	}
	barrier();
	ctx->busy = 0;
}

/* Is a sleeping lock taken where nobody may sleep? Under which spinning one? */
static void look_at_sleep(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	u64 mask = 0;
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		if (LS_SPINNING_KINDS >> ls_kind_of(ctx->held[i].val) & 1)
			mask |= 1ull << i;
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
 * What was still being made when it was taken may be known by now: its entry gets its
 * class, before an order is learnt from it. True when one has changed.
 */
static noinline bool refine_held(struct ls_ctx *ctx)
{
	bool changed = false;
	u32 i, id;

	for (i = 0; i < ctx->depth; i++) {
		struct ls_held *h = &ctx->held[i];

		if (!is_unrefined(h->val))
			continue;
		id = ls_class_known(h->lock, true);
		if (!id)
			id = ls_identify(h->lock, ls_kind_of(h->val), h->ip);
		if (!id || id == (h->val & LS_VAL_CLASS_MASK) || ls.classes.table[id].kind != ls_kind_of(h->val))
			continue;
		ls_held_set_class(ctx, i, id);
		changed = true;
	}
	return changed;
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
		if (unlikely(ls_load(&ls.nr_unrefined)) && refine_held(ctx))
			key = ls_chain_mix(ctx->key, val);
		/* Somebody asserted that it is held before anybody had taken it. */
		if (unlikely(!ls_kind_of(val)))
			ls.classes.table[val & LS_VAL_CLASS_MASK].kind = desc >> LS_DESC_KIND_SHIFT;
		ls_drop_gone_frames(pc, ctx, ip, &key, val);
		if (desc & LS_DESC_SLEEPS)
			look_at_sleep(pc, ctx, lock, ip, val);
		slow_path(pc, ctx, lock, ip, val, key);
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

static noinline void acquire_leave(u64 lock, u64 ip, unsigned long func5)
{
	if (ls_active)
		ls_acquire(this_cpu_ptr(&ls_cpus), lock, ip, ls_desc_of(func5));
	ls_leave();
}

/*
 * A task takes a lock of a known class in a known chain: nearly always. The same
 * as ls_acquire(), but with no call in it, so that the compiler saves few registers
 * or none; whatever is not as usual is left to acquire_leave() from the start.
 */
static __always_inline void acquire_usual(u64 lock, u64 ip, unsigned long func5, bool is_static)
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *ctx;
	u64 key;
	u32 val, desc;

	/* No task is current while nothing is recorded. */
	if (unlikely(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) ||
	    unlikely(pc->cur != current))
		goto unusual;
	ctx = pc->task;
	val = is_static ? ls_classes_fast(&ls.classes, ls_key_address(lock)) : ls_class_known(lock, false);
	if (unlikely(!val) || unlikely(ctx->state >= LS_MAX_DEPTH))
		goto unusual;
	desc = ls_desc_of(func5);
	val |= ls_how(desc, count);
	/* Readers with softirqs off are another kind of reader. */
	if (unlikely((val & LS_VAL_BH_OFF) && (val & LS_VAL_READ_MASK)))
		goto unusual;
	if (!(desc & LS_DESC_SLEEPS)) {
		if (unlikely(ls_rearms(ip)))
			goto unusual;
	} else if (unlikely(val & LS_VAL_IRQ_OFF) ||
		   unlikely(((u32)count ^ PREEMPT_OFFSET) | (u32)ls_rcu_depth())) {
		goto unusual;
	}
	key = ls_chain_mix(ctx->key, val);
	if (unlikely(!ls_tagtab_below(&ls.chains.tab, key, LS_CHAIN_SLOW_MIN)))
		goto unusual;
	if (unlikely(!--pc->sample)) {
		pc->sample = 1;		/* whoever counts it counts it again */
		goto unusual;
	}
	this_cpu_inc(ls_cpus.acquisitions[LS_TASK]);
	ls_held_push(ctx, lock, ip, val, key);
	ls_leave();
	return;
unusual:
	acquire_leave(lock, ip, func5);
}

static noinline void acquire_object(u64 lock, u64 ip, unsigned long func5)
{
	acquire_usual(lock, ip, func5, false);
}

void __noendbr ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5)
{
	preempt_disable_notrace();
	if (lock >= __START_KERNEL_map)
		acquire_usual(lock, ip, func5, true);
	else
		acquire_object(lock, ip, func5);
}

/*
 * Not held by this context, as far as we saw. The lock itself tells whether
 * anybody has it: then its acquire was before our time, or somebody else's.
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
	default:
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
	/* Only these may be released by another context; signals are on no held-lock stack. */
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
		bool trusted = !ls_held_distrusted(ctx);

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
	now = ls_where(level);
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

static noinline void release_leave(u64 lock, const unsigned long *frame)
{
	if (ls_active)
		ls_release(this_cpu_ptr(&ls_cpus), lock, frame[1], ls_desc_of(frame[0]));
	ls_leave();
}

/* @frame: where the hooked function goes on, then where its caller does. */
void __noendbr ls_hook_release(unsigned long lock, const unsigned long *frame)
{
	unsigned long count;
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	struct ls_held *h;
	u64 top;

	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	count = preempt_count();
	if (unlikely(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) ||
	    unlikely(pc->cur != current))
		goto unusual;
	ctx = pc->task;
	top = ctx->state - 1;
	h = &ctx->held[top];
	if (unlikely(top >= LS_MAX_DEPTH) || unlikely(h->lock != lock))
		goto unusual;
	/* Are the interrupts that were off when it was taken on again? */
	if (h->val & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF)) {
		if (h->val & LS_VAL_IRQ_OFF && unlikely(native_save_fl() & X86_EFLAGS_IF))
			goto unusual;
		if (h->val & LS_VAL_BH_OFF && unlikely(!(count & SOFTIRQ_MASK)))
			goto unusual;
	}
	this_cpu_inc(ls_cpus.releases);
	ctx->depth = top;
	ctx->key = h->below;
	ls_leave();
	return;
unusual:
	release_leave(lock, frame);
}

/* Kinds that ls_hook_result() has to do more about. */
#define ODD_RESULTS (1u << LS_KIND_WW_MUTEX | 1u << LS_KIND_COMPLETION | 1u << LS_KIND_WORK)

/* @arg1: second argument of the primitive, the acquire context of a ww_mutex. */
void __noendbr ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5,
			      unsigned long ret, unsigned long arg1)
{
	u32 desc;
	bool taken;

	preempt_disable_notrace();
	if (likely(ls_active)) {
		desc = ls_desc_of(func5);
		taken = desc & LS_DESC_BOOL ? (ret & 0xff) : (u32)ret;
		if (desc & LS_DESC_ZERO)
			taken = !taken;
		if (unlikely(ODD_RESULTS >> (desc >> LS_DESC_KIND_SHIFT) & 1)) {
			if (desc >> LS_DESC_KIND_SHIFT != LS_KIND_WW_MUTEX) {
				ls_wait_over(lock + (desc & LS_DESC_OFFSET), desc, ret);
				goto out;
			}
			if (!(desc & LS_VAL_TRY))
				ls_look_at_ww(this_cpu_ptr(&ls_cpus), lock, ip, arg1, ret);
			if (arg1)
				desc |= LS_VAL_CTX;
			if (taken && arg1 && ls_ww_enough(this_cpu_ptr(&ls_cpus), lock, ip))
				taken = false;
		}
		if (taken)
			ls_acquire(this_cpu_ptr(&ls_cpus), lock + (desc & LS_DESC_OFFSET), ip, desc);
	}
out:
	ls_leave();
}
