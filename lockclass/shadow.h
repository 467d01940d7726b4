/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow memory: accesses of contexts to each granule of 8 bytes, and the locks that all of
 * them held [Eraser 2.2, 2.3, 3.1].
 *
 * A granule is virgin, exclusive to one context, shared by readers, or shared and modified;
 * from shared on, its candidate set are the locks held at all accesses: by readers in any
 * mode, by writers exclusively. When it becomes empty in the modified state, Eraser reports.
 * Here a report also needs a conflicting entry: a recent access to the same bytes, with no
 * common lock and no hand-over in between. That is the other side of the report, and variables
 * that share a granule are not confused.
 *
 * Beyond Eraser:
 *   Memory with all other accesses ordered before this one (the caller's ordered())
 *   becomes exclusive to its context.
 *   The first owner may hand a granule over to a writer once, without proof: that is
 *   how objects are initialised and published. An access by the first owner after that counts.
 *
 * Words are changed by compare-and-swap, any context. An entry may be overwritten by another
 * CPU: then a race is found at a later access.
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
 * state: 0-1 enum ls_shadow_state, 2 handed over once, 3 an entry was evicted,
 *         4-5 entry to evict next, 6-9 generation, 16-31 owner, 32-47 candidates
 * entry:  0-17 site, 18-33 lockset, 34-49 context, 50-57 bytes, 58 initial,
 *         59-62 generation; 0 none
 * stamps: 21 bits for each entry
 */
struct ls_granule {
	ls_u64 state;
	ls_u64 entry[LS_SHADOW_ENTRIES];
	ls_u64 stamps;
};

/* Shadow of one page. */
struct ls_shadow_page {
	struct ls_granule granule[LS_GRANULES];
	ls_u32 term;			/* its watch term, see sample.h */
};

struct ls_shadow_access {
	ls_u32 site;			/* 1 .. LS_SHADOW_MAX_SITE */
	ls_u32 lockset;
	ls_u32 stamp;			/* current stamp, see ls_shadow_rules.ordered */
	ls_u16 context;
	ls_u8 bytes;			/* bit i: byte i of the granule */
	ls_u8 op;			/* LS_ACC_READ, _WRITE, _MARKED, _ATOMIC */
};

/* Mask of the bytes of the granule at @at that an access of [@at, @end) touches. */
LS_INLINE ls_u8 ls_shadow_bytes(ls_u64 at, ls_u64 end)
{
	ls_u32 first = at & 7, last = end - (at & ~7ull) < 8 ? end - (at & ~7ull) : 8;

	return (0xff << first & 0xff) & 0xff >> (8 - last);
}

struct ls_shadow_rules {
	struct ls_locksets *sets;
	const ls_u8 *ops;		/* LS_ACC_* of a site */
	/* Is everything that context @from did up to @stamp ordered before the access by @to? */
	bool (*ordered)(void *cookie, ls_u32 from, ls_u32 to, ls_u32 stamp);
	void *cookie;
	bool pass_on;			/* the first owner may hand memory over once */
};

#define LS_STAMP_MASK ((1u << 21) - 1)

/* Is stamp @a before @b? Both of one epoch, see ls_stamps_due(). */
LS_INLINE bool ls_stamp_before(ls_u32 a, ls_u32 b)
{
	return ((b - a) & LS_STAMP_MASK) - 1 < LS_STAMP_MASK / 2;
}

/*
 * Stamps can be compared while the clock has not advanced by half its range between them. So
 * an epoch ends, and all stamps are discarded, after a quarter of the range; another quarter
 * allows for delays.
 */
#define LS_STAMP_LIFE ((LS_STAMP_MASK + 1) / 4)
LS_INLINE bool ls_stamps_due(ls_u32 clock, ls_u32 from)
{
	return clock - from >= LS_STAMP_LIFE;
}

/* An earlier access, as stored in the shadow. */
struct ls_shadow_side {
	ls_u32 site;
	ls_u16 context, lockset;
};

struct ls_shadow_result {
	ls_u8 before, after;		/* enum ls_shadow_state */
	bool race;
	bool handed_over;		/* owned by this context now, and by another one before */
	bool unknown;			/* a lockset found no room: not checked */
	ls_u32 other;			/* site of the race's other side, a plain one if possible */
	ls_u16 other_context, other_lockset;
	ls_u8 nr_further;
	struct ls_shadow_side further[LS_SHADOW_ENTRIES - 1];	/* other sides of races */
	ls_u32 candidates;		/* refined lockset */
};

/* Fields of an entry. */
#define LS_ENTRY_BYTES (0xffull << 50)
LS_INLINE ls_u32 ls_entry_site(ls_u64 e) { return e & LS_SHADOW_MAX_SITE; }
LS_INLINE ls_u32 ls_entry_lockset(ls_u64 e) { return e >> 18 & 0xffff; }
LS_INLINE ls_u32 ls_entry_context(ls_u64 e) { return e >> 34 & 0xffff; }
LS_INLINE ls_u32 ls_entry_bytes(ls_u64 e) { return e >> 50 & 0xff; }
LS_INLINE bool ls_entry_initial(ls_u64 e) { return e >> 58 & 1; }

/* Does entry @i of the granule belong to its present life? */
bool ls_shadow_live(const struct ls_granule *g, ls_u32 i);

LS_INLINE ls_u64 ls_entry_make(const struct ls_shadow_access *a, bool initial, ls_u64 generation)
{
	return (ls_u64)a->site | (ls_u64)a->lockset << 18 | (ls_u64)a->context << 34 |
	       (ls_u64)a->bytes << 50 | (ls_u64)initial << 58 | generation << 59;
}

/* Does @entry equal @other, except that it may cover more bytes? */
LS_INLINE bool ls_entry_covers(ls_u64 entry, ls_u64 other)
{
	return !((entry ^ other) & ~(entry & LS_ENTRY_BYTES));
}

LS_INLINE ls_u32 ls_stamp_of(ls_u64 stamps, ls_u32 i)
{
	return stamps >> 21 * i & LS_STAMP_MASK;
}

/* Check one access to @g and store it. */
struct ls_shadow_result ls_shadow_step(struct ls_granule *g, const struct ls_shadow_access *a,
				       const struct ls_shadow_rules *rules);

/*
 * Entries belong to the present life if they have its generation. Before the generation wraps
 * they are removed, or one of sixteen lives ago would count as a present one.
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
