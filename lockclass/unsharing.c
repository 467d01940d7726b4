// SPDX-License-Identifier: GPL-2.0
#include "unsharing.h"

#define HAND_FROM(hand) ((ls_u32)((hand) >> 37) & 0xffff)
#define HAND_TO(hand) ((ls_u32)((hand) >> 21) & 0xffff)
#define HAND_STAMP(hand) ((ls_u32)(hand) & LS_STAMP_MASK)

static void touched(struct ls_object *o, ls_u64 now, const ls_u32 *clock)
{
	ls_store(&o->last, now);
	ls_store(&o->stamp, ls_load(clock));
}

void ls_object_follow(struct ls_object *o, ls_u64 start, ls_u32 context, ls_u32 lockset,
		      struct ls_locksets *sets, ls_u32 *clock)
{
	ls_u64 now = (ls_u64)context << 16 | lockset, before;
	ls_u32 i;

	if (ls_load(&o->start) != start) {
		for (i = 0; i < LS_HANDS; i++)
			ls_store(&o->hands[i], 0);
		touched(o, now, clock);
		ls_store(&o->start, start);
		return;
	}
	before = ls_load(&o->last);
	if (before >> 16 != context && lockset && before & 0xffff &&
	    ls_lockset_meet(sets, before & 0xffff, lockset).apart) {
		ls_u64 hand = before >> 16 << 37 | (ls_u64)context << 21 |
			      ((ls_load(&o->stamp) + 1) & LS_STAMP_MASK);

		ls_fetch_add(clock, 1);
		ls_store(&o->hands[ls_fetch_add(&o->nr, 1) % LS_HANDS], hand);
	}
	touched(o, now, clock);
}

bool ls_object_same(struct ls_object *o, ls_u64 start, ls_u64 last)
{
	if (ls_load(&o->start) != start || ls_load(&o->last) >> 16 != last >> 16)
		return false;
	ls_store(&o->last, last);
	return true;
}

bool ls_object_passed(const struct ls_object *o, ls_u64 start, ls_u32 from, ls_u32 to, ls_u32 stamp)
{
	ls_u32 later[LS_HANDS + 1] = { to }, found = 1, nr, i, k;

	if (ls_load(&o->start) != start)
		return false;
	nr = ls_load(&o->nr);
	/*
	 * Newest first: contexts whose accesses before a hand-over are ordered before those of
	 * @to.
	 */
	for (i = 1; i <= LS_HANDS && i <= nr; i++) {
		ls_u64 hand = ls_load(&o->hands[(nr - i) % LS_HANDS]);

		for (k = 0; hand && k < found && later[k] != HAND_TO(hand);)
			k++;
		if (!hand || k == found)
			continue;
		if (HAND_FROM(hand) == from && ls_stamp_before(stamp, HAND_STAMP(hand)))
			return true;
		later[found++] = HAND_FROM(hand);
	}
	return false;
}
