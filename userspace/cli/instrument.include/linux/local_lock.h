/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * without PREEMPT_RT a local lock only disables preemption or interrupts; it is reported as a
 * lock of its CPU.
 */
#ifndef LOCKSCOPE_LOCAL_LOCK_H
#define LOCKSCOPE_LOCAL_LOCK_H

#include_next <linux/local_lock.h>

#include <lockscope/annotate.h>

#define __lockscope_local_acquire(lock) \
	lockscope_acquire_member((const volatile void *)this_cpu_ptr(lock), 0, #lock)
#define __lockscope_local_release(lock) \
	lockscope_release_member((const volatile void *)this_cpu_ptr(lock))

#undef local_lock
#define local_lock(lock)                                 \
	do {                                             \
		__local_lock(lock);                      \
		__lockscope_local_acquire(lock);         \
	} while (0)

#undef local_lock_irq
#define local_lock_irq(lock)                             \
	do {                                             \
		__local_lock_irq(lock);                  \
		__lockscope_local_acquire(lock);         \
	} while (0)

#undef local_lock_irqsave
#define local_lock_irqsave(lock, flags)                  \
	do {                                             \
		__local_lock_irqsave(lock, flags);       \
		__lockscope_local_acquire(lock);         \
	} while (0)

#undef local_unlock
#define local_unlock(lock)                               \
	do {                                             \
		__lockscope_local_release(lock);         \
		__local_unlock(lock);                    \
	} while (0)

#undef local_unlock_irq
#define local_unlock_irq(lock)                           \
	do {                                             \
		__lockscope_local_release(lock);         \
		__local_unlock_irq(lock);                \
	} while (0)

#undef local_unlock_irqrestore
#define local_unlock_irqrestore(lock, flags)             \
	do {                                             \
		__lockscope_local_release(lock);         \
		__local_unlock_irqrestore(lock, flags);  \
	} while (0)

#endif
