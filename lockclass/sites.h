/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions of unmodified code that access memory, as userspace lists them for probes:
 * validation, operand addresses, and comparison of an old list with a new one.
 */
#ifndef LOCKSCOPE_SITES_H
#define LOCKSCOPE_SITES_H

#include "abi.h"
#include "port.h"

#define LS_SITE_MAX_SIZE 64		/* bytes accessed by one instruction */

/* Are all fields valid? @s may hold anything. */
bool ls_site_valid(const struct ls_site *s);

/* The same instruction with the same operand; errors are ignored. */
bool ls_site_same(const struct ls_site *a, const struct ls_site *b);

/*
 * Move sites of @old that are in @sites too to the same index of @next (@nr entries, all
 * NULL), and set them to NULL in @old; those with an error stay. Finds all of them when both
 * lists are sorted by address.
 */
void ls_sites_keep(struct ls_site **next, const struct ls_site *sites, ls_u32 nr,
		   struct ls_site **old, ls_u32 nr_old);

/*
 * Address that the valid site @s accesses: @reg returns register 0 .. 15 of @regs in the
 * instruction set's order, @percpu is the base of %gs.
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
