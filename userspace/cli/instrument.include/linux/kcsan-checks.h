/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds.
 * Atomic operations, those on bits and copies from and to user memory are assembly that the
 * compiler does not report, and data_race() marks accesses that are meant to race: all of them
 * call KCSAN through this header. In a kernel without KCSAN its functions are empty; here they
 * are calls, under names that objtool knows.
 */
#ifndef LOCKSCOPE_KCSAN_CHECKS_H
#define LOCKSCOPE_KCSAN_CHECKS_H

#ifdef CONFIG_KCSAN

#include_next <linux/kcsan-checks.h>

#else

#define __kcsan_check_access __kcsan_check_nothing
#define kcsan_disable_current kcsan_disable_nothing
#define kcsan_enable_current kcsan_enable_nothing
#define kcsan_enable_current_nowarn kcsan_enable_nowarn_nothing
#include_next <linux/kcsan-checks.h>
#undef __kcsan_check_access
#undef kcsan_disable_current
#undef kcsan_enable_current
#undef kcsan_enable_current_nowarn

void __kcsan_check_access(const volatile void *p, size_t size, int type);
void kcsan_disable_current(void);
void kcsan_enable_current_nowarn(void);

/* The other one warns if it was not disabled. */
#define kcsan_enable_current kcsan_enable_current_nowarn

#endif

#endif
