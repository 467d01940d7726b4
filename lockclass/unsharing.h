/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-overs of one object from context to context [RELAY 4.3: unsharing]. When two contexts
 * access it one after the other under a common lock, it is handed over, as through a list: all
 * accesses of the first up to its last one under the lock are ordered before. Hand-overs are
 * transitive, so the accesses of earlier owners are ordered as well.
 *
 * Stamps are from a clock that the caller advances; accesses with the same stamp count as one.
 * All functions: any context. Two CPUs that access an object at once may lose one of their
 * hand-overs: then an order is not known.
 */
#ifndef LOCKSCOPE_UNSHARING_H
#define LOCKSCOPE_UNSHARING_H

#include "lockset.h"
#include "port.h"
#include "shadow.h"

#define LS_HANDS 5	/* an object is a cache line */

struct ls_object {
	ls_u64 start;			/* address, 0: none */
	ls_u64 last;			/* context << 16 | lockset of the last access */
	ls_u32 stamp;			/* of the last access */
	ls_u32 nr;			/* hand-overs; the newest is at (nr - 1) % LS_HANDS */
	ls_u64 hands[LS_HANDS];		/* from << 37 | to << 21 | first stamp not handed over, 0: none */
};

/*
 * Context @context accesses the object at @start with the locks of @lockset. When that is a
 * hand-over, @clock is advanced: later accesses get a higher stamp than earlier ones.
 */
void ls_object_follow(struct ls_object *o, ls_u64 start, ls_u32 context, ls_u32 lockset,
		      struct ls_locksets *sets, ls_u32 *clock);

/*
 * If the last access to the object at @start was by the context of @last, context << 16 |
 * lockset, update its lockset to that of @last. Else false.
 */
bool ls_object_same(struct ls_object *o, ls_u64 start, ls_u64 last);

/* Did hand-overs bring the object at @start from @from, after @stamp, to @to? */
bool ls_object_passed(const struct ls_object *o, ls_u64 start, ls_u32 from, ls_u32 to, ls_u32 stamp);

#endif /* LOCKSCOPE_UNSHARING_H */
