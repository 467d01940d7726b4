/* SPDX-License-Identifier: GPL-2.0 */
/* Preemption in hooks. */
#ifndef LOCKSCOPE_PREEMPT_H
#define LOCKSCOPE_PREEMPT_H

#include <linux/preempt.h>

/*
 * preempt_enable() without the reschedule: a hook may run where scheduling is not allowed. A
 * pending reschedule waits for the next preemption point.
 */
static __always_inline void ls_leave(void)
{
	barrier();
	__preempt_count_sub(1);
}

#endif /* LOCKSCOPE_PREEMPT_H */
