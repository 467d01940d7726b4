// SPDX-License-Identifier: GPL-2.0
/*
 * Gates of known chains. A chain consists of classes: when it recurs with another instance of
 * a gate it is known, but its dependencies may lose that gate. Slow paths of hooks, in any
 * context, with the constraints of acquire.c.
 *
 * Pairs of instances are compared while their chain is checked each time; dependencies whose
 * gates made the judge dismiss a cycle, at every acquisition of their chains (wanted.c).
 */
#include <linux/kernel.h>

#include "check/instances.h"
#include "core/state.h"
#include "identity/alloc.h"

/* Dependencies and pairs of instances share a table; one bit distinguishes them. */
#define OF_PAIR 1ull

/* Key of dependency @prev -> @next in ls.gates. */
u64 ls_gates_key(u32 prev, u32 next)
{
	return ls_mix((u64)(prev & LS_VAL_CLASS_MASK) << 32 | (next & LS_VAL_CLASS_MASK)) & ~OF_PAIR;
}

static u64 pair_key(const struct ls_held *h, u64 inner, u32 val)
{
	return ls_mix(ls_mix(ls_mix(ls_lock_instance(h->lock)) + inner) + ls_dep_kind(h->val, val)) |
	       OF_PAIR;
}

/* Tags of the held locks, as ls_gates_peek() compares them. */
static void fill_tags(u16 *tags, const struct ls_ctx *ctx)
{
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		tags[i] = ls_gate_tag(ls_lock_instance(ctx->held[i].lock), ctx->held[i].val);
}

static bool orders(const struct ls_held *h, u32 val)
{
	return (h->val ^ val) & LS_VAL_CLASS_MASK && ls_orders(h->val, val);
}

/*
 * May the chain recur with other instances? Then one of its gates may be another one, or a pair
 * of instances that had a gate elsewhere has none here.
 */
static bool has_instances(const struct ls_ctx *ctx, u64 lock)
{
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		if (ctx->held[i].lock < __START_KERNEL_map)
			return true;
	return ctx->depth && lock < __START_KERNEL_map;
}

u64 ls_gates_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added)
{
	u16 tags[LS_MAX_DEPTH] LS_UNSET;
	u64 inner, mask = 0;
	u32 i;

	if (!has_instances(ctx, lock))
		return 0;
	fill_tags(tags, ctx);
	inner = ls_lock_instance(lock);
	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		enum ls_gates_result pair, all;
		u16 own = tags[i];
		u64 key;

		if (!orders(h, val))
			continue;
		added->looks |= LS_LOOKS_NEW;
		tags[i] = 0;
		key = ls_gates_key(h->val, val);
		all = ls_gates_peek(&ls.gates, key, tags, ctx->depth);
		if (all != LS_GATES_UNKNOWN && ls_gates_left(&ls.gates, key)) {
			added->gated = true;
			added->looks |= LS_LOOKS_GATED;
		}
		pair = ls_gates_peek(&ls.gates, pair_key(h, inner, val), tags, ctx->depth);
		/* A pair without a gate has no entry: ls_instances_new() knows whether it is new. */
		if (all == LS_GATES_ASKED || all == LS_GATES_FEWER || pair == LS_GATES_FEWER ||
		    (ctx->depth > 1 && pair == LS_GATES_UNKNOWN && ls_edges_is_wanted(&ls.edges, h->val, val) &&
		     ls_edges_want_pair(&ls.edges, h->val, val)))
			mask |= 1ull << i;
		tags[i] = own;
	}
	return mask;
}

void ls_gates_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask)
{
	u16 tags[LS_MAX_DEPTH] LS_UNSET;
	u64 inner;
	u32 i;

	if (!has_instances(ctx, lock))
		return;
	fill_tags(tags, ctx);
	inner = ls_lock_instance(lock);
	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		bool wanted, room;
		u16 own = tags[i];

		if (!(mask & (1ull << i)) || !orders(h, val))
			continue;
		tags[i] = 0;
		wanted = ls_edges_is_wanted(&ls.edges, h->val, val);
		/*
		 * Half of the table is reserved for dependencies in a cycle. A pair without a gate
		 * has none to lose.
		 */
		room = ctx->depth > 1 && (wanted || ls_load(&ls.gates.nr) <= ls.gates.mask / 2);
		ls_gates_mark(&ls.gates, ls_gates_key(h->val, val), tags, ctx->depth, false);
		if (!ls_gates_mark(&ls.gates, pair_key(h, inner, val), tags, ctx->depth, room) && wanted)
			ls_lose(LS_LOSS_PAIRS);
		/* ls_instances_seen() counts the others. */
		if (h->lock >= __START_KERNEL_map && lock >= __START_KERNEL_map)
			ls_edges_count_pair(&ls.edges, h->val, val);
		tags[i] = own;
	}
}
