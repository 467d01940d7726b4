/* SPDX-License-Identifier: GPL-2.0 */
/* State of the hooks: per CPU, and the tables that all CPUs share. */
#ifndef LOCKSCOPE_STATE_H
#define LOCKSCOPE_STATE_H

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "abi.h"
#include "addrmap.h"
#include "base/wrapper/rearm.h"
#include "chains.h"
#include "classes.h"
#include "core/repaired.h"
#include "edges.h"
#include "gates.h"
#include "held.h"
#include "orphans.h"
#include "pairs.h"
#include "primitives.h"
#include "ring.h"
#include "seen.h"

#define LS_SAMPLE 64		/* mean number of acquisitions between counted ones */

/*
 * State of one CPU. Written by its own CPU with preemption off; statistics are
 * single-instruction updates, so an interrupt in between does no harm.
 */
struct ls_cpu {
	struct task_struct *cur;	/* task whose locks @task holds */
	struct ls_ctx *task;		/* held locks of cur */
	struct ls_ctx *home;		/* context of tasks that hold nothing while switched out */
	u32 sample;			/* acquisitions until the next counted one */
	u32 sample_weight;
	u32 random;
	u64 in_freed;			/* lock in freed memory whose class was looked up */
	u64 tail;			/* lock acquired at the end of an interrupt, in_tail() */
	struct task_struct *behind;	/* cur from before, while tail is set */
	u64 spins[LS_NR_LEVELS];	/* lock that last had to be waited for under a spinning one */
	u64 acquisitions[LS_NR_LEVELS];
	u64 releases;
	u64 unknown_releases;
	u64 stale;			/* held entries dropped: their release was not seen */
	u64 losses[LS_NR_LOSSES];
	struct ls_ring ring;
	struct irq_work work;
	struct ls_ctx *level;	/* LS_NR_LEVELS - 1: softirq, hardirq, NMI; modules get little per-CPU memory */
};
DECLARE_PER_CPU(struct ls_cpu, ls_cpus);

/* Is the lock held that the end of an interrupt takes? See in_tail(). */
static __always_inline bool ls_has_tail(const struct ls_cpu *pc)
{
	return LS_HAS_REARM && pc->tail;
}

/* Tables shared by all CPUs; allocated once at load. */
struct ls_tables {
	struct ls_chains chains;
	struct ls_classes classes;
	struct ls_edges edges;
	struct ls_pairs pairs;
	struct ls_gates gates;		/* locks always held with a dependency or a pair of instances */
	struct ls_seen seen;		/* pairs of instances of two classes that were reported */
	struct ls_addrmap addrs;	/* lock -> class, where no arithmetic identity exists */
	struct ls_addrmap sites;	/* kmalloc object -> allocation site */
	struct ls_orphans orphans;	/* semaphores released by another context -> when */
	struct ls_addrmap takers;	/* semaphore on no held-lock stack -> its last taker (semaphores.c) */
	struct ls_addrmap semaphores;	/* semaphore released in its present life -> how (semaphores.c) */
	struct ls_addrmap completers;	/* completion -> its last completer (completions.c) */
	struct ls_addrmap makers;	/* completion made with a device's mutex held -> number of that hold */
	struct ls_addrmap tasks;	/* task that sleeps with locks held -> context + 1 */
	u32 nr_unrefined;		/* classes with LS_CLASS_UNREFINED */
	u32 device_holds;		/* of devices' mutexes that completions were made in */
	u32 signal_changes;		/* semaphore classes whose belief has changed */
};
extern struct ls_tables ls;

extern int ls_active;			/* hooks record; set by the owner of the worker only */
extern bool ls_strict;
extern u32 ls_slack;

/* enum ls_kind of a held or acquired word. */
static __always_inline u32 ls_kind_of(u32 val)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].kind;
}

/* The spinning ones of the @depth outermost locks of @ctx, a bit each. */
static __always_inline u64 ls_spinning_mask(const struct ls_ctx *ctx, u32 depth)
{
	u64 mask = 0;
	u32 i;

	for (i = 0; i < depth; i++)
		if (LS_SPINNING_KINDS >> ls_kind_of(ctx->held[i].val) & 1)
			mask |= 1ull << i;
	return mask;
}

/* Count a loss. Any context. */
#define ls_lose(what) this_cpu_inc(ls_cpus.losses[what])

/* Map @addr to @id; an evicted entry counts as a loss. Any context. */
static __always_inline void ls_remember(struct ls_addrmap *m, u64 addr, u32 id)
{
	if (unlikely(ls_addrmap_set(m, addr, id)))
		ls_lose(LS_LOSS_ADDRESSES);
}

/* Is a task running, not an interrupt, that holds nothing? Preemption off. */
static __always_inline bool ls_holds_nothing(void)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	return pc->cur == current && !(preempt_count() & LS_COUNT_UNUSUAL) &&
	       !pc->task->depth;
}

void ls_wake_worker(void);

#endif /* LOCKSCOPE_STATE_H */
