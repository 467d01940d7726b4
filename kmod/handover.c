// SPDX-License-Identifier: GPL-2.0
/* Who has waited for whom. Tables with two places for each key: the older one falls out. */
#include <linux/kernel.h>

#include "access.h"
#include "handover.h"

#define ORDER_BITS 14
#define OBJECT_BITS 12

/*
 * Slab objects: who touched them last, and from whom to whom they went. Passing
 * from one context to another under a lock that both hold hands an object over,
 * as through a list [RELAY 4.3: unsharing].
 */
static struct ls_object {
	u64 start;
	u64 last;			/* context << 16 | lockset */
	u64 hand;			/* from << 37 | to << 21 | stamp, 0 never */
} objects[1 << OBJECT_BITS];

/*
 * tag << 21 | stamp. A timer runs on one CPU now and on another later, and items of work
 * have several workers: all of them were done with it before whoever waits goes on.
 */
#define RELEASERS 4
static u64 releases[1 << ORDER_BITS];	/* what was waited for, one of its places -> stamp */
static u16 releasers[1 << ORDER_BITS];	/* and by whom it was let go */
static u64 joins[1 << ORDER_BITS];	/* (from, to) -> stamp */

static u64 tag_of(u64 key)
{
	return key << ORDER_BITS & ~(u64)LS_STAMP_MASK;
}

/* Where @table has @key, -1 when it has not. */
static int find(const u64 *table, u64 key)
{
	u32 i = key >> (64 - ORDER_BITS), way;

	for (way = 0; way < 2; way++) {
		u64 slot = ls_load_acquire(&table[i ^ way]);

		if (slot && tag_of(key) == (slot & ~(u64)LS_STAMP_MASK))
			return i ^ way;
	}
	return -1;
}

/* Where it goes. */
static u32 place(const u64 *table, u64 key)
{
	int found = find(table, key);
	u32 i = key >> (64 - ORDER_BITS);
	u64 one, other;

	if (found >= 0)
		return found;
	one = ls_load(&table[i]);
	other = ls_load(&table[i ^ 1]);
	return one && (!other || ls_stamp_before(other & LS_STAMP_MASK, one & LS_STAMP_MASK)) ? i ^ 1 : i;
}

/* A new stamp: everything before is stamped lower. */
static u32 tick(void)
{
	return (ls_fetch_add(&ls_acc->sync, 1) + 1) & LS_STAMP_MASK;
}

static u32 age(u64 slot)
{
	return (ls_load(&ls_acc->sync) - slot) & LS_STAMP_MASK;
}

static u32 me(void)
{
	u32 level;

	ls_context(this_cpu_ptr(&ls_cpus), &level);
	return ls_access_context(level);
}

/* Contexts share places by their low bits: pids and CPUs follow one another. */
static u64 release_key(u64 what, u32 who)
{
	return ls_mix(ls_mix(what) + who % RELEASERS);
}

void ls_completed(u64 what)
{
	u32 who = me();
	u64 key = release_key(what, who);
	u32 i = place(releases, key);

	ls_store(&releasers[i], (u16)who);
	ls_store_release(&releases[i], tag_of(key) | tick());
}

static void waited_for(u64 key)
{
	u64 slot, pair, known;
	int i = find(releases, key);
	u32 at;

	if (i < 0)
		return;
	pair = ls_mix((u64)ls_load(&releasers[i]) << 16 | me());
	slot = ls_load_acquire(&releases[i]);
	/* Another's by now? */
	if ((slot & ~(u64)LS_STAMP_MASK) != tag_of(key))
		return;
	slot &= LS_STAMP_MASK;
	at = place(joins, pair);
	known = ls_load(&joins[at]);
	/* What is known to be later says more. */
	if (tag_of(pair) != (known & ~(u64)LS_STAMP_MASK) || age(known) > age(slot))
		ls_store(&joins[at], tag_of(pair) | slot);
}

void ls_waited(u64 what)
{
	u32 i;

	for (i = 0; i < RELEASERS; i++)
		waited_for(release_key(what, i));
}

/* Is what @from did before @stamp before all that @to does now? */
static bool order_known(u32 from, u32 to, u32 stamp)
{
	int i = find(joins, ls_mix((u64)from << 16 | to));

	return i >= 0 && ls_stamp_before(stamp, ls_load(&joins[i]) & LS_STAMP_MASK);
}

/* Follow the object's way from context to context. */
void ls_handover_follow(struct ls_now *n)
{
	unsigned long start = n->start;
	u64 last = (u64)n->context << 16 | n->lockset, before;
	struct ls_object *o;

	n->object = NULL;
	if (!start)
		return;
	o = &objects[ls_mix(start) >> (64 - OBJECT_BITS)];
	n->object = o;
	if (o->start != start) {
		o->start = start;
		o->last = last;
		o->hand = 0;
		return;
	}
	before = ls_load(&o->last);
	if (before == last)
		return;
	if (before >> 16 != n->context && n->lockset && before & 0xffff &&
	    ls_lockset_meet(&ls_acc->sets, before & 0xffff, n->lockset).apart)
		ls_store(&o->hand, (before >> 16) << 37 | (u64)n->context << 21 | tick());
	ls_store(&o->last, last);
}

bool ls_handover_same(struct ls_object *o, u64 start, u64 last)
{
	if (o->start != start || ls_load(&o->last) >> 16 != last >> 16)
		return false;
	ls_store(&o->last, last);
	return true;
}

bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp)
{
	const struct ls_now *n = cookie;

	if (order_known(from, to, stamp))
		return true;
	if (n->object) {
		u64 hand = ls_load(&n->object->hand);

		return hand && hand >> 37 == from && (hand >> 21 & 0xffff) == to &&
		       ls_stamp_before(stamp, hand & LS_STAMP_MASK);
	}
	return false;
}

/* The object at @start begins another life. */
void ls_handover_forget(u64 start)
{
	struct ls_object *o = &objects[ls_mix(start) >> (64 - OBJECT_BITS)];

	if (o->start == start)
		o->start = 0;
}

void ls_handover_clear(void)
{
	memset(releases, 0, sizeof(releases));
	memset(joins, 0, sizeof(joins));
	memset(objects, 0, sizeof(objects));
}
