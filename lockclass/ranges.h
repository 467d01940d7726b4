/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges: the allocation around an offset of per-CPU memory. There are tens of thousands of
 * them, and short-lived ones (a per-CPU map of eBPF has one for each of its elements), and
 * they are looked up whenever a watched access or a new lock may lie in such memory.
 *
 * A range of @size bytes is stored in the level with the largest grains that are not larger
 * than it, under each grain whose first byte it covers. Ranges do not overlap, so a grain has
 * one owner; and a range that covers a byte inside of a grain covers the grain's first byte
 * or, being no shorter than a grain, the next one's. Any context; a look-up concurrent with a
 * removal finds the range or nothing.
 */
#ifndef LOCKSCOPE_RANGES_H
#define LOCKSCOPE_RANGES_H

#include "addrmap.h"

#define LS_RANGE_LEVELS 5
#define LS_RANGE_REGION_SHIFT 18	/* unit of the filter */
#define LS_RANGE_REGIONS 4096

struct ls_range {
	ls_u64 start, end;	/* start: 0 free, 1 claimed */
	ls_u64 site;		/* allocation site, 0: not known */
	const char *name;	/* or its description, a string that stays valid */
};

struct ls_ranges {
	struct ls_addrmap grains;
	struct ls_range *ranges;	/* [0] is not used */
	ls_u32 max;
	ls_u32 next;			/* start of the search for a free one */
	ls_u64 regions[LS_RANGE_REGIONS / 64];	/* filter: there were ranges */
};

/* Grains of @level in bytes: 4, 32, 256, 2048, 16384. */
LS_INLINE ls_u64 ls_range_grain(ls_u32 level)
{
	return 4ull << (3 * level);
}

LS_INLINE ls_u64 ls_range_key(ls_u64 at, ls_u32 level)
{
	return (at / ls_range_grain(level) << 3 | level) << 3;
}

LS_INLINE ls_u32 ls_range_level(const struct ls_range *r)
{
	ls_u32 level = 0;

	while (level + 1 < LS_RANGE_LEVELS && ls_range_grain(level + 1) <= r->end - r->start)
		level++;
	return level;
}

LS_INLINE ls_u64 ls_range_region(ls_u64 at)
{
	return at >> LS_RANGE_REGION_SHIFT & (LS_RANGE_REGIONS - 1);
}

/* @ranges: @max of them, zeroed. @grains: zeroed memory of ls_addrmap_bytes(@bits). */
LS_INLINE void ls_ranges_init(struct ls_ranges *t, struct ls_range *ranges, ls_u32 max,
			      void *grains, ls_u32 bits)
{
	ls_u32 i;

	ls_addrmap_init(&t->grains, grains, bits);
	t->ranges = ranges;
	t->max = max;
	t->next = 0;
	for (i = 0; i < LS_RANGE_REGIONS / 64; i++)
		t->regions[i] = 0;
}

/* Id of the range around @at with a copy of it in @out, 0 when there is none. */
ls_u32 ls_ranges_find(const struct ls_ranges *t, ls_u64 at, struct ls_range *out);

/* False when there is no room. Replaces a range that covers its start, >= 4. */
bool ls_ranges_add(struct ls_ranges *t, const struct ls_range *range);

/* Remove the range that begins at @start. False when there is none. */
bool ls_ranges_remove(struct ls_ranges *t, ls_u64 start);

#endif /* LOCKSCOPE_RANGES_H */
