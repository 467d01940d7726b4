// SPDX-License-Identifier: GPL-2.0
/* The scenarios of kcsan_test.c that are about atomics, barriers and their order. */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "annotate.h"
#include "races.h"

/* Every barrier there is between accesses of one task: nothing to report. */
struct barriers {
	long v;
	atomic_t n;
	unsigned long bits;
};

static int kcsan_barrier_nothreads_setup(void)
{
	return ls_keep(0, kzalloc(sizeof(struct barriers), GFP_KERNEL));
}

static DEFINE_SPINLOCK(kcsan_barrier_nothreads_s);
static DEFINE_MUTEX(kcsan_barrier_nothreads_m);

#define AROUND(barrier) \
	do { \
		*v = ls_value(); \
		barrier; \
		ls_use(*v); \
	} while (0)

static __side void kcsan_barrier_nothreads_all(void)
{
	struct barriers *b = ls_kept(0);
	long *v = &b->v;
	atomic_t *n = &b->n;
	unsigned long *bits = &b->bits;

	AROUND(mb());
	AROUND(wmb());
	AROUND(rmb());
	AROUND(smp_mb());
	AROUND(smp_wmb());
	AROUND(smp_rmb());
	AROUND(dma_wmb());
	AROUND(dma_rmb());
	AROUND(smp_mb__before_atomic());
	AROUND(smp_mb__after_atomic());
	AROUND(smp_mb__after_spinlock());
	AROUND(smp_store_mb(*v, 0));
	AROUND(ls_use(smp_load_acquire(v)));
	AROUND(smp_store_release(v, 0));
	AROUND(ls_use(xchg(v, 0)));
	AROUND(ls_use(xchg_release(v, 0)));
	AROUND(ls_use(xchg_relaxed(v, 0)));
	AROUND(ls_use(cmpxchg(v, 0, 0)));
	AROUND(ls_use(cmpxchg_release(v, 0, 0)));
	AROUND(ls_use(cmpxchg_relaxed(v, 0, 0)));
	AROUND(ls_use(atomic_read_acquire(n)));
	AROUND(atomic_set_release(n, 0));
	AROUND(atomic_add(1, n));
	AROUND(ls_use(atomic_add_return(1, n)));
	AROUND(ls_use(atomic_fetch_add_acquire(1, n)));
	AROUND(ls_use(atomic_fetch_add_release(1, n)));
	AROUND(ls_use(atomic_fetch_add_relaxed(1, n)));
	AROUND(ls_use(test_and_set_bit(0, bits)));
	AROUND(ls_use(test_and_change_bit(0, bits)));
	AROUND(ls_use(test_and_clear_bit(0, bits)));
	AROUND(clear_bit_unlock(0, bits));
	AROUND(__clear_bit_unlock(0, bits));
	AROUND(spin_lock(&kcsan_barrier_nothreads_s));
	AROUND(spin_unlock(&kcsan_barrier_nothreads_s));
	AROUND(mutex_lock(&kcsan_barrier_nothreads_m));
	AROUND(mutex_unlock(&kcsan_barrier_nothreads_m));
}

/* The compiler's atomics are atomic. */
static long kcsan_atomic_builtins_v __shared;

static __side void kcsan_atomic_builtins_load(void)
{
	ls_use(__atomic_load_n(&kcsan_atomic_builtins_v, __ATOMIC_RELAXED));
}

static __side void kcsan_atomic_builtins_all(void)
{
	long *v = &kcsan_atomic_builtins_v, old = 20;

	__atomic_store_n(v, 42, __ATOMIC_RELAXED);
	ls_use(__atomic_exchange_n(v, 20, __ATOMIC_RELAXED));
	__atomic_compare_exchange_n(v, &old, 30, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	old = 20;
	__atomic_compare_exchange_n(v, &old, 40, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	ls_use(__atomic_fetch_add(v, 1, __ATOMIC_RELAXED));
	ls_use(__atomic_fetch_sub(v, 1, __ATOMIC_RELAXED));
	ls_use(__atomic_fetch_and(v, 0xf, __ATOMIC_RELAXED));
	ls_use(__atomic_fetch_xor(v, 0xf, __ATOMIC_RELAXED));
	ls_use(__atomic_fetch_or(v, 0xf0, __ATOMIC_RELAXED));
	ls_use(__atomic_fetch_nand(v, 0xf, __ATOMIC_RELAXED));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * A lock made by hand from a word, @take when it is free and @give. For LockScope it is
 * annotated as a lock; whether its barriers are strong enough cannot be decided by locksets.
 */
#define MADE_BY_HAND(name, take, give) \
	static long name##_v __shared; \
	static long name##_flag; \
	static __side void name##_count(void) \
	{ \
		long *flag = &name##_flag, unlocked = 0; \
		unsigned int i; \
		(void)unlocked; \
		if (!(take)) \
			return; \
		lockscope_acquire_try(flag, #name "_flag"); \
		for (i = 0; i < 100; i++) { \
			name##_v++; \
			barrier(); \
		} \
		lockscope_release(flag); \
		give; \
	}

MADE_BY_HAND(kcsan_correct_barrier, cmpxchg_acquire(flag, 0, 1) == 0,
	     smp_store_release(flag, 0))
MADE_BY_HAND(kcsan_missing_barrier, cmpxchg_relaxed(flag, 0, 1) == 0,
	     WRITE_ONCE(*flag, 0))
MADE_BY_HAND(kcsan_atomic_builtins_correct_barrier,
	     __atomic_compare_exchange_n(flag, &unlocked, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED),
	     __atomic_store_n(flag, 0, __ATOMIC_RELEASE))
MADE_BY_HAND(kcsan_atomic_builtins_missing_barrier,
	     __atomic_compare_exchange_n(flag, &unlocked, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED),
	     __atomic_store_n(flag, 0, __ATOMIC_RELAXED))

#define BOTH(function) { SIDE(function), SIDE(function) }

const struct ls_case kcsan_atomic_cases[] = {
	{ "kcsan_barrier_nothreads", LS_TWIN, LS_RACE, "barriers in one task",
	  "", kcsan_barrier_nothreads_setup, ls_free_kept,
	  { SIDE(kcsan_barrier_nothreads_all) } },
	{ "kcsan_atomic_builtins", LS_TWIN, LS_RACE, "atomics of the compiler",
	  "", .side = { SIDE(kcsan_atomic_builtins_load), SIDE(kcsan_atomic_builtins_all) } },
	{ "kcsan_correct_barrier", LS_TWIN, LS_RACE, "lock made by hand, right barriers",
	  "", .side = BOTH(kcsan_correct_barrier_count) },
	{ "kcsan_missing_barrier", LS_FAULT, LS_RACE, "lock made by hand, barriers missing",
	  "", .side = BOTH(kcsan_missing_barrier_count) },
	{ "kcsan_atomic_builtins_correct_barrier", LS_TWIN, LS_RACE,
	  "lock made of the compiler's atomics, right barriers",
	  "", .side = BOTH(kcsan_atomic_builtins_correct_barrier_count) },
	{ "kcsan_atomic_builtins_missing_barrier", LS_FAULT, LS_RACE,
	  "lock made of the compiler's atomics, barriers missing",
	  "", .side = BOTH(kcsan_atomic_builtins_missing_barrier_count) },
	{ }
};
