/* SPDX-License-Identifier: GPL-2.0 */
/* Instances of one class, taken one under another. */
#ifndef LOCKSCOPE_INSTANCES_H
#define LOCKSCOPE_INSTANCES_H

#include "core/state.h"

/* What an acquisition brings. */
struct ls_news {
	u64 mask;	/* held entries whose edge brings something new */
	bool self;	/* the class is held already */
	bool usage;	/* used in a way not seen before */
	u16 pairs;	/* of instances of one class, that the thread is to hear of */
	u16 inversions;	/* of these */
	u16 related;	/* LS_RELATED_* of the last one */
	bool gated;	/* a gate that some dependency was always seen with speaks against a cycle */
	u32 looks;	/* LS_LOOKS_* of a new chain */
	u32 flags;	/* LS_EV_* */
};

/* Any context, preemption off, @ctx busy: @lock is about to be taken as @val. */
void ls_instances_look(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_news *news);
void ls_instances_forget(const struct ls_ctx *ctx, u64 lock, u32 val, const struct ls_news *news);

/*
 * The same of dependencies on other classes: entries of what is held that were not seen
 * with @lock before, as far as more of them are wanted. ls_instances_seen(): they are
 * reported.
 */
u64 ls_instances_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_news *news);
void ls_instances_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask);

/*
 * The same of what is held beside both locks of a dependency (gates.c): entries that were
 * seen with more. ls_gates_seen(): those in @mask are reported. ls_gates_key(): of a
 * dependency whose gates speak against a cycle, in ls.gates.
 */
u64 ls_gates_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_news *news);
void ls_gates_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask);
u64 ls_gates_key(u32 prev, u32 next);

#endif
