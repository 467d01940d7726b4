// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes the instruction that hit a watchpoint. The trap comes after it, and the processor
 * only reports that a watched byte was accessed. Type, size and address come from the code and
 * the registers; an access of which one is uncertain is dropped. Context as in an NMI.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <asm/insn.h>

#include "base/lookup.h"
#include "base/registers.h"
#include "check/access/access.h"
#include "operand.h"

#define FRAMES 8	/* searched for frames of this module */
#define CALL 0xe8
#define BREAKPOINT 0xcc

static typeof(insn_decode) *decode;
static typeof(stack_trace_save_regs) *save_regs;

void ls_trapped_init(void)
{
	decode = (void *)ls_symbol("insn_decode");
	save_regs = (void *)ls_symbol("stack_trace_save_regs");
}

/* Does control flow not reach the next instruction? Then a breakpoint byte there may be padding. */
static bool leaves(const struct insn *insn)
{
	u8 code = insn->opcode.bytes[0];

	return code == 0xc3 || code == 0xe9 || code == 0xeb || code == BREAKPOINT;
}

/*
 * Does the function have call-outs? Then those report each of its accesses with type and
 * marking, and what they leave out is not checked. A hooked function calls this module at its
 * start, from ftrace's call site.
 */
static bool is_instrumented(const u8 *start, const u8 *end)
{
	const u8 *at;

	for (at = start; at + 5 <= end; at++) {
		if (*at != CALL || at == start || at == start + 4)
			continue;
		if (within_module((unsigned long)at + 5 + *(const s32 *)(at + 1), THIS_MODULE))
			return true;
	}
	return false;
}

/* Decode the instruction that ends at @ip, from the begin of the function. */
static bool decode_before(const u8 *start, const u8 *ip, const u8 *end, struct insn *insn)
{
	bool left = false;

	while (start < ip) {
		if (decode(insn, start, min_t(long, end - start, MAX_INSN_SIZE), INSN_MODE_KERN) < 0)
			return false;
		/* The bytes behind a probe's breakpoint are hidden. */
		if (insn->opcode.bytes[0] == BREAKPOINT && !left)
			return false;
		left = leaves(insn);
		start += insn->length;
	}
	return start == ip;
}

/* Base, index and displacement; false where the registers may have changed since. */
static bool find_operand(struct insn *insn, u16 code, struct ls_site *s)
{
	u8 modrm = insn->modrm.bytes[0], sib = insn->sib.bytes[0], rex = insn->rex_prefix.bytes[0];
	u8 mod = X86_MODRM_MOD(modrm), changed;

	if (!insn->modrm.nbytes || mod == 3 || insn->addr_bytes != 8)
		return false;
	s->index = LS_BASE_NONE;
	s->scale = 1;
	s->disp = insn->displacement.value;
	s->base = X86_MODRM_RM(modrm) | (X86_REX_B(rex) ? 8 : 0);
	if (X86_MODRM_RM(modrm) == 4) {
		s->base = X86_SIB_BASE(sib) | (X86_REX_B(rex) ? 8 : 0);
		s->index = X86_SIB_INDEX(sib) | (X86_REX_X(rex) ? 8 : 0);
		s->scale = 1 << X86_SIB_SCALE(sib);
		if (s->index == 4)
			s->index = LS_BASE_NONE;
		if (!mod && X86_SIB_BASE(sib) == 5)
			s->base = LS_BASE_NONE;
	} else if (!mod && X86_MODRM_RM(modrm) == 5) {
		s->base = LS_BASE_RIP;
		s->disp += s->ip;
	}
	if (!ls_operand_is_group(code)) {
		changed = X86_MODRM_REG(modrm) | (X86_REX_R(rex) ? 8 : 0);
		if (s->base == changed || s->index == changed)
			return false;
	}
	/* cmpxchg */
	return (code & ~1) != 0x0fb0 || (s->base && s->index);
}

/*
 * What the instruction before @regs->ip accessed. False when that is uncertain, which it will
 * be at the next hit, too.
 */
bool ls_trapped_decode(const struct pt_regs *regs, struct ls_site *s)
{
	unsigned long ip = regs->ip, size, offset;
	struct ls_opcode o = { };
	struct insn insn;
	const u8 *start, *end;
	u32 bytes, i;

	if (!decode || !ls_size_offset || !ls_size_offset(ip, &size, &offset) || !offset)
		return false;
	start = (const u8 *)ip - offset;
	end = start + size;
	/* A string instruction traps before its last iteration. */
	if (ls_operand_repeats((const u8 *)ip, min_t(u32, size - offset, 4)) ||
	    is_instrumented(start, end) || !decode_before(start, (const u8 *)ip, end, &insn) ||
	    insn.vex_prefix.value)
		return false;
	*s = (struct ls_site){ .ip = ip };
	for (i = 0; i < ARRAY_SIZE(insn.prefixes.bytes); i++) {
		switch (insn.prefixes.bytes[i]) {
		case 0xf0:
		/* Replaces a lock prefix on uniprocessors. */
		case 0x3e:
			o.locked = true;
			break;
		case 0x65:
			s->percpu = 1;
			break;
		case 0x64:
			return false;
		}
	}
	o.code = insn.opcode.bytes[0];
	if (o.code == 0x0f) {
		if (insn.opcode.nbytes != 2)
			return false;
		o.code = 0x0f00 | insn.opcode.bytes[1];
	}
	o.reg = X86_MODRM_REG(insn.modrm.bytes[0]);
	o.width = insn.opnd_bytes;
	s->op = ls_operand_op(&o, &bytes);
	s->size = bytes;
	return s->op && find_operand(&insn, o.code, s);
}

/* Was the function called by this module, as memcpy() may be? */
bool ls_trapped_in_us(struct pt_regs *regs)
{
	unsigned long frames[FRAMES];
	u32 i, nr = save_regs ? save_regs(regs, frames, FRAMES, 0) : 0;

	for (i = 0; i < nr; i++)
		if (within_module(frames[i], THIS_MODULE))
			return true;
	return !nr;
}
