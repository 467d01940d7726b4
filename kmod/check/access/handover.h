/* SPDX-License-Identifier: GPL-2.0 */
/* What orders contexts, see lockclass/order.h: its hooks and its judge. */
#ifndef LOCKSCOPE_HANDOVER_H
#define LOCKSCOPE_HANDOVER_H

#include <linux/types.h>

/* The current context lets others go on who wait for @what. Any context, preemption off. */
void ls_completed(u64 what);
/* The current context has waited for @what. Any context, preemption off. */
void ls_waited(u64 what);

struct ls_now;
/* Follow the way of the object that is accessed from context to context. */
void ls_handover_follow(struct ls_now *n);
/* For ls_shadow_rules, @cookie a struct ls_now. */
bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp);
void ls_handover_forget(u64 start);
void ls_handover_clear(void);

#endif /* LOCKSCOPE_HANDOVER_H */
