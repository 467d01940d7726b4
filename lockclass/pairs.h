/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instance pairs of one class taken one inside the other: were the same two
 * ever taken in the other order? A consistent order (by address, by depth in a
 * tree) never is, so no annotation is needed to tell right from wrong.
 *
 * Entries age: a full bucket forgets a pair. @gen stands for the lives of the
 * two objects and is part of the key: in other lives it is another pair. @gates is a signature of
 * the other locks held exclusively: two orders under one gate never meet.
 *
 *   slot = tag (32 bits) << 32 | gates (16) << 16 | orders seen (2)
 */
#ifndef LOCKSCOPE_PAIRS_H
#define LOCKSCOPE_PAIRS_H

#include "hash.h"
#include "port.h"

#define LS_PAIR_WAYS 8

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
	p->slots = (ls_u64 *)mem;
	p->shift = 64 - (bits - 3);
}

enum ls_pair_result {
	LS_PAIR_KNOWN,
	LS_PAIR_NEW,		/* never seen, or not in these lives */
	LS_PAIR_FEWER,		/* known, but not with so few gates */
	LS_PAIR_INVERTED,	/* the other order was seen, once for each time the pair is learnt */
};

LS_INLINE ls_u64 ls_pair_key(ls_u64 low, ls_u64 high, ls_u32 gen)
{
	return ls_mix(ls_mix(ls_mix(low) + high) + gen);
}

LS_INLINE ls_u64 ls_pair_word(ls_u64 key, ls_u32 gates, ls_u32 orders)
{
	return (key << 32) | (ls_u64)(gates & 0xffff) << 16 | orders;
}

/* Signature bit of a gate for ls_pairs_see(). */
LS_INLINE ls_u32 ls_pair_gate(ls_u64 lock)
{
	return 1u << (ls_mix(lock) >> 60);
}

/*
 * @first is held, @second is being taken, @gates are held besides. Any context;
 * a race may cost a pair its memory, never more.
 */
LS_INLINE enum ls_pair_result ls_pairs_see(struct ls_pairs *p, ls_u64 first, ls_u64 second,
					   ls_u32 gen, ls_u32 gates)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	ls_u64 *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u32 bit = first < second ? 1 : 2, other = 3 - bit, i;
	ls_u32 place = (low >> 4) & (LS_PAIR_WAYS - 1);
	ls_u64 fresh = ls_pair_word(key, gates, bit);

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);
		ls_u32 common = (ls_u32)(slot >> 16) & gates & 0xffff;

		if (!slot) {
			place = i;
			continue;
		}
		if ((slot ^ fresh) >> 32)
			continue;
		if (slot & bit) {
			/* This order again: only gates that are always held count. */
			if (common == ((slot >> 16) & 0xffff))
				return LS_PAIR_KNOWN;
			ls_store(&b[i], ls_pair_word(key, common, slot & 3));
			return LS_PAIR_FEWER;
		}
		if (!(slot & other) || common)
			return LS_PAIR_KNOWN;
		ls_store(&b[i], slot | bit);
		return LS_PAIR_INVERTED;
	}
	ls_store(&b[place], fresh);
	return LS_PAIR_NEW;
}

/* Forget that @second was taken inside @first; the other order stays. Any context. */
LS_INLINE void ls_pairs_unsee(struct ls_pairs *p, ls_u64 first, ls_u64 second, ls_u32 gen)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	ls_u64 *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u32 bit = first < second ? 1 : 2, i;

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if (slot && !((slot ^ (key << 32)) >> 32))
			ls_store(&b[i], slot & (3 - bit) ? slot & ~(ls_u64)bit : 0);
	}
}

#endif /* LOCKSCOPE_PAIRS_H */
