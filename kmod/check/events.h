/* SPDX-License-Identifier: GPL-2.0 */
/* Events from hooks to the worker. Any context, preemption off. */
#ifndef LOCKSCOPE_EVENTS_H
#define LOCKSCOPE_EVENTS_H

#include "core/state.h"
#include "event.h"
#include "spinring.h"

#define LS_FAULT_KINDS 32	/* in the keys of faults */
static_assert(LS_NR_FINDINGS <= LS_FAULT_KINDS);

void ls_events_clear(void);
struct ls_event *ls_event_reserve(struct ls_cpu *pc, const struct ls_ctx *ctx);
void ls_event_fill(struct ls_event *e, const struct ls_ctx *ctx, u32 what, u64 lock, u64 ip,
		   u32 val, u64 mask, u32 chain, u32 flags, u64 extra);
void ls_event_spinner(struct ls_cpu *pc, const struct ls_spin_view *view, const struct ls_spinner *s,
		      u64 number, bool last);
void ls_fault(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val, u64 mask,
	      u64 extra);
void ls_fault_here(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val,
		   u64 mask, u64 extra);

#endif /* LOCKSCOPE_EVENTS_H */
