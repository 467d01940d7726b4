// SPDX-License-Identifier: GPL-2.0
/*
 * What a context acquired before a dependency, and what its locks were acquired under
 * (lockclass/passed.h). Slow paths of hooks, in any context, with the constraints of acquire.c.
 *
 * An observation that lacks what earlier ones of its pair of instances claimed is reported,
 * as one without a gate is (gates.c).
 */
#include <linux/kernel.h>

#include "check/events.h"
#include "check/instances.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/refine.h"
#include "passed.h"

/* Semaphores and devices use the stamp of their entries for themselves. */
static bool is_usable(u32 val)
{
	const struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];

	return LS_GUARDING_KINDS >> c->kind & 1 && c->kind != LS_KIND_SEMAPHORE &&
	       c->refinement != LS_REFINE_DEVICE;
}

static void fill_past(struct ls_past *past, const struct ls_ctx *ctx)
{
	u32 i;

	past->first = ls_past_first(ctx);
	for (i = past->first; i < ctx->depth; i++)
		past->lock[i - past->first] =
			is_usable(ctx->held[i].val) ? ls_lock_instance(ctx->held[i].lock) : 0;
}

/*
 * In ls.gates, beside the gates of the same pair of instances. Two of one class count once, however
 * they are held.
 */
static u64 key_of(const struct ls_held *h, u64 inner, u32 val)
{
	u32 kind = (h->val ^ val) & LS_VAL_CLASS_MASK ? ls_dep_kind(h->val, val) : 0;

	return ls_mix(ls_mix(ls_mix(ls_mix(ls_lock_instance(h->lock)) + inner) + kind)) | 1;
}

/*
 * Was entry @i noted, and is what was acquired within the holds of the others? Else what they
 * claimed before may hold as well.
 */
static bool is_known(const struct ls_ctx *ctx, u32 i, u32 val)
{
	u32 k;

	if (is_usable(ctx->held[i].val) && !ls_passed_is_noted(ctx, i))
		return false;
	for (k = 0; k < ctx->depth; k++) {
		u64 key = k + 1 < ctx->depth ? ctx->held[k + 1].below : ctx->key;

		if (!ls_chains_notes(&ls.chains, ls_tagtab_find(&ls.chains.tab, ls_chain_mix(key, val))))
			return false;
	}
	return true;
}

/* What a set has (ls_passed_peek()): tags of facts, then of the locks held. */
struct tags {
	u16 all[LS_PAST_TAGS + LS_MAX_DEPTH];
	u32 facts;
};

static void add_held(struct tags *tags, const struct ls_ctx *ctx)
{
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		tags->all[tags->facts + i] =
			ls_gate_tag(ls_lock_instance(ctx->held[i].lock), ctx->held[i].val);
}

/* Those of a dependency on entry @i, which is no gate of it. */
static enum ls_gates_result peek(struct tags *tags, const struct ls_ctx *ctx, u32 i, u64 inner, u32 val)
{
	u16 *at = &tags->all[tags->facts + i], own = *at;
	enum ls_gates_result result;

	*at = 0;
	result = ls_passed_peek(&ls.gates, key_of(&ctx->held[i], inner, val), tags->all,
				tags->facts + ctx->depth);
	*at = own;
	return result;
}

u64 ls_passed_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added)
{
	struct ls_past past LS_UNSET;
	struct tags tags LS_UNSET;
	u64 inner = ls_lock_instance(lock), mask = 0;
	u32 i;

	/* What comes later may depend on it: the first ones are noted, if no gate wants more. */
	if (!(added->looks & LS_LOOKS_NOW))
		added->looks |= LS_LOOKS_NEW & LS_LOOKS_NOW;
	if (!ctx->depth)
		return 0;
	fill_past(&past, ctx);
	ls_passed_facts(ctx, &past, inner);
	tags.facts = past.nr_tags;
	memcpy(tags.all, past.tags, tags.facts * sizeof(*tags.all));
	add_held(&tags, ctx);
	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		enum ls_gates_result past_of;

		if (h->lock == lock || !ls_orders(h->val, val))
			continue;
		past_of = peek(&tags, ctx, i, inner, val);
		/* The earlier ones did not know. */
		if (past_of == LS_GATES_UNKNOWN ?
			    !tags.facts || !ls_edges_is_wanted(&ls.edges, h->val, val) ||
				    !ls_edges_want_pair(&ls.edges, h->val, val) :
			    past_of != LS_GATES_FEWER)
			continue;
		if (!is_known(ctx, i, val))
			continue;
		mask |= 1ull << i;
		if (!((h->val ^ val) & LS_VAL_CLASS_MASK))
			added->flags |= LS_EV_NESTED;
	}
	return mask;
}

/* Can what is claimed of dependency entry @i -> @inner be compared later? It is noted for that. */
static bool keep(struct tags *tags, const struct ls_ctx *ctx, u32 i, u64 inner, u32 val)
{
	const struct ls_held *h = &ctx->held[i];
	bool wanted = ls_edges_is_wanted(&ls.edges, h->val, val), kept;
	bool room = wanted || ls_load(&ls.gates.nr) <= ls.gates.mask / 2;
	u16 *at = &tags->all[tags->facts + i], own = *at;

	if (!is_known(ctx, i, val))
		return false;
	/* Without a claim there is none to lose. */
	if (!tags->facts && peek(tags, ctx, i, inner, val) == LS_GATES_UNKNOWN)
		return true;
	*at = 0;
	/* Others are looked at a few times only. */
	kept = ls_passed_mark(&ls.gates, key_of(h, inner, val), tags->all, tags->facts + ctx->depth,
			      room, wanted);
	*at = own;
	if (!kept && wanted) {
		ls_lose(LS_LOSS_PAIRS);
		ls_edges_count_pair(&ls.edges, h->val, val);
	}
	return kept;
}

void ls_passed_seen(struct ls_rec_sight *s, const struct ls_ctx *ctx, u64 lock, u32 val)
{
	struct ls_past past LS_UNSET;
	struct tags tags LS_UNSET;
	u64 inner = ls_lock_instance(lock);
	bool kept = false, not_kept = false;
	u32 i;

	fill_past(&past, ctx);
	ls_passed_facts(ctx, &past, inner);
	tags.facts = ls_passed_report(ctx, &past, tags.all);
	add_held(&tags, ctx);
	for (i = 0; i < ctx->depth; i++) {
		if (!(s->new_mask & (1ull << i)) || ctx->held[i].lock == lock ||
		    !ls_orders(ctx->held[i].val, val))
			continue;
		if (keep(&tags, ctx, i, inner, val))
			kept = true;
		else
			not_kept = true;
	}
	/* Some of its dependencies count without claims then. */
	if (not_kept) {
		s->extra |= kept ? 0 : LS_PAST_UNKNOWN;
		return;
	}
	for (i = past.first; i < ctx->depth; i++)
		s->held[i].passed = past.facts[i - past.first];
	for (i = 0; i < LS_PAST_MORE; i++)
		if (past.more[i])
			s->extra |= ls_past_extra(past.more[i], past.more_of[i], i);
}

void ls_passed_take(struct ls_ctx *ctx)
{
	struct ls_past past LS_UNSET;

	if (ls_held_distrusted(ctx))
		return;
	ctx->busy = 1;
	barrier();
	fill_past(&past, ctx);
	ls_passed_note(ctx, &past);
	barrier();
	ctx->busy = 0;
}
