/* SPDX-License-Identifier: GPL-2.0 */
/* Acquisitions that cannot return. Any context, preemption off but for ls_hang_init(). */
#ifndef LOCKSCOPE_HANG_H
#define LOCKSCOPE_HANG_H

#include <linux/uaccess.h>

#include "core/state.h"
#include "primitives.h"
#include "spinring.h"

extern bool ls_hang_report;	/* parameter */

const struct ls_held *ls_hang_find(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u32 val);
void ls_hang_wait(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u64 ip, u32 val);

/* hang_say.c */
void ls_hang_init(void);
void ls_hang_say(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, const struct ls_held *held, bool signal);
void ls_hang_say_ring(struct ls_ctx *ctx, const struct ls_spin_view *view, const struct ls_spinner *cpus, u32 nr);

/* spinners.c */
void ls_spinners_init(void);
void ls_spins(u64 lock);

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
