/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument`
 * builds. Atomic operations and those on bits are assembly that the compiler does not
 * report, and data_race() marks accesses that are meant to race: both speak to KCSAN
 * through this header. In a kernel without KCSAN its functions are empty; here they are
 * calls, under names that objtool knows.
 */
#ifndef LOCKSCOPE_KCSAN_CHECKS_H
#define LOCKSCOPE_KCSAN_CHECKS_H

#ifdef CONFIG_KCSAN

#include_next <linux/kcsan-checks.h>

#else

#define __kcsan_check_access __kcsan_check_nothing
#define kcsan_disable_current kcsan_disable_nothing
#define kcsan_enable_current_nowarn kcsan_enable_nothing
#include_next <linux/kcsan-checks.h>
#undef __kcsan_check_access
#undef kcsan_disable_current
#undef kcsan_enable_current_nowarn

void __kcsan_check_access(const volatile void *p, size_t size, int type);
void kcsan_disable_current(void);
void kcsan_enable_current_nowarn(void);

#ifdef __SANITIZE_THREAD__

/* Blocks that are copied are no accesses for the compiler either. */
#undef kcsan_check_access
#define kcsan_check_access(p, size, type)                             \
	do {                                                          \
		if ((type) & KCSAN_ACCESS_ATOMIC)                     \
			__kcsan_check_access(p, size, type);          \
	} while (0)

#endif

#endif

#endif
