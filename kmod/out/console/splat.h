/* SPDX-License-Identifier: GPL-2.0 */
/* Warnings on the console. Worker only. */
#ifndef LOCKSCOPE_SPLAT_H
#define LOCKSCOPE_SPLAT_H

#include <linux/types.h>

#include "abi.h"
#include "finding_kinds.h"

extern bool ls_splat, ls_splat_unproven;	/* parameters; findings.c */

/* order.c */
void ls_splat_deadlock(const struct ls_finding_edge *edges, u32 nr);
void ls_splat_cycle(const struct ls_finding_edge *edges, u32 nr);
void ls_splat_interrupt(u32 kind, const struct ls_finding_edge *edges, u32 nr);
void ls_splat_inversion(u32 class_id, bool same, u32 first, u32 second);

/* fault.c */
void ls_splat_fault(u32 what, u32 class_id, u32 ordinal);

/* race.c */
struct ls_race_event;
void ls_splat_race(const struct ls_race_event *e);

/* text.c: an observation, and parts of warnings about it */
struct ls_splat_side {
	struct ls_rec_sight s;
	struct ls_held_rec held[LS_MAX_DEPTH];
	u64 ips[LS_STACK_FRAMES];
	u32 nr_ips;
};

const char *ls_splat_kind(u32 class_id);
bool ls_splat_is_queue(u32 class_id);
bool ls_splat_is_awaited(u32 class_id);
const char *ls_splat_prefix(u32 class_id);
bool ls_splat_load(struct ls_splat_side *x, u32 ordinal);
void ls_splat_symbol(char *text, u64 ip);
void ls_splat_function(char *text, u64 ip);
void ls_splat_frames(const char *indent, const struct ls_splat_side *x);
void ls_splat_lock(const char *lead, u32 class_id, u64 ip);
void ls_splat_head(const char *warning);
void ls_splat_backtrace(const struct ls_splat_side *x);
u64 ls_splat_owners(const struct ls_splat_side *x);
void ls_splat_held(const struct ls_splat_side *x);
const struct ls_held_rec *ls_splat_held_of(const struct ls_splat_side *x, u32 class_id);
struct ls_held_rec ls_splat_taken(const struct ls_splat_side *x, u32 class_id);

#endif /* LOCKSCOPE_SPLAT_H */
