/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What orders two contexts for certain: one waits for the other. Locks are not
 * among it: that one came after the other once says nothing of the next time.
 * The order is not transitive, for the same reason.
 */
#ifndef LOCKSCOPE_HANDOVER_H
#define LOCKSCOPE_HANDOVER_H

#include <linux/types.h>

/* The current context lets others go on who wait for @what. Any context, preemption off. */
void ls_completed(u64 what);
/* The current context has waited for @what. Any context, preemption off. */
void ls_waited(u64 what);

struct ls_now;
struct ls_object;
/*
 * The object at @unit was last touched by the context of @last: then it is now, with
 * the locks of @last. Else false.
 */
bool ls_handover_same(struct ls_object *o, u64 unit, u64 last);
/* Follow the way of the object that is accessed from context to context. */
void ls_handover_follow(struct ls_now *n);
/* For ls_shadow_rules, @cookie a struct ls_now. */
bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp);
void ls_handover_forget(u64 start);
void ls_handover_clear(void);

#endif /* LOCKSCOPE_HANDOVER_H */
