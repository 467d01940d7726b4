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

enum {
	CLAIM_UNDER = 1,
	CLAIM_PASSED = 2,
	CLAIM_BOTH = CLAIM_UNDER | CLAIM_PASSED,
};

static u8 claims[LS_PASSED_FACTS];	/* CLAIM_* of each fact */
static bool any_new;		/* a fact is claimed both ways, earlier observations may have it */

/* True: it is claimed both ways. */
static bool add(u16 fact, u8 claim)
{
	u8 *of = &claims[ls_passed_index(fact)], before = *of;

	if (!fact)
		return false;
	*of |= claim;
	any_new = any_new || (before != CLAIM_BOTH && *of == CLAIM_BOTH);
	return *of == CLAIM_BOTH;
}

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

	for (i = 0; i < s->nr_held; i++) {
		meet |= add((u16)held[i].passed, CLAIM_UNDER);
		meet |= add((u16)(held[i].passed >> 16), CLAIM_PASSED);
	}
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

	if (!any_new || (!now && time_before(jiffies, last + RESCAN_INTERVAL)))
		return false;
	last = jiffies;
	any_new = false;
	return true;
}

void ls_claims_forget(void)
{
	memset(claims, 0, sizeof(claims));
	any_new = false;
}
