/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What orders two contexts for certain: one waits for the other. Locks are not
 * among it: that one came after the other once says nothing of the next time. The order
 * is not transitive, for the same reason. But an object that goes from context to context
 * under a lock is followed, see unsharing.h.
 *
 * Contexts are numbers of 16 bits, stamps those of shadow.h. Tables have two places for
 * each key, and the older one falls out: then an order is not known. All functions but
 * ls_order_clear(): any context.
 */
#ifndef LOCKSCOPE_ORDER_H
#define LOCKSCOPE_ORDER_H

#include "port.h"
#include "unsharing.h"

#define LS_ORDER_BITS 14
#define LS_OBJECT_BITS 13

struct ls_order {
	ls_u64 releases[1 << LS_ORDER_BITS];	/* what is waited for, one of its places -> stamp */
	ls_u16 releasers[1 << LS_ORDER_BITS];	/* and which context released it */
	ls_u64 joins[1 << LS_ORDER_BITS];	/* (from, to) -> stamp of the release */
	/*
	 * What goes from context to context as one: a slab object. Of other heap memory, words
	 * that were accessed under locks: the elements of an array have no known ends, but the
	 * link by which one is queued and passed on is near to what else it has.
	 */
	struct ls_object objects[1 << LS_OBJECT_BITS];
};

/* An access, as far as its order with others goes. */
struct ls_way {
	ls_u64 addr;
	ls_u64 start;			/* of the slab object accessed, 0: none */
	ls_u64 unit;			/* what goes as one; ls_order_follow() fills it in */
	ls_u32 context, lockset;
	bool fixed;			/* static memory, which nothing passes on */
};

/* Context @context lets others go on that wait for @what. @clock: that of stamps. */
void ls_order_completed(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock);

/* Context @context has waited for @what. */
void ls_order_waited(struct ls_order *o, ls_u64 what, ls_u32 context, ls_u32 *clock);

/*
 * Follow the object that is accessed from context to context. NULL: nothing goes its way
 * there. @left: of this CPU, the context and lockset of the last access to a word that may
 * be a link, 0: none.
 */
struct ls_object *ls_order_follow(struct ls_order *o, struct ls_way *w, struct ls_locksets *sets,
				  ls_u32 *clock, ls_u64 *left);

/* Is all that context @from did up to @stamp before what @w->context does there now? */
bool ls_order_known(const struct ls_order *o, const struct ls_way *w, ls_u32 from, ls_u32 stamp);

/* The object at @start begins another life. */
void ls_order_forget(struct ls_order *o, ls_u64 start);

/* Forget all. Only while nothing is followed. */
void ls_order_clear(struct ls_order *o);

#endif /* LOCKSCOPE_ORDER_H */
