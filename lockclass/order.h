/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Certain ordering of two contexts: one waits for the other. Locks do not count: that one
 * context came after the other once proves nothing for the next time. The order is not
 * transitive, for the same reason. But an object that is handed over under a lock is tracked,
 * see unsharing.h.
 *
 * Contexts are numbers of 16 bits, stamps those of shadow.h. Tables have two slots for each
 * key, and the older entry is evicted: then an order is not known. All functions but
 * ls_order_clear(): any context.
 */
#ifndef LOCKSCOPE_ORDER_H
#define LOCKSCOPE_ORDER_H

#include "port.h"
#include "unsharing.h"

#define LS_ORDER_BITS 14
#define LS_OBJECT_BITS 13

struct ls_order {
	ls_u64 releases[1 << LS_ORDER_BITS];	/* (what is waited for, index) -> stamp */
	ls_u16 releasers[1 << LS_ORDER_BITS];	/* context of that release */
	ls_u64 joins[1 << LS_ORDER_BITS];	/* (from, to) -> stamp of the release */
	/*
	 * Unit of a hand-over: a slab object. For other heap memory, words that were accessed
	 * under locks: the bounds of array elements are not known, but the link by which one
	 * is queued and handed over is near its other members.
	 */
	struct ls_object objects[1 << LS_OBJECT_BITS];
};

/* An access, for ordering it with others. */
struct ls_way {
	ls_u64 addr;
	ls_u64 start;			/* of the slab object accessed, 0: none */
	ls_u64 unit;			/* unit of a hand-over; ls_order_follow() fills it in */
	ls_u32 context, lockset;
	bool fixed;			/* static memory, which is not handed over */
};

/* Context @context completes @what, on which others may wait. @clock: that of stamps. */
void ls_order_completed(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock);

/* Context @context has waited for @what. */
void ls_order_waited(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock);

/*
 * Track the accessed object from context to context. NULL: it is not tracked. @left: of this
 * CPU, the context and lockset of the last access to a word that may be a link, 0: none.
 */
struct ls_object *ls_order_follow(struct ls_order *o, struct ls_way *w, struct ls_locksets *sets,
				  ls_u32 *clock, ls_u64 *left);

/* Is everything that context @from did up to @stamp ordered before the access @w? */
bool ls_order_known(const struct ls_order *o, const struct ls_way *w, ls_u32 from, ls_u32 stamp);

/* The object at @start begins a new life. */
void ls_order_forget(struct ls_order *o, ls_u64 start);

/* Remove everything. Only while nothing is tracked. */
void ls_order_clear(struct ls_order *o);

#endif /* LOCKSCOPE_ORDER_H */
