// SPDX-License-Identifier: GPL-2.0
/*
 * The compiler's call-outs (-fsanitize=thread) of instrumented modules. Any context. Outside
 * the watched pages an access costs the test and the call.
 *
 * Sequence counters are recognised at any address: a marked read of four bytes may begin a
 * read section, a plain write of four bytes a write section.
 */
/* A kernel without KCSAN has empty functions of these names. */
#define __kcsan_check_access __kcsan_check_nothing
#define kcsan_disable_current kcsan_disable_nothing
#define kcsan_enable_current_nowarn kcsan_enable_nothing
#include <linux/kcsan-checks.h>
#undef __kcsan_check_access
#undef kcsan_disable_current
#undef kcsan_enable_current_nowarn

void __kcsan_check_access(const volatile void *p, size_t size, int type);
void kcsan_disable_current(void);
void kcsan_enable_current_nowarn(void);

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/uaccess.h>

#include "check/access/access.h"

static __always_inline void see(void *addr, u32 size, u32 op, unsigned long ip)
{
	unsigned long user;

	if (likely(!ls_watched((unsigned long)addr)) && likely(!ls_sample_is_cold(&ls_sample, ip)))
		return;
	/* May be amid accesses to user memory; this module does none. */
	user = user_access_save();
	ls_access((unsigned long)addr, size, op, ip);
	user_access_restore(user);
}

/* Declared here: kernel headers only have them with KCSAN. */
#define ACCESS(name, size, op, seq)					\
	void __tsan_##name(void *addr);					\
	void __tsan_##name(void *addr)					\
	{								\
		if (seq)						\
			ls_access_seq((unsigned long)addr, op, _RET_IP_);	\
		see(addr, size, op, _RET_IP_);				\
	}								\
	EXPORT_SYMBOL(__tsan_##name)

#define SIZE(n)								\
	ACCESS(read##n, n, LS_ACC_READ, false);				\
	ACCESS(write##n, n, LS_ACC_WRITE, n == 4);			\
	ACCESS(unaligned_read##n, n, LS_ACC_READ, false);		\
	ACCESS(unaligned_write##n, n, LS_ACC_WRITE, n == 4);		\
	ACCESS(volatile_read##n, n, LS_ACC_READ | LS_ACC_MARKED, n == 4);	\
	ACCESS(volatile_write##n, n, LS_ACC_WRITE | LS_ACC_MARKED, false);	\
	ACCESS(unaligned_volatile_read##n, n, LS_ACC_READ | LS_ACC_MARKED, n == 4);	\
	ACCESS(unaligned_volatile_write##n, n, LS_ACC_WRITE | LS_ACC_MARKED, false);	\
	ACCESS(read_write##n, n, LS_ACC_READ | LS_ACC_WRITE, n == 4);		\
	ACCESS(unaligned_read_write##n, n, LS_ACC_READ | LS_ACC_WRITE, n == 4)

SIZE(1);
SIZE(2);
SIZE(4);
SIZE(8);
SIZE(16);

#define MAX_BLOCK (16 * PAGE_SIZE)	/* of one read or write; the rest is counted */

/* Not checked; a loss where part of it is watched. */
static __always_inline void lose_rest(unsigned long at, unsigned long end)
{
	for (; at < end; at = (at | ((1ul << LS_BLOCK_SHIFT) - 1)) + 1) {
		if (ls_watched(at)) {
			ls_lose_access(LS_ALOSS_RANGE);
			break;
		}
	}
}

static __always_inline void see_range(void *addr, size_t size, u32 op, unsigned long ip)
{
	unsigned long at = (unsigned long)addr, end = at + min(size, MAX_BLOCK);

	if (unlikely(size > MAX_BLOCK))
		lose_rest(end, at + size);
	if (size > 8)
		op |= LS_ACC_RANGE;
	/* Page by page: not all of them need be watched. */
	while (at < end) {
		unsigned long stop = min(end, (at | ~PAGE_MASK) + 1);

		see((void *)at, stop - at, op, ip);
		at = stop;
	}
}

void __tsan_read_range(void *addr, size_t size);
void __tsan_read_range(void *addr, size_t size)
{
	see_range(addr, size, LS_ACC_READ, _RET_IP_);
}
EXPORT_SYMBOL(__tsan_read_range);

void __tsan_write_range(void *addr, size_t size);
void __tsan_write_range(void *addr, size_t size)
{
	see_range(addr, size, LS_ACC_WRITE, _RET_IP_);
}
EXPORT_SYMBOL(__tsan_write_range);

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
}
EXPORT_SYMBOL(__tsan_func_entry);

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
EXPORT_SYMBOL(__tsan_func_exit);

void __tsan_init(void);
void __tsan_init(void)
{
}
EXPORT_SYMBOL(__tsan_init);

/* Atomic builtins: the call-out has to perform the operation itself. */
#define RMW (LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC)
#define FETCH(bits, what)						\
	u##bits __tsan_atomic##bits##_fetch_##what(u##bits *p, u##bits v, int order);	\
	u##bits __tsan_atomic##bits##_fetch_##what(u##bits *p, u##bits v, int order)	\
	{								\
		see(p, bits / 8, RMW, _RET_IP_);			\
		return __atomic_fetch_##what(p, v, __ATOMIC_SEQ_CST);	\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_fetch_##what)

#define EXCHANGE_IF(bits, strength, weak)				\
	int __tsan_atomic##bits##_compare_exchange_##strength(u##bits *p, u##bits *old, u##bits v,	\
							      int order, int failed);	\
	int __tsan_atomic##bits##_compare_exchange_##strength(u##bits *p, u##bits *old, u##bits v,	\
							      int order, int failed)	\
	{								\
		see(p, bits / 8, RMW, _RET_IP_);			\
		return __atomic_compare_exchange_n(p, old, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_compare_exchange_##strength)

#define ATOMIC(bits)							\
	u##bits __tsan_atomic##bits##_load(const u##bits *p, int order);	\
	u##bits __tsan_atomic##bits##_load(const u##bits *p, int order)	\
	{								\
		see((void *)p, bits / 8, LS_ACC_READ | LS_ACC_ATOMIC, _RET_IP_);	\
		return __atomic_load_n(p, __ATOMIC_SEQ_CST);		\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_load);			\
	void __tsan_atomic##bits##_store(u##bits *p, u##bits v, int order);	\
	void __tsan_atomic##bits##_store(u##bits *p, u##bits v, int order)	\
	{								\
		see(p, bits / 8, LS_ACC_WRITE | LS_ACC_ATOMIC, _RET_IP_);	\
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST);		\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_store);			\
	u##bits __tsan_atomic##bits##_exchange(u##bits *p, u##bits v, int order);	\
	u##bits __tsan_atomic##bits##_exchange(u##bits *p, u##bits v, int order)	\
	{								\
		see(p, bits / 8, RMW, _RET_IP_);			\
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);	\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_exchange);			\
	FETCH(bits, add);						\
	FETCH(bits, sub);						\
	FETCH(bits, and);						\
	FETCH(bits, or);						\
	FETCH(bits, xor);						\
	FETCH(bits, nand);						\
	EXCHANGE_IF(bits, strong, 0);					\
	EXCHANGE_IF(bits, weak, 1);					\
	u##bits __tsan_atomic##bits##_compare_exchange_val(u##bits *p, u##bits old, u##bits v,	\
							   int order, int failed);	\
	u##bits __tsan_atomic##bits##_compare_exchange_val(u##bits *p, u##bits old, u##bits v,	\
							   int order, int failed)	\
	{								\
		see(p, bits / 8, RMW, _RET_IP_);			\
		__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
		return old;						\
	}								\
	EXPORT_SYMBOL(__tsan_atomic##bits##_compare_exchange_val)

ATOMIC(8);
ATOMIC(16);
ATOMIC(32);
ATOMIC(64);

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
EXPORT_SYMBOL(__tsan_atomic_thread_fence);

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
}
EXPORT_SYMBOL(__tsan_atomic_signal_fence);

/*
 * KCSAN's own: atomic and bit operations, which the kernel has in assembly, copies from and to
 * user memory, and data_race(), which marks intended races: nothing is checked inside. The
 * headers in instrument.include/ generate the calls. Assertions are left to KCSAN.
 */
void __kcsan_check_access(const volatile void *p, size_t size, int type)
{
	u32 op = type & KCSAN_ACCESS_ATOMIC ? LS_ACC_ATOMIC : 0;

	if (type & KCSAN_ACCESS_ASSERT)
		return;
	if (type & KCSAN_ACCESS_WRITE)
		op |= LS_ACC_WRITE;
	if (!(type & KCSAN_ACCESS_WRITE) || type & KCSAN_ACCESS_COMPOUND)
		op |= LS_ACC_READ;
	see_range((void *)p, size, op, _RET_IP_);
}
EXPORT_SYMBOL(__kcsan_check_access);

void kcsan_disable_current(void)
{
	unsigned long user = user_access_save();

	ls_access_allow_races(true);
	user_access_restore(user);
}
EXPORT_SYMBOL(kcsan_disable_current);

void kcsan_enable_current_nowarn(void)
{
	unsigned long user = user_access_save();

	ls_access_allow_races(false);
	user_access_restore(user);
}
EXPORT_SYMBOL(kcsan_enable_current_nowarn);
