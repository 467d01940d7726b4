// SPDX-License-Identifier: GPL-2.0
/*
 * A class acquired while it is held: the same instance again, or another one, and in which
 * order. Slow paths of hooks, in any context, with the constraints of acquire.c.
 */
#include <linux/kernel.h>

#include "check/events.h"
#include "check/instances.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/slab.h"

#define LS_PAIRS_REPORTED 64	/* pairs of one class searched for cycles, or for pointers */
#define LS_PAIRS_KEPT 256	/* pairs of one class whose first observation is logged */
#define LS_INVERSIONS_REPORTED 32	/* pairs of one class that were acquired in both orders */
#define LS_LOOK_BITS 11		/* log2 of the bytes of an object searched for pointers */

/* Tags of the locks held besides entry @i, gates of a pair; returns their number. */
static u32 pair_gates(u32 *tags, const struct ls_ctx *ctx, u32 i)
{
	u32 k, nr = 0;

	for (k = 0; k < ctx->depth; k++)
		if (k != i)
			tags[nr++] = ls_pair_tag(ctx->held[k].lock, ctx->held[k].val);
	return nr;
}

/* Does a word of the object at @from, @size bytes long, hold @address? */
static bool points_to(unsigned long from, u32 size, unsigned long address)
{
	u32 i;

	size = min(size, 1u << LS_LOOK_BITS);
	for (i = 0; i + sizeof(long) <= size; i += sizeof(long))
		if (READ_ONCE_NOCHECK(*(unsigned long *)(from + i)) == address)
			return true;
	return false;
}

/*
 * LS_RELATED_* of the objects of @outer and @inner, 0 when they are not both slab objects or
 * are the same one. Both are alive: one lock is held, the other about to be.
 */
static u32 related(u64 outer, u64 inner)
{
	struct kmem_cache *caches[2];
	unsigned long bases[2];
	u32 offset, out = LS_RELATED_LOOKED;

	if (!ls_slab_locate(outer, &caches[0], &bases[0], &offset) ||
	    !ls_slab_locate(inner, &caches[1], &bases[1], &offset) || bases[0] == bases[1])
		return 0;
	if (points_to(bases[1], ls_cache_object_size(caches[1]), bases[0]))
		out |= LS_RELATED_BACK;
	if (points_to(bases[0], ls_cache_object_size(caches[0]), bases[1]))
		out |= LS_RELATED_FORTH;
	return out;
}

/*
 * A pair not seen in this order. Only the first few pairs of a class and those that are
 * reported, @reported, are searched for pointers. Returns LS_RELATED_*.
 */
static u32 count_nesting(struct ls_class *c, u64 outer, u64 inner, bool reported)
{
	bool count = ls_load(&c->nested[LS_NEST_LOOKED]) < LS_PAIRS_REPORTED;
	u32 how;

	ls_fetch_add(&c->nested[inner > outer ? LS_NEST_ASCENDING : LS_NEST_DESCENDING], 1);
	how = reported || count ? related(outer, inner) : 0;
	if (!how || !count)
		return how;
	ls_fetch_add(&c->nested[LS_NEST_LOOKED], 1);
	if (how & LS_RELATED_BACK)
		ls_fetch_add(&c->nested[LS_NEST_BACK], 1);
	else if (how & LS_RELATED_FORTH)
		ls_fetch_add(&c->nested[LS_NEST_FORTH], 1);
	return how;
}

/*
 * The class is held already. The same instance again is a deadlock unless both are readers
 * that may certainly read at once; for two instances their order is compared.
 */
void ls_instances_look(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	u32 tags[LS_MAX_DEPTH] LS_UNSET;
	u32 i, gates, how;
	bool reported;

	/* Signals impose no order. */
	if (ls_load(&c->marks) & LS_CLASS_UNORDERED)
		return;
	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		bool both_read = (h->val & LS_VAL_READ_MASK) && (val & LS_VAL_READ_MASK);

		if (((h->val ^ val) & LS_VAL_CLASS_MASK) || !ls_orders(h->val, val))
			continue;
		if (h->lock == lock || ls_strict) {
			if (both_read && (val & LS_VAL_READ_MASK) == LS_RECURSIVE << LS_VAL_READ_SHIFT)
				continue;
			if (!(c->marks & LS_CLASS_SAME)) {
				added->flags |= h->lock == lock ? LS_EV_SAME : LS_EV_STRICT;
				added->mask |= 1ull << i;
			}
			continue;
		}
		gates = pair_gates(tags, ctx, i);
		switch (ls_pairs_see(&ls.pairs, h->lock, lock, ls_lives(h->lock, lock), tags, gates,
				     ls_dep_kind(h->val, val))) {
		case LS_PAIR_INVERTED:
			/* A hierarchy or an annotation may explain the first of them. */
			reported = ls_load(&c->inversions) < LS_INVERSIONS_REPORTED;
			how = count_nesting(c, h->lock, lock, reported);
			if (reported) {
				ls_fetch_add(&c->inversions, 1);
				added->inversions++;
				added->flags |= LS_EV_INVERSION;
				added->mask |= 1ull << i;
				added->related = how;
			}
			break;
		case LS_PAIR_NEW:
			reported = ls_load(&c->pairs) < LS_PAIRS_KEPT;
			how = count_nesting(c, h->lock, lock, reported);
			if (!reported)
				break;
			/*
			 * The worker searches longer cycles of instances; it gets the first
			 * few pairs.
			 */
			added->flags |= !gates && ls_load(&c->pairs) < LS_PAIRS_REPORTED ?
				       LS_EV_PAIR : LS_EV_NESTED;
			ls_fetch_add(&c->pairs, 1);
			added->pairs++;
			added->mask |= 1ull << i;
			added->related = how;
			break;
		case LS_PAIR_FEWER:
			if (ls_load(&c->pairs) >= LS_PAIRS_KEPT)
				break;
			ls_fetch_add(&c->pairs, 1);
			added->pairs++;
			added->flags |= LS_EV_NESTED;
			added->mask |= 1ull << i;
			added->related = related(h->lock, lock);
			break;
		default:
			break;
		}
	}
}

/* The ring was full: undo what ls_instances_look() recorded. */
void ls_instances_forget(const struct ls_ctx *ctx, u64 lock, u32 val, const struct ls_added *added)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	u32 i;

	if (!(added->flags & (LS_EV_INVERSION | LS_EV_PAIR | LS_EV_NESTED)))
		return;
	for (i = 0; i < ctx->depth; i++)
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK))
			ls_pairs_unsee(&ls.pairs, ctx->held[i].lock, lock,
				       ls_lives(ctx->held[i].lock, lock));
	if (added->pairs)
		ls_fetch_add(&c->pairs, -added->pairs);
	if (added->inversions)
		ls_fetch_add(&c->inversions, -added->inversions);
}

static bool is_static(u64 lock)
{
	return lock >= __START_KERNEL_map;
}

/* Can instances other than these show the dependency of @lock on @h? */
static bool has_instances(const struct ls_held *h, u64 lock, u32 val)
{
	return (h->val ^ val) & LS_VAL_CLASS_MASK && ls_orders(h->val, val) &&
	       !(is_static(h->lock) && is_static(lock));
}

/* A reader is weaker evidence than a writer: each kind of dependency has its own pairs. */
static u64 pair_key(u64 outer, u64 inner, u32 kind)
{
	return ls_mix(ls_mix(ls_mix(outer) + inner) + kind) | 1;
}

u64 ls_instances_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added)
{
	u64 inner = 0, mask = 0;
	u32 i;

	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];

		if (!has_instances(h, lock, val))
			continue;
		added->looks |= LS_LOOKS_NEW;
		if (!ls_edges_want_pair(&ls.edges, h->val, val))
			continue;
		if (!inner)
			inner = ls_lock_instance(lock);
		if (!ls_seen_has(&ls.seen, pair_key(ls_lock_instance(h->lock), inner,
						    ls_dep_kind(h->val, val))))
			mask |= 1ull << i;
	}
	return mask;
}

void ls_instances_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask)
{
	u64 inner = ls_lock_instance(lock);
	u32 i;

	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];

		if (!(mask & (1ull << i)) || !has_instances(h, lock, val))
			continue;
		ls_edges_count_pair(&ls.edges, h->val, val);
		ls_seen_add(&ls.seen, pair_key(ls_lock_instance(h->lock), inner,
					       ls_dep_kind(h->val, val)));
	}
}
