/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of nested instances of one class: was the same pair ever acquired in the other order?
 * With a consistent order (by address, by depth in a tree) it never is, so no annotation is
 * needed.
 *
 * A full bucket evicts a pair. @gen identifies the lives of the two objects and is part of the
 * key: in other lives it is another pair. The gates of a pair are the other locks held each
 * time, shared or exclusively: two orders under one gate exclude each other, and a ring of more
 * instances may need the pair without it. They are compared exactly except for 20 bits of
 * hash. Two orders are a fault when they close a strong cycle (graph.h): readers count as they
 * do between classes.
 *
 *   word = tag (32 bits) << 32 | LS_DEP_* of either order (2 x 4)
 *   gates = 3 x 21 bits: ls_pair_tag(), 0 none
 */
#ifndef LOCKSCOPE_PAIRS_H
#define LOCKSCOPE_PAIRS_H

#include "abi.h"
#include "hash.h"
#include "port.h"

#define LS_PAIR_WAYS 8

struct ls_pair {
	ls_u64 word;		/* 0: free */
	ls_u64 gates;
};

struct ls_pairs {
	struct ls_pair *slots;
	ls_u32 shift;
};

LS_INLINE ls_size ls_pairs_bytes(ls_u32 bits)
{
	return sizeof(struct ls_pair) << bits;
}

/* @mem: zeroed; 2^@bits entries, @bits >= 4. */
LS_INLINE void ls_pairs_init(struct ls_pairs *p, void *mem, ls_u32 bits)
{
	p->slots = (struct ls_pair *)mem;
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

#define LS_PAIR_LANES 3
#define LS_PAIR_LANE_BITS 21
#define LS_PAIR_LANE_MASK ((1u << LS_PAIR_LANE_BITS) - 1)
#define LS_PAIR_LANE(gates, i) ((ls_u32)((gates) >> (i) * LS_PAIR_LANE_BITS) & LS_PAIR_LANE_MASK)
#define LS_PAIR_SHARED 1u	/* bit of a tag */
/* In the last lane: gates without room, any of which may be held each time. */
#define LS_PAIR_MORE (LS_PAIR_LANE_MASK & ~LS_PAIR_SHARED)

/* Tag of @lock, held as @val; never 0. */
LS_INLINE ls_u32 ls_pair_tag(ls_u64 lock, ls_u32 val)
{
	ls_u32 hash = (ls_u32)(ls_mix(ls_mix(lock)) >> (65 - LS_PAIR_LANE_BITS));

	return (hash ? hash : 1) << 1 | (val & LS_VAL_READ_MASK ? LS_PAIR_SHARED : 0);
}

/* The gates of a new pair, of @nr tags. */
LS_INLINE ls_u64 ls_pair_gates(const ls_u32 *tags, ls_u32 nr)
{
	ls_u64 gates = 0;
	ls_u32 i;

	for (i = 0; i < nr && i < LS_PAIR_LANES; i++)
		gates |= (ls_u64)(nr > LS_PAIR_LANES && i == LS_PAIR_LANES - 1 ? LS_PAIR_MORE : tags[i])
			 << i * LS_PAIR_LANE_BITS;
	return gates;
}

/* How @tag is held among @tags, 0: not at all. */
LS_INLINE ls_u32 ls_pair_held(ls_u32 tag, const ls_u32 *tags, ls_u32 nr)
{
	ls_u32 i, held = 0;

	for (i = 0; i < nr; i++)
		if (!((tags[i] ^ tag) & ~LS_PAIR_SHARED))
			held = held ? held & tags[i] : tags[i];
	return held;
}

/* Is one of @tags none of the gates that have a lane? */
LS_INLINE bool ls_pair_others(ls_u64 gates, const ls_u32 *tags, ls_u32 nr)
{
	ls_u32 i, lane;

	for (i = 0; i < nr; i++) {
		for (lane = 0; lane < LS_PAIR_LANES - 1; lane++)
			if (!((LS_PAIR_LANE(gates, lane) ^ tags[i]) & ~LS_PAIR_SHARED))
				break;
		if (lane == LS_PAIR_LANES - 1)
			return true;
	}
	return false;
}

/* What is left of @gates after an observation with @tags. */
LS_INLINE ls_u64 ls_pair_keep(ls_u64 gates, const ls_u32 *tags, ls_u32 nr)
{
	ls_u64 kept = 0;
	ls_u32 lane;

	for (lane = 0; lane < LS_PAIR_LANES; lane++) {
		ls_u32 tag = LS_PAIR_LANE(gates, lane), held;

		if (!tag)
			continue;
		if (lane == LS_PAIR_LANES - 1 && tag == LS_PAIR_MORE) {
			kept |= ls_pair_others(gates, tags, nr) ? (ls_u64)tag << lane * LS_PAIR_LANE_BITS : 0;
			continue;
		}
		held = ls_pair_held(tag, tags, nr);
		kept |= held ? (ls_u64)(held | tag) << lane * LS_PAIR_LANE_BITS : 0;
	}
	return kept;
}

/* Is one of @gates held exclusively each time? */
LS_INLINE bool ls_pair_gated(ls_u64 gates)
{
	ls_u32 lane;

	for (lane = 0; lane < LS_PAIR_LANES; lane++)
		if (LS_PAIR_LANE(gates, lane) && !(LS_PAIR_LANE(gates, lane) & LS_PAIR_SHARED))
			return true;
	return false;
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

/*
 * @first is held, @second is being acquired, @tags are those of the @nr locks held besides; @kind
 * is the LS_DEP_* bit of the two. Any context; a race may lose a pair, never more.
 */
LS_INLINE enum ls_pair_result ls_pairs_see(struct ls_pairs *p, ls_u64 first, ls_u64 second, ls_u32 gen,
					   const ls_u32 *tags, ls_u32 nr, ls_u32 kind)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	struct ls_pair *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u32 up = first < second ? 0 : LS_PAIR_SHIFT, down = LS_PAIR_SHIFT - up, i;
	ls_u32 place = (low >> 4) & (LS_PAIR_WAYS - 1);
	ls_u64 fresh = (key << 32) | kind << up;

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 word = ls_load_acquire(&b[i].word), gates, common;
		ls_u32 mine = (ls_u32)word >> up & LS_PAIR_KINDS;
		ls_u32 other = (ls_u32)word >> down & LS_PAIR_KINDS;

		if (!word) {
			place = i;
			continue;
		}
		if ((word ^ fresh) >> 32)
			continue;
		gates = ls_load_acquire(&b[i].gates);
		common = ls_pair_keep(gates, tags, nr);
		if ((common == gates && mine & kind) ||
		    (!ls_pair_gated(gates) && ls_pair_strong(mine, other)))
			return LS_PAIR_KNOWN;
		/* Another CPU changes the entry: the gates may be those of another pair. */
		if (!ls_cmpxchg(&b[i].word, &word, word | kind << up))
			return LS_PAIR_KNOWN;
		ls_store(&b[i].gates, common);
		return !ls_pair_gated(common) && ls_pair_strong(mine | kind, other) ? LS_PAIR_INVERTED :
										      LS_PAIR_FEWER;
	}
	ls_store(&b[place].word, 0);
	ls_store_release(&b[place].gates, ls_pair_gates(tags, nr));
	ls_store_release(&b[place].word, fresh);
	return LS_PAIR_NEW;
}

/* Remove the order of @second inside @first; the other order stays. Any context. */
LS_INLINE void ls_pairs_unsee(struct ls_pairs *p, ls_u64 first, ls_u64 second, ls_u32 gen)
{
	ls_u64 low = first < second ? first : second;
	ls_u64 high = first < second ? second : first;
	ls_u64 key = ls_pair_key(low, high, gen);
	struct ls_pair *b = &p->slots[(key >> p->shift) * LS_PAIR_WAYS];
	ls_u64 mine = (ls_u64)LS_PAIR_KINDS << (first < second ? 0 : LS_PAIR_SHIFT);
	ls_u32 i;

	for (i = 0; i < LS_PAIR_WAYS; i++) {
		ls_u64 word = ls_load(&b[i].word);

		if (word && !((word ^ (key << 32)) >> 32))
			ls_store(&b[i].word, word & 0xff & ~mine ? word & ~mine : 0);
	}
}

#endif /* LOCKSCOPE_PAIRS_H */
