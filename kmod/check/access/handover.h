/* SPDX-License-Identifier: GPL-2.0 */
/* Ordering between contexts, see lockclass/order.h: entry points for hooks and for the checks. */
#ifndef LOCKSCOPE_HANDOVER_H
#define LOCKSCOPE_HANDOVER_H

#include <linux/types.h>

/*
 * The current context completes @what, on which other contexts may wait. Any context,
 * preemption off.
 */
void ls_completed(u64 what);
/* The current context has waited for the completion of @what. Any context, preemption off. */
void ls_waited(u64 what);

struct ls_now;
/* Track how the accessed object moves from context to context. */
void ls_handover_follow(struct ls_now *n);
/* Callback of ls_shadow_rules; @cookie is a struct ls_now. */
bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp);
void ls_handover_forget(u64 start);
void ls_handover_clear(void);

#endif /* LOCKSCOPE_HANDOVER_H */
