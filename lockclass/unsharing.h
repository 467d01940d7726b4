/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of one object from context to context [RELAY 4.3: unsharing]. Two contexts that
 * touch it one after the other under a lock which both hold hand it over, as through a
 * list: all that the first did with it up to its last access under the lock is done.
 * Hand-overs follow one another, so the context that had the object three hands ago is
 * done with it as well.
 *
 * Stamps are of a clock that the caller counts up; accesses between which it stood still
 * count as one. All functions: any context. Two CPUs that touch an object at once may
 * lose one of their hand-overs: then an order is not known.
 */
#ifndef LOCKSCOPE_UNSHARING_H
#define LOCKSCOPE_UNSHARING_H

#include "lockset.h"
#include "port.h"
#include "shadow.h"

#define LS_HANDS 4

struct ls_object {
	ls_u64 start;			/* address, 0: none */
	ls_u64 last;			/* context << 16 | lockset of the last access */
	ls_u32 stamp;			/* of it */
	ls_u32 nr;			/* of hand-overs so far; the newest is at (nr - 1) % LS_HANDS */
	ls_u64 hands[LS_HANDS];		/* from << 37 | to << 21 | first stamp not handed over, 0: none */
};

/*
 * Context @context touches the object at @start with the locks of @lockset. When that
 * hands it over, @clock is counted up: what comes now is stamped higher than what was.
 */
void ls_object_follow(struct ls_object *o, ls_u64 start, ls_u32 context, ls_u32 lockset,
		      struct ls_locksets *sets, ls_u32 *clock);

/*
 * The object at @start was last touched by the context of @last, context << 16 | lockset:
 * then it is now, with the locks of @last. Else false.
 */
bool ls_object_same(struct ls_object *o, ls_u64 start, ls_u64 last);

/* Did hand-overs of the object at @start bring it from @from, after @stamp, to @to? */
bool ls_object_passed(const struct ls_object *o, ls_u64 start, ls_u32 from, ls_u32 to, ls_u32 stamp);

#endif /* LOCKSCOPE_UNSHARING_H */
