/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tagged table: 64-bit key -> id in one 64-bit slot, so that a reader needs one
 * load and a writer one compare-and-swap. Open addressing; the probe sequence is the
 * first place ^ 0, ^ 1, ^ 2, ..., so the second try is in the same cache line.
 *
 *   slot = low 40 bits of the key << 24 | id (24 bits, 0 = none)
 *
 * The slot's position has the key's top bits, so two keys are confused only when top bits and
 * low 40 bits agree: under 2^-36 for a million entries.
 *
 * Any context, NMI included, for lookup and insert. Keys must be well mixed
 * (hash.h).
 */
#ifndef LOCKSCOPE_TAGTAB_H
#define LOCKSCOPE_TAGTAB_H

#include "port.h"

#define LS_TAG_ID_BITS 24
#define LS_TAG_ID_MASK ((1u << LS_TAG_ID_BITS) - 1)
#define LS_TAG_TOMB (1ull << LS_TAG_ID_BITS)	/* removed: id 0, tag 1 */
#define LS_TAG_PROBES 128			/* longest probe run, a power of two */

struct ls_tagtab {
	ls_u64 *slots;
	ls_u32 shift;		/* 64 - log2(number of slots) */
	ls_u32 mask;		/* number of slots - 1 */
};

/* Bytes for a table of 2^@bits slots, 4 <= bits <= 28. */
LS_INLINE ls_size ls_tagtab_bytes(ls_u32 bits)
{
	return sizeof(ls_u64) << bits;
}

/* @mem: zeroed, ls_tagtab_bytes(@bits) long. */
void ls_tagtab_init(struct ls_tagtab *tab, void *mem, ls_u32 bits);

LS_INLINE bool ls_tag_match(ls_u64 slot, ls_u64 key)
{
	return (slot ^ (key << LS_TAG_ID_BITS)) <= LS_TAG_ID_MASK;
}

/*
 * The slot of @key if it lies in one of its first two places, else any other. Acquires what
 * was written before the id was published.
 */
LS_INLINE ls_u64 ls_tagtab_first(const struct ls_tagtab *tab, ls_u64 key)
{
	ls_u64 place = key >> tab->shift;
	ls_u64 slot = ls_load_acquire(&tab->slots[place]);

	if (ls_unlikely(!ls_tag_match(slot, key)))
		slot = ls_load_acquire(&tab->slots[place ^ 1]);
	return slot;
}

/*
 * Does one of the first eight places of @key hold it, with an id below @limit? They are one
 * cache line: in a half-full table one key in four lies beyond the first two, one in twenty
 * beyond these. A slot without the key's tag is an id, or larger than any id: one comparison.
 */
LS_INLINE bool ls_tagtab_below(const struct ls_tagtab *tab, ls_u64 key, ls_u32 limit)
{
	ls_u64 place = key >> tab->shift, tag = key << LS_TAG_ID_BITS;
	bool below = (ls_load(&tab->slots[place]) ^ tag) < limit;
	ls_u32 i;

	for (i = 1; ls_unlikely(!below) && i < 8; i++)
		below = (ls_load(&tab->slots[place ^ i]) ^ tag) < limit;
	return below;
}

/* Id of @key, 0 when it is not there. */
ls_u32 ls_tagtab_find(const struct ls_tagtab *tab, ls_u64 key);

/*
 * Map @key to @id (1 .. LS_TAG_ID_MASK). Returns the id now in the table: @id, or that of a
 * concurrent insert; 0 when the probe run is full.
 */
ls_u32 ls_tagtab_insert(struct ls_tagtab *tab, ls_u64 key, ls_u32 id);

/* Change @key's id to @to if it is still @from. */
bool ls_tagtab_change(struct ls_tagtab *tab, ls_u64 key, ls_u32 from, ls_u32 to);

/* Remove @key. Not against a concurrent insert of the same key. */
void ls_tagtab_remove(struct ls_tagtab *tab, ls_u64 key);

#endif /* LOCKSCOPE_TAGTAB_H */
