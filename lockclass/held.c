// SPDX-License-Identifier: GPL-2.0
#include "held.h"

int ls_held_find(const struct ls_ctx *ctx, ls_u64 lock)
{
	int i;

	for (i = (int)ctx->depth - 1; i >= 0; i--)
		if (ctx->held[i].lock == lock)
			return i;
	return -1;
}

/* Recompute chain keys from entry @i up; @key is that of the entries below. */
static void rekey(struct ls_ctx *ctx, ls_u32 i, ls_u64 key, bool distrusted)
{
	for (; i < ctx->depth; i++) {
		ctx->held[i].below = key;
		key = ls_chain_mix(!i && distrusted ? LS_DISTRUSTED : key, ctx->held[i].val);
	}
	ctx->key = key;
}

void ls_held_distrust(struct ls_ctx *ctx)
{
	rekey(ctx, 0, 0, true);
}

void ls_held_remove(struct ls_ctx *ctx, ls_u32 i)
{
	ls_u64 below = ctx->held[i].below;
	bool distrusted = ls_held_distrusted(ctx);
	ls_u32 j;

	ctx->depth--;
	for (j = i; j < ctx->depth; j++) {
		ctx->held[j] = ctx->held[j + 1];
		if (ctx->since)
			ctx->since[j] = ctx->since[j + 1];
	}
	rekey(ctx, i, below, distrusted);
}

ls_u32 ls_held_move(struct ls_ctx *from, ls_u32 first, struct ls_ctx *to)
{
	bool distrusted = ls_held_distrusted(to->depth ? to : from);
	ls_u32 start = to->depth, lost = 0, i;

	for (i = first; i < from->depth; i++) {
		if (to->depth >= LS_MAX_DEPTH) {
			lost++;
			continue;
		}
		if (to->since && from->since)
			to->since[to->depth] = from->since[i];
		to->held[to->depth] = from->held[i];
		/* Stamps of two contexts are not comparable. */
		to->held[to->depth++].stamp = 0;
	}
	if (first < from->depth) {
		from->key = from->held[first].below;
		from->depth = first;
	}
	rekey(to, start, to->key, distrusted);
	return lost;
}

void ls_held_set_read(struct ls_ctx *ctx, ls_u32 i, enum ls_read read)
{
	struct ls_held *h = &ctx->held[i];
	bool distrusted = ls_held_distrusted(ctx);

	h->val = (h->val & ~LS_VAL_READ_MASK) | ((ls_u32)read << LS_VAL_READ_SHIFT);
	rekey(ctx, i, h->below, distrusted);
}

void ls_held_set_class(struct ls_ctx *ctx, ls_u32 i, ls_u32 id)
{
	struct ls_held *h = &ctx->held[i];
	bool distrusted = ls_held_distrusted(ctx);

	h->val = (h->val & ~LS_VAL_CLASS_MASK) | id;
	rekey(ctx, i, h->below, distrusted);
}
