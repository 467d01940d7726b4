/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selection of watched memory, when not all of it can be watched.
 *
 * Memory is watched by blocks of 32 KiB, identified by a hash: all accesses to a block are
 * checked or none, and so are those to an object of a slab, whose pages lie in one block. A
 * share of the blocks is watched in an epoch, others in the next one. That alone misses rare
 * accesses.
 *
 * So code that has not run for a while may also add the block that it accesses: races that are
 * not known yet are in code that runs rarely [LiteRace 3]. Code that does so repeatedly waits
 * twice as long each time.
 *
 * Every block is watched for a number of accesses: a hot block soon uses them up, a cold one
 * stays.
 *
 * When a block is watched again after a gap, its earlier state must be discarded: locks and
 * hand-overs were missed meanwhile. Each period of watching a block is a term with a number.
 */
#ifndef LOCKSCOPE_SAMPLE_H
#define LOCKSCOPE_SAMPLE_H

#include "port.h"

#define LS_BLOCK_SHIFT 15
#define LS_BLOCK_BITS 12
#define LS_BLOCKS (1u << LS_BLOCK_BITS)		/* hashes of blocks */
#define LS_PLACE_BITS 14
#define LS_TERM_ACCESSES 1024			/* of a block that was added */
#define LS_SHARE_ACCESSES 32768			/* of a block of the share */
#define LS_ERA_BLOCKS 32			/* added in an era, approximately */
#define LS_MAX_BACKOFF 6			/* waits of at most 1 << that many eras */

struct ls_sample {
	ls_u64 watched[LS_BLOCKS / 64];		/* bit by hash of a block */
	ls_u32 open;				/* blocks may be added */
	ls_u32 now;				/* era << 4 | 15 */
	ls_u32 taken;				/* blocks added in this era */
	ls_u16 left[LS_BLOCKS];			/* accesses, LS_FOREVER: unlimited */
	ls_u16 term[LS_BLOCKS];
	/* By code address: era from which it may add a block << 4 | log2 of its wait. */
	ls_u32 due[1 << LS_PLACE_BITS];
};

#define LS_FOREVER 0xffff

/* The low bits of return addresses are as good as a hash. */
LS_INLINE ls_u32 ls_place(ls_u64 ip)
{
	return ip & ((1u << LS_PLACE_BITS) - 1);
}

LS_INLINE ls_u32 ls_block(ls_u64 addr)
{
	return (ls_u32)(addr >> LS_BLOCK_SHIFT) * 0x9E3779B1u >> (32 - LS_BLOCK_BITS);
}

LS_INLINE bool ls_sample_has(const struct ls_sample *s, ls_u64 addr)
{
	ls_u32 b = ls_block(addr);

	return ls_load(&s->watched[b / 64]) >> b % 64 & 1;
}

/* Number of the era. */
LS_INLINE ls_u32 ls_sample_eras(const struct ls_sample *s)
{
	return ls_load(&s->now) >> 4;
}

/* May the code at @ip add the block that it accesses? */
LS_INLINE bool ls_sample_is_cold(const struct ls_sample *s, ls_u64 ip)
{
	return ls_load(&s->open) &&
	       (__INT32_TYPE__)(ls_load(&s->now) - ls_load(&s->due[ls_place(ip)])) >= 0;
}

LS_INLINE bool ls_sample_lasts(const struct ls_sample *s, ls_u64 addr)
{
	return ls_load(&s->left[ls_block(addr)]) == LS_FOREVER;
}

LS_INLINE ls_u32 ls_sample_term(const struct ls_sample *s, ls_u64 addr)
{
	return ls_load(&s->term[ls_block(addr)]);
}

/* Cold code at @ip has had its turn: start its wait. Any context. */
void ls_sample_turn(struct ls_sample *s, ls_u64 ip);

/* Start watching the block of @addr. Any context. */
void ls_sample_take(struct ls_sample *s, ls_u64 addr);

/*
 * Charge an access to the block of @addr, one that does not last; @last: stop watching it now,
 * whatever is left. Any context.
 */
void ls_sample_spend(struct ls_sample *s, ls_u64 addr, bool last);

/*
 * The next epoch: blocks number @phase of @share (a power of two, at most LS_BLOCKS) are
 * watched, none with a share of 0; @sampled: for a limited number of accesses, and others may
 * be added. One at a time.
 */
void ls_sample_epoch(struct ls_sample *s, ls_u32 share, ls_u32 phase, bool sampled);

/*
 * The next era: waiting code comes closer to its turn, and blocks may be added again. One at a
 * time.
 */
void ls_sample_era(struct ls_sample *s);

#endif /* LOCKSCOPE_SAMPLE_H */
