/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * bits used as locks, which are inlined, are reported as acquired and released. Bits that
 * share a byte are one lock.
 */
#ifndef LOCKSCOPE_BIT_SPINLOCK_H
#define LOCKSCOPE_BIT_SPINLOCK_H

#include_next <linux/bit_spinlock.h>

#include <lockscope/annotate.h>

#define __lockscope_bit(nr, addr) ((const volatile char *)(addr) + (nr) / 8)

#define bit_spin_lock(nr, addr)                                                           \
	do {                                                                              \
		int __ls_nr = (nr);                                                       \
		unsigned long *__ls_addr = (addr);                                        \
		bit_spin_lock(__ls_nr, __ls_addr);                                        \
		lockscope_acquire_member(__lockscope_bit(__ls_nr, __ls_addr), 0,          \
					 "bit " #nr " of " #addr);                        \
	} while (0)

#define bit_spin_trylock(nr, addr)                                                        \
	({                                                                                \
		int __ls_nr = (nr);                                                       \
		unsigned long *__ls_addr = (addr);                                        \
		int __ls_taken = bit_spin_trylock(__ls_nr, __ls_addr);                    \
		if (__ls_taken)                                                           \
			lockscope_acquire_member(__lockscope_bit(__ls_nr, __ls_addr), 1,  \
						 "bit " #nr " of " #addr);                \
		__ls_taken;                                                               \
	})

#define bit_spin_unlock(nr, addr)                                                         \
	do {                                                                              \
		int __ls_nr = (nr);                                                       \
		unsigned long *__ls_addr = (addr);                                        \
		lockscope_release_member(__lockscope_bit(__ls_nr, __ls_addr));            \
		bit_spin_unlock(__ls_nr, __ls_addr);                                      \
	} while (0)

#define __bit_spin_unlock(nr, addr)                                                       \
	do {                                                                              \
		int __ls_nr = (nr);                                                       \
		unsigned long *__ls_addr = (addr);                                        \
		lockscope_release_member(__lockscope_bit(__ls_nr, __ls_addr));            \
		__bit_spin_unlock(__ls_nr, __ls_addr);                                    \
	} while (0)

#endif
