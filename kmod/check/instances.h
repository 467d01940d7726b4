/* SPDX-License-Identifier: GPL-2.0 */
/* Instances of one class, nested in each other. */
#ifndef LOCKSCOPE_INSTANCES_H
#define LOCKSCOPE_INSTANCES_H

#include "core/state.h"

/* What an acquisition adds. */
struct ls_added {
	u64 mask;	/* held entries with a new dependency to this lock */
	bool self;	/* the class is held already */
	bool usage;	/* a usage not seen before */
	u16 pairs;	/* of instances of one class, to be reported to the worker */
	u16 inversions;	/* of these, in both orders */
	u16 related;	/* LS_RELATED_* of the last one */
	bool gated;	/* some dependency of it always had a gate, which speaks against a cycle */
	u32 looks;	/* LS_LOOKS_* of a new chain */
	u32 flags;	/* LS_EV_* */
};

/* Any context, preemption off, @ctx busy: @lock is about to be acquired as @val. */
void ls_instances_look(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added);
void ls_instances_forget(const struct ls_ctx *ctx, u64 lock, u32 val, const struct ls_added *added);

/*
 * The same for dependencies between classes: held entries that were not seen with @lock
 * before, as long as more pairs are wanted. ls_instances_seen(): they were reported.
 */
u64 ls_instances_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added);
void ls_instances_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask);

/*
 * The same for locks held besides both locks of a dependency (gates.c): entries whose gates
 * became fewer. ls_gates_seen(): those in @mask were reported. ls_gates_key(): key in ls.gates
 * of a dependency whose gates speak against a cycle.
 */
u64 ls_gates_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added);
void ls_gates_seen(const struct ls_ctx *ctx, u64 lock, u32 val, u64 mask);
u64 ls_gates_key(u32 prev, u32 next);

/*
 * The same for what was acquired before (passed.c, lockclass/passed.h). ls_passed_seen(): @s is
 * about to be reported; adds what it claims. ls_passed_take(): the top entry was acquired in a
 * slow path.
 */
u64 ls_passed_new(const struct ls_ctx *ctx, u64 lock, u32 val, struct ls_added *added);
void ls_passed_seen(struct ls_rec_sight *s, const struct ls_ctx *ctx, u64 lock, u32 val);
void ls_passed_take(struct ls_ctx *ctx);

#endif
