/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The judge: takes observations, keeps the lock-order graph of canonical classes, and reports
 * each new cycle once. One thread; never called from a hook.
 *
 * A deadlock needs one context at every edge of the cycle at the same time. Two edges that
 * were only ever observed with one common lock instance held, by at least one of them
 * exclusively, exclude each other (gate lock [DLOS D2]): such a cycle is deferred until an
 * observation without that gate comes; the gated() callback reports the dependencies of which
 * one is wanted.
 *
 * A task that waits for a completion waits for the locks that every completer needs. Which
 * locks these are only becomes known over time: such edges take part in a search only in
 * ls_judge_settle(), and one that a completer refutes is removed for good. Nor do they take
 * part before another context than the waiter was observed to complete: a task that drops its
 * own reference, which may be the last one, and then waits for all to be gone only needs what
 * it holds. A gate does not exclude a completer from its waiter: it is one more lock that the
 * completer needs.
 *
 * Interrupts are two further classes of the graph (abi.h, LS_CLASS_HARDIRQ), so the search for
 * strong cycles covers lockdep's usage bits. For a new dependency a cycle of locks only is
 * searched, and one through each interrupt.
 *
 * Two instances of one class are a dependency of the class on itself. It only leads on from a
 * recursive reader (graph.h): that reader waits for a writer of both, which waits for readers.
 * Orders of instances are judged by instance (pairs.h, nest.h).
 */
#ifndef LOCKSCOPE_JUDGE_H
#define LOCKSCOPE_JUDGE_H

#include "abi.h"
#include "graph.h"
#include "port.h"
#include "tagtab.h"

#define LS_CYCLE_MAX 16		/* edges of the longest cycle reported; longer ones are counted */
#define LS_JUDGE_GATES 6	/* held locks compared; a deeper stack only means fewer gates known */
#define LS_JUDGE_NEEDS 1024	/* edges from completions, at one time */
#define LS_JUDGE_SEG_BITS 10
#define LS_JUDGE_SEG (1u << LS_JUDGE_SEG_BITS)

struct ls_judge_edge {
	ls_u64 gates[LS_JUDGE_GATES];	/* held at every observation; bit 0: shared */
	ls_u32 sight[4];		/* per LS_DEP_* bit: 1 + ordinal, 0 none */
	ls_u32 nr_gates;
	ls_u16 seen;
	ls_u16 completes;		/* from a completion to a lock needed by its completers */
	ls_u64 lock, completion;	/* completion edges: latest instances */
};

/* An edge from a completion; its kinds are kept here while it is inactive in the graph. */
struct ls_judge_need {
	ls_u32 edge;
	ls_u32 kinds;
};

struct ls_judge_ops {
	/* Zeroed memory for the lifetime of the judge, or NULL. */
	void *(*alloc)(void *cookie, ls_size bytes);
	/* New edge, or a known one with new kinds. */
	void (*edge)(void *cookie, ls_u32 from, ls_u32 to, ls_u32 kinds, ls_u32 sight);
	/*
	 * New cycle; edges in order. @kind: LS_FINDING_ORDER_CYCLE, or _IRQ_INVERSION or
	 * _IRQ_STATE, then the first edge leads out of the interrupt. With a completion in it,
	 * the first edge is that of a waiter.
	 */
	void (*cycle)(void *cookie, ls_u32 kind, const struct ls_finding_edge *edges, ls_u32 nr);
	/*
	 * Gates of dependency @from -> @to, of two locks, speak against a cycle: an
	 * observation without one of them is wanted. Called again by each search. May be NULL.
	 */
	void (*gated)(void *cookie, ls_u32 from, ls_u32 to);
};

struct ls_judge {
	struct ls_graph graph;
	struct ls_tagtab reported;	/* cycle signature -> 1 */
	ls_u32 *canonical;		/* per class id; 0: itself */
	ls_u16 *usage;			/* per canonical class: LS_USE_*, LS_JUDGE_* */
	struct ls_judge_edge **segs;	/* per LS_JUDGE_SEG graph edges */
	ls_u32 nr_segs;
	ls_u32 max_classes;
	ls_u32 nr_signals;		/* classes that are LS_JUDGE_SIGNAL */
	const struct ls_judge_ops *ops;
	void *cookie;
	ls_u64 lost_edges;
	ls_u64 lost_cycles;		/* signature table full: may be reported twice */
	ls_u64 cut_searches;		/* for possible cycles: longer, or behind too many gates */
	ls_u32 nr_needs;
	bool unsettled;			/* something new since the last ls_judge_settle() */
	struct ls_judge_need needs[LS_JUDGE_NEEDS];
};

/* Bytes of zeroed, 8-byte aligned memory for ls_judge_init(). */
ls_size ls_judge_bytes(ls_u32 max_classes, ls_u32 max_edges);
void ls_judge_init(struct ls_judge *j, void *mem, ls_u32 max_classes, ls_u32 max_edges,
		   const struct ls_judge_ops *ops, void *cookie);
/* Discard all edges and findings; merged classes stay merged. */
void ls_judge_clear(struct ls_judge *j);

/* Class @id is class @canonical (an older one with the same name). */
void ls_judge_unite(struct ls_judge *j, ls_u32 id, ls_u32 canonical);

LS_INLINE ls_u32 ls_judge_class(const struct ls_judge *j, ls_u32 val)
{
	ls_u32 id = val & LS_VAL_CLASS_MASK;

	if (id > j->max_classes)
		return 0;
	return j->canonical[id] ? j->canonical[id] : id;
}

/* Class @id is not part of the graph, whatever is observed of it from now on (exempt.h). */
#define LS_JUDGE_EXEMPT 256u
LS_INLINE void ls_judge_exempt(struct ls_judge *j, ls_u32 id)
{
	if (id <= j->max_classes)
		j->usage[id] |= LS_JUDGE_EXEMPT;
}

/*
 * Class @id is a semaphore that was found to count events, or no longer is: its edges close no
 * cycle, and none are added. Cycles that were closed by others meanwhile are found by
 * ls_judge_settle().
 */
#define LS_JUDGE_SIGNAL 512u
#define LS_JUDGE_OUT (LS_JUDGE_EXEMPT | LS_JUDGE_SIGNAL)
void ls_judge_signal(struct ls_judge *j, ls_u32 id, bool signal);

/* A completion of the class was observed. */
#define LS_JUDGE_COMPLETED 1024u
/* It was LS_JUDGE_SIGNAL, and was not searched since. */
#define LS_JUDGE_RESUMED 2048u
/* A completion by another context than the waiter was observed. */
#define LS_JUDGE_CONFIRMED 4096u

/* LS_USE_* of canonical class @id, and LS_JUDGE_* marks. */
LS_INLINE ls_u32 ls_judge_usage(const struct ls_judge *j, ls_u32 id)
{
	return id <= j->max_classes ? j->usage[id] : 0;
}

/* Process observation number @ordinal. @s is well-formed; nr_held <= LS_MAX_DEPTH. */
void ls_judge_observe(struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 ordinal);

/*
 * Search cycles through completions, with what is known of their completers, and through
 * semaphores that are no signals any more.
 */
void ls_judge_settle(struct ls_judge *j);

#endif /* LOCKSCOPE_JUDGE_H */
