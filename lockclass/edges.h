/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Edge set: what the hooks remember of class -> class dependencies, to distinguish new ones
 * from known ones. The graph itself is the judge's (judge.h).
 *
 *   slot = from (20 bits) | to (20) | seen (16): dependency kind x level
 *
 * For each edge there is a 32-bit signature of the locks that were missing in some observation
 * of it: a lock that is not in it may be a gate lock [DLOS D2]. An observation that adds to it
 * is reported, too.
 *
 * A byte counts the pairs of instances that were reported of an edge: the first few of each,
 * more once the edge is part of a cycle.
 */
#ifndef LOCKSCOPE_EDGES_H
#define LOCKSCOPE_EDGES_H

#include "abi.h"
#include "hash.h"
#include "port.h"

struct ls_edges {
	ls_u64 *slots;
	ls_u32 *absent;		/* gates missing in some observation; bits are only ever added */
	ls_u8 *pairs;		/* pairs of instances reported, LS_EDGE_WANTED */
	ls_u32 shift;
	ls_u32 mask;
	ls_u32 max;
	ls_u32 nr;
};

LS_INLINE ls_size ls_edges_bytes(ls_u32 bits)
{
	return (sizeof(ls_u64) + sizeof(ls_u32) + sizeof(ls_u8)) << bits;
}

/* @mem: zeroed, ls_edges_bytes(@bits); @max edges at most, below 2^@bits. */
void ls_edges_init(struct ls_edges *e, void *mem, ls_u32 bits, ls_u32 max);
void ls_edges_clear(struct ls_edges *e);

/* Dependency kind of held word @prev -> acquired word @next, one LS_DEP_* bit. */
LS_INLINE ls_u32 ls_dep_kind(ls_u32 prev, ls_u32 next)
{
	bool shared = (prev & LS_VAL_READ_MASK) != 0;
	bool recursive = ((next & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT) == LS_RECURSIVE;

	if (shared)
		return recursive ? LS_DEP_SR : LS_DEP_SN;
	return recursive ? LS_DEP_ER : LS_DEP_EN;
}

/*
 * Does acquiring @next while @prev is held add a dependency? Not if the acquire cannot wait,
 * nor between ww_mutexes of acquire contexts, which back off, nor where @prev is only a gate.
 */
LS_INLINE bool ls_orders(ls_u32 prev, ls_u32 next)
{
	return !(next & LS_VAL_TRY) && !(prev & next & LS_VAL_CTX) && !(prev & LS_VAL_QUIET);
}

/*
 * LS_USE_ON_* of a holder of @held whose context bits are those of @now. Softirqs require
 * hardirqs to be on, and interrupt neither kind of interrupt.
 */
LS_INLINE ls_u32 ls_usage_on(ls_u32 held, ls_u32 now)
{
	ls_u32 level = (now & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	ls_u32 read = held & LS_VAL_READ_MASK ? 1 : 0;
	ls_u32 use;

	if (level == LS_NMI || (now & LS_VAL_IRQ_OFF) || (held & LS_VAL_QUIET))
		return 0;
	use = LS_USE_ON_HARDIRQ << read;
	if (level == LS_TASK && !(now & LS_VAL_BH_OFF))
		use |= LS_USE_ON_SOFTIRQ << read;
	return use;
}

#define LS_USE_ON_ANY_HARDIRQ (LS_USE_ON_HARDIRQ | LS_USE_ON_HARDIRQ_READ)
#define LS_USE_ON_ANY_SOFTIRQ (LS_USE_ON_SOFTIRQ | LS_USE_ON_SOFTIRQ_READ)
#define LS_USE_IN_ANY_HARDIRQ (LS_USE_IN_HARDIRQ | LS_USE_IN_HARDIRQ_READ)
#define LS_USE_IN_ANY_SOFTIRQ (LS_USE_IN_SOFTIRQ | LS_USE_IN_SOFTIRQ_READ)

/* LS_USE_* of acquiring @val. A trylock never blocks an interrupt; a wait holds nothing. */
LS_INLINE ls_u32 ls_usage(ls_u32 val)
{
	ls_u32 level = (val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	ls_u32 use = ls_usage_on(val, val);
	ls_u32 read = (val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT == LS_RECURSIVE;

	if (val & LS_VAL_WAIT)
		return 0;
	if (val & LS_VAL_TRY)
		return use;
	if (level == LS_HARDIRQ)
		use |= LS_USE_IN_HARDIRQ << read;
	else if (level == LS_SOFTIRQ)
		use |= LS_USE_IN_SOFTIRQ << read;
	return use;
}

/*
 * Signature of one held lock as a gate: one bit for being held, another for being held
 * exclusively. Made of the address, so that only the same instance counts.
 */
LS_INLINE ls_u32 ls_gate_bits(ls_u64 lock, ls_u32 val)
{
	ls_u64 mixed = ls_mix(lock);
	ls_u32 bits = 1u << (mixed >> 59);

	if (!(val & LS_VAL_READ_MASK))
		bits |= 1u << ((mixed >> 54) & 31);
	return bits;
}

/* Could a completer that holds @val have waited for it? Not after a trylock. */
LS_INLINE bool ls_needed(ls_u32 val)
{
	return !(val & (LS_VAL_TRY | LS_VAL_WAIT));
}

/* Dependency kind of a completion on a lock that its completer had acquired like @val. */
LS_INLINE ls_u32 ls_need_kind(ls_u32 val)
{
	return (val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT == LS_RECURSIVE ? LS_DEP_ER : LS_DEP_EN;
}

/*
 * Signature of one lock of a completer: two bits for its class, and two that are only set when
 * it was not acquired recursively. The intersection of the signatures of all completers is
 * what all of them had.
 */
LS_INLINE ls_u64 ls_need_bits(ls_u32 val)
{
	ls_u64 mixed = ls_mix(val & LS_VAL_CLASS_MASK);
	ls_u64 bits = 1ull << (mixed >> 59) | 1ull << ((mixed >> 54) & 31);

	if (ls_need_kind(val) == LS_DEP_EN)
		bits |= 1ull << (32 + ((mixed >> 49) & 31)) | 1ull << (32 + ((mixed >> 44) & 31));
	return bits;
}

enum ls_edge_result {
	LS_EDGE_KNOWN,
	LS_EDGE_NEW,		/* new dependency, kind, level, or a gate less */
	LS_EDGE_FULL,
};

/*
 * Is anything new in edge @prev -> @next with @gates held? Records nothing: the caller first
 * reserves an event. Any context.
 */
enum ls_edge_result ls_edges_peek(const struct ls_edges *e, ls_u32 prev, ls_u32 next, ls_u32 gates);

/* Record it. Any context. */
enum ls_edge_result ls_edges_mark(struct ls_edges *e, ls_u32 prev, ls_u32 next, ls_u32 gates);

#define LS_EDGE_WANTED 128u	/* part of a cycle: its instances have to be matched */
#define LS_EDGE_PAIRS 6		/* pairs of instances reported of any edge */
#define LS_EDGE_PAIRS_WANTED 96	/* of one in a cycle */

/*
 * Should one more pair of instances of edge @prev -> @next be reported? Not if the edge is
 * unknown. Any context.
 */
bool ls_edges_want_pair(const struct ls_edges *e, ls_u32 prev, ls_u32 next);
/* Count a reported pair. */
void ls_edges_count_pair(struct ls_edges *e, ls_u32 prev, ls_u32 next);
/* Is edge @prev -> @next part of a cycle? Any context. */
bool ls_edges_is_wanted(const struct ls_edges *e, ls_u32 prev, ls_u32 next);
/* Edge @prev -> @next is part of a cycle. */
void ls_edges_wanted(struct ls_edges *e, ls_u32 prev, ls_u32 next);

#endif /* LOCKSCOPE_EDGES_H */
