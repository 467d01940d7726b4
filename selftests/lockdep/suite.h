/* SPDX-License-Identifier: GPL-2.0 */
/* What lockdep's suite, compiled in shim.c, and the judging of it in main.c share. */
#ifndef LS_SUITE_H
#define LS_SUITE_H

#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/types.h>

/* What upstream's dotest() calls debug_locks_silent is written here. */
int *suite_before_case(void (*fn)(void), int expected);

/* debug_locks: 1 while nothing was found. The first call after a case judges it. */
int *suite_verdict(void);

/* Unlocking twice would take the preempt count below 0, where an interrupt looks like none. */
void suite_keep_count(void);

__printf(1, 2) void suite_print(const char *fmt, ...);
__printf(1, 2) void suite_print_cont(const char *fmt, ...);

/* shim.c */
void suite_run(void);

/* Variable of the suite, a constant without lockdep: read_lock() is to count as recursive. */
#undef force_read_lock_recursive
extern unsigned int force_read_lock_recursive;

#endif /* LS_SUITE_H */
