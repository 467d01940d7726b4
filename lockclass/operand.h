/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an x86 instruction does with its memory operand: of those that compilers make
 * of accesses to variables. Others are not known, which is never wrong.
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

/* LS_ACC_* of the memory operand and its size in bytes; 0 where it is not known. */
ls_u32 ls_operand_op(const struct ls_opcode *o, ls_u32 *size);

/* Is the field of ModRM a part of the opcode, and names no register? */
bool ls_operand_is_group(ls_u16 code);

/* Is the instruction at @code, of @bytes or more, a repeated one on strings? */
bool ls_operand_repeats(const ls_u8 *code, ls_u32 bytes);

#endif /* LOCKSCOPE_OPERAND_H */
