// SPDX-License-Identifier: GPL-2.0
/* What each context is waiting for, from the kernel's tracepoints of contended locks. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/sched/clock.h>
#include <linux/semaphore.h>
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <trace/events/lock.h>

#include "base/preempt.h"
#include "base/tracepoint.h"
#include "check/hang.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "hook/hook.h"
#include "identity/identity.h"
#include "identity/wrappers.h"

/* Kind of a lock from the flags of the kernel's tracepoint. */
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

/* Does its lock word name the current task? Then an entry of it is no acquisition that waits. */
static bool is_mine(u64 lock, u32 kind)
{
	unsigned long owner;

	return ls_owner_word(lock, kind, &owner) && ls_owner_is(owner) == LS_WORD_MINE;
}

static void on_begin(void *data, void *at, unsigned int flags)
{
	u32 level, kind = kind_of_wait(flags), id;
	struct ls_wait *w;
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u64 lock;
	int i;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	lock = (u64)at + LS_KIND_OFFSET(kind);
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	w = &ctx->wait[slot_of(flags)];
	/* A task that spins, then sleeps, still waits for the same lock. */
	if (ctx->busy || w->lock == lock)
		goto out;
	i = ls_held_find(ctx, lock);
	if (i >= 0 && i == (int)ctx->depth - 1 && !is_mine(lock, kind)) {
		w->val = ctx->held[i].val;
		w->ip = ctx->held[i].ip;
	} else {
		/* It will be acquired when its function returns. */
		ctx->busy = 1;
		barrier();
		w->ip = ls_lock_place(ls_waiter_ip());
		barrier();
		ctx->busy = 0;
		id = ls_class_at(ctx, lock, kind, w->ip);
		if (!id)
			goto out;
		w->val = id | ls_where(level);
		if (flags & LCB_F_READ)
			w->val |= LS_SHARED << LS_VAL_READ_SHIFT;
		if (unlikely(i >= 0))
			ls_hang_wait(pc, ctx, level, lock, w->ip, w->val);
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
	struct ls_ctx *ctx;
	u32 level, i;

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
	if (static_branch_unlikely(&ls_stat_key))
		ls_stat_waited(ctx, w, ret);
	w->lock = 0;
out:
	ls_leave();
}

/* Without these tracepoints (before 5.19) only waits with a hook of their own are known. */
int ls_contention_attach(void)
{
	int rc = ls_tracepoint_attach("contention_begin", on_begin, NULL);

	rc = rc ? rc : ls_tracepoint_attach("contention_end", on_end, NULL);
	if (rc)
		pr_warn("no tracepoint contention_begin (%d): waiting for locks is not measured\n", rc);
	return 0;
}

void ls_contention_detach(void)
{
	ls_tracepoint_detach("contention_begin", on_begin, NULL);
	ls_tracepoint_detach("contention_end", on_end, NULL);
}
