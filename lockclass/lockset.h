/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locksets [Eraser 3.1]: sets of lock instances held together, each stored once as a sorted
 * vector and identified by a small number. Intersections of two sets are computed once and
 * cached.
 *
 * An element is the lock's address and how it is held, ls_lockset_element(). Pseudo locks
 * without memory have addresses below 16, LS_PSEUDO_*. Any context, except for init and clear.
 */
#ifndef LOCKSCOPE_LOCKSET_H
#define LOCKSCOPE_LOCKSET_H

#include "abi.h"
#include "hash.h"
#include "port.h"
#include "tagtab.h"

#define LS_LOCKSET_LOCKS 24		/* most locks in one set */
#define LS_LOCKSET_EMPTY 0u
#define LS_LOCKSET_NONE 0xffffu		/* not known: no room, or too many locks */

/* Means of exclusion on one CPU, and read sides. */
#define LS_PSEUDO_RCU 1u
#define LS_PSEUDO_PREEMPT 2u
#define LS_PSEUDO_BH 3u
#define LS_PSEUDO_IRQ 4u

/*
 * What excludes other accesses to the data of the CPU that a context of @level (enum ls_level)
 * runs on, as bits 1 << LS_PSEUDO_*, each of which counts as held exclusively.
 */
LS_INLINE ls_u32 ls_lockset_of_cpu(ls_u32 level, bool irq_off, bool bh_off, bool preempt_off)
{
	ls_u32 held = irq_off ? 1u << LS_PSEUDO_IRQ : 0;

	/* It can interrupt all code with hardirqs on, even with softirqs off. */
	if (level == LS_HARDIRQ)
		return 1u << LS_PSEUDO_IRQ;
	if (level == LS_TASK && (irq_off || bh_off || preempt_off))
		held |= 1u << LS_PSEUDO_PREEMPT;
	if (level == LS_SOFTIRQ || irq_off || bh_off)
		held |= 1u << LS_PSEUDO_BH;
	return held;
}

struct ls_lockset {
	ls_u32 first;			/* in ls_locksets.elements */
	ls_u16 nr;
	ls_u16 writers;			/* 1 + id of the exclusive subset, 0: not computed */
};

struct ls_locksets {
	struct ls_tagtab ids;		/* key of a set -> id */
	struct ls_tagtab meets;		/* two ids -> their intersection */
	struct ls_lockset *sets;
	ls_u64 *elements;
	ls_u32 max, max_elements;
	ls_u32 nr, nr_elements;
};

/* Two sets compared. */
struct ls_meet {
	ls_u32 id;			/* locks in both; shared where either holds it shared */
	bool apart;			/* one of them is exclusive on a side */
};

LS_INLINE ls_u64 ls_lockset_element(ls_u64 lock, bool shared)
{
	return lock << 1 | shared;
}

/* The lock of an element. Addresses are canonical: the bit shifted out equals the one below it. */
LS_INLINE ls_u64 ls_lockset_lock(ls_u64 element)
{
	return (ls_u64)((long long)element >> 1);
}

/* Key of a set: 0 for the empty one; add the elements in any order. */
LS_INLINE ls_u64 ls_lockset_key(ls_u64 key, ls_u64 element)
{
	return key + ls_mix(element ^ 0x5bd1e995ull << 32);
}

/*
 * @max: sets, <= 65534; @max_elements: total over all sets. @sets and @elements have room for
 * max + 1 and max_elements; @ids and @meets are zeroed memory for 2^@bits slots each, which
 * should be twice @max or more.
 */
void ls_locksets_init(struct ls_locksets *s, ls_u32 max, ls_u32 max_elements, struct ls_lockset *sets,
		      ls_u64 *elements, void *ids, void *meets, ls_u32 bits);

/* Remove all sets. Only while none is in use. */
void ls_locksets_clear(struct ls_locksets *s);

/*
 * The set of @nr @elements, which are sorted in place; @key was computed by ls_lockset_key().
 * LS_LOCKSET_NONE when there is no room.
 */
ls_u32 ls_lockset_intern(struct ls_locksets *s, ls_u64 *elements, ls_u32 nr, ls_u64 key);

/* The id of the set with @key when it is known, else LS_LOCKSET_NONE. */
LS_INLINE ls_u32 ls_lockset_find(const struct ls_locksets *s, ls_u64 key)
{
	ls_u64 slot;
	ls_u32 id;

	if (!key)
		return LS_LOCKSET_EMPTY;
	key = ls_mix(key);
	slot = ls_tagtab_first(&s->ids, key);
	if (ls_likely(ls_tag_match(slot, key) && (slot & LS_TAG_ID_MASK)))
		return slot & LS_TAG_ID_MASK;
	id = ls_tagtab_find(&s->ids, key);
	return id ? id : LS_LOCKSET_NONE;
}

/* Intersection of sets @a and @b; id LS_LOCKSET_NONE when there is no room for it. */
struct ls_meet ls_lockset_meet(struct ls_locksets *s, ls_u32 a, ls_u32 b);

/* Those of set @a that are held exclusively [Eraser 2.3]. */
ls_u32 ls_lockset_writers(struct ls_locksets *s, ls_u32 a);

/* Element @i of set @id, i < ls_lockset_size(). */
LS_INLINE ls_u32 ls_lockset_size(const struct ls_locksets *s, ls_u32 id)
{
	return s->sets[id].nr;
}

LS_INLINE ls_u64 ls_lockset_get(const struct ls_locksets *s, ls_u32 id, ls_u32 i)
{
	return s->elements[s->sets[id].first + i];
}

#endif /* LOCKSCOPE_LOCKSET_H */
