// SPDX-License-Identifier: GPL-2.0
/* Rules of ww_mutexes and their acquire contexts. Any context, like acquire.c. */
#include <linux/uaccess.h>
#include <linux/ww_mutex.h>

#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stat.h"
#include "identity/identity.h"

/* ww_mutex_unlock(): its acquire context counts what it holds. */
void ls_look_at_ww_unlock(struct ls_cpu *pc, u64 lock, u64 ip)
{
	struct ww_mutex *ww = (struct ww_mutex *)lock;
	struct ww_acquire_ctx *acquire;
	unsigned int acquired;
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (ctx->busy || get_kernel_nofault(acquire, &ww->ctx) || !acquire ||
	    get_kernel_nofault(acquired, &acquire->acquired) || acquired)
		return;
	ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip,
		      ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip) | LS_VAL_CTX, 0, 0);
}

/* Identifies one use of an acquire context: the next one at its address has another stamp. */
static u64 ww_use(u64 acquire)
{
	return ls_mix(acquire) + READ_ONCE(((struct ww_acquire_ctx *)acquire)->stamp);
}

/*
 * Locks under one acquire context add no dependencies among each other, and there may be
 * thousands. A few of a class are enough: true when @lock, which was acquired, needs no entry.
 */
#define WW_KEPT 8

bool ls_ww_enough(struct ls_cpu *pc, u64 lock, u64 ip)
{
	u32 level, id, i, nr = 0;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (ctx->busy || ctx->depth < WW_KEPT)
		return false;
	id = ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip);
	for (i = 0; i < ctx->depth; i++)
		if ((ctx->held[i].val & (LS_VAL_CTX | LS_VAL_CLASS_MASK)) == (LS_VAL_CTX | id))
			nr++;
	if (nr < WW_KEPT)
		return false;
	this_cpu_inc(ls_cpus.acquisitions[level]);
	if (static_branch_unlikely(&ls_stat_key))
		ls_stat_acquired(ctx, lock, ip, id | LS_VAL_CTX | ls_where(level), false);
	ctx->lost++;
	return true;
}

/*
 * ww_mutex_lock() with acquire context @acquire (or none) returned @ret. After -EDEADLK all
 * locks of the acquire context must be released; the contended one is acquired first then.
 */
void ls_look_at_ww(struct ls_cpu *pc, u64 lock, u64 ip, u64 acquire, long ret)
{
	u32 level, i, id;
	struct ls_ctx *ctx = ls_context(pc, &level);
	u64 mask = 0;
	bool wrong;

	if (ctx->busy)
		return;
	id = ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip);
	wrong = acquire && READ_ONCE(((struct ww_acquire_ctx *)acquire)->task) != current;
	if (!acquire) {
		/* No context backs off for a lock acquired without an acquire context. */
		for (i = 0; i < ctx->depth; i++)
			if (ctx->held[i].val & LS_VAL_CTX && (ctx->held[i].val & LS_VAL_CLASS_MASK) == id)
				mask |= 1ull << i;
		wrong = mask;
	} else if (ctx->backoff && ctx->backoff == ww_use(acquire)) {
		for (i = 0; i < ctx->depth; i++)
			if (ctx->held[i].val & LS_VAL_CTX)
				mask |= 1ull << i;
		wrong |= mask || ctx->contended != lock;
		ctx->backoff = 0;
	}
	if (wrong)
		ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip, id | (acquire ? LS_VAL_CTX : 0), mask, 0);
	if (acquire && (int)ret == -EDEADLK) {
		ctx->backoff = ww_use(acquire);
		ctx->contended = lock;
	}
}

/*
 * Entry of ww_mutex_lock() of @lock, which has an acquire context. A free lock has none: the
 * field is cleared before the lock is released. Preemption off, hooks active.
 */
void ls_ww_begins(struct ls_cpu *pc, u64 lock, u64 ip)
{
	struct ww_mutex *ww = (struct ww_mutex *)lock;
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	/* Free before and after: not held in between, or for a complete hold. */
	if (!ctx->busy && ls_lock_word(lock, LS_KIND_WW_MUTEX, false) == LS_WORD_FREE &&
	    READ_ONCE(ww->ctx) && ls_lock_word(lock, LS_KIND_WW_MUTEX, false) == LS_WORD_FREE)
		ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip,
			      ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip) | LS_VAL_CTX, 0, 0);
}
