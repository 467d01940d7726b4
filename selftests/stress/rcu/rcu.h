/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All that torture.c wants of kernel/rcu/rcu.h. The kernel exports none of it: there
 * is no trace to dump at the end.
 */
#ifndef LS_STRESS_RCU_H
#define LS_STRESS_RCU_H

#define rcu_ftrace_dump(what) do { } while (0)

#endif /* LS_STRESS_RCU_H */
