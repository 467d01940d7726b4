/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address map: live address -> id in buckets of eight (one cache line), for
 * things that come and go by the thousand: kmalloc objects and their
 * allocation sites, locks on stacks. One 64-bit word an entry:
 *
 *   address >> 3 (44 bits) << 20 | id (20 bits, 0 = free)
 *
 * A full bucket gives up an entry, or refuses the new one, and says so. Any context.
 */
#ifndef LOCKSCOPE_ADDRMAP_H
#define LOCKSCOPE_ADDRMAP_H

#include "hash.h"
#include "port.h"

#define LS_ADDR_ID_BITS 20
#define LS_ADDR_ID_MASK ((1u << LS_ADDR_ID_BITS) - 1)
#define LS_ADDR_WAYS 8

struct ls_addrmap {
	ls_u64 *slots;
	ls_u32 shift;		/* 64 - log2(buckets) */
	ls_u32 buckets;
};

/* Memory for 2^@bits entries, @bits >= 4. */
LS_INLINE ls_size ls_addrmap_bytes(ls_u32 bits)
{
	return sizeof(ls_u64) << bits;
}

/* @mem: zeroed, 64-byte aligned. */
LS_INLINE void ls_addrmap_init(struct ls_addrmap *m, void *mem, ls_u32 bits)
{
	m->slots = (ls_u64 *)mem;
	m->shift = 64 - (bits - 3);
	m->buckets = 1u << (bits - 3);
}

LS_INLINE ls_u64 ls_addr_word(ls_u64 addr)
{
	return (addr >> 3) << LS_ADDR_ID_BITS;
}

LS_INLINE ls_u64 *ls_addr_bucket(const struct ls_addrmap *m, ls_u64 word)
{
	return &m->slots[(word * LS_GOLDEN >> m->shift) * LS_ADDR_WAYS];
}

/* Id of @addr, 0 when it is not there. */
LS_INLINE ls_u32 ls_addrmap_find(const struct ls_addrmap *m, ls_u64 addr)
{
	ls_u64 word = ls_addr_word(addr);
	const ls_u64 *b = ls_addr_bucket(m, word);
	ls_u32 i;

	for (i = 0; i < LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if ((slot ^ word) <= LS_ADDR_ID_MASK)
			return slot & LS_ADDR_ID_MASK;
	}
	return 0;
}

/* Take @addr out; returns its id, 0 when it was not there. */
LS_INLINE ls_u32 ls_addrmap_remove(struct ls_addrmap *m, ls_u64 addr)
{
	ls_u64 word = ls_addr_word(addr);
	ls_u64 *b = ls_addr_bucket(m, word);
	ls_u32 i;

	for (i = 0; i < LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if ((slot ^ word) <= LS_ADDR_ID_MASK) {
			ls_store(&b[i], 0);
			return slot & LS_ADDR_ID_MASK;
		}
	}
	return 0;
}

/* Map @addr to @id (1 .. LS_ADDR_ID_MASK). False, and nothing changed, when its bucket is full. */
LS_INLINE bool ls_addrmap_add(struct ls_addrmap *m, ls_u64 addr, ls_u32 id)
{
	ls_u64 word = ls_addr_word(addr);
	ls_u64 *b = ls_addr_bucket(m, word);
	ls_u32 i;

	for (i = 0; i < LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if ((slot ^ word) <= LS_ADDR_ID_MASK && slot) {
			ls_store(&b[i], word | id);
			return true;
		}
	}
	for (i = 0; i < LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		while (!slot)
			if (ls_cmpxchg(&b[i], &slot, word | id))
				return true;
	}
	return false;
}

/* The same where the newest matters most. Returns true when a live entry had to go. */
LS_INLINE bool ls_addrmap_set(struct ls_addrmap *m, ls_u64 addr, ls_u32 id)
{
	ls_u64 word = ls_addr_word(addr);

	if (ls_addrmap_add(m, addr, id))
		return false;
	/* Whom to give up: any will do, the address decides. */
	ls_store(&ls_addr_bucket(m, word)[(addr >> 6) & (LS_ADDR_WAYS - 1)], word | id);
	return true;
}

#endif /* LOCKSCOPE_ADDRMAP_H */
