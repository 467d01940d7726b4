/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of nested instances of one class: was the same pair ever acquired in the other order?
 * With a consistent order (by address, by depth in a tree) it never is, so no annotation is
 * needed.
 *
 * A full bucket evicts a pair. @gen identifies the lives of the two objects and is part of the
 * key: in other lives it is another pair. @gates is a signature of the other locks held
 * exclusively each time: two orders under one gate exclude each other. Two orders are a fault
 * when they close a strong cycle (graph.h): readers count as they do between classes.
 *
 *   slot = tag (32 bits) << 32 | gates (16) << 16 | LS_DEP_* of either order (2 x 4)
 */
#ifndef LOCKSCOPE_PAIRS_H
#define LOCKSCOPE_PAIRS_H

#include "abi.h"
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
	LS_PAIR_NEW,		/* never observed, or not in these lives */
	LS_PAIR_FEWER,		/* known, but not in this order, of this kind or with so few gates */
	LS_PAIR_INVERTED,	/* the other order was observed; returned once per entry */
};

LS_INLINE ls_u64 ls_pair_key(ls_u64 low, ls_u64 high, ls_u32 gen)
{
	return ls_mix(ls_mix(ls_mix(low) + high) + gen);
}

#define LS_PAIR_KINDS 15u	/* of the ascending order; those of the descending one follow */
#define LS_PAIR_SHIFT 4

LS_INLINE ls_u64 ls_pair_word(ls_u64 key, ls_u32 gates, ls_u32 kinds)
{
	return (key << 32) | (ls_u64)(gates & 0xffff) << 16 | kinds;
}

/* Is a kind in @a, followed by one in @b and by itself again, a strong cycle? */
LS_INLINE bool ls_pair_strong(ls_u32 a, ls_u32 b)
{
	const ls_u32 recursive = LS_DEP_ER | LS_DEP_SR, exclusive = LS_DEP_ER | LS_DEP_EN;
	ls_u32 kind;

	/*
	 * A dependency that ends in a recursive reader must be followed by one that begins
	 * exclusively.
	 */
	for (kind = LS_DEP_ER; kind <= LS_DEP_SN; kind <<= 1)
		if (a & kind &&
		    b & (kind & recursive ? exclusive : ~0u) & (kind & exclusive ? ~0u : ~recursive))
			return true;
	return false;
}

/* Signature bit of a gate for ls_pairs_see(). */
LS_INLINE ls_u32 ls_pair_gate(ls_u64 lock)
{
	return 1u << (ls_mix(lock) >> 60);
}

/*
 * @first is held, @second is being acquired, @gates are held besides; @kind is the LS_DEP_*
 * bit of the two. Any context; a race may lose a pair, never more.
 */
LS_INLINE enum ls_pair_result ls_pairs_see(struct ls_pairs *p, ls_u64 first, ls_u64 second,
					   ls_u32 gen, ls_u32 gates, ls_u32 kind)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	ls_u64 *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u32 up = first < second ? 0 : LS_PAIR_SHIFT, down = LS_PAIR_SHIFT - up, i;
	ls_u32 place = (low >> 4) & (LS_PAIR_WAYS - 1);
	ls_u64 fresh = ls_pair_word(key, gates, kind << up);

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);
		ls_u32 common = (ls_u32)(slot >> 16) & gates & 0xffff;
		ls_u32 mine = (ls_u32)slot >> up & LS_PAIR_KINDS;
		ls_u32 other = (ls_u32)slot >> down & LS_PAIR_KINDS;
		bool known, apart;

		if (!slot) {
			place = i;
			continue;
		}
		if ((slot ^ fresh) >> 32)
			continue;
		known = common == ((slot >> 16) & 0xffff) && mine & kind;
		apart = (slot >> 16) & 0xffff || !ls_pair_strong(mine, other);
		if (known || !apart)
			return LS_PAIR_KNOWN;
		ls_store(&b[i], ls_pair_word(key, common, ((ls_u32)slot & 0xff) | kind << up));
		return !common && ls_pair_strong(mine | kind, other) ? LS_PAIR_INVERTED : LS_PAIR_FEWER;
	}
	ls_store(&b[place], fresh);
	return LS_PAIR_NEW;
}

/* Remove the order of @second inside @first; the other order stays. Any context. */
LS_INLINE void ls_pairs_unsee(struct ls_pairs *p, ls_u64 first, ls_u64 second, ls_u32 gen)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	ls_u64 *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u64 mine = (ls_u64)LS_PAIR_KINDS << (first < second ? 0 : LS_PAIR_SHIFT);
	ls_u32 i;

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if (slot && !((slot ^ (key << 32)) >> 32))
			ls_store(&b[i], slot & 0xff & ~mine ? slot & ~mine : 0);
	}
}

#endif /* LOCKSCOPE_PAIRS_H */
