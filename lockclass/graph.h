/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock-order graph: classes as nodes, dependencies as edges, and the
 * breadth-first search for the shortest strong cycle.
 *
 * Freestanding: the caller hands in the memory; nothing here allocates, locks
 * or does I/O. One writer; a search is a write too (it uses the visit marks),
 * so all calls on one graph come from one thread. Never called from a hook.
 *
 * Strong path [lockdep-design.rst; Boqun Feng's recursive-read support]: a
 * path is strong when no dependency that ends in a recursive reader (*R) is
 * followed by one that starts at a shared holder (S*). Only a strong cycle can
 * deadlock.
 */
#ifndef LOCKSCOPE_GRAPH_H
#define LOCKSCOPE_GRAPH_H

#include "port.h"

/* Dependency kinds as in abi.h: LS_DEP_ER, EN, SR, SN. */

struct ls_graph_edge {
	ls_u32 from;
	ls_u32 to;
	ls_u32 next_out;	/* next edge with the same from; 0 ends */
	ls_u32 kinds;		/* LS_DEP_* mask */
};

struct ls_graph {
	ls_u32 max_nodes;	/* node ids are 0 .. max_nodes - 1 */
	ls_u32 max_edges;
	ls_u32 nr_edges;	/* edge indices are 1 .. nr_edges */
	ls_u32 epoch;		/* visit marks of older searches are stale */
	ls_u32 *first_out;	/* per node */
	ls_u32 *visit;		/* per node and reader state: epoch of the visit */
	ls_u32 *via;		/* per node and reader state: reached by, and from */
	ls_u32 *queue;		/* search queue, node * 2 + reader state */
	struct ls_graph_edge *edges;
	ls_u32 *lookup;		/* (from, to) -> edge index, open addressing */
	ls_u32 lookup_mask;
	bool nests;		/* edges from a class to itself take part, see below */
};

/* Bytes of memory a graph of this size needs. 0 when it would overflow. */
ls_size ls_graph_bytes(ls_u32 max_nodes, ls_u32 max_edges);

/* Initialise an empty graph in @mem (zeroed, 8-byte aligned, ls_graph_bytes long). */
void ls_graph_init(struct ls_graph *g, void *mem, ls_u32 max_nodes, ls_u32 max_edges);

/* Forget all edges. O(max_nodes + max_edges). */
void ls_graph_clear(struct ls_graph *g);

/*
 * Add the kinds to edge from -> to, creating it if need be. Returns the edge's index, 0 when
 * the table is full or an argument is out of range. *added gets the new kinds (may be NULL).
 */
ls_u32 ls_graph_add(struct ls_graph *g, ls_u32 from, ls_u32 to, ls_u32 kinds, ls_u32 *added);

/* Index of edge from -> to, 0 when there is none. */
ls_u32 ls_graph_find(const struct ls_graph *g, ls_u32 from, ls_u32 to);

/*
 * May the search use this edge? Called with the search's cookie; returns the kinds that may be
 * used (a subset of edge->kinds), 0 to skip the edge.
 */
typedef ls_u32 (*ls_graph_filter)(void *cookie, ls_u32 index, const struct ls_graph_edge *edge);

/*
 * Shortest strong cycle that uses edge @index with one of @kinds as its first edge: returns
 * its length, 0 when there is none, and writes edge indices in order into path[] (path[0] ==
 * index). A cycle longer than @max_len is not written. Edges from a class to itself never take
 * part, or with @g->nests only where one leads on from a recursive reader to an acquire that is
 * none. @filter may be NULL. The cycle may pass a class in both reader states.
 */
ls_u32 ls_graph_shortest_cycle(struct ls_graph *g, ls_u32 index, ls_u32 kinds, ls_u32 *path,
			       ls_u32 max_len, ls_graph_filter filter, void *cookie);

/*
 * The same for cycles through node @through, which is neither end of the edge. No dependency
 * on that node may end in a recursive reader. Each half is as short as possible, and the
 * halves may share classes.
 */
ls_u32 ls_graph_cycle_through(struct ls_graph *g, ls_u32 index, ls_u32 kinds, ls_u32 through,
			      ls_u32 *path, ls_u32 max_len, ls_graph_filter filter, void *cookie);

#endif /* LOCKSCOPE_GRAPH_H */
