/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a context acquired before, as far as a lock that it still holds says something about it:
 *
 *  - passed: a lock was acquired, and released, within the present hold of a gate.
 *  - under: a lock is held, and was acquired under a gate, which was released since.
 *
 * A context that passed a lock under a gate never meets one that has acquired that lock under
 * the same gate, each exclusively on one side at least: the lock was free when the first one
 * passed, and is not acquired under a gate that this one holds. No lock that both hold shows that.
 *
 * Slow paths alone take notes, and the last few are kept, so that much is not known. What is
 * not known is not claimed. A hold is identified by ls_held.stamp, which is 0 for what a fast
 * path pushed.
 */
#ifndef LOCKSCOPE_PASSED_H
#define LOCKSCOPE_PASSED_H

#include "gates.h"
#include "hash.h"
#include "held.h"
#include "port.h"

/* In ls_rec_sight.extra: fact @i and its lock. */
LS_INLINE ls_u16 ls_past_more(ls_u64 extra, ls_u32 i)
{
	return (ls_u16)(extra >> (16 + 16 * i));
}
LS_INLINE ls_u32 ls_past_more_of(ls_u64 extra, ls_u32 i)
{
	return (ls_u32)(extra >> (4 + 4 * i)) % LS_PAST_DEPTH;
}
LS_INLINE ls_u64 ls_past_extra(ls_u16 fact, ls_u32 of, ls_u32 i)
{
	return (ls_u64)fact << (16 + 16 * i) | (ls_u64)of << (4 + 4 * i);
}

/* A fact: hash of gate and lock, never 0, and what was held shared. */
#define LS_PASSED_GATE_SHARED 1u
#define LS_PASSED_LOCK_SHARED 2u
#define LS_PASSED_SHARED (LS_PASSED_GATE_SHARED | LS_PASSED_LOCK_SHARED)
LS_INLINE ls_u32 ls_passed_hash(ls_u64 gate, ls_u64 lock)
{
	ls_u32 hash = (ls_u32)(ls_mix(ls_mix(ls_mix(gate) + lock)) >> 50);

	return (hash ? hash : 1) << 2;
}

/* Do the contexts of two facts, one of each sort, never meet? */
LS_INLINE bool ls_passed_apart(ls_u16 under, ls_u16 passed)
{
	return under && !((under ^ passed) & ~LS_PASSED_SHARED) && !(under & passed & LS_PASSED_SHARED);
}

/* A fact as a gate of a dependency, see ls_gates_peek(). */
LS_INLINE ls_u16 ls_passed_tag(ls_u16 fact, bool passed)
{
	ls_u32 hash = (ls_u32)(ls_mix(ls_mix((ls_u64)fact << 1 | passed)) >> 49);

	return (ls_u16)((hash ? hash : 1) << 1);
}

/*
 * Facts that were claimed of both sorts: what they speak against has to be looked for. What was
 * shared does not matter, as another observation may differ.
 */
struct ls_claims {
	ls_u8 of[1u << 14];	/* indexed by the hash: LS_CLAIM_* */
	ls_u32 met;		/* number of facts with both */
};

#define LS_CLAIM_UNDER 1u
#define LS_CLAIM_PASSED 2u
#define LS_CLAIM_BOTH (LS_CLAIM_UNDER | LS_CLAIM_PASSED)

/* Add @passed, see ls_held_rec. Was one of it claimed of both sorts by now? Thread only. */
bool ls_claims_add(struct ls_claims *c, ls_u32 passed);

/* The top entries of a context. */
#define LS_PAST_TAGS 24
struct ls_past {
	ls_u32 first;			/* entry of the first one */
	ls_u64 lock[LS_PAST_DEPTH];	/* instance, 0: its stamp has another use, or it is no lock */
	ls_u32 facts[LS_PAST_DEPTH];	/* see ls_held_rec.passed */
	ls_u16 more[LS_PAST_MORE];	/* see ls_past_more() */
	ls_u8 more_of[LS_PAST_MORE];
	ls_u16 tags[LS_PAST_TAGS];	/* of those facts, and of others that have no place in a record */
	ls_u32 nr_tags;
};

LS_INLINE ls_u32 ls_past_first(const struct ls_ctx *ctx)
{
	return ctx->depth > LS_PAST_DEPTH ? ctx->depth - LS_PAST_DEPTH : 0;
}

/* The top entry of @ctx was acquired in a slow path. @past: without facts. */
void ls_passed_note(struct ls_ctx *ctx, const struct ls_past *past);

/* Fill the facts of @past and all tags, those of @ctx while @wanted, an instance, is acquired. */
void ls_passed_facts(const struct ls_ctx *ctx, struct ls_past *past, ls_u64 wanted);

/*
 * The facts of @past are to be reported. Fill @tags with their tags, and return the number of them:
 * what LS_GATES_KEPT has no room for besides the other locks that are held is no fact any more.
 */
ls_u32 ls_passed_report(const struct ls_ctx *ctx, struct ls_past *past, ls_u16 *tags);

/*
 * What was reported of one key in @g, a pair of instances: sets of tags of facts and of the other
 * locks held. An observation with a set that includes none of them is reported. The first
 * LS_PASSED_SETS are kept as they are, of a pair that is part of a cycle LS_PASSED_SETS_WANTED.
 */
#define LS_PASSED_SETS 8
#define LS_PASSED_SETS_WANTED 32

/*
 * LS_GATES_UNKNOWN: none was reported. LS_GATES_FEWER: @tags, @nr of them (0: skipped), includes
 * none. Any context.
 */
enum ls_gates_result ls_passed_peek(const struct ls_gates *g, ls_u64 key, const ls_u16 *tags, ls_u32 nr);

/*
 * @tags is reported. @make: there is room for another set. False: it is not kept. @bound: it is of
 * a cycle, known from now on all the same, and so is what it has in common with the last set. Any
 * context.
 */
bool ls_passed_mark(struct ls_gates *g, ls_u64 key, const ls_u16 *tags, ls_u32 nr, bool make, bool bound);

/* Was entry @i acquired in a slow path, and so are its gates of that time known? */
LS_INLINE bool ls_passed_is_noted(const struct ls_ctx *ctx, ls_u32 i)
{
	/* Odd: from a later note. */
	return ctx->held[i].stamp && !(ctx->held[i].stamp & 1);
}

#endif /* LOCKSCOPE_PASSED_H */
