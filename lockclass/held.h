/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Held-lock stack of one context: a task, or an interrupt level of one CPU.
 *
 * Single writer: only code running in the context itself touches it, with
 * preemption off, and each interrupt level has a stack of its own, so nothing
 * can interleave. @key is the chain key of everything held.
 */
#ifndef LOCKSCOPE_HELD_H
#define LOCKSCOPE_HELD_H

#include "abi.h"
#include "hash.h"
#include "port.h"

struct ls_held {
	ls_u64 lock;		/* instance */
	ls_u64 below;		/* chain key of what was held before */
	ls_u64 ip;		/* acquire site */
	ls_u32 val;		/* LS_VAL_* */
	ls_u32 stamp;		/* the caller's, 0 at first; moves with the entry */
};

/* What a task is about to wait for, see waitqueues.c; addresses are for comparing only. */
struct ls_queued {
	ls_u64 queue;
	ls_u64 entry;		/* by which it is on the queue */
	ls_u64 frame;		/* of the function that put it there, 0: none */
	ls_u64 alarm;		/* timer on its stack */
	ls_u32 id;		/* class of the queue while it sleeps, else 0 */
	bool several;		/* it is on other queues too */
};

/*
 * What a context waits for: a sleeping lock, and on its way to sleep or back a
 * spinning one as well.
 */
#define LS_WAIT_SLEEP 0
#define LS_WAIT_SPIN 1
#define LS_NR_WAITS 2
struct ls_wait {
	ls_u64 lock;		/* instance, 0: waits for nothing */
	ls_u64 since;		/* ns */
	ls_u64 ip;		/* acquire site */
	ls_u32 val;		/* LS_VAL_* as far as known */
	ls_u32 pad;
};

struct ls_ctx {
	ls_u64 key;		/* chain key of the whole stack, 0 when empty */
	/*
	 * Depth, and whether the context is inside a slow path, where a nested
	 * hook must leave. One word to the fast paths: below LS_MAX_DEPTH only
	 * when there is room, nobody is busy and nothing special is to come.
	 * Little endian.
	 */
	union {
		struct {
			ls_u32 depth;
			ls_u16 busy;
			ls_u8 nest;	/* the next lock taken is one whose order does not matter */
			ls_u8 timed;	/* somebody measures how long entries stay */
		};
		ls_u64 state;
	};
	ls_u32 lost;		/* acquires not kept because the stack was full */
	ls_u32 ignoring;	/* sections in which nothing is looked at */
	ls_u32 may_race;	/* the same for accesses only */
	ls_u32 entry;		/* the caller's: into the kernel, when it last took a semaphore */
	ls_u64 backoff;		/* use of a ww_acquire_ctx that got -EDEADLK and has to give way */
	ls_u64 contended;	/* on this ww_mutex */
	ls_u64 run;		/* work item that runs: it never runs twice at a time */
	ls_u64 section;		/* sequence counter that the task was reading under when switched out */
	struct ls_queued queued;
	ls_u32 id;		/* place in the owner's pool */
	void *owner;		/* the task, NULL for interrupt levels */
	struct ls_wait wait[LS_NR_WAITS];
	/*
	 * ns, when each entry was taken; set only while somebody measures, and NULL
	 * where nobody ever will. Apart: per-CPU memory of modules is scarce.
	 */
	ls_u64 *since;
	struct ls_held held[LS_MAX_DEPTH];
};

LS_INLINE void ls_held_clear(struct ls_ctx *ctx)
{
	ctx->depth = 0;
	ctx->key = 0;
	ctx->busy = 0;
	ctx->lost = 0;
	ctx->ignoring = 0;
	ctx->may_race = 0;
	ctx->nest = 0;
	ctx->timed = 0;
	ctx->backoff = 0;
	ctx->run = 0;
	ctx->section = 0;
	ctx->queued.frame = 0;
	ctx->queued.alarm = 0;
	ctx->queued.id = 0;
	ctx->wait[LS_WAIT_SLEEP].lock = 0;
	ctx->wait[LS_WAIT_SPIN].lock = 0;
}

/*
 * After a locking error what is held proves nothing, until nothing is held [RacerX 6.1].
 * The keys of chains say so: they begin with this one, which no chain has that is known,
 * so that every acquisition takes the slow path. The last release ends it by itself.
 */
#define LS_DISTRUSTED 0xbadull

LS_INLINE bool ls_held_distrusted(const struct ls_ctx *ctx)
{
	return ctx->depth && (ctx->depth > 1 ? ctx->held[1].below : ctx->key) ==
				     ls_chain_mix(LS_DISTRUSTED, ctx->held[0].val);
}

/* An error: distrust what is held. */
void ls_held_distrust(struct ls_ctx *ctx);

/* Push; the caller has checked that depth < LS_MAX_DEPTH. */
LS_INLINE void ls_held_push(struct ls_ctx *ctx, ls_u64 lock, ls_u64 ip, ls_u32 val, ls_u64 key)
{
	struct ls_held *h = &ctx->held[ctx->depth];

	h->lock = lock;
	h->below = ctx->key;
	h->ip = ip;
	h->val = val;
	h->stamp = 0;
	ctx->key = key;
	ls_barrier();
	ctx->depth++;
}

/* Is @lock on top? Then ls_held_pop_top() releases it. */
LS_INLINE bool ls_held_is_top(const struct ls_ctx *ctx, ls_u64 lock)
{
	return ctx->depth && ctx->held[ctx->depth - 1].lock == lock;
}

LS_INLINE void ls_held_pop_top(struct ls_ctx *ctx)
{
	ls_u32 top = ctx->depth - 1;

	ctx->depth = top;
	ctx->key = ctx->held[top].below;
}

/* Index of the topmost entry of @lock, -1 when it is not held. */
int ls_held_find(const struct ls_ctx *ctx, ls_u64 lock);

/*
 * Remove entry @i wherever it is: locks may be released in any order. The keys
 * of the entries above are made anew, as if @i had never been taken.
 */
void ls_held_remove(struct ls_ctx *ctx, ls_u32 i);

/* Move the entries of @from from index @first on to the top of @to; returns how many found no room. */
ls_u32 ls_held_move(struct ls_ctx *from, ls_u32 first, struct ls_ctx *to);

/* Change how entry @i is held (downgrade_write). */
void ls_held_set_read(struct ls_ctx *ctx, ls_u32 i, enum ls_read read);

/* Entry @i turns out to be of class @id. */
void ls_held_set_class(struct ls_ctx *ctx, ls_u32 i, ls_u32 id);

#endif /* LOCKSCOPE_HELD_H */
