/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions of unmodified code that access memory, as userspace lists them for
 * probes: what makes sense, where they access, and which of a new list are there
 * already.
 */
#ifndef LOCKSCOPE_SITES_H
#define LOCKSCOPE_SITES_H

#include "abi.h"
#include "port.h"

#define LS_SITE_MAX_SIZE 64		/* bytes that one instruction accesses */

/* Does every field have a value that means something? Nothing is assumed of @s. */
bool ls_site_valid(const struct ls_site *s);

/* The same instruction with the same operand; errors do not count. */
bool ls_site_same(const struct ls_site *a, const struct ls_site *b);

/*
 * Sites of @old that are in @sites too go from there to the same place of @next (of
 * @nr entries, all NULL), and are NULL in @old then; those with an error stay. As
 * many as can be found when both go by address.
 */
void ls_sites_keep(struct ls_site **next, const struct ls_site *sites, ls_u32 nr,
		   struct ls_site **old, ls_u32 nr_old);

/*
 * What the valid site @s accesses: @reg gives register 0 .. 15 of @regs in the
 * instruction set's order, @percpu what %gs points to.
 */
LS_INLINE ls_u64 ls_site_address(const struct ls_site *s, ls_u64 (*reg)(const void *regs, ls_u32 nr),
				 const void *regs, ls_u64 percpu)
{
	ls_u64 addr = s->disp;

	if (s->base < 16)
		addr += reg(regs, s->base);
	if (s->index < 16)
		addr += reg(regs, s->index) * s->scale;
	return s->percpu ? addr + percpu : addr;
}

#endif /* LOCKSCOPE_SITES_H */
