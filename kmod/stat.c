// SPDX-License-Identifier: GPL-2.0
/*
 * Figures of every acquisition, for whoever attaches to the tracepoints acquired,
 * released and waited; and what each context waits for at the moment. Any context,
 * like the hooks, which come here only while somebody is attached.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/semaphore.h>
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <trace/events/lock.h>

#include "lockscope.h"
#include "trace.h"

DEFINE_STATIC_KEY_FALSE(ls_stat_key);
static u64 attached_at;		/* ns: entries from before tell no time */

/* The fast path has no branch for us: it leaves an acquisition that has to be counted. */
static void count_each(void *unused)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	pc->sample = pc->sample_weight = 1;
}

int ls_stat_on(void)
{
	int cpu;

	if (!static_key_enabled(&ls_stat_key))
		WRITE_ONCE(attached_at, local_clock());
	static_branch_inc(&ls_stat_key);
	/* Nobody is left who has not seen the key, and counts in larger steps again. */
	synchronize_rcu();
	/* Those that are off line begin with it when they come. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			per_cpu_ptr(&ls_cpus, cpu)->sample = per_cpu_ptr(&ls_cpus, cpu)->sample_weight = 1;
	on_each_cpu(count_each, NULL, 1);
	cpus_read_unlock();
	return 0;
}

void ls_stat_off(void)
{
	static_branch_dec(&ls_stat_key);
}

static u64 passed(u64 since)
{
	s64 ns = local_clock() - since;

	/* Clocks of two processors may differ by a little. */
	return ns > 0 ? ns : 0;
}

/*
 * Handlers run with interrupts off: a BPF program that is interrupted by its own
 * like would miss it. They may take locks, which are not looked at.
 */
static bool begin(struct ls_ctx *ctx, unsigned long *flags)
{
	if (unlikely(!rcu_is_watching())) {
		ls_lose(LS_LOSS_RECURSION);
		return false;
	}
	raw_local_irq_save(*flags);
	ctx->busy = 1;
	barrier();
	return true;
}

static void end(struct ls_ctx *ctx, unsigned long flags)
{
	barrier();
	ctx->busy = 0;
	raw_local_irq_restore(flags);
}

static bool is_lock(u32 val)
{
	return LS_GUARDING_KINDS >> ls_kind_of(val) & 1;
}

/* @val was taken, or is about to be waited for. @held: it lies on top of @ctx, which is not busy. */
noinline void ls_stat_acquired(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, bool held)
{
	unsigned long flags;

	if (held) {
		ctx->since[ctx->depth - 1] = local_clock();
		ctx->timed = 1;
	}
	if (!is_lock(val) || !begin(ctx, &flags))
		return;
	trace_acquired(val & LS_VAL_CLASS_MASK, val, lock, ip);
	end(ctx, flags);
}

/* Entry @i of @ctx, which is not busy, is given back. */
noinline void ls_stat_released(struct ls_ctx *ctx, u32 i)
{
	const struct ls_held *h = &ctx->held[i];
	unsigned long flags;

	if (!is_lock(h->val) || ctx->since[i] < attached_at || !begin(ctx, &flags))
		return;
	trace_released(h->val & LS_VAL_CLASS_MASK, h->val, h->lock, h->ip, passed(ctx->since[i]));
	end(ctx, flags);
}

/* Kind of a lock that the kernel's own tracepoint tells of. */
static u32 kind_of_wait(unsigned int flags)
{
	if (flags & LCB_F_RT)
		return LS_KIND_RT_MUTEX;
	if (flags & LCB_F_PERCPU)
		return LS_KIND_PERCPU_RWSEM;
	if (flags & LCB_F_MUTEX)
		return LS_KIND_MUTEX;
	if (flags & (LCB_F_READ | LCB_F_WRITE))
		return flags & LCB_F_SPIN ? LS_KIND_RWLOCK : LS_KIND_RWSEM;
	return flags & LCB_F_SPIN ? LS_KIND_SPINLOCK : LS_KIND_SEMAPHORE;
}

static u32 slot_of(unsigned int flags)
{
	return flags & LCB_F_SPIN && !(flags & LCB_F_MUTEX) ? LS_WAIT_SPIN : LS_WAIT_SLEEP;
}

static void on_begin(void *data, void *at, unsigned int flags)
{
	u32 level, kind = kind_of_wait(flags), id;
	struct ls_wait *w;
	struct ls_ctx *ctx;
	u64 lock;
	int i;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	lock = (u64)at + LS_KIND_OFFSET(kind);
	ctx = ls_context(this_cpu_ptr(&ls_cpus), &level);
	w = &ctx->wait[slot_of(flags)];
	/* Who spins, then sleeps, still waits for the same. */
	if (ctx->busy || w->lock == lock)
		goto out;
	i = ls_held_find(ctx, lock);
	if (i >= 0 && i == (int)ctx->depth - 1) {
		w->val = ctx->held[i].val;
		w->ip = ctx->held[i].ip;
	} else {
		/* It will be taken when its function returns. */
		ctx->busy = 1;
		barrier();
		w->ip = ls_waiter_ip();
		barrier();
		ctx->busy = 0;
		id = ls_class_at(ctx, lock, kind, w->ip);
		if (!id)
			goto out;
		w->val = id | ls_where(level);
		if (flags & LCB_F_READ)
			w->val |= LS_SHARED << LS_VAL_READ_SHIFT;
	}
	w->since = local_clock();
	barrier();
	w->lock = lock;
out:
	ls_leave();
}

static void on_end(void *data, void *at, int ret)
{
	struct ls_wait *w = NULL;
	unsigned long flags;
	struct ls_ctx *ctx;
	u32 level, i;
	u64 ns;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ctx = ls_context(this_cpu_ptr(&ls_cpus), &level);
	for (i = 0; i < LS_NR_WAITS; i++) {
		u64 lock = ctx->wait[i].lock;

		if (lock && lock - (u64)at == LS_KIND_OFFSET(ls_kind_of(ctx->wait[i].val)))
			w = &ctx->wait[i];
	}
	if (!w || ctx->busy)
		goto out;
	ns = passed(w->since);
	if (static_branch_unlikely(&ls_stat_key)) {
		/* Waiting is no part of holding. */
		if (!ret && ls_held_is_top(ctx, w->lock))
			ctx->since[ctx->depth - 1] = local_clock();
		if (w->since >= attached_at && begin(ctx, &flags)) {
			trace_waited(w->val & LS_VAL_CLASS_MASK, w->val, w->lock, w->ip, ns, ret);
			end(ctx, flags);
		}
	}
	w->lock = 0;
out:
	ls_leave();
}

/* Without these tracepoints (before 5.19) nobody is known to wait who has not asked for good. */
int ls_stat_attach(void)
{
	int rc = ls_tracepoint_attach("contention_begin", on_begin, NULL);

	rc = rc ? rc : ls_tracepoint_attach("contention_end", on_end, NULL);
	if (rc)
		pr_warn("lockscope: no tracepoint contention_begin (%d): waiting for locks is not measured\n", rc);
	return 0;
}

void ls_stat_detach(void)
{
	ls_tracepoint_detach("contention_begin", on_begin, NULL);
	ls_tracepoint_detach("contention_end", on_end, NULL);
}
