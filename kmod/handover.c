// SPDX-License-Identifier: GPL-2.0
/* Who has waited for whom. Tables with two places for each key: the older one falls out. */
#include <linux/kernel.h>

#include "access.h"
#include "handover.h"
#include "unsharing.h"

#define ORDER_BITS 14
#define OBJECT_BITS 13

/*
 * What goes from context to context as one: a slab object. Of other heap memory, words
 * that were accessed under locks: the elements of an array have no known ends, but the
 * link by which one is queued and passed on is near to what else it has.
 */
static struct ls_object objects[1 << OBJECT_BITS];
#define NEAR 192			/* bytes */

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

static struct ls_object *object_at(u64 start)
{
	return &objects[ls_mix(start) >> (64 - OBJECT_BITS)];
}

/*
 * The last access was to a word that may be such a link, and under locks that this one
 * does not have: what comes now is stamped higher. Otherwise a write to an element after
 * it was put back into its list would pass for one before.
 */
static void leave(const struct ls_now *n)
{
	u64 now = (u64)n->context << 16 | n->lockset, before = this_cpu_read(ls_access_cpus.link_locked);

	if (before && before != now)
		tick();
	this_cpu_write(ls_access_cpus.link_locked, n->start || !n->lockset ? 0 : now);
}

/* Follow the object's way from context to context. */
void ls_handover_follow(struct ls_now *n)
{
	n->object = NULL;
	if (!n->start && n->addr >= __START_KERNEL_map)
		return;
	leave(n);
	n->unit = n->start ?: round_down(n->addr, 8);
	if (!n->start && !n->lockset && ls_load(&object_at(n->unit)->start) != n->unit)
		return;
	n->object = object_at(n->unit);
	ls_object_follow(n->object, n->unit, n->context, n->lockset, &ls_acc->sets, &ls_acc->sync);
}

bool ls_handover_same(struct ls_object *o, u64 unit, u64 last)
{
	if (o->start != unit || ls_load(&o->last) >> 16 != last >> 16)
		return false;
	ls_store(&o->last, last);
	return true;
}

static bool word_passed(u64 word, u32 from, u32 to, u32 stamp)
{
	return ls_object_passed(object_at(word), word, from, to, stamp);
}

bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp)
{
	const struct ls_now *n = cookie;
	u32 distance;

	if (order_known(from, to, stamp))
		return true;
	if (n->start)
		return ls_object_passed(object_at(n->start), n->start, from, to, stamp);
	if (n->addr >= __START_KERNEL_map)
		return false;
	for (distance = 0; distance <= NEAR; distance += 8)
		if (word_passed(n->unit - distance, from, to, stamp) ||
		    word_passed(n->unit + distance, from, to, stamp))
			return true;
	return false;
}

/* The object at @start begins another life. */
void ls_handover_forget(u64 start)
{
	struct ls_object *o = object_at(start);

	if (o->start == start)
		o->start = 0;
}

void ls_handover_clear(void)
{
	memset(releases, 0, sizeof(releases));
	memset(joins, 0, sizeof(joins));
	memset(objects, 0, sizeof(objects));
}
