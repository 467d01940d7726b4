/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instance pairs of one class taken one inside the other: were the same two
 * ever taken in the other order? A consistent order (by address, by depth in a
 * tree) never is, so no annotation is needed to tell right from wrong.
 *
 * Entries age: a full bucket forgets a pair. @gen stands for the life of the
 * two objects; a pair seen in another life starts anew.
 *
 *   slot = tag (40 bits) << 24 | gen (20) << 4 | orders seen (2)
 */
#ifndef LOCKSCOPE_PAIRS_H
#define LOCKSCOPE_PAIRS_H

#include "hash.h"
#include "port.h"

#define LS_PAIR_WAYS 8
#define LS_PAIR_GEN_MASK 0xfffffu

struct ls_pairs {
	ls_u64 *slots;
	ls_u32 shift;
};

LS_INLINE ls_size ls_pairs_bytes(ls_u32 bits)
{
	return sizeof(ls_u64) << bits;
}

/* @mem: zeroed; 2^@bits entries, @bits >= 4. */
LS_INLINE void ls_pairs_init(struct ls_pairs *p, void *mem, ls_u32 bits)
{
	p->slots = mem;
	p->shift = 64 - (bits - 3);
}

/*
 * @first is held, @second is being taken. True when the other order was seen
 * in the same life of both, once for each time the pair is learnt. Any context.
 */
LS_INLINE bool ls_pairs_inverted(struct ls_pairs *p, ls_u64 first, ls_u64 second, ls_u32 gen)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_mix(ls_mix(low) + high);
	ls_u64 word = (key << 24) | (ls_u64)(gen & LS_PAIR_GEN_MASK) << 4;
	ls_u64 *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u32 bit = first < second ? 1 : 2, i;

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if ((slot ^ word) >> 24)
			continue;
		if ((slot ^ word) >> 4) {
			ls_store(&b[i], word | bit);
			return false;
		}
		if (slot & bit)
			return false;
		return !(ls_fetch_or(&b[i], bit) & bit) && (slot & 3);
	}
	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = 0;

		if (ls_cmpxchg(&b[i], &slot, word | bit))
			return false;
	}
	ls_store(&b[(low >> 4) & (LS_PAIR_WAYS - 1)], word | bit);
	return false;
}

#endif /* LOCKSCOPE_PAIRS_H */
