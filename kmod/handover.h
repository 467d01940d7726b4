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

/* A new stamp: everything before is stamped lower. */
u32 ls_order_tick(void);
/* Is what @from did before @stamp before all that @to does now? */
bool ls_order_known(u32 from, u32 to, u32 stamp);

void ls_order_clear(void);

#endif /* LOCKSCOPE_HANDOVER_H */
