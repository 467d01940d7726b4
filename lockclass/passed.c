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

/* A gate of @n's lock that is not held any more, as a fact; 0: none. */
static ls_u16 released(const struct ls_ctx *ctx, const struct ls_past *past, const struct ls_note *n)
{
	ls_u32 g, i;

	for (g = 0; g < LS_NOTE_GATES && n->under[g]; g++) {
		for (i = past->first; i < ctx->depth; i++)
			if (!((ls_passed_hash(past->lock[i - past->first], n->lock) ^ n->under[g]) &
			      ~LS_PASSED_SHARED))
				break;
		if (i == ctx->depth)
			return n->under[g];
	}
	return 0;
}

/* A gate under which entry @i was acquired, as a fact; 0: none, or not known. */
static ls_u32 under_of(const struct ls_ctx *ctx, const struct ls_past *past, ls_u32 i)
{
	const struct ls_held *h = &ctx->held[i];
	ls_u32 fact = 0, k;

	for (k = 0; h->stamp && k < LS_NOTES; k++)
		if (ctx->notes[k].serial == h->stamp &&
		    ctx->notes[k].lock == past->lock[i - past->first])
			fact = released(ctx, past, &ctx->notes[k]);
	/* It may have been downgraded. */
	return fact ? fact | shared(h, LS_PASSED_LOCK_SHARED) : 0;
}

/* Add the gates within whose hold @n's lock was passed to the first @nr facts. Returns their number. */
static ls_u32 add_passed(const struct ls_ctx *ctx, const struct ls_note *n, struct ls_past *past,
			 ls_u32 nr)
{
	ls_u32 i, k;

	if (!n->serial || is_held(ctx, past, n->lock))
		return nr;
	for (i = past->first; i < ctx->depth && nr < ctx->depth - past->first; i++) {
		const struct ls_held *h = &ctx->held[i];
		ls_u64 gate = past->lock[i - past->first];
		ls_u32 fact, since = n->serial - h->stamp;

		if (!gate || !h->stamp || !since || since >> 31)
			continue;
		fact = ls_passed_hash(gate, n->lock) | shared(h, LS_PASSED_GATE_SHARED) | n->shared;
		for (k = 0; k < nr && past->facts[k] >> 16 != fact; k++)
			;
		if (k == nr)
			past->facts[nr++] |= fact << 16;
	}
	return nr;
}

ls_u32 ls_passed_facts(const struct ls_ctx *ctx, struct ls_past *past, ls_u64 wanted, ls_u16 *tags)
{
	ls_u32 i, half, nr = 0;

	for (i = past->first; i < ctx->depth; i++)
		past->facts[i - past->first] = under_of(ctx, past, i);
	for (half = 0; half < 2; half++)
		for (i = 1; i <= LS_NOTES; i++) {
			const struct ls_note *n = &ctx->notes[(ctx->next_note - i) % LS_NOTES];

			if ((n->lock == wanted) == !half)
				nr = add_passed(ctx, n, past, nr);
		}
	for (nr = 0, i = past->first; i < ctx->depth; i++) {
		ls_u32 *facts = &past->facts[i - past->first];

		for (half = 0; half < 2; half++) {
			ls_u16 fact = (ls_u16)(*facts >> 16 * half);

			if (!fact)
				continue;
			if (nr < LS_GATES_KEPT)
				tags[nr++] = ls_passed_tag(fact, half);
			else
				*facts &= half ? 0xffffu : 0xffff0000u;
		}
	}
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

	for (i = 0; i < LS_PASSED_SETS; i++) {
		enum ls_gates_result r = ls_gates_peek(g, set_key(key, i), tags, nr);

		if (r == LS_GATES_UNKNOWN && i)
			break;
		if (r != LS_GATES_FEWER)
			return r;
	}
	return LS_GATES_FEWER;
}

enum ls_passed_result ls_passed_mark(struct ls_gates *g, ls_u64 key, const ls_u16 *tags, ls_u32 nr,
				     bool make)
{
	ls_u32 i;

	for (i = 0; i < LS_PASSED_SETS; i++) {
		if (ls_gates_peek(g, set_key(key, i), tags, nr) == LS_GATES_UNKNOWN)
			ls_gates_mark(g, set_key(key, i), tags, nr, make);
		switch (ls_gates_peek(g, set_key(key, i), tags, nr)) {
		case LS_GATES_KNOWN:
			return LS_PASSED_KEPT;
		case LS_GATES_FEWER:
			continue;
		default:
			break;
		}
		break;
	}
	if (!i)
		return LS_PASSED_NOT_KEPT;
	ls_gates_mark(g, set_key(key, i - 1), tags, 0, false);
	return LS_PASSED_NONE;
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
