// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores: the context that acquires one need not be the one that releases it. Called from
 * acquire.c, life.c, hook/sched.c and hook/special.c; any context.
 *
 * An entry of a held-lock stack shows that this context has acquired a semaphore, not that it
 * still owns it: a buffer that was locked and submitted is released by the completion of the
 * I/O. Such an entry must not add dependencies, nor may the stack fill up with them. So an
 * entry is dropped
 *   - when another context released the semaphore since (ls.orphans): checked before
 *     anything new is recorded, whenever the context acquires a semaphore, leaves the
 *     CPU or has a full stack;
 *   - when the stack is full and some of the class were handed over before;
 *   - where the context has finished its work: it was in user mode since, or its work
 *     item has returned. The rounds of a kernel thread have no mark of their own, only
 *     its sleep. Entries left by an interrupt are dropped at the next switch (context.c).
 */
#include <linux/sched.h>

#include "base/memory.h"
#include "belief.h"
#include "check/check.h"
#include "core/context.h"
#include "core/lockword.h"
#include "identity/alloc.h"
#include "identity/identity.h"

/*
 * "Since" is decided by a counter of semaphore acquisitions (orphans.h): the entry has its
 * value at the acquisition, the orphan its value at the release. The context has a hash of the
 * user-mode registers saved when it acquired its last semaphore: different registers mean that
 * the task was in user mode meanwhile, for all semaphores in its entries.
 */
#define ORPHAN_SLOTS 13
#define TAKER_SLOTS 12
#define INSTANCE_SLOTS 13
#define COMPLETER_SLOTS 13
#define MAKER_SLOTS 10

void ls_add_orphan(u64 lock)
{
	if (ls_orphans_add(&ls.orphans, lock))
		ls_lose(LS_LOSS_ADDRESSES);
}

/* The current task for ls.takers; 0 in an interrupt, which never owns a semaphore. */
static u32 taker(u32 level)
{
	return level == LS_TASK ? (u32)current->pid % LS_ADDR_ID_MASK + 1 : 0;
}

/* Drop entry @i of @ctx, a semaphore: another context will release it. */
static void drop(struct ls_ctx *ctx, u32 i)
{
	ls_fetch_add(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK].unmatched_acquires, 1);
	ls_orphans_done(&ls.orphans, ctx->held[i].lock);
	ls_held_remove(ctx, i);
}

/* Drop entries of the current context, @ctx, that it no longer owns. Preemption off. */
void ls_drop_moved(struct ls_ctx *ctx, u32 level)
{
	bool asked = false, left = false;
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		const struct ls_held *h = &ctx->held[i];
		const struct ls_class *c = &ls.classes.table[h->val & LS_VAL_CLASS_MASK];

		/* Readers of an rwsem have no stamp. */
		if (c->kind == LS_KIND_RWSEM && ls_orphans_has(&ls.orphans, h->lock)) {
			ls_orphans_remove(&ls.orphans, h->lock);
			/* A writer's word has the owner; readers cannot be checked. */
			if ((h->val & LS_VAL_READ_MASK) || !ls_still_held(h))
				ls_held_remove(ctx, i);
		}
		if (c->kind != LS_KIND_SEMAPHORE)
			continue;
		if (!asked)
			left = ls_entry(level) != ctx->entry;
		asked = true;
		/* If it is held across system calls, the same task may still release it. */
		if (left && taker(level))
			ls_remember(&ls.takers, h->lock, taker(level));
		if (left || ls_load(&c->marks) & LS_CLASS_SIGNAL ||
		    ls_orphans_since(&ls.orphans, h->lock, h->stamp))
			drop(ctx, i);
	}
}

/*
 * The stack is full and no entry is known to have been handed over. Drop semaphores of a class
 * that is handed over sometimes, as when a thread locks and submits hundreds of buffers before
 * the first of them is written.
 */
void ls_make_room(struct ls_ctx *ctx, u32 level)
{
	u32 i;

	ls_drop_moved(ctx, level);
	for (i = ctx->depth; ctx->depth >= LS_MAX_DEPTH && i-- > 0;) {
		const struct ls_class *c = &ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK];

		if (c->kind != LS_KIND_SEMAPHORE || !ls_load(&c->handed))
			continue;
		if (taker(level))
			ls_remember(&ls.takers, ctx->held[i].lock, taker(level));
		drop(ctx, i);
	}
}

/*
 * The current context has finished its work: the semaphores that it still holds will be
 * released by another one or, with @user, by the same task after its return to the kernel.
 */
void ls_drop_semaphores(struct ls_ctx *ctx, bool user)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		if (ls_kind_of(ctx->held[i].val) != LS_KIND_SEMAPHORE)
			continue;
		if (user)
			ls_remember(&ls.takers, ctx->held[i].lock, taker(LS_TASK));
		drop(ctx, i);
	}
}

#define INSTANCE_TAKEN 1u	/* acquired */
#define INSTANCE_SEEN 2u	/* released */
#define INSTANCE_COUNTED 4u	/* released besides the first time without an acquisition */
#define INSTANCE_HANDED 8u	/* released by a context that had not acquired it */
#define INSTANCE_FLAGS 15u
#define INSTANCE_LIFE 4		/* shift of the life number */

/*
 * What is known of semaphore @lock in its present life, whose number goes to *@life. The
 * address alone does not identify an instance: memory is reused.
 */
static u32 instance_flags(u64 lock, u32 *life)
{
	u32 was = ls_addrmap_find(&ls.semaphores, lock);

	*life = ls_life(lock) << INSTANCE_LIFE & LS_ADDR_ID_MASK;
	return (was & ~INSTANCE_FLAGS) == *life ? was & INSTANCE_FLAGS : 0;
}

/* Do @flags of the semaphore at @lock belong to an earlier life? */
static bool instance_gone(ls_u64 lock, ls_u32 flags)
{
	return (ls_life_known(lock) << INSTANCE_LIFE & LS_ADDR_ID_MASK) != (flags & ~INSTANCE_FLAGS);
}

static void set_instance(u64 lock, u32 flags)
{
	if (ls_addrmap_add(&ls.semaphores, lock, flags))
		return;
	/*
	 * There is no hook on the free of a semaphore's memory: entries are cleaned when room
	 * is needed.
	 */
	ls_addrmap_clean(&ls.semaphores, lock, instance_gone);
	ls_remember(&ls.semaphores, lock, flags);
}

static void instance_taken(u64 lock)
{
	u32 life, was = instance_flags(lock, &life);

	if (!(was & INSTANCE_TAKEN))
		set_instance(lock, life | was | INSTANCE_TAKEN);
}

/*
 * Semaphore @lock of class @id is acquired. If it has an entry already, the context shares it
 * or waits for events: one entry is enough. A signal gets no entry, but its last taker is
 * recorded, so that the belief can change. *@stamp is for the entry. False when there is to be
 * none.
 */
bool ls_semaphore_taken(struct ls_ctx *ctx, u64 lock, u32 id, u32 level, u32 *stamp)
{
	struct ls_class *c = &ls.classes.table[id];
	u32 me = taker(level);
	int i;

	ls_fetch_add(&c->acquires, 1);
	ls_drop_moved(ctx, level);
	i = ls_held_find(ctx, lock);
	if (i >= 0)
		ls_held_remove(ctx, i);
	if (i >= 0 || (me && ls_addrmap_find(&ls.takers, lock) == me))
		ls_fetch_add(&c->unmatched_acquires, 1);
	/* With more releases than that, the totals of the class are enough. */
	if (ls_load(&c->releases) < LS_BELIEF_EXACT)
		instance_taken(lock);
	if (ls_load(&c->marks) & LS_CLASS_SIGNAL) {
		if (me)
			ls_remember(&ls.takers, lock, me);
		return false;
	}
	ls_addrmap_remove(&ls.takers, lock);
	ctx->entry = ls_entry(level);
	*stamp = ls_orphans_tick(&ls.orphans);
	return true;
}

/*
 * Semaphore @lock is released, @own: by the context that acquired it. The first release of one
 * that was never acquired shows nothing: many semaphores are initialised closed and opened
 * afterwards. True when the belief about the class changes.
 */
static bool count_instance(struct ls_class *c, u64 lock, bool own)
{
	u32 life, was = instance_flags(lock, &life), now = was | INSTANCE_SEEN;

	if (own || was)
		now |= INSTANCE_COUNTED;
	if (!own && was)
		now |= INSTANCE_HANDED;
	if (was == now)
		return false;
	set_instance(lock, life | now);
	return ls_semaphore_instance(c, now & ~was & INSTANCE_COUNTED,
				     now & ~was & INSTANCE_HANDED);
}

/* True when no held-lock stack has an entry of it any more: it was dropped before. */
bool ls_semaphore_release(struct ls_cpu *pc, u64 lock, u64 ip)
{
	u32 level, id, last;
	struct ls_ctx *ctx = ls_context(pc, &level);
	struct ls_class *c;
	bool own, changed;

	/* An acquire that was lost may be the one that is released. */
	if (ctx->busy || ctx->lost)
		return false;
	/* May be its first use. */
	id = ls_class_at(ctx, lock, LS_KIND_SEMAPHORE, ip);
	if (!id)
		return false;
	c = &ls.classes.table[id];
	own = ls_held_find(ctx, lock) >= 0;
	last = ls_addrmap_remove(&ls.takers, lock);
	own |= last && last == taker(level);
	changed = ls_semaphore_released(c, own);
	changed |= count_instance(c, lock, own);
	if (changed) {
		ls_fetch_add(&ls.signal_changes, 1);
		ls_wake_worker();
	}
	return last;
}

static const struct {
	struct ls_addrmap *map;
	u32 bits;
	bool spread;
} maps[] = {
	{ &ls.takers, TAKER_SLOTS },
	{ &ls.semaphores, INSTANCE_SLOTS },
	/* One for each device: complete_all() leaves its power.completion open. */
	{ &ls.completers, COMPLETER_SLOTS, true },
	{ &ls.makers, MAKER_SLOTS },
};

int ls_semaphores_init(void)
{
	void *orphans = ls_zalloc(ls_orphans_bytes(ORPHAN_SLOTS));
	u32 i;

	if (!orphans)
		return -ENOMEM;
	ls_orphans_init(&ls.orphans, orphans, ORPHAN_SLOTS);
	for (i = 0; i < ARRAY_SIZE(maps); i++) {
		void *slots = ls_zalloc(ls_addrmap_bytes(maps[i].bits));

		if (!slots)
			return -ENOMEM;
		if (maps[i].spread)
			ls_addrmap_init_spread(maps[i].map, slots, maps[i].bits);
		else
			ls_addrmap_init(maps[i].map, slots, maps[i].bits);
	}
	return 0;
}

void ls_semaphores_exit(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(maps); i++)
		ls_free(maps[i].map->slots);
	ls_free(ls.orphans.table);
}
