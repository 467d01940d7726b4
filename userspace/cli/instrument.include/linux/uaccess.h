/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * copy_from_user() and copy_to_user() copy in the kernel, without call-outs. The variants that
 * copy inline have KCSAN's calls.
 */
#ifndef LOCKSCOPE_UACCESS_H
#define LOCKSCOPE_UACCESS_H

#include <linux/compiler.h>
#include <linux/instrumented.h>

/* Declared here, so that the declarations in the next header refer to these. */
static __always_inline unsigned long
__lockscope_copy_from_user(void *to, const void __user *from, unsigned long n);
static __always_inline unsigned long
__lockscope_copy_to_user(void __user *to, const void *from, unsigned long n);

#define _copy_from_user __lockscope_copy_from_user
#define _copy_to_user __lockscope_copy_to_user
#include_next <linux/uaccess.h>
#undef _copy_from_user
#undef _copy_to_user

extern __must_check unsigned long _copy_from_user(void *to, const void __user *from, unsigned long n);
extern __must_check unsigned long _copy_to_user(void __user *to, const void *from, unsigned long n);

static __always_inline unsigned long
__lockscope_copy_from_user(void *to, const void __user *from, unsigned long n)
{
	instrument_copy_from_user_before(to, from, n);
	return _copy_from_user(to, from, n);
}

static __always_inline unsigned long
__lockscope_copy_to_user(void __user *to, const void *from, unsigned long n)
{
	instrument_copy_to_user(to, from, n);
	return _copy_to_user(to, from, n);
}

#endif
