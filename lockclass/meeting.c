// SPDX-License-Identifier: GPL-2.0
#include "meeting.h"

#define SHARED 1ull	/* locks are aligned: the bit is free */

/* Is one instance held on both sides, and exclusively on one of them at least? */
static bool gated(const struct ls_meeting_side *a, const struct ls_meeting_side *b)
{
	ls_u32 i, k;

	for (i = 0; i < a->nr_gates; i++)
		for (k = 0; k < b->nr_gates; k++)
			if (!((a->gates[i] ^ b->gates[k]) & ~SHARED) &&
			    !(a->gates[i] & b->gates[k] & SHARED))
				return true;
	return false;
}

/* Can a deadlock lead from the lock that @a waits for to what @b holds? */
static bool follows(const struct ls_meeting_side *a, const struct ls_meeting_side *b)
{
	/* A recursive reader does not wait for a reader. */
	return a->to && a->to == b->from &&
	       !(a->kind & (LS_DEP_ER | LS_DEP_SR) && b->kind & (LS_DEP_SR | LS_DEP_SN));
}

/* Does observation chosen[e] of edge @e match those chosen before it? */
static bool fits(const struct ls_meeting *m, const ls_u32 *chosen, ls_u32 e)
{
	const struct ls_meeting_side *side = &m->sides[e][chosen[e]];
	ls_u32 i;

	if (e && !follows(&m->sides[e - 1][chosen[e - 1]], side))
		return false;
	if (e + 1 == m->nr_edges && !follows(side, &m->sides[0][chosen[0]]))
		return false;
	for (i = 0; i < e; i++)
		if (gated(&m->sides[i][chosen[i]], side))
			return false;
	return true;
}

enum ls_meeting_result ls_meeting_find(const struct ls_meeting *m, ls_u32 *chosen)
{
	ls_u32 e = 0, steps = 0;

	if (!m->nr_edges || m->nr_edges > LS_MEETING_EDGES)
		return LS_MEETING_NONE;
	/* Depth first; chosen[e] is the next one to try of edge e. */
	chosen[0] = 0;
	for (;;) {
		if (chosen[e] == m->nr[e]) {
			if (!e)
				return LS_MEETING_NONE;
			chosen[--e]++;
			continue;
		}
		if (++steps > LS_MEETING_STEPS)
			return LS_MEETING_GIVEN_UP;
		if (!fits(m, chosen, e)) {
			chosen[e]++;
			continue;
		}
		if (e + 1 == m->nr_edges)
			return LS_MEETING_FOUND;
		chosen[++e] = 0;
	}
}
