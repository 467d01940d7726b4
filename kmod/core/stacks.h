/* SPDX-License-Identifier: GPL-2.0 */
/* Stack traces in hooks. */
#ifndef LOCKSCOPE_STACKS_H
#define LOCKSCOPE_STACKS_H

#include <linux/sched.h>
#include <linux/types.h>

#define LS_FAULT_CALLERS 4	/* frames that distinguish faults without a lock */

void ls_stacks_init(void);
u32 ls_stack_save(unsigned long *frames, u32 size);
u32 ls_stack_keep(u64 *to, const unsigned long *frames, u32 nr, u32 i, u64 ip);
u32 ls_stack_from(u64 *to, unsigned long ip);
u32 ls_task_stack(struct task_struct *task, u64 *to, u64 ip);
u64 ls_callers_of(u64 ip);
bool ls_is_tracer(u64 ip);
u64 ls_caller(u64 ip);
u64 ls_waiter_ip(void);
u64 ls_allocator_caller(void);
u32 ls_task_flags(void);

#endif /* LOCKSCOPE_STACKS_H */
