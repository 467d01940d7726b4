// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores: who takes one need not be who gives it back. What hooks.c and
 * special.c do about that; any context.
 */
#include <linux/sched.h>

#include "lockscope.h"

/*
 * Semaphores may be released by anyone. What another context has released since
 * we took it is not held here any more, whatever our stack says. Looked at only
 * before something new is learnt. A counter of semaphore acquisitions tells
 * "since": the entry has its value then, the orphan its value at the release.
 */
#define ORPHAN_BITS 19
#define ORPHAN_MASK ((1u << ORPHAN_BITS) - 1)

void ls_add_orphan(u64 lock)
{
	u32 now = ls_load(&ls.semaphore_acquisitions) & ORPHAN_MASK;

	if (!ls_addrmap_find(&ls.orphans, lock))
		ls_fetch_add(&ls.nr_orphans, 1);
	ls_addrmap_set(&ls.orphans, lock, now << 1 | 1);
}

static bool released_since(const struct ls_held *h, u32 kind)
{
	u32 orphan = ls_addrmap_find(&ls.orphans, h->lock);

	if (!orphan)
		return false;
	/* Readers of an rwsem carry no stamp. */
	return kind == LS_KIND_RWSEM || (((orphan >> 1) - h->stamp) & ORPHAN_MASK) <= ORPHAN_MASK / 2;
}

void ls_drop_orphans(struct ls_ctx *ctx)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		u32 kind = ls_kind_of(ctx->held[i].val);

		if ((kind != LS_KIND_SEMAPHORE && kind != LS_KIND_RWSEM) ||
		    !released_since(&ctx->held[i], kind))
			continue;
		if (ls_addrmap_remove(&ls.orphans, ctx->held[i].lock))
			ls_fetch_add(&ls.nr_orphans, -1);
		if (kind == LS_KIND_SEMAPHORE)
			ls_fetch_add(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK]
					      .unmatched_acquires, 1);
		ls_held_remove(ctx, i);
	}
}

/* The current task for ls.takers; 0 in an interrupt, which never has a semaphore. */
static u32 taker(u32 level)
{
	return level == LS_TASK ? (u32)current->pid % LS_ADDR_ID_MASK + 1 : 0;
}

/*
 * Semaphore @lock of class @id is taken. Who takes again what he has shares it or
 * waits for events: one entry is enough. A signal is not held afterwards, but who
 * took it last is kept, so that the belief can change. False when it is one.
 */
bool ls_semaphore_taken(struct ls_ctx *ctx, u64 lock, u32 id, u32 level)
{
	struct ls_class *c = &ls.classes.table[id];
	u32 me = taker(level);
	int i = ls_held_find(ctx, lock);

	ls_fetch_add(&c->acquires, 1);
	if (i >= 0)
		ls_held_remove(ctx, i);
	if (i >= 0 || (me && ls_addrmap_find(&ls.takers, lock) == me))
		ls_fetch_add(&c->unmatched_acquires, 1);
	if (!(ls_load(&c->marks) & LS_CLASS_SIGNAL))
		return true;
	if (me)
		ls_addrmap_set(&ls.takers, lock, me);
	return false;
}

void ls_semaphore_release(struct ls_cpu *pc, u64 lock, u64 ip)
{
	u32 level, id, last;
	struct ls_ctx *ctx = ls_context(pc, &level);
	bool own;

	/* What was not kept may be what is released. */
	if (ctx->busy || ctx->lost)
		return;
	/* Perhaps nobody has acquired it yet. */
	id = ls_class_at(ctx, lock, LS_KIND_SEMAPHORE, ip);
	if (!id)
		return;
	own = ls_held_find(ctx, lock) >= 0;
	last = ls_addrmap_remove(&ls.takers, lock);
	own |= last && last == taker(level);
	if (ls_semaphore_released(&ls.classes.table[id], own)) {
		ls_fetch_add(&ls.signal_changes, 1);
		ls_wake_worker();
	}
}
