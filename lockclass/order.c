// SPDX-License-Identifier: GPL-2.0
#include "order.h"

#define NEAR 192			/* bytes */

/*
 * A timer moves between CPUs, and work items between workers: all of these contexts are
 * ordered before the waiter.
 */
#define RELEASERS 4

/* Slots of releases and joins: tag << 21 | stamp. */
static ls_u64 tag_of(ls_u64 key)
{
	return key << LS_ORDER_BITS & ~(ls_u64)LS_STAMP_MASK;
}

/* Slot of @key in @table, -1: none. */
static int find(const ls_u64 *table, ls_u64 key)
{
	ls_u32 i = key >> (64 - LS_ORDER_BITS), way;

	for (way = 0; way < 2; way++) {
		ls_u64 slot = ls_load_acquire(&table[i ^ way]);

		if (slot && tag_of(key) == (slot & ~(ls_u64)LS_STAMP_MASK))
			return i ^ way;
	}
	return -1;
}

/* Slot for a new entry. */
static ls_u32 place(const ls_u64 *table, ls_u64 key)
{
	int found = find(table, key);
	ls_u32 i = key >> (64 - LS_ORDER_BITS);
	ls_u64 one, other;

	if (found >= 0)
		return found;
	one = ls_load(&table[i]);
	other = ls_load(&table[i ^ 1]);
	return one && (!other || ls_stamp_before(other & LS_STAMP_MASK, one & LS_STAMP_MASK)) ? i ^ 1 : i;
}

/* A new stamp: everything before has a lower one. */
static ls_u32 tick(ls_u32 *clock)
{
	return (ls_fetch_add(clock, 1) + 1) & LS_STAMP_MASK;
}

static ls_u32 age(ls_u64 slot, const ls_u32 *clock)
{
	return (ls_load(clock) - slot) & LS_STAMP_MASK;
}

static ls_u64 release_key(ls_u64 what, ls_u32 i)
{
	return ls_mix(ls_mix(what) + i % RELEASERS);
}

/* The release slot of @context for @what: its own, a free one, or the one that it replaces. */
static ls_u64 own_release(const struct ls_order *o, ls_u64 what, ls_u32 context)
{
	ls_u32 i;

	/* Start at the context's low bits: PIDs and CPU numbers are consecutive. */
	for (i = context; i < context + RELEASERS; i++) {
		ls_u64 key = release_key(what, i);
		int at = find(o->releases, key);

		if (at < 0 || ls_load(&o->releasers[at]) == context)
			return key;
	}
	return release_key(what, context);
}

static ls_u64 pair_key(ls_u32 from, ls_u32 to)
{
	return ls_mix((ls_u64)from << 16 | to);
}

void ls_order_completed(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock)
{
	ls_u64 key = own_release(o, what, context);
	ls_u32 i = place(o->releases, key);

	ls_store(&o->releasers[i], (ls_u16)context);
	ls_store_release(&o->releases[i], tag_of(key) | tick(clock));
}

static void waited_for(struct ls_order *o, ls_u64 key, ls_u32 context, const ls_u32 *clock)
{
	ls_u64 slot, pair, known;
	int i = find(o->releases, key);
	ls_u32 at;

	if (i < 0)
		return;
	pair = pair_key(ls_load(&o->releasers[i]), context);
	slot = ls_load_acquire(&o->releases[i]);
	/* Replaced meanwhile? */
	if ((slot & ~(ls_u64)LS_STAMP_MASK) != tag_of(key))
		return;
	slot &= LS_STAMP_MASK;
	at = place(o->joins, pair);
	known = ls_load(&o->joins[at]);
	/* A later stamp covers more. */
	if (tag_of(pair) != (known & ~(ls_u64)LS_STAMP_MASK) || age(known, clock) > age(slot, clock))
		ls_store(&o->joins[at], tag_of(pair) | slot);
}

void ls_order_waited(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock)
{
	ls_u32 i;

	for (i = 0; i < RELEASERS; i++)
		waited_for(o, release_key(what, i), context, clock);
}

/* Has context @to waited for what @from did before @stamp? */
static bool joined(const struct ls_order *o, ls_u32 from, ls_u32 to, ls_u32 stamp)
{
	int i = find(o->joins, pair_key(from, to));

	return i >= 0 && ls_stamp_before(stamp, ls_load(&o->joins[i]) & LS_STAMP_MASK);
}

static ls_u32 object_at(ls_u64 start)
{
	return ls_mix(start) >> (64 - LS_OBJECT_BITS);
}

/*
 * The last access was to a word that may be a list link, and under locks that the present
 * access does not have: advance the clock. Otherwise a write to an element after it was put
 * back into its list would count as one before.
 */
static void leave(const struct ls_way *w, ls_u32 *clock, ls_u64 *left)
{
	ls_u64 now = (ls_u64)w->context << 16 | w->lockset;

	if (*left && *left != now)
		tick(clock);
	*left = w->start || !w->lockset ? 0 : now;
}

struct ls_object *ls_order_follow(struct ls_order *o, struct ls_way *w, struct ls_locksets *sets,
				  ls_u32 *clock, ls_u64 *left)
{
	struct ls_object *object;

	if (w->fixed)
		return NULL;
	leave(w, clock, left);
	w->unit = w->start ? w->start : w->addr & ~7ull;
	object = &o->objects[object_at(w->unit)];
	if (!w->start && !w->lockset && ls_load(&object->start) != w->unit)
		return NULL;
	ls_object_follow(object, w->unit, w->context, w->lockset, sets, clock);
	return object;
}

static bool passed(const struct ls_order *o, ls_u64 unit, ls_u32 from, ls_u32 to, ls_u32 stamp)
{
	return ls_object_passed(&o->objects[object_at(unit)], unit, from, to, stamp);
}

bool ls_order_known(const struct ls_order *o, const struct ls_way *w, ls_u32 from, ls_u32 stamp)
{
	ls_u32 distance, to = w->context;

	if (joined(o, from, to, stamp))
		return true;
	if (w->fixed)
		return false;
	if (w->start)
		return passed(o, w->start, from, to, stamp);
	for (distance = 0; distance <= NEAR; distance += 8)
		if (passed(o, w->unit - distance, from, to, stamp) ||
		    passed(o, w->unit + distance, from, to, stamp))
			return true;
	return false;
}

void ls_order_forget(struct ls_order *o, ls_u64 start)
{
	struct ls_object *object = &o->objects[object_at(start)];

	if (ls_load(&object->start) == start)
		ls_store(&object->start, 0);
}

static void zero(void *memory, ls_size size)
{
	ls_u64 *word = memory;
	ls_size i;

	for (i = 0; i < size / sizeof(*word); i++)
		word[i] = 0;
}

void ls_order_clear(struct ls_order *o)
{
	zero(o, sizeof(*o));
}
