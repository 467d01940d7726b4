/* SPDX-License-Identifier: GPL-2.0 */
/* Acquisitions that cannot return. Any context, preemption off. */
#ifndef LOCKSCOPE_HANG_H
#define LOCKSCOPE_HANG_H

#include <linux/uaccess.h>

#include "core/state.h"
#include "primitives.h"

extern bool ls_hang_report;	/* parameter */

void ls_hang_init(void);
const struct ls_held *ls_hang_find(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u32 val);
void ls_hang_say(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, const struct ls_held *held);

/*
 * Is an interrupt about to spin? Then the interrupted context may be the owner. The lock word is
 * read without a fault: if the address is wrong, the kernel's own access is to show it.
 */
static __always_inline bool ls_hang_suspected(u32 level, u64 lock, u32 desc)
{
	u32 word;

	if (likely(level == LS_TASK) || !(LS_SPINNING_KINDS >> (desc >> LS_DESC_KIND_SHIFT) & 1) ||
	    (desc & LS_VAL_TRY) || (s64)lock >= 0)
		return false;
	__get_kernel_nofault(&word, (const u32 *)lock, u32, gone);
	return word;
gone:
	return false;
}

#endif /* LOCKSCOPE_HANG_H */
