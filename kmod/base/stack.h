/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_STACK_H
#define LOCKSCOPE_STACK_H

#include <linux/sched.h>
#include <linux/sched/task_stack.h>

/* Does @addr lie on the current task's stack? */
static __always_inline bool ls_on_own_stack(unsigned long addr)
{
	return addr - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

#endif /* LOCKSCOPE_STACK_H */
