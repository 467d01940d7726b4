// SPDX-License-Identifier: GPL-2.0
/*
 * What was passed, as far as it speaks against a cycle (lockclass/passed.h): one observation
 * claims that a lock was acquired under a gate, another one that it was passed under that gate.
 * One without the claim is needed then, so the acquisitions of the classes on both sides are all
 * compared from now on. Worker only, ls_work_mutex held.
 */
#include <linux/jiffies.h>
#include <linux/string.h>

#include "core/state.h"
#include "out/evidence.h"
#include "out/out.h"
#include "passed.h"

#define RESCAN_INTERVAL HZ

static struct ls_claims claims;
static u32 taken;		/* claims.met when observations were taken again */

/* True: it was not marked. */
static bool mark(u32 id)
{
	u16 *marks = &ls.classes.table[id].marks;

	if (ls_load(marks) & LS_CLASS_PASSED)
		return false;
	ls_fetch_or(marks, (u16)LS_CLASS_PASSED);
	return true;
}

/*
 * @s shows a dependency of a cycle on each entry of @of, a mask. Are there classes whose
 * acquisitions are to be compared now?
 */
bool ls_claims_take(const struct ls_rec_sight *s, const struct ls_held_rec *held, u64 of)
{
	bool meet = false, more = false;
	u32 i;

	for (i = 0; i < s->nr_held; i++)
		meet |= ls_claims_add(&claims, held[i].passed);
	for (i = 0; i < LS_PAST_MORE; i++)
		meet |= ls_claims_add(&claims, ls_past_more(s->extra, i));
	if (!meet)
		return false;
	for (i = 0; i < s->nr_held; i++)
		if (of & (1ull << i))
			more |= mark(ls_worker_class(held[i].val));
	return mark(ls_worker_class(s->val)) || more;
}

/* Do earlier observations have to be taken again? Once an interval at most, but @now. */
bool ls_claims_again(bool now)
{
	static unsigned long last;

	if (claims.met == taken || (!now && time_before(jiffies, last + RESCAN_INTERVAL)))
		return false;
	last = jiffies;
	taken = claims.met;
	return true;
}

void ls_claims_forget(void)
{
	memset(&claims, 0, sizeof(claims));
	taken = 0;
}
