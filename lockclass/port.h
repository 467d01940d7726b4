/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requirements of lockclass/ on a compiler: exact types and atomics. The same sources are
 * built into the module, the userspace tests and the fuzzers, so no libc or kernel header may
 * be included here.
 */
#ifndef LOCKSCOPE_PORT_H
#define LOCKSCOPE_PORT_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

typedef __UINT8_TYPE__ ls_u8;
typedef __UINT16_TYPE__ ls_u16;
typedef __UINT32_TYPE__ ls_u32;
typedef __UINT64_TYPE__ ls_u64;
typedef __INT32_TYPE__ ls_s32;
typedef __SIZE_TYPE__ ls_size;

#define ls_likely(x) __builtin_expect(!!(x), 1)
#define ls_unlikely(x) __builtin_expect(!!(x), 0)
#define LS_INLINE static inline __attribute__((__always_inline__))
/* Not initialised even where the compiler zeroes locals: for large ones on hot paths. */
#define LS_UNSET __attribute__((__uninitialized__))
#define LS_MUST_CHECK __attribute__((__warn_unused_result__))
#define LS_COLD __attribute__((__cold__, __noinline__))

#define ls_load(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define ls_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define ls_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define ls_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ls_fetch_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define ls_fetch_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL)
#define ls_fetch_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL)

/* On failure *expected gets the value found. */
#define ls_cmpxchg(p, expected, desired) \
	__atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* The compiler may not move memory accesses across; the CPU may. */
#define ls_barrier() __asm__ __volatile__("" ::: "memory")

#endif /* LOCKSCOPE_PORT_H */
