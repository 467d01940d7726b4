/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * copy_to_iter() and copy_from_iter() copy in the kernel, without call-outs.
 */
#ifndef LOCKSCOPE_UIO_H
#define LOCKSCOPE_UIO_H

#include <linux/compiler.h>
#include <linux/instrumented.h>
#include <linux/types.h>

struct iov_iter;

/* Declared here, so that the declarations in the next header refer to these. */
static __always_inline size_t
__lockscope_copy_to_iter(const void *from, size_t n, struct iov_iter *i);
static __always_inline size_t
__lockscope_copy_from_iter(void *to, size_t n, struct iov_iter *i);
static __always_inline size_t
__lockscope_copy_from_iter_nocache(void *to, size_t n, struct iov_iter *i);

#define _copy_to_iter __lockscope_copy_to_iter
#define _copy_from_iter __lockscope_copy_from_iter
#define _copy_from_iter_nocache __lockscope_copy_from_iter_nocache
#include_next <linux/uio.h>
#undef _copy_to_iter
#undef _copy_from_iter
#undef _copy_from_iter_nocache

size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *i);
size_t _copy_from_iter(void *to, size_t n, struct iov_iter *i);
size_t _copy_from_iter_nocache(void *to, size_t n, struct iov_iter *i);

static __always_inline size_t
__lockscope_copy_to_iter(const void *from, size_t n, struct iov_iter *i)
{
	instrument_read(from, n);
	return _copy_to_iter(from, n, i);
}

static __always_inline size_t
__lockscope_copy_from_iter(void *to, size_t n, struct iov_iter *i)
{
	instrument_write(to, n);
	return _copy_from_iter(to, n, i);
}

static __always_inline size_t
__lockscope_copy_from_iter_nocache(void *to, size_t n, struct iov_iter *i)
{
	instrument_write(to, n);
	return _copy_from_iter_nocache(to, n, i);
}

#endif
