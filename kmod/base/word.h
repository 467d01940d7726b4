/* SPDX-License-Identifier: GPL-2.0 */
/* Reads of kernel memory that may not be mapped. */
#ifndef LOCKSCOPE_WORD_H
#define LOCKSCOPE_WORD_H

#include <linux/types.h>
#include <linux/uaccess.h>

/* The word at @from, or 0 when it cannot be read. Any context. */
static __always_inline u64 ls_word_at(const void *from)
{
	u64 word;

	/* A fault on any other address is an oops, whatever the exception table says. */
	if ((s64)from >= 0)
		return 0;
	__get_kernel_nofault(&word, (const u64 *)from, u64, gone);
	return word;
gone:
	return 0;
}

#endif /* LOCKSCOPE_WORD_H */
