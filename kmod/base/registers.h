/* SPDX-License-Identifier: GPL-2.0 */
/* Operands of instructions from the registers of a trapped context. */
#ifndef LOCKSCOPE_REGISTERS_H
#define LOCKSCOPE_REGISTERS_H

#include <linux/ptrace.h>

#include "sites.h"

/* Register @number of struct pt_regs @regs, in the instruction set's order. */
static __always_inline ls_u64 ls_register(const void *regs, ls_u32 number)
{
	static const u16 offsets[16] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	return *(const unsigned long *)((const char *)regs + offsets[number]);
}

#endif /* LOCKSCOPE_REGISTERS_H */
