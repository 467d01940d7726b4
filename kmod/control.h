/* SPDX-License-Identifier: GPL-2.0 */
/* Exported by lockscope.ko for test suites that run inside the kernel. */
#ifndef LOCKSCOPE_CONTROL_H
#define LOCKSCOPE_CONTROL_H

#include <linux/types.h>

/* LS_CTL_* of abi.h. Process context, may sleep. 0 or -errno. */
int lockscope_control(u32 op);

/*
 * Findings of the module since load or LS_CTL_RESET; LS_CTL_FLUSH first, or events may be
 * pending.
 */
u32 lockscope_findings(void);

/*
 * lockdep's stricter rules. @strict: any nesting of a class in itself is a
 * fault, whatever the instances. @recursive_reads: every read_lock() counts as
 * recursive. Process context.
 */
void lockscope_set_rules(bool strict, bool recursive_reads);

/*
 * Clear the held-lock stacks of the current task and of the interrupt levels of its CPU. Any
 * context.
 */
void lockscope_forget_held(void);

#endif /* LOCKSCOPE_CONTROL_H */
