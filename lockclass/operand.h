/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an x86 instruction does with its memory operand: for those that compilers generate for
 * accesses to variables. Others are reported as unknown.
 */
#ifndef LOCKSCOPE_OPERAND_H
#define LOCKSCOPE_OPERAND_H

#include "abi.h"
#include "port.h"

struct ls_opcode {
	ls_u16 code;	/* one byte, or 0x0f00 and the second one */
	ls_u8 reg;	/* the field of ModRM, 0 .. 7 */
	ls_u8 width;	/* of operands by prefixes: 2, 4 or 8 bytes */
	bool locked;
};

/* LS_ACC_* of the memory operand and its size in bytes; 0 for unknown ones. */
ls_u32 ls_operand_op(const struct ls_opcode *o, ls_u32 *size);

/* Is the reg field of ModRM part of the opcode, and not a register? */
bool ls_operand_is_group(ls_u16 code);

/* Is the instruction at @code, of @bytes or more, a string instruction with a repeat prefix? */
bool ls_operand_repeats(const ls_u8 *code, ls_u32 bytes);

#endif /* LOCKSCOPE_OPERAND_H */
