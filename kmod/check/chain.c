// SPDX-License-Identifier: GPL-2.0
/*
 * New chains, and those that are checked each time: what is new about them goes to the worker.
 * Same contexts and constraints as acquire.c.
 */
#include <linux/kernel.h>

#include "check/check.h"
#include "check/events.h"
#include "check/instances.h"
#include "check/usage.h"
#include "core/context.h"
#include "identity/identity.h"
#include "identity/lookup.h"

static void find_new_dependencies(const struct ls_ctx *ctx, u32 val, struct ls_added *added)
{
	u32 i, gates = ls_gates_of(ctx);

	for (i = 0; i < ctx->depth; i++) {
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK))
			added->self = true;
		if (!ls_orders(ctx->held[i].val, val))
			continue;
		if (ls_edges_peek(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_NEW)
			added->mask |= 1ull << i;
	}
}

static void mark_edges(const struct ls_ctx *ctx, u32 val, u64 mask)
{
	u32 i, gates = ls_gates_of(ctx);

	for (i = 0; i < ctx->depth; i++)
		if (mask & (1ull << i) &&
		    ls_edges_mark(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_FULL)
			ls_lose(LS_LOSS_EDGES);
}

/* One event of a kind is enough for a class: the worker reports it once. */
static void mark_reported(u32 val, u32 flags)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];

	if (flags & (LS_EV_SAME | LS_EV_STRICT))
		ls_fetch_or(&c->marks, LS_CLASS_SAME);
}

/* Is the class of @val one of objects that were not fully initialised when it was acquired? */
static bool is_unrefined(u32 val)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].marks & LS_CLASS_UNREFINED;
}

static bool holds_unrefined(const struct ls_ctx *ctx)
{
	u32 i;

	if (likely(!ls_load(&ls.nr_unrefined)))
		return false;
	for (i = 0; i < ctx->depth; i++)
		if (is_unrefined(ctx->held[i].val))
			return true;
	return false;
}

/*
 * What transmits through a net device takes the lock of a queue first. While the device is
 * opened or closed that lock is as good as held: push an entry of it, which is a gate and
 * nothing else, and in no chain. Of several devices the first one counts.
 */
static bool push_quiet(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val)
{
	u64 queue = ls_quiet_queue(lock, val & LS_VAL_CLASS_MASK);
	u32 i, id;

	for (i = 0; !queue && i < ctx->depth; i++)
		queue = ls_quiet_queue(ctx->held[i].lock, ctx->held[i].val & LS_VAL_CLASS_MASK);
	if (likely(!queue) || queue == lock || ls_held_find(ctx, queue) >= 0)
		return false;
	id = ls_queue_class(queue);
	if (id)
		ls_held_push(ctx, queue, ip, id | LS_VAL_QUIET, ctx->key);
	return id;
}

/* ls_chains_add() without the entry of push_quiet(). */
static enum ls_chain_result add_chain(struct ls_ctx *ctx, u64 key, u32 val, u64 ip, u32 looks,
				      bool quiet, u32 *chain)
{
	enum ls_chain_result r;

	ctx->depth -= quiet;
	r = ls_chains_add(&ls.chains, ctx, key, val, ip, looks, chain);
	ctx->depth += quiet;
	return r;
}

/*
 * A new chain, or one that is checked each time: it nests a class in itself, instances of its
 * dependencies are wanted, or a gate speaks against a cycle through it. Records what is new.
 * When there is no room for the event, undoes that, so that the next occurrence tries again: it
 * is postponed, not lost. @quiet: the last entry is only a gate, see push_quiet().
 * Is the acquisition to be noted (passed.h)?
 */
static bool learn(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, u64 key, bool quiet)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	struct ls_added added = { 0 };
	struct ls_chain *data = NULL;
	struct ls_event *e = NULL;
	enum ls_chain_result r;
	bool wanted, gated, noted;
	u32 chain;

	if (ls_chains_refused(&ls.chains, key))
		return false;
	chain = ls_tagtab_find(&ls.chains.tab, key);
	if (chain && !(chain & LS_CHAIN_SLOW))
		return false;	/* found further along its probe sequence */
	noted = ls_chains_notes(&ls.chains, chain);
	if (chain & LS_CHAIN_DERIVED)
		chain = 0;	/* on a held-lock stack before, but never acquired with it */

	if (chain) {
		data = ls_chains_get(&ls.chains, chain & LS_CHAIN_INDEX);
		added.self = !data || ls_load(&data->looks) & LS_LOOKS_SELF;
	}
	gated = data && ls_load(&data->looks) & LS_LOOKS_GATED;
	/* A known chain may recur without a gate that it had. */
	if (!chain || gated)
		find_new_dependencies(ctx, val, &added);
	if (added.self)
		ls_instances_look(ctx, lock, val, &added);
	wanted = !data || ls_chains_wants_instances(data);
	if (wanted)
		added.mask |= ls_instances_new(ctx, lock, val, &added) |
			      ls_gates_new(ctx, lock, val, &added);
	if (noted)
		added.mask |= ls_passed_new(ctx, lock, val, &added);
	if (quiet || ls_load(&c->marks) & (LS_CLASS_PASSED | LS_CLASS_USES)) {
		added.gated = true;
		added.looks |= LS_LOOKS_GATED;
	}
	if (ls_load(&c->marks) & LS_CLASS_USES)
		ls_uses_looked(c);
	if (!chain || gated || added.flags || added.mask || (wanted && ls_usage_compares(ctx, val)))
		added.usage = ls_usage_is_new(ctx, lock, val, ls_usage(val));
	/*
	 * What is to be reported first may be postponed. The worker may set the mark meanwhile:
	 * what was not compared does not clear it.
	 */
	if (wanted && gated && !added.gated && !added.mask && !added.usage)
		ls_chains_ungate(data);
	if (chain && !added.flags && !added.mask && !added.usage) {
		if (data)
			ls_chains_looked(&ls.chains, key, data);
		return noted;
	}

	if (added.mask || added.usage) {
		e = ls_event_reserve(pc, ctx);
		if (!e) {
			ls_instances_forget(ctx, lock, val, &added);
			return noted;
		}
	}
	/* A chain with an unrefined class is checked each time, see ls_refine_held(). */
	if (added.self || holds_unrefined(ctx))
		added.looks |= LS_LOOKS_SELF;
	r = chain ? LS_CHAIN_NEW : add_chain(ctx, key, val, ip, added.looks, quiet, &chain);
	if (r == LS_CHAIN_FULL) {
		ls_lose(LS_LOSS_CHAINS);
		if (!e)
			return noted;		/* nothing for the worker */
	}
	if (e) {
		if (r == LS_CHAIN_DEFER) {
			ls_store_release(&e->state, LS_EVENT_SKIP);
			ls_fetch_add(&pc->ring.hdr->deferred, 1);
			ls_instances_forget(ctx, lock, val, &added);
			return noted;
		}
		mark_edges(ctx, val, added.mask);
		ls_instances_seen(ctx, lock, val, added.mask);
		ls_gates_seen(ctx, lock, val, added.mask);
		mark_reported(val, added.flags);
		ls_usage_mark(ctx, lock, val, ls_usage(val));
		ls_event_fill(e, ctx, LS_SIGHT_ACQUIRE, lock, ip, val, added.mask,
			      chain & LS_CHAIN_INDEX, added.flags, added.related);
		ls_passed_seen((struct ls_rec_sight *)(e + 1), ctx, lock, val);
		ls_ring_commit(e);
	}
	if (data)
		ls_chains_looked(&ls.chains, key, data);
	ls_wake_worker();
	return noted;
}

LS_COLD bool ls_chain_learn(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, u64 key)
{
	bool quiet, noted;

	if (unlikely(ls_held_distrusted(ctx)))
		return false;
	quiet = push_quiet(ctx, lock, ip, val);
	noted = learn(pc, ctx, lock, ip, val, key, quiet);
	if (unlikely(quiet))
		ls_held_pop_top(ctx);
	return noted;
}

/*
 * A lock acquired in an object under initialisation may have its final class by now: update
 * its entry before a dependency is derived from it. True when an entry has changed.
 */
noinline bool ls_refine_held(struct ls_ctx *ctx)
{
	bool changed = false;
	u32 i, id;

	for (i = 0; i < ctx->depth; i++) {
		struct ls_held *h = &ctx->held[i];

		if (!is_unrefined(h->val))
			continue;
		id = ls_class_known(h->lock, ls_key_kind(ls_kind_of(h->val)), true);
		if (!id)
			id = ls_identify(h->lock, ls_kind_of(h->val), h->ip);
		if (!id || id == (h->val & LS_VAL_CLASS_MASK) || ls.classes.table[id].kind != ls_kind_of(h->val))
			continue;
		ls_held_set_class(ctx, i, id);
		/* The stamp of the new class may have another use. */
		if (ls_kind_of(h->val) != LS_KIND_SEMAPHORE)
			h->stamp = 0;
		changed = true;
	}
	return changed;
}
