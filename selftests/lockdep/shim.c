// SPDX-License-Identifier: GPL-2.0
/*
 * lib/locking-selftest.c of the kernel's source, as it is, compiled as part of a
 * module against the headers of a kernel without lockdep. Everything the suite
 * includes comes first, so that what is redefined below reaches only the suite.
 *
 * Locks are real: the suite runs the same lock functions as any other code. What
 * it says to lockdep alone goes to LockScope by the annotations every author of
 * a module may use.
 */
#include <linux/debug_locks.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/local_lock.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/stringify.h>
#include <linux/ww_mutex.h>

#include "annotate.h"
#include "suite.h"

/*
 * dotest() has parameters of these names. Where it is not dotest() that writes
 * debug_locks_silent, these are meant.
 */
static void (*const testcase_fn)(void);
static const int expected;

#undef debug_locks
#define debug_locks (*suite_verdict())
#undef debug_locks_silent
#define debug_locks_silent (*suite_before_case(testcase_fn, expected))

#undef printk
#define printk(...) suite_print(__VA_ARGS__)
#undef pr_cont
#define pr_cont(...) suite_print_cont(__VA_ARGS__)

/* Parts of the suite that need lockdep or its stricter rules are to be compiled. */
#define CONFIG_PROVE_LOCKING 1
#define CONFIG_PROVE_RAW_LOCK_NESTING 1

/* On a kernel without lockdep there is nothing behind these. */
#undef locking_selftest
#undef lockdep_reset
#define lockdep_reset() do { } while (0)

/* This kernel recognises interrupts by the preempt count, and so does LockScope. */
#undef __irq_enter
#define __irq_enter() preempt_count_add(HARDIRQ_OFFSET)
#undef __irq_exit
#define __irq_exit() preempt_count_sub(HARDIRQ_OFFSET)
#undef lockdep_hardirq_threaded
#define lockdep_hardirq_threaded() do { } while (0)
#undef lockdep_softirq_enter
#define lockdep_softirq_enter() preempt_count_add(SOFTIRQ_OFFSET)
#undef lockdep_softirq_exit
#define lockdep_softirq_exit() preempt_count_sub(SOFTIRQ_OFFSET)

/*
 * Each place that initialises a lock is a class, as with lockdep. The name must
 * differ from place to place, and a line of the suite has several. The annotation
 * comes first: afterwards the lock looks free.
 */
#define SITE_NAME(lock) lock " of place " __stringify(__COUNTER__)

#undef spin_lock_init
#define spin_lock_init(lock)					\
	do {							\
		lockscope_init_lock(lock, SITE_NAME(#lock));	\
		*(lock) = __SPIN_LOCK_UNLOCKED(*(lock));	\
	} while (0)
#undef raw_spin_lock_init
#define raw_spin_lock_init(lock)				\
	do {							\
		lockscope_init_lock(lock, SITE_NAME(#lock));	\
		*(lock) = __RAW_SPIN_LOCK_UNLOCKED(*(lock));	\
	} while (0)
#undef rwlock_init
#define rwlock_init(lock)					\
	do {							\
		lockscope_init_lock(lock, SITE_NAME(#lock));	\
		*(lock) = __RW_LOCK_UNLOCKED(*(lock));		\
	} while (0)
#undef mutex_init
#define mutex_init(lock)					\
	do {							\
		static struct lock_class_key key;		\
								\
		lockscope_init_lock(lock, SITE_NAME(#lock));	\
		__mutex_init(lock, #lock, &key);		\
	} while (0)
#undef init_rwsem
#define init_rwsem(sem)						\
	do {							\
		static struct lock_class_key key;		\
								\
		lockscope_init_lock(sem, SITE_NAME(#sem));	\
		__init_rwsem(sem, #sem, &key);			\
	} while (0)
#undef rt_mutex_init
#define rt_mutex_init(lock)					\
	do {							\
		static struct lock_class_key key;		\
								\
		lockscope_init_lock(lock, SITE_NAME(#lock));	\
		(__rt_mutex_init)(lock, #lock, &key);		\
	} while (0)
/* A key stands for one class. */
#define __rt_mutex_init(lock, name, key)			\
	do {							\
		lockscope_init_lock(lock, "rt_mutex of key " #key);	\
		(__rt_mutex_init)(lock, name, key);		\
	} while (0)
#define ww_mutex_init(lock, class)				\
	do {							\
		lockscope_init_lock(&(lock)->base, #class "_mutex");	\
		(ww_mutex_init)(lock, class);			\
	} while (0)

/* Their second argument exists for lockdep alone. */
#undef spin_lock_nest_lock
#define spin_lock_nest_lock(lock, nest)				\
	do {							\
		lockscope_nest_lock(lock, nest);		\
		spin_lock(lock);				\
	} while (0)
#undef mutex_lock_nest_lock
#define mutex_lock_nest_lock(lock, nest)			\
	do {							\
		lockscope_nest_lock(lock, nest);		\
		mutex_lock(lock);				\
	} while (0)

/* The acquire context of ww_mutexes is a lock to lockdep. */
#define ww_acquire_init(ctx, class)				\
	do {							\
		(ww_acquire_init)(ctx, class);			\
		lockscope_acquire(ctx, #class "_acquire");	\
	} while (0)
#define ww_acquire_fini(ctx)					\
	do {							\
		lockscope_release(ctx);				\
		(ww_acquire_fini)(ctx);				\
	} while (0)

/*
 * The suite releases or acquires a mutex for lockdep by the address of a member that does not
 * exist; another one identifies the mutex.
 */
#define dep_map wait_lock
#define SUITE_MUTEX_OF(map) container_of(map, struct mutex, wait_lock)
#undef mutex_release
#define mutex_release(map, ip) lockscope_release(SUITE_MUTEX_OF(map))
#undef mutex_acquire
#define mutex_acquire(map, subclass, try, ip)			\
	do {							\
		BUILD_BUG_ON(!(try));				\
		lockscope_acquire_try(SUITE_MUTEX_OF(map), "&ww_lockdep_mutex");	\
	} while (0)

#define spin_unlock(lock)					\
	do {							\
		suite_keep_count();				\
		(spin_unlock)(lock);				\
	} while (0)
#undef read_unlock
#define read_unlock(lock)					\
	do {							\
		suite_keep_count();				\
		_raw_read_unlock(lock);				\
	} while (0)
#undef write_unlock
#define write_unlock(lock)					\
	do {							\
		suite_keep_count();				\
		_raw_write_unlock(lock);			\
	} while (0)

void locking_selftest(void);

#include "locking-selftest.c"

void suite_run(void)
{
	locking_selftest();
}
