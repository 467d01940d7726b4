/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Held-lock stack of one context: a task, or an interrupt level of one CPU.
 *
 * Single writer: only code running in the context itself touches it, with preemption off, and
 * each interrupt level has a stack of its own, so there is no concurrency. @key is the chain
 * key of all held locks.
 */
#ifndef LOCKSCOPE_HELD_H
#define LOCKSCOPE_HELD_H

#include "abi.h"
#include "hash.h"
#include "port.h"

struct ls_held {
	ls_u64 lock;		/* instance */
	ls_u64 below;		/* chain key of the locks held before */
	ls_u64 ip;		/* acquire site */
	ls_u32 val;		/* LS_VAL_* */
	ls_u32 stamp;		/* initially 0; set by the caller, or see passed.h */
};

/*
 * Wait queue that a task is about to sleep on, see waitqueues.c; addresses are for comparing
 * only.
 */
struct ls_queued {
	ls_u64 queue;
	ls_u64 entry;		/* its wait queue entry */
	ls_u64 frame;		/* of the function that added it, 0: none */
	ls_u64 alarm;		/* timer on its stack */
	ls_u32 id;		/* class of the queue while it sleeps, else 0 */
	bool several;		/* it is on other queues as well */
};

/*
 * What a context waits for: a sleeping lock, and on the way to sleep or back a spinning one as
 * well.
 */
#define LS_WAIT_SLEEP 0
#define LS_WAIT_SPIN 1
#define LS_NR_WAITS 2
struct ls_wait {
	ls_u64 lock;		/* instance, 0: none */
	ls_u64 since;		/* ns */
	ls_u64 ip;		/* acquire site */
	ls_u32 val;		/* LS_VAL_* as far as known */
	ls_u32 pad;
};

/* An acquisition of a slow path, see passed.h. */
#define LS_NOTES 8
#define LS_NOTE_GATES 5
struct ls_note {
	ls_u64 lock;		/* instance */
	ls_u32 serial;		/* stamp of the entry, 0: no note */
	ls_u16 shared;		/* LS_PASSED_LOCK_SHARED, or 0 */
	ls_u16 under[LS_NOTE_GATES];	/* facts of the gates that were held, 0 ends */
};

struct ls_ctx {
	ls_u64 key;		/* chain key of the whole stack, 0 when empty */
	/*
	 * Depth, and whether the context is in a slow path, where a nested hook must return.
	 * One word for the fast paths: below LS_MAX_DEPTH only if there is room, no slow path
	 * is active and no special case is pending. Little endian.
	 */
	union {
		struct {
			ls_u32 depth;
			ls_u16 busy;
			ls_u8 nest;	/* the next acquired lock is not ordered */
			ls_u8 timed;	/* hold times are measured */
		};
		ls_u64 state;
	};
	ls_u32 lost;		/* acquires lost because the stack was full */
	ls_u32 ignoring;	/* nested sections in which locks are ignored */
	ls_u32 may_race;	/* the same for accesses only */
	ls_u32 entry;		/* set by the caller: kernel entry of the last semaphore acquire */
	ls_u64 backoff;		/* use of a ww_acquire_ctx that got -EDEADLK and has to back off */
	ls_u64 contended;	/* the contended ww_mutex */
	ls_u64 run;		/* running work item: it never runs twice at a time */
	ls_u64 begins;		/* acquire site behind a gate, until the acquisition is recorded */
	ls_u64 section;		/* counter of the read section at the switch */
	struct ls_queued queued;
	ls_u32 id;		/* index in the owner's pool */
	void *owner;		/* the task, NULL for interrupt levels */
	struct ls_wait wait[LS_NR_WAITS];
	/*
	 * ns, acquire time of each entry; only valid while hold times are measured, NULL where
	 * they never are. Separate: per-CPU memory of modules is scarce.
	 */
	ls_u64 *since;
	struct ls_held held[LS_MAX_DEPTH];
	ls_u32 serial;		/* last stamp of a note; it goes on when the stack is cleared */
	ls_u32 next_note;
	struct ls_note notes[LS_NOTES];
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
	ctx->begins = 0;
	ctx->section = 0;
	ctx->queued.frame = 0;
	ctx->queued.alarm = 0;
	ctx->queued.id = 0;
	ctx->wait[LS_WAIT_SLEEP].lock = 0;
	ctx->wait[LS_WAIT_SPIN].lock = 0;
}

/*
 * After a locking error the held locks prove nothing, until none is held [RacerX 6.1]. Chain
 * keys start with this one then, which is the key of no known chain, so that every acquisition
 * takes the slow path. The last release ends it.
 */
#define LS_DISTRUSTED 0xbadull

LS_INLINE bool ls_held_distrusted(const struct ls_ctx *ctx)
{
	return ctx->depth && (ctx->depth > 1 ? ctx->held[1].below : ctx->key) ==
				     ls_chain_mix(LS_DISTRUSTED, ctx->held[0].val);
}

/* Distrust the held locks after an error. */
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

/*
 * The top entry of a context, with @val, is pushed before its lock is acquired. An interrupt of @level
 * on top of the context shows that the acquisition has not yet turned such interrupts off: the lock
 * may be another CPU's.
 */
LS_INLINE bool ls_held_is_to_come(ls_u32 val, ls_u32 level)
{
	return (level == LS_HARDIRQ && val & LS_VAL_IRQ_OFF) ||
	       (level == LS_SOFTIRQ && val & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF));
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
 * Remove entry @i wherever it is: locks may be released in any order. The keys of the entries
 * above are recomputed, as if @i had never been acquired.
 */
void ls_held_remove(struct ls_ctx *ctx, ls_u32 i);

/*
 * Move the entries of @from from index @first on to the top of @to, without their stamps;
 * returns the number of entries without room.
 */
ls_u32 ls_held_move(struct ls_ctx *from, ls_u32 first, struct ls_ctx *to);

/* Change how entry @i is held (downgrade_write). */
void ls_held_set_read(struct ls_ctx *ctx, ls_u32 i, enum ls_read read);

/* Entry @i is found to be of class @id. */
void ls_held_set_class(struct ls_ctx *ctx, ls_u32 i, ls_u32 id);

#endif /* LOCKSCOPE_HELD_H */
