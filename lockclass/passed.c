// SPDX-License-Identifier: GPL-2.0
#include "passed.h"

static ls_u32 shared(const struct ls_held *h, ls_u32 bit)
{
	return h->val & LS_VAL_READ_MASK ? bit : 0;
}

void ls_passed_note(struct ls_ctx *ctx, const struct ls_past *past)
{
	ls_u32 top = ctx->depth - 1, serial = ctx->serial + 1, i, nr = 0;
	ls_u64 lock = past->lock[top - past->first];
	struct ls_note *n;

	if (!lock)
		return;
	n = &ctx->notes[ctx->next_note++ % LS_NOTES];
	*n = (struct ls_note){
		.lock = lock, .shared = (ls_u16)shared(&ctx->held[top], LS_PASSED_LOCK_SHARED),
	};
	for (i = past->first; i < top; i++) {
		struct ls_held *h = &ctx->held[i];
		ls_u64 gate = past->lock[i - past->first];

		if (!gate)
			continue;
		/* What is acquired within its hold is known from now on. */
		if (!h->stamp)
			h->stamp = serial;
		if (nr < LS_NOTE_GATES)
			n->under[nr++] = (ls_u16)(ls_passed_hash(gate, lock) |
						  shared(h, LS_PASSED_GATE_SHARED));
	}
	/* Of the own entry even, else odd; 0 stands for none, also after it has wrapped. */
	serial = serial + 1 ? serial + 1 : 2;
	ctx->serial = n->serial = serial;
	ctx->held[top].stamp = serial;
}

static bool is_held(const struct ls_ctx *ctx, const struct ls_past *past, ls_u64 lock)
{
	ls_u32 i;

	for (i = past->first; i < ctx->depth; i++)
		if (past->lock[i - past->first] == lock)
			return true;
	return false;
}

static bool holds_gate(const struct ls_ctx *ctx, const struct ls_past *past, ls_u16 fact, ls_u64 lock)
{
	ls_u32 i;

	for (i = past->first; i < ctx->depth; i++)
		if (!((ls_passed_hash(past->lock[i - past->first], lock) ^ fact) & ~LS_PASSED_SHARED))
			return true;
	return false;
}

static void add_fact(struct ls_past *past, ls_u16 fact, bool passed)
{
	if (past->nr_tags < LS_PAST_TAGS)
		past->tags[past->nr_tags++] = ls_passed_tag(fact, passed);
}

/* The gates that entry @i was acquired under and that were released, of note @n. */
static void add_under(const struct ls_ctx *ctx, struct ls_past *past, ls_u32 i, const struct ls_note *n)
{
	ls_u32 *own = &past->facts[i - past->first], g, k;

	for (g = 0; g < LS_NOTE_GATES && n->under[g]; g++) {
		/* It may have been downgraded. */
		ls_u16 fact = n->under[g] | (ls_u16)shared(&ctx->held[i], LS_PASSED_LOCK_SHARED);

		if (holds_gate(ctx, past, fact, n->lock))
			continue;
		add_fact(past, fact, false);
		if (!*own) {
			*own = fact;
			continue;
		}
		for (k = 0; k < LS_PAST_MORE && past->more[k]; k++)
			;
		if (k < LS_PAST_MORE) {
			past->more[k] = fact;
			past->more_of[k] = (ls_u8)(i - past->first);
		}
	}
}

/* Add the gates within whose hold @n's lock was passed; the first @nr entries have a fact already. */
static ls_u32 add_passed(const struct ls_ctx *ctx, const struct ls_note *n, struct ls_past *past,
			 ls_u32 nr)
{
	ls_u32 i, k;

	if (!n->serial || is_held(ctx, past, n->lock))
		return nr;
	for (i = past->first; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		ls_u64 gate = past->lock[i - past->first];
		ls_u32 fact, since = n->serial - h->stamp;

		if (!gate || !h->stamp || !since || since >> 31)
			continue;
		fact = ls_passed_hash(gate, n->lock) | shared(h, LS_PASSED_GATE_SHARED) | n->shared;
		for (k = 0; k < nr && past->facts[k] >> 16 != fact; k++)
			;
		if (k < nr)
			continue;
		add_fact(past, (ls_u16)fact, true);
		if (nr < ctx->depth - past->first)
			past->facts[nr++] |= fact << 16;
	}
	return nr;
}

/* One more fact of @tags, @nr of them, if there is room among @max; else it is none. */
static bool add_tag(ls_u16 *tags, ls_u32 *nr, ls_u32 max, ls_u16 fact, bool passed)
{
	if (!fact)
		return true;
	if (*nr >= max)
		return false;
	tags[(*nr)++] = ls_passed_tag(fact, passed);
	return true;
}

void ls_passed_facts(const struct ls_ctx *ctx, struct ls_past *past, ls_u64 wanted)
{
	ls_u32 i, k, half, nr = 0;

	past->nr_tags = 0;
	for (i = 0; i < LS_PAST_MORE; i++)
		past->more[i] = 0;
	for (i = past->first; i < ctx->depth; i++) {
		past->facts[i - past->first] = 0;
		for (k = 0; ctx->held[i].stamp && k < LS_NOTES; k++)
			if (ctx->notes[k].serial == ctx->held[i].stamp &&
			    ctx->notes[k].lock == past->lock[i - past->first])
				add_under(ctx, past, i, &ctx->notes[k]);
	}
	for (half = 0; half < 2; half++)
		for (i = 1; i <= LS_NOTES; i++) {
			const struct ls_note *n = &ctx->notes[(ctx->next_note - i) % LS_NOTES];

			if ((n->lock == wanted) == !half)
				nr = add_passed(ctx, n, past, nr);
		}
}

ls_u32 ls_passed_report(const struct ls_ctx *ctx, struct ls_past *past, ls_u16 *tags)
{
	ls_u32 gates = ctx->depth ? ctx->depth - 1 : 0, i, nr = 0;
	ls_u32 max = gates < LS_GATES_KEPT ? LS_GATES_KEPT - gates : 0;

	for (i = 0; i < ctx->depth - past->first; i++) {
		if (!add_tag(tags, &nr, max, (ls_u16)past->facts[i], false))
			past->facts[i] &= 0xffff0000u;
		if (!add_tag(tags, &nr, max, (ls_u16)(past->facts[i] >> 16), true))
			past->facts[i] &= 0xffffu;
	}
	for (i = 0; i < LS_PAST_MORE; i++)
		if (!add_tag(tags, &nr, max, past->more[i], false))
			past->more[i] = 0;
	return nr;
}

/* Pairs have odd keys. */
static ls_u64 set_key(ls_u64 key, ls_u32 i)
{
	return key + 2 * (ls_u64)i;
}

enum ls_gates_result ls_passed_peek(const struct ls_gates *g, ls_u64 key, const ls_u16 *tags, ls_u32 nr)
{
	ls_u32 i;

	for (i = 0; i < LS_PASSED_SETS_WANTED; i++) {
		enum ls_gates_result r = ls_gates_peek(g, set_key(key, i), tags, nr);

		if (r == LS_GATES_UNKNOWN && i)
			break;
		if (r != LS_GATES_FEWER)
			return r;
	}
	return LS_GATES_FEWER;
}

bool ls_passed_mark(struct ls_gates *g, ls_u64 key, const ls_u16 *tags, ls_u32 nr, bool make, bool bound)
{
	ls_u32 i, last = 0, most = bound ? LS_PASSED_SETS_WANTED : LS_PASSED_SETS;

	if (ls_passed_peek(g, key, tags, nr) == LS_GATES_KNOWN)
		return true;
	/* One that includes it says no more. */
	for (i = 0; i < most; i++)
		if (ls_gates_cover(g, set_key(key, i), tags, nr)) {
			ls_gates_mark(g, set_key(key, i), tags, nr, false);
			return true;
		}
	for (i = 0; i < most; i++) {
		if (ls_gates_peek(g, set_key(key, i), tags, nr) != LS_GATES_UNKNOWN) {
			last = i + 1;
			continue;
		}
		ls_gates_mark(g, set_key(key, i), tags, nr, make);
		if (ls_gates_peek(g, set_key(key, i), tags, nr) == LS_GATES_KNOWN)
			return true;
		break;
	}
	if (last && bound)
		ls_gates_mark(g, set_key(key, last - 1), tags, nr, false);
	return false;
}

static bool claim(struct ls_claims *c, ls_u16 fact, ls_u8 sort)
{
	ls_u8 *of = &c->of[fact / (LS_PASSED_SHARED + 1)], before = *of;

	if (!fact)
		return false;
	*of |= sort;
	if (*of != LS_CLAIM_BOTH)
		return false;
	c->met += before != LS_CLAIM_BOTH;
	return true;
}

bool ls_claims_add(struct ls_claims *c, ls_u32 passed)
{
	bool under = claim(c, (ls_u16)passed, LS_CLAIM_UNDER);

	return claim(c, (ls_u16)(passed >> 16), LS_CLAIM_PASSED) || under;
}
