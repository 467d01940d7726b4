/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow of memory: what the contexts did with each granule of 8 bytes, and
 * which locks all of them held [Eraser 2.2, 2.3, 3.1].
 *
 * A granule is virgin, exclusive to one context, shared by readers, or shared
 * and modified; from shared on, its candidate set is what all accesses had
 * locked: readers any way, writers exclusively. When that becomes empty while it
 * is modified, Eraser reports. Here one thing more must be there: among the
 * last accesses one that conflicts in the same bytes, with no lock to keep the
 * two apart and no hand-over in between. That gives the report its other side,
 * and keeps neighbours in one granule from being taken for one variable.
 *
 * Beyond Eraser:
 *   Memory that everybody else is done with, provably (the caller's ordered()),
 *   belongs to the newcomer alone.
 *   The first owner may pass a granule on to a writer once, without proof: that is
 *   how objects are made and published. If it comes back, that counts.
 *
 * Words are changed by compare-and-swap, any context. An entry may be lost to
 * a neighbour on another CPU: then a race is found at a later access.
 */
#ifndef LOCKSCOPE_SHADOW_H
#define LOCKSCOPE_SHADOW_H

#include "abi.h"
#include "lockset.h"
#include "port.h"

#define LS_GRANULE_SHIFT 3
#define LS_GRANULES 512			/* of a page */
#define LS_SHADOW_ENTRIES 3
#define LS_SHADOW_MAX_SITE ((1u << 18) - 1)

/*
 * state:  0-1 enum ls_shadow_state, 2 passed on once, 3 an entry had to go,
 *         4-5 entry to go next, 6-9 generation, 16-31 owner, 32-47 candidates
 * entry:  0-17 site, 18-33 lockset, 34-49 context, 50-57 bytes, 58 initial,
 *         59-62 generation; 0 none
 * stamps: 21 bits for each entry
 */
struct ls_granule {
	ls_u64 state;
	ls_u64 entry[LS_SHADOW_ENTRIES];
	ls_u64 stamps;
};

/* One page's worth. */
struct ls_shadow_page {
	struct ls_granule granule[LS_GRANULES];
	ls_u32 term;			/* of watching it, see sample.h */
};

struct ls_shadow_access {
	ls_u32 site;			/* 1 .. LS_SHADOW_MAX_SITE */
	ls_u32 lockset;
	ls_u32 stamp;			/* of now, see ls_shadow_rules.ordered */
	ls_u16 context;
	ls_u8 bytes;			/* bit i: byte i of the granule */
	ls_u8 op;			/* LS_ACC_READ, _WRITE, _MARKED, _ATOMIC */
};

/* Bytes of the granule of @at that an access of [@at, @end) touches, as a mask. */
LS_INLINE ls_u8 ls_shadow_bytes(ls_u64 at, ls_u64 end)
{
	ls_u32 first = at & 7, last = end - (at & ~7ull) < 8 ? end - (at & ~7ull) : 8;

	return (0xff << first & 0xff) & 0xff >> (8 - last);
}

struct ls_shadow_rules {
	struct ls_locksets *sets;
	const ls_u8 *ops;		/* LS_ACC_* of a site */
	/* Is all that context @from did up to @stamp before what @to does now? */
	bool (*ordered)(void *cookie, ls_u32 from, ls_u32 to, ls_u32 stamp);
	void *cookie;
	bool pass_on;			/* the first owner may pass memory on once */
};

#define LS_STAMP_MASK ((1u << 21) - 1)

/* Is stamp @a before @b? Of one epoch, see ls_stamps_due(). */
LS_INLINE bool ls_stamp_before(ls_u32 a, ls_u32 b)
{
	return ((b - a) & LS_STAMP_MASK) - 1 < LS_STAMP_MASK / 2;
}

/*
 * Two stamps are told apart while the clock has not run half its range between them. So
 * an epoch ends, and all stamps are forgotten, when it has run a quarter: the other
 * quarter is for how late that may come.
 */
#define LS_STAMP_LIFE ((LS_STAMP_MASK + 1) / 4)
LS_INLINE bool ls_stamps_due(ls_u32 clock, ls_u32 from)
{
	return clock - from >= LS_STAMP_LIFE;
}

/* What the shadow remembers of an earlier access. */
struct ls_shadow_side {
	ls_u32 site;
	ls_u16 context, lockset;
};

struct ls_shadow_result {
	ls_u8 before, after;		/* enum ls_shadow_state */
	bool race;
	bool handed_over;		/* it belongs to this context now, others had it before */
	bool unknown;			/* a lockset found no room: not judged */
	ls_u32 other;			/* site of the race's other side, a plain one if there is one */
	ls_u16 other_context, other_lockset;
	ls_u8 nr_further;
	struct ls_shadow_side further[LS_SHADOW_ENTRIES - 1];	/* others that it races with as well */
	ls_u32 candidates;		/* lockset left */
};

/* Fields of an entry. */
#define LS_ENTRY_BYTES (0xffull << 50)
LS_INLINE ls_u32 ls_entry_site(ls_u64 e) { return e & LS_SHADOW_MAX_SITE; }
LS_INLINE ls_u32 ls_entry_lockset(ls_u64 e) { return e >> 18 & 0xffff; }
LS_INLINE ls_u32 ls_entry_context(ls_u64 e) { return e >> 34 & 0xffff; }
LS_INLINE ls_u32 ls_entry_bytes(ls_u64 e) { return e >> 50 & 0xff; }
LS_INLINE bool ls_entry_initial(ls_u64 e) { return e >> 58 & 1; }

/* Is entry @i of the granule one of its present life? */
bool ls_shadow_live(const struct ls_granule *g, ls_u32 i);

LS_INLINE ls_u64 ls_entry_make(const struct ls_shadow_access *a, bool initial, ls_u64 generation)
{
	return (ls_u64)a->site | (ls_u64)a->lockset << 18 | (ls_u64)a->context << 34 |
	       (ls_u64)a->bytes << 50 | (ls_u64)initial << 58 | generation << 59;
}

/* Is @entry what @other would be, but perhaps for more bytes? */
LS_INLINE bool ls_entry_covers(ls_u64 entry, ls_u64 other)
{
	return !((entry ^ other) & ~(entry & LS_ENTRY_BYTES));
}

LS_INLINE ls_u32 ls_stamp_of(ls_u64 stamps, ls_u32 i)
{
	return stamps >> 21 * i & LS_STAMP_MASK;
}

/* Judge one access to @g and remember it. */
struct ls_shadow_result ls_shadow_step(struct ls_granule *g, const struct ls_shadow_access *a,
				       const struct ls_shadow_rules *rules);

/*
 * Entries are of the present life when they have its generation. Before the count
 * starts again they go, or one of sixteen lives ago would pass for one of now.
 */
LS_INLINE void ls_shadow_wrap(struct ls_granule *g, ls_u64 generation)
{
	ls_u32 i;

	for (i = 0; !generation && i < LS_SHADOW_ENTRIES; i++)
		ls_store(&g->entry[i], 0);
}

/* The granule's memory begins a new life. */
LS_INLINE void ls_shadow_forget(struct ls_granule *g)
{
	ls_u64 state = ls_load(&g->state), generation = ((state >> 6) + 1) & 15;

	if (!(state & 3))
		return;
	ls_shadow_wrap(g, generation);
	ls_store(&g->state, generation << 6);
}

#endif /* LOCKSCOPE_SHADOW_H */
