/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instances of one class that nest in each other, in a ring: a->b, b->c, c->a. Which of the
 * rings is a deadlock depends on what else was held: each observation of two instances in one
 * order has other gates. So all rings with an observation are tried, the shortest first.
 *
 * Memory and threads as for graph.h. Never called from a hook.
 */
#ifndef LOCKSCOPE_NEST_H
#define LOCKSCOPE_NEST_H

#include "graph.h"
#include "judge.h"
#include "port.h"

#define LS_NEST_SIDES 4		/* latest observations of two instances in one order */
#define LS_NEST_STEPS 4096	/* observations tried for one ring */

struct ls_nest_edge {
	ls_u32 sides[LS_NEST_SIDES];	/* (1 + ordinal) << 2 | number of the LS_DEP_* bit */
	ls_u32 nr;			/* including overwritten ones */
};

struct ls_nest {
	struct ls_graph graph;		/* nodes are instances */
	struct ls_nest_edge *edges;
};

/* Bytes of memory, 0 when it would overflow. */
ls_size ls_nest_bytes(ls_u32 max_nodes, ls_u32 max_edges);
/* @mem: zeroed, 8-byte aligned, ls_nest_bytes() long. */
void ls_nest_init(struct ls_nest *n, void *mem, ls_u32 max_nodes, ls_u32 max_edges);
void ls_nest_clear(struct ls_nest *n);

/* Does a lock held in both observations exclude one from the other? */
typedef bool (*ls_nest_apart)(void *cookie, ls_u32 a, ls_u32 b);

enum ls_nest_result {
	LS_NEST_NONE,
	LS_NEST_RING,
	LS_NEST_CUT,		/* none found, but not all were tried */
	LS_NEST_FULL,		/* no room for the two instances */
};

/*
 * Observation @ordinal shows that instance @to was acquired with @from held, an LS_DEP_* bit
 * @kind. Record it, and find a ring with it: path[] gets the observations of its sides in order,
 * this one first, *@nr of them.
 */
enum ls_nest_result ls_nest_add(struct ls_nest *n, ls_u32 from, ls_u32 to, ls_u32 kind, ls_u32 ordinal,
				ls_nest_apart apart, void *cookie, ls_u32 path[LS_CYCLE_MAX], ls_u32 *nr);

#endif /* LOCKSCOPE_NEST_H */
