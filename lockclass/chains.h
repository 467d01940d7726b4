/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock chains: every ordered sequence of held classes observed so far, as a tree. The fast
 * path only tests whether a key is known; everything new takes the slow path.
 *
 * Chain data lie in segments that a thread provides ahead of need, so a small system uses few,
 * and a bound of a million only costs the key table up front.
 */
#ifndef LOCKSCOPE_CHAINS_H
#define LOCKSCOPE_CHAINS_H

#include "abi.h"
#include "held.h"
#include "port.h"
#include "tagtab.h"

#define LS_CHAIN_SEG_BITS 14
#define LS_CHAIN_SEG (1u << LS_CHAIN_SEG_BITS)
#define LS_CHAIN_MAX_SEGS 256

/*
 * Chain ids in the key table: index and marks. The fast path is allowed only if none of
 * LS_CHAIN_SLOW is set.
 *
 * A chain is looked at, LS_CHAIN_LOOK, whenever it is acquired while it takes a class that
 * it already holds, or its ls_chain.looks say that instances are wanted of it: the first
 * times, now and then later, and again when a cycle leads through it. Where a gate is what
 * speaks against a cycle it is looked at every time. A chain that takes its own class is
 * looked at every time for that class alone.
 *
 * A derived chain was held, after an out-of-order release, a downgrade or a deferred
 * acquisition, but never acquired itself: its first acquisition still has to check what is new
 * in it.
 */
#define LS_CHAIN_LOOK (1u << 23)
#define LS_CHAIN_DERIVED (1u << 22)
#define LS_CHAIN_SLOW (LS_CHAIN_LOOK | LS_CHAIN_DERIVED)
#define LS_CHAIN_SLOW_MIN LS_CHAIN_DERIVED	/* ids below have none of them */
#define LS_CHAIN_INDEX ((1u << 22) - 1)
#define LS_CHAIN_LOST LS_CHAIN_INDEX	/* known, but without data for lack of room */

/* ls_chain.looks */
#define LS_LOOKS_NOW 0xffffu		/* acquisitions from now on */
#define LS_LOOKS_LATER_SHIFT 16		/* of those that are counted */
#define LS_LOOKS_LATER (0x3fffu << LS_LOOKS_LATER_SHIFT)
#define LS_LOOKS_GATED (1u << 30)	/* all: a gate speaks against a cycle through it */
#define LS_LOOKS_SELF (1u << 31)	/* all: it acquires a class that it already holds */
#define LS_LOOKS_ALWAYS (LS_LOOKS_SELF | LS_LOOKS_GATED)
/* For a new chain, and when a cycle is found. */
#define LS_LOOKS_NEW (240u << LS_LOOKS_LATER_SHIFT | 16u)
#define LS_LOOKS_CYCLE (1024u << LS_LOOKS_LATER_SHIFT | 4096u)

/*
 * Keys without room even for the mark LS_CHAIN_LOST: the last ones, each in its slot. Further
 * acquisitions of such a chain should be cheap.
 */
#define LS_CHAIN_REFUSED_BITS 11

struct ls_chains {
	struct ls_tagtab tab;
	ls_u32 max;
	ls_u32 nr;			/* indices in use, 1 .. nr */
	struct ls_chain *segs[LS_CHAIN_MAX_SEGS];
	ls_u64 refused[1 << LS_CHAIN_REFUSED_BITS];
};

/* @slots: zeroed memory for the key table of 2^@bits slots. */
void ls_chains_init(struct ls_chains *c, void *slots, ls_u32 bits, ls_u32 max);

/* The next segment that is needed and missing, -1 when all are present. Thread only. */
int ls_chains_want(const struct ls_chains *c);
/* Add a zeroed segment of LS_CHAIN_SEG entries. Thread only. */
void ls_chains_provide(struct ls_chains *c, int seg, struct ls_chain *mem);

/* Data of chain @index, NULL when it has none. Any context. */
LS_INLINE struct ls_chain *ls_chains_get(struct ls_chains *c, ls_u32 index)
{
	struct ls_chain *seg;

	if (!index || index >= LS_CHAIN_LOST)
		return (struct ls_chain *)0;
	seg = ls_load_acquire(&c->segs[index >> LS_CHAIN_SEG_BITS]);
	return seg ? &seg[index & (LS_CHAIN_SEG - 1)] : (struct ls_chain *)0;
}

/* Was @key refused recently? Any context. */
LS_INLINE bool ls_chains_refused(const struct ls_chains *c, ls_u64 key)
{
	return ls_load(&c->refused[key >> (64 - LS_CHAIN_REFUSED_BITS)]) == key;
}

enum ls_chain_result {
	LS_CHAIN_KNOWN,		/* inserted concurrently */
	LS_CHAIN_NEW,			/* or derived before */
	LS_CHAIN_DEFER,		/* no segment yet: skip it, it will be observed again */
	LS_CHAIN_FULL,		/* bound reached: counted by the caller */
};

/*
 * Add the chain @key = @ctx's chain + @val. Chains below it that were never acquired are added
 * too, as derived ones. @looks: LS_LOOKS_*. Any context.
 */
enum ls_chain_result ls_chains_add(struct ls_chains *c, const struct ls_ctx *ctx, ls_u64 key,
				   ls_u32 val, ls_u64 ip, ls_u32 looks, ls_u32 *index);

/*
 * Chain @data is looked at: for instances of all its dependencies, or only of the class
 * that it already holds? Any context.
 */
LS_INLINE bool ls_chains_wants_instances(const struct ls_chain *data)
{
	return ls_load(&data->looks) & (LS_LOOKS_NOW | LS_LOOKS_GATED);
}

/*
 * Is each acquisition of chain @id, in the key table, noted at present (passed.h)? The first
 * one, and the looks but for the last one, which is all there is of those later on. Any context.
 */
LS_INLINE bool ls_chains_notes(struct ls_chains *c, ls_u32 id)
{
	struct ls_chain *data = ls_chains_get(c, id & LS_CHAIN_INDEX);
	ls_u32 looks = data ? ls_load(&data->looks) : LS_LOOKS_GATED;

	if (!id || id & LS_CHAIN_DERIVED)
		return true;
	return id & LS_CHAIN_LOOK && (looks & LS_LOOKS_GATED || (looks & LS_LOOKS_NOW) > 1);
}

/* Chain @key was checked; @data is its entry. Any context. */
void ls_chains_looked(struct ls_chains *c, ls_u64 key, struct ls_chain *data);
/* It was counted: is it time to check it? Any context. */
void ls_chains_counted(struct ls_chains *c, ls_u64 key, ls_u32 id, struct ls_chain *data);
/* Check it LS_LOOKS_CYCLE more times; @gated: at every acquisition besides. Thread only. */
void ls_chains_look(struct ls_chains *c, ls_u64 key, struct ls_chain *data, bool gated);
/* Chain @data, LS_LOOKS_GATED, has no gate left that an observation could lack. Any context. */
void ls_chains_ungate(struct ls_chain *data);

/* Forget every chain; segments stay. Only while no hook can run. */
void ls_chains_clear(struct ls_chains *c);

#endif /* LOCKSCOPE_CHAINS_H */
