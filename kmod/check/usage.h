/* SPDX-License-Identifier: GPL-2.0 */
/* Usage bits of classes: how they are acquired, and in which context. Slow paths of hooks. */
#ifndef LOCKSCOPE_USAGE_H
#define LOCKSCOPE_USAGE_H

#include "classes.h"
#include "core/state.h"
#include "edges.h"

/* Signature of all held locks. */
static inline u32 ls_gates_of(const struct ls_ctx *ctx)
{
	u32 i, gates = 0;

	for (i = 0; i < ctx->depth; i++)
		gates |= ls_gate_bits(ctx->held[i].lock, ctx->held[i].val);
	return gates;
}

/* Is @use of class @c, with @gates held, not reported yet? */
static inline bool ls_use_is_new(const struct ls_class *c, u32 use, u32 gates)
{
	return use & ~ls_load(&c->usage) ||
	       (use & LS_USE_ON_ANY_HARDIRQ && ~(ls_load(&c->absent[0]) | gates)) ||
	       (use & LS_USE_ON_ANY_SOFTIRQ && ~(ls_load(&c->absent[1]) | gates)) ||
	       (use & LS_USE_IN_ANY_HARDIRQ && ~(ls_load(&c->absent_in[0]) | gates)) ||
	       (use & LS_USE_IN_ANY_SOFTIRQ && ~(ls_load(&c->absent_in[1]) | gates));
}

static inline void ls_use_mark(struct ls_class *c, u32 use, u32 gates)
{
	ls_fetch_or(&c->usage, use);
	if (use & LS_USE_ON_ANY_HARDIRQ)
		ls_fetch_or(&c->absent[0], ~gates);
	if (use & LS_USE_ON_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent[1], ~gates);
	if (use & LS_USE_IN_ANY_HARDIRQ)
		ls_fetch_or(&c->absent_in[0], ~gates);
	if (use & LS_USE_IN_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent_in[1], ~gates);
}

/* Does acquiring @val with the held locks, or releasing it, show a new usage? */
static inline bool ls_usage_is_new(const struct ls_ctx *ctx, u32 val, u32 own)
{
	u32 i, gates = ls_gates_of(ctx);

	if (ls_use_is_new(&ls.classes.table[val & LS_VAL_CLASS_MASK], own, gates))
		return true;
	for (i = 0; i < ctx->depth; i++)
		if (ls_use_is_new(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK],
			       ls_usage_on(ctx->held[i].val, val), gates))
			return true;
	return false;
}

static inline void ls_usage_mark(const struct ls_ctx *ctx, u32 val, u32 own)
{
	u32 i, gates = ls_gates_of(ctx);

	ls_use_mark(&ls.classes.table[val & LS_VAL_CLASS_MASK], own, gates);
	for (i = 0; i < ctx->depth; i++)
		ls_use_mark(&ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK],
			 ls_usage_on(ctx->held[i].val, val), gates);
}

#endif /* LOCKSCOPE_USAGE_H */
