// SPDX-License-Identifier: GPL-2.0
/*
 * Lock-order graph and the search for the shortest strong cycle.
 *
 * The search is a breadth-first walk over states (class, only_xr), where
 * only_xr says that the walk so far can end only in a recursive reader, so
 * that the next dependency has to start at an exclusive holder. A class
 * reached without that restriction makes the restricted visit pointless: all
 * the latter can go on with, the former can too. [lockdep-design.rst, "Strong
 * dependency paths"]
 */
#include "graph.h"
#include "abi.h"

#define LS_DEP_ALL (LS_DEP_ER | LS_DEP_EN | LS_DEP_SR | LS_DEP_SN)
#define LS_DEP_FROM_EXCLUSIVE (LS_DEP_ER | LS_DEP_EN)
#define LS_DEP_TO_OTHER (LS_DEP_EN | LS_DEP_SN)	/* not a recursive reader */

/* Bounds that keep state numbers and "edge * 2 + state" within 32 bits. */
#define LS_GRAPH_MAX_NODES (1u << 28)
#define LS_GRAPH_MAX_EDGES (1u << 28)

LS_INLINE ls_u32 table_size(ls_u32 max_edges)
{
	ls_u32 size = 16;

	/* At most half full, so that probes stay short. */
	while (size < max_edges * 2)
		size *= 2;
	return size;
}

LS_INLINE ls_u32 pair_hash(ls_u32 from, ls_u32 to)
{
	ls_u64 x = ((ls_u64)from << 32 | to) * 0x9e3779b97f4a7c15ull;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return (ls_u32)(x >> 32);
}

ls_size ls_graph_bytes(ls_u32 max_nodes, ls_u32 max_edges)
{
	ls_u64 bytes;

	if (max_nodes > LS_GRAPH_MAX_NODES || max_edges > LS_GRAPH_MAX_EDGES)
		return 0;
	bytes = ((ls_u64)max_edges + 1) * sizeof(struct ls_graph_edge);
	bytes += (ls_u64)max_nodes * 7 * sizeof(ls_u32);
	bytes += (ls_u64)table_size(max_edges) * sizeof(ls_u32);
	bytes = (bytes + 7) & ~7ull;
	return (ls_size)bytes == bytes ? (ls_size)bytes : 0;
}

void ls_graph_init(struct ls_graph *g, void *mem, ls_u32 max_nodes, ls_u32 max_edges)
{
	ls_u32 *words;

	g->max_nodes = max_nodes;
	g->max_edges = max_edges;
	g->nr_edges = 0;
	g->epoch = 0;
	g->nests = false;
	g->edges = mem;
	words = (ls_u32 *)(g->edges + (ls_size)max_edges + 1);
	g->first_out = words;
	g->visit = g->first_out + max_nodes;
	g->via = g->visit + (ls_size)max_nodes * 2;
	g->queue = g->via + (ls_size)max_nodes * 2;
	g->lookup = g->queue + (ls_size)max_nodes * 2;
	g->lookup_mask = table_size(max_edges) - 1;
}

void ls_graph_clear(struct ls_graph *g)
{
	ls_u32 i;

	for (i = 0; i < g->max_nodes; i++)
		g->first_out[i] = 0;
	for (i = 0; i <= g->lookup_mask; i++)
		g->lookup[i] = 0;
	g->nr_edges = 0;
}

/* Slot of the pair, or the empty slot where it belongs. */
static ls_u32 lookup_slot(const struct ls_graph *g, ls_u32 from, ls_u32 to)
{
	ls_u32 slot = pair_hash(from, to) & g->lookup_mask;

	for (;;) {
		ls_u32 index = g->lookup[slot];

		if (!index || (g->edges[index].from == from && g->edges[index].to == to))
			return slot;
		slot = (slot + 1) & g->lookup_mask;
	}
}

ls_u32 ls_graph_find(const struct ls_graph *g, ls_u32 from, ls_u32 to)
{
	return g->lookup[lookup_slot(g, from, to)];
}

ls_u32 ls_graph_add(struct ls_graph *g, ls_u32 from, ls_u32 to, ls_u32 kinds, ls_u32 *added)
{
	struct ls_graph_edge *edge;
	ls_u32 slot, index;

	if (added)
		*added = 0;
	if (from >= g->max_nodes || to >= g->max_nodes || !kinds || (kinds & ~LS_DEP_ALL))
		return 0;

	slot = lookup_slot(g, from, to);
	index = g->lookup[slot];
	if (!index) {
		if (g->nr_edges >= g->max_edges)
			return 0;
		index = ++g->nr_edges;
		edge = &g->edges[index];
		edge->from = from;
		edge->to = to;
		edge->kinds = 0;
		edge->next_out = g->first_out[from];
		g->first_out[from] = index;
		g->lookup[slot] = index;
	}
	edge = &g->edges[index];
	if (added)
		*added = kinds & ~edge->kinds;
	edge->kinds |= kinds;
	return index;
}

static void next_epoch(struct ls_graph *g)
{
	ls_size i;

	if (++g->epoch)
		return;
	/* Wrapped: marks of 2^32 searches ago would look fresh. */
	for (i = 0; i < (ls_size)g->max_nodes * 2; i++)
		g->visit[i] = 0;
	g->epoch = 1;
}

/* Constraints on a walk besides its start state. */
struct walk_rules {
	ls_u32 target;		/* class that it ends at */
	ls_u32 avoid;		/* class that it must not enter */
	bool shared;		/* a shared holder follows: it may not end in a recursive reader */
	ls_graph_filter filter;
	void *cookie;
};

/* Write the walk that reached @state from @start in @depth edges, and edge @closing. */
static void unwind(const struct ls_graph *g, ls_u32 start, ls_u32 state, ls_u32 depth,
		   ls_u32 closing, ls_u32 *path)
{
	path[depth] = closing;
	while (state != start) {
		ls_u32 index = g->via[state] >> 1;

		path[--depth] = index;
		state = g->edges[index].from * 2 + (g->via[state] & 1);
	}
}

/*
 * Shortest strong walk from state @start to the target: its length, 0 when there is
 * none. path[] is written when it has room for that, @max_len edges.
 */
static ls_u32 walk(struct ls_graph *g, ls_u32 start, const struct walk_rules *rules, ls_u32 *path,
		   ls_u32 max_len)
{
	ls_u32 head = 0, tail = 0, level_end = 1, depth = 0;

	next_epoch(g);
	g->visit[start] = g->epoch;
	g->queue[tail++] = start;

	while (head < tail) {
		ls_u32 state, node, index;

		if (head == level_end) {
			level_end = tail;
			depth++;
		}
		state = g->queue[head++];
		node = state / 2;
		for (index = g->first_out[node]; index; index = g->edges[index].next_out) {
			const struct ls_graph_edge *edge = &g->edges[index];
			ls_u32 kinds = edge->kinds, next;

			/* Nesting in itself adds nothing but the other reader state. */
			if ((edge->to == node && !(g->nests && state & 1)) || edge->to == rules->avoid ||
			    (node == rules->target && edge->to != node))
				continue;
			if (rules->filter)
				kinds &= rules->filter(rules->cookie, index, edge);
			if (state & 1)
				kinds &= LS_DEP_FROM_EXCLUSIVE;
			if (!kinds)
				continue;

			next = edge->to * 2 + !(kinds & LS_DEP_TO_OTHER);
			/* Else it may nest in itself there. */
			if (edge->to == rules->target && !((next & 1) && rules->shared)) {
				if (depth < max_len)
					unwind(g, start, state, depth, index, path);
				return depth + 1;
			}
			if (g->visit[edge->to * 2] == g->epoch || g->visit[next] == g->epoch)
				continue;
			g->visit[next] = g->epoch;
			g->via[next] = index * 2 + (state & 1);
			g->queue[tail++] = next;
		}
	}
	return 0;
}

/* Constraints on a cycle. */
struct cycle_rules {
	ls_u32 first;		/* its first edge */
	ls_u32 through;		/* class that it passes through, NOWHERE: any */
	ls_graph_filter filter;
	void *cookie;
};

#define NOWHERE (~0u)

/*
 * Shortest cycle with the first edge used as a single kind: @only_xr when that
 * kind ends in a recursive reader, @shared when it starts at a shared holder,
 * so that the cycle may not close by a dependency that ends in one.
 */
static ls_u32 cycle(struct ls_graph *g, const struct cycle_rules *c, ls_u32 only_xr, bool shared,
		    ls_u32 *path, ls_u32 max_len)
{
	const struct ls_graph_edge *first = &g->edges[c->first];
	ls_u32 start = first->to * 2 + only_xr, half = 0, len;
	struct walk_rules rules = { first->from, NOWHERE, shared, c->filter, c->cookie };

	if (c->through != NOWHERE) {
		/* No dependency on @through ends in a recursive reader: two walks that meet there. */
		struct walk_rules there = { c->through, first->from, false, c->filter, c->cookie };

		half = walk(g, start, &there, path + 1, max_len ? max_len - 1 : 0);
		if (!half)
			return 0;
		start = c->through * 2;
		rules.avoid = first->to;
	}
	len = walk(g, start, &rules, path + 1 + half, max_len > half + 1 ? max_len - half - 1 : 0);
	if (!len)
		return 0;
	if (max_len)
		path[0] = c->first;
	return 1 + half + len;
}

static ls_u32 shortest(struct ls_graph *g, const struct cycle_rules *c, ls_u32 kinds, ls_u32 *path,
		       ls_u32 max_len)
{
	const struct ls_graph_edge *first = &g->edges[c->first];
	ls_u32 xr, shared;

	if (!c->first || c->first > g->nr_edges || first->from == first->to)
		return 0;
	kinds &= first->kinds;
	if (c->filter)
		kinds &= c->filter(c->cookie, c->first, first);

	/*
	 * EN allows whatever the other kinds allow and SN whatever SR does; ER
	 * and SN restrict different ends of the cycle, so both have to be tried.
	 */
	if (kinds & LS_DEP_EN)
		return cycle(g, c, 0, false, path, max_len);
	if (!(kinds & (LS_DEP_ER | LS_DEP_SN)))
		return kinds & LS_DEP_SR ? cycle(g, c, 1, true, path, max_len) : 0;
	if (!(kinds & LS_DEP_SN))
		return cycle(g, c, 1, false, path, max_len);
	if (!(kinds & LS_DEP_ER))
		return cycle(g, c, 0, true, path, max_len);
	xr = cycle(g, c, 1, false, path, 0);
	shared = cycle(g, c, 0, true, path, 0);
	if (xr && (!shared || xr <= shared))
		return cycle(g, c, 1, false, path, max_len);
	return shared ? cycle(g, c, 0, true, path, max_len) : 0;
}

ls_u32 ls_graph_shortest_cycle(struct ls_graph *g, ls_u32 index, ls_u32 kinds, ls_u32 *path,
			       ls_u32 max_len, ls_graph_filter filter, void *cookie)
{
	struct cycle_rules c = { index, NOWHERE, filter, cookie };

	return shortest(g, &c, kinds, path, max_len);
}

ls_u32 ls_graph_cycle_through(struct ls_graph *g, ls_u32 index, ls_u32 kinds, ls_u32 through,
			      ls_u32 *path, ls_u32 max_len, ls_graph_filter filter, void *cookie)
{
	struct cycle_rules c = { index, through, filter, cookie };

	if (through >= g->max_nodes)
		return 0;
	return shortest(g, &c, kinds, path, max_len);
}
