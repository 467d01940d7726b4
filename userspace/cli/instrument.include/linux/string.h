/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * memcpy(), memmove(), memset() and memcmp() read and write their blocks in assembly or in the
 * kernel, without call-outs. The builtins are replaced because the kernel's size checks call
 * those.
 */
#ifndef LOCKSCOPE_STRING_H
#define LOCKSCOPE_STRING_H

#include <linux/compiler.h>
#include <linux/kcsan-checks.h>
#include <linux/types.h>

#define __lockscope_copy(copy, to, from, n)                               \
	({                                                                \
		void *__ls_to = (to);                                     \
		const void *__ls_from = (from);                           \
		const size_t __ls_n = (n);                                \
		kcsan_check_read(__ls_from, __ls_n);                      \
		kcsan_check_write(__ls_to, __ls_n);                       \
		copy(__ls_to, __ls_from, __ls_n);                         \
	})
#define __builtin_memcpy(to, from, n) __lockscope_copy(__builtin_memcpy, to, from, n)
#define __builtin_memmove(to, from, n) __lockscope_copy(__builtin_memmove, to, from, n)

#define __builtin_memset(to, value, n)                                    \
	({                                                                \
		void *__ls_to = (to);                                     \
		const int __ls_value = (value);                           \
		const size_t __ls_n = (n);                                \
		kcsan_check_write(__ls_to, __ls_n);                       \
		__builtin_memset(__ls_to, __ls_value, __ls_n);            \
	})

#define __builtin_memcmp(a, b, n)                                         \
	({                                                                \
		const void *__ls_a = (a), *__ls_b = (b);                  \
		const size_t __ls_n = (n);                                \
		kcsan_check_read(__ls_a, __ls_n);                         \
		kcsan_check_read(__ls_b, __ls_n);                         \
		__builtin_memcmp(__ls_a, __ls_b, __ls_n);                 \
	})

/* Before the inline functions of the next header, which use them. */
#include <asm/string.h>

#define __lockscope_fill(fill, type, to, value, n)                        \
	({                                                                \
		type *__ls_to = (to);                                     \
		const type __ls_value = (value);                          \
		const size_t __ls_n = (n);                                \
		kcsan_check_write(__ls_to, __ls_n * sizeof(type));        \
		fill(__ls_to, __ls_value, __ls_n);                        \
	})
#define memset16(to, value, n) __lockscope_fill(memset16, uint16_t, to, value, n)
#define memset32(to, value, n) __lockscope_fill(memset32, uint32_t, to, value, n)
#define memset64(to, value, n) __lockscope_fill(memset64, uint64_t, to, value, n)

#include_next <linux/string.h>

/* A file without the size checks. */
#ifndef _LINUX_FORTIFY_STRING_H_
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memmove(to, from, n) __builtin_memmove(to, from, n)
#define memset(to, value, n) __builtin_memset(to, value, n)
#define memcmp(a, b, n) __builtin_memcmp(a, b, n)
#endif

#endif
