// SPDX-License-Identifier: GPL-2.0
/* Ranges of per-CPU memory, see ranges.h. */
#include "ranges.h"

#define CLAIMED 1
#define CLAIM_TRIES 256

/* Copy range @id to @out if it covers @at now. */
static bool covers(const struct ls_ranges *t, ls_u32 id, ls_u64 at, struct ls_range *out)
{
	const struct ls_range *r = &t->ranges[id];

	out->start = ls_load_acquire(&r->start);
	if (out->start <= CLAIMED || at < out->start)
		return false;
	out->end = ls_load(&r->end);
	out->site = ls_load(&r->site);
	out->name = ls_load(&r->name);
	/* Unchanged while it was being read? */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return at < out->end && ls_load(&r->start) == out->start;
}

ls_u32 ls_ranges_find(const struct ls_ranges *t, ls_u64 at, struct ls_range *out)
{
	ls_u64 region = ls_range_region(at);
	ls_u32 level, next;

	if (!(ls_load(&t->regions[region / 64]) >> (region % 64) & 1))
		return 0;
	for (level = 0; level < LS_RANGE_LEVELS; level++) {
		for (next = 0; next < 2; next++) {
			ls_u64 grain = at + next * ls_range_grain(level);
			ls_u32 id = ls_addrmap_find(&t->grains, ls_range_key(grain, level));

			if (id && covers(t, id, at, out))
				return id;
		}
	}
	return 0;
}

/* Remove grains whose first byte @r covers, if they belong to @id. */
static void forget_grains(struct ls_ranges *t, const struct ls_range *r, ls_u32 id)
{
	ls_u32 level = ls_range_level(r);
	ls_u64 step = ls_range_grain(level);
	ls_u64 at = (r->start + step - 1) / step * step;

	for (; at < r->end; at += step) {
		ls_u64 key = ls_range_key(at, level);

		/* An overlapping newer range owns it by now. */
		if (ls_addrmap_find(&t->grains, key) == id)
			ls_addrmap_remove(&t->grains, key);
	}
}

static bool file_grains(struct ls_ranges *t, const struct ls_range *r, ls_u32 id)
{
	ls_u32 level = ls_range_level(r);
	ls_u64 step = ls_range_grain(level);
	ls_u64 at = (r->start + step - 1) / step * step;

	for (; at < r->end; at += step)
		if (!ls_addrmap_add(&t->grains, ls_range_key(at, level), id))
			return false;
	return true;
}

/* Claim a free range; 0 when none is near. */
static ls_u32 claim(struct ls_ranges *t)
{
	ls_u32 tries;

	for (tries = 0; tries < CLAIM_TRIES; tries++) {
		ls_u32 id = ls_fetch_add(&t->next, 1) % t->max;
		ls_u64 free = 0;

		if (id && !ls_load(&t->ranges[id].start) &&
		    ls_cmpxchg(&t->ranges[id].start, &free, CLAIMED))
			return id;
	}
	return 0;
}

bool ls_ranges_add(struct ls_ranges *t, const struct ls_range *range)
{
	struct ls_range r = *range, old;
	ls_u64 region;
	ls_u32 id;

	/* The end of the old one was missed. */
	if (ls_ranges_find(t, r.start, &old))
		ls_ranges_remove(t, old.start);
	id = claim(t);
	if (!id)
		return false;
	/* The allocator's granularity. */
	if (r.end - r.start < ls_range_grain(0))
		r.end = r.start + ls_range_grain(0);
	ls_store(&t->ranges[id].end, r.end);
	ls_store(&t->ranges[id].site, r.site);
	ls_store(&t->ranges[id].name, r.name);
	if (!file_grains(t, &r, id)) {
		forget_grains(t, &r, id);
		ls_store_release(&t->ranges[id].start, 0);
		return false;
	}
	for (region = r.start >> LS_RANGE_REGION_SHIFT; region <= (r.end - 1) >> LS_RANGE_REGION_SHIFT; region++)
		ls_fetch_or(&t->regions[region % LS_RANGE_REGIONS / 64], 1ull << (region % 64));
	ls_store_release(&t->ranges[id].start, r.start);
	return true;
}

bool ls_ranges_remove(struct ls_ranges *t, ls_u64 start)
{
	struct ls_range r;
	ls_u32 id = ls_ranges_find(t, start, &r);
	ls_u64 was = start;

	if (!id || r.start != start || !ls_cmpxchg(&t->ranges[id].start, &was, CLAIMED))
		return false;
	forget_grains(t, &r, id);
	ls_store_release(&t->ranges[id].start, 0);
	return true;
}
