// SPDX-License-Identifier: GPL-2.0
#include "edges.h"

#define PROBES 256
#define SEEN_BITS 16
#define SEEN_MASK ((1u << SEEN_BITS) - 1)
#define NOT_FOUND (~0u)

void ls_edges_init(struct ls_edges *e, void *mem, ls_u32 bits, ls_u32 max)
{
	e->slots = mem;
	e->absent = (ls_u32 *)(e->slots + ((ls_size)1 << bits));
	e->pairs = (ls_u8 *)(e->absent + ((ls_size)1 << bits));
	e->shift = 64 - bits;
	e->mask = (1u << bits) - 1;
	e->max = max < e->mask ? max : e->mask;
	e->nr = 0;
}

void ls_edges_clear(struct ls_edges *e)
{
	ls_u32 i;

	for (i = 0; i <= e->mask; i++) {
		ls_store(&e->slots[i], 0);
		ls_store(&e->absent[i], 0);
		ls_store(&e->pairs[i], 0);
	}
	ls_store(&e->nr, 0);
}

LS_INLINE ls_u64 edge_key(ls_u32 prev, ls_u32 next)
{
	return (((ls_u64)(prev & LS_VAL_CLASS_MASK) << LS_VAL_CLASS_BITS) |
		(next & LS_VAL_CLASS_MASK)) << SEEN_BITS;
}

/* Bit kind * 4 + level. */
LS_INLINE ls_u32 seen_bit(ls_u32 prev, ls_u32 next)
{
	ls_u32 kind = (ls_u32)__builtin_ctz(ls_dep_kind(prev, next));
	ls_u32 level = (next & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;

	return 1u << (kind * 4 + level);
}

/* Slot of @key, or the first free one when @free is given, else NOT_FOUND. */
static ls_u32 find(const struct ls_edges *e, ls_u64 key, ls_u32 *free)
{
	ls_u32 place = (ls_u32)(ls_mix(key) >> e->shift), i;

	for (i = 0; i < PROBES && i <= e->mask; i++, place = (place + 1) & e->mask) {
		ls_u64 slot = ls_load_acquire(&e->slots[place]);

		if (!slot) {
			if (free)
				*free = place;
			return NOT_FOUND;
		}
		if ((slot & ~(ls_u64)SEEN_MASK) == key)
			return place;
	}
	if (free)
		*free = NOT_FOUND;
	return NOT_FOUND;
}

enum ls_edge_result ls_edges_peek(const struct ls_edges *e, ls_u32 prev, ls_u32 next, ls_u32 gates)
{
	ls_u32 place = find(e, edge_key(prev, next), (ls_u32 *)0);

	if (place == NOT_FOUND)
		return LS_EDGE_NEW;
	if (!(ls_load(&e->slots[place]) & seen_bit(prev, next)))
		return LS_EDGE_NEW;
	return ~(ls_load(&e->absent[place]) | gates) ? LS_EDGE_NEW : LS_EDGE_KNOWN;
}

enum ls_edge_result ls_edges_mark(struct ls_edges *e, ls_u32 prev, ls_u32 next, ls_u32 gates)
{
	ls_u64 key = edge_key(prev, next), slot;
	ls_u32 bit = seen_bit(prev, next), place, free;

	for (;;) {
		place = find(e, key, &free);
		if (place != NOT_FOUND)
			break;
		if (free == NOT_FOUND || ls_load(&e->nr) >= e->max)
			return LS_EDGE_FULL;
		slot = 0;
		if (ls_cmpxchg(&e->slots[free], &slot, key | bit)) {
			ls_fetch_or(&e->absent[free], ~gates);
			ls_fetch_add(&e->nr, 1);
			return LS_EDGE_NEW;
		}
	}
	slot = ls_fetch_or(&e->slots[place], bit);
	if (~(ls_fetch_or(&e->absent[place], ~gates) | gates))
		return LS_EDGE_NEW;
	return slot & bit ? LS_EDGE_KNOWN : LS_EDGE_NEW;
}

bool ls_edges_want_pair(const struct ls_edges *e, ls_u32 prev, ls_u32 next)
{
	ls_u32 place = find(e, edge_key(prev, next), (ls_u32 *)0);
	ls_u8 pairs;

	if (place == NOT_FOUND)
		return false;
	pairs = ls_load(&e->pairs[place]);
	return (pairs & ~LS_EDGE_WANTED) < (pairs & LS_EDGE_WANTED ? LS_EDGE_PAIRS_WANTED : LS_EDGE_PAIRS);
}

void ls_edges_count_pair(struct ls_edges *e, ls_u32 prev, ls_u32 next)
{
	ls_u32 place = find(e, edge_key(prev, next), (ls_u32 *)0);
	ls_u8 pairs;

	if (place == NOT_FOUND)
		return;
	pairs = ls_load(&e->pairs[place]);
	while ((pairs & ~LS_EDGE_WANTED) < LS_EDGE_PAIRS_WANTED &&
	       !ls_cmpxchg(&e->pairs[place], &pairs, (ls_u8)(pairs + 1)))
		;
}

bool ls_edges_is_wanted(const struct ls_edges *e, ls_u32 prev, ls_u32 next)
{
	ls_u32 place = find(e, edge_key(prev, next), (ls_u32 *)0);

	return place != NOT_FOUND && ls_load(&e->pairs[place]) & LS_EDGE_WANTED;
}

void ls_edges_wanted(struct ls_edges *e, ls_u32 prev, ls_u32 next)
{
	ls_u32 place = find(e, edge_key(prev, next), (ls_u32 *)0);

	if (place != NOT_FOUND)
		ls_fetch_or(&e->pairs[place], (ls_u8)LS_EDGE_WANTED);
}
