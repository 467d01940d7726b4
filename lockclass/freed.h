/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory with locks that was freed last: object -> where it was allocated, and freed. Direct-mapped:
 * a later free takes the place of an earlier one. Two words to a place, each with a tag of its
 * object, so that halves of two writers are no entry. Any context.
 */
#ifndef LOCKSCOPE_FREED_H
#define LOCKSCOPE_FREED_H

#include "hash.h"
#include "port.h"

#define LS_FREED_BITS 12
#define LS_FREED_SITE_BITS 24

struct ls_freed {
	ls_u64 site;	/* low 40 bits of the object's hash << 24 | allocation site */
	ls_u64 code;	/* low 32 bits << 32 | those of the code that freed it */
};

LS_INLINE bool ls_freed_is(ls_u64 word, ls_u64 key, ls_u32 bits)
{
	return (word ^ key << bits) >> bits == 0;
}

/* @tab: 2^LS_FREED_BITS places. @site: not 0. @code: in the kernel or a module, the top 2 GB. */
LS_INLINE void ls_freed_note(struct ls_freed *tab, ls_u64 object, ls_u32 site, ls_u64 code)
{
	ls_u64 key = ls_mix(object);
	struct ls_freed *place = &tab[key >> (64 - LS_FREED_BITS)];

	ls_store(&place->code, key << 32 | (ls_u32)code);
	ls_store(&place->site, key << LS_FREED_SITE_BITS | site);
}

/* Allocation site of @object, 0 unless it was freed; @code: where. */
LS_INLINE ls_u32 ls_freed_find(const struct ls_freed *tab, ls_u64 object, ls_u64 *code)
{
	ls_u64 key = ls_mix(object);
	const struct ls_freed *place = &tab[key >> (64 - LS_FREED_BITS)];
	ls_u64 site = ls_load(&place->site), by = ls_load(&place->code);

	if (!ls_freed_is(site, key, LS_FREED_SITE_BITS) || !ls_freed_is(by, key, 32))
		return 0;
	*code = ~0ull << 32 | (ls_u32)by;
	return site & ((1u << LS_FREED_SITE_BITS) - 1);
}

/* @object is allocated. */
LS_INLINE void ls_freed_forget(struct ls_freed *tab, ls_u64 object)
{
	ls_u64 key = ls_mix(object);
	struct ls_freed *place = &tab[key >> (64 - LS_FREED_BITS)];

	if (ls_unlikely(ls_freed_is(ls_load(&place->site), key, LS_FREED_SITE_BITS)))
		ls_store(&place->site, 0);
}

#endif /* LOCKSCOPE_FREED_H */
