/* SPDX-License-Identifier: GPL-2.0 */
/* Usage bits of classes: how they are acquired, and in which context. Slow paths of hooks. */
#ifndef LOCKSCOPE_USAGE_H
#define LOCKSCOPE_USAGE_H

#include "core/state.h"
#include "edges.h"
#include "identity/alloc.h"
#include "uses.h"

/* Signature of all held locks. */
static inline u32 ls_gates_of(const struct ls_ctx *ctx)
{
	u32 i, gates = 0;

	for (i = 0; i < ctx->depth; i++)
		gates |= ls_gate_bits(ctx->held[i].lock, ctx->held[i].val);
	return gates;
}

/* See ls_use_is_new(). Only compared classes need the instance, which costs a look-up. */
static inline bool ls_is_use_new(u64 lock, u32 val, u32 use, u32 gates)
{
	const struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];

	return ls_use_is_new(c, &ls.seen, ls_uses_compares(c) ? ls_lock_instance(lock) : 0, use, gates);
}

static inline void ls_mark_use(u64 lock, u32 val, u32 use, u32 gates)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	bool counts = ls_uses_compares(c) || ls_uses_clash(ls_load(&c->usage) | use);

	ls_use_mark(c, &ls.seen, counts ? ls_lock_instance(lock) : 0, use, gates);
}

/* Is a class compared of what is held, or of @val? */
static inline bool ls_usage_compares(const struct ls_ctx *ctx, u32 val)
{
	u32 i;

	if (ls_uses_compares(&ls.classes.table[val & LS_VAL_CLASS_MASK]))
		return true;
	for (i = 0; i < ctx->depth; i++)
		if (ls_uses_compares(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK]))
			return true;
	return false;
}

/* Does acquiring @lock as @val with the held locks, or releasing it, show a new usage? */
static inline bool ls_usage_is_new(const struct ls_ctx *ctx, u64 lock, u32 val, u32 own)
{
	u32 i, gates = ls_gates_of(ctx);

	if (ls_is_use_new(lock, val, own, gates))
		return true;
	for (i = 0; i < ctx->depth; i++)
		if (ls_is_use_new(ctx->held[i].lock, ctx->held[i].val, ls_usage_on(ctx->held[i].val, val),
				  gates))
			return true;
	return false;
}

static inline void ls_usage_mark(const struct ls_ctx *ctx, u64 lock, u32 val, u32 own)
{
	u32 i, gates = ls_gates_of(ctx);

	ls_mark_use(lock, val, own, gates);
	for (i = 0; i < ctx->depth; i++)
		ls_mark_use(ctx->held[i].lock, ctx->held[i].val, ls_usage_on(ctx->held[i].val, val), gates);
}

#endif /* LOCKSCOPE_USAGE_H */
