// SPDX-License-Identifier: GPL-2.0
#include "operand.h"

#define READ LS_ACC_READ
#define WRITE LS_ACC_WRITE

bool ls_operand_is_group(ls_u16 code)
{
	switch (code) {
	case 0x80 ... 0x83:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xf6 ... 0xf7:
	case 0xfe ... 0xff:
	case 0x0f90 ... 0x0f9f:
	case 0x0fba:
		return true;
	}
	return false;
}

/* In pairs of opcodes the even one has byte operands. */
static ls_u32 pair_size(const struct ls_opcode *o)
{
	return o->code & 1 ? o->width : 1;
}

ls_u32 ls_operand_op(const struct ls_opcode *o, ls_u32 *size)
{
	const ls_u32 both = READ | WRITE | (o->locked ? LS_ACC_ATOMIC : 0);

	*size = pair_size(o);
	switch (o->code) {
	case 0x00 ... 0x3f:	/* add, or, adc, sbb, and, sub, xor, cmp */
		if ((o->code & 7) >= 4)
			return 0;
		return o->code & 2 || o->code >= 0x38 ? READ : both;
	case 0x80 ... 0x81:	/* the same with a constant */
	case 0x83:
		return o->reg == 7 ? READ : both;
	case 0x84 ... 0x85:	/* test */
	case 0x8a ... 0x8b:	/* mov */
		return READ;
	case 0x88 ... 0x89:
		return WRITE;
	case 0xc6 ... 0xc7:
		return o->reg ? 0 : WRITE;
	case 0x86 ... 0x87:	/* xchg locks by itself */
		return READ | WRITE | LS_ACC_ATOMIC;
	case 0xc0 ... 0xc1:	/* shifts */
	case 0xd0 ... 0xd3:
	case 0x0fb0 ... 0x0fb1:	/* cmpxchg */
	case 0x0fc0 ... 0x0fc1:	/* xadd */
		return both;
	case 0xf6 ... 0xf7:	/* test, not, neg; mul and div change other registers */
		return o->reg < 2 ? READ : o->reg < 4 ? both : 0;
	case 0xfe ... 0xff:	/* inc, dec */
		return o->reg < 2 ? both : 0;
	case 0x63:		/* movsxd */
		*size = 4;
		return READ;
	case 0x69:		/* imul */
	case 0x6b:
	case 0x0faf:
	case 0x0f40 ... 0x0f4f:	/* cmov reads in any case */
		*size = o->width;
		return READ;
	case 0x0f90 ... 0x0f9f:	/* set */
		*size = 1;
		return WRITE;
	case 0x0fb6:		/* movzx, movsx */
	case 0x0fbe:
		*size = 1;
		return READ;
	case 0x0fb7:
	case 0x0fbf:
		*size = 2;
		return READ;
	case 0x0fba:		/* bt, bts, btr, btc with a constant */
		*size = o->width;
		return o->reg < 4 ? 0 : o->reg == 4 ? READ : both;
	}
	return 0;
}

bool ls_operand_repeats(const ls_u8 *code, ls_u32 bytes)
{
	bool repeated = false;
	ls_u32 i;

	for (i = 0; i < bytes; i++) {
		if (code[i] == 0xf2 || code[i] == 0xf3)
			repeated = true;
		else if (code[i] != 0x66 && (code[i] & 0xf0) != 0x40)
			break;
	}
	if (!repeated || i == bytes)
		return false;
	return (code[i] >= 0xa4 && code[i] <= 0xa7) || (code[i] >= 0xaa && code[i] <= 0xaf) ||
	       (code[i] >= 0x6c && code[i] <= 0x6f);
}
