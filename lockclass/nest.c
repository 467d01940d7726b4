// SPDX-License-Identifier: GPL-2.0
#include "nest.h"
#include "abi.h"

#define KIND_BITS 2

static ls_size edges_offset(ls_u32 max_nodes, ls_u32 max_edges)
{
	return (ls_graph_bytes(max_nodes, max_edges) + 7) & ~(ls_size)7;
}

ls_size ls_nest_bytes(ls_u32 max_nodes, ls_u32 max_edges)
{
	ls_size graph = edges_offset(max_nodes, max_edges);

	return graph ? graph + ((ls_size)max_edges + 1) * sizeof(struct ls_nest_edge) : 0;
}

void ls_nest_init(struct ls_nest *n, void *mem, ls_u32 max_nodes, ls_u32 max_edges)
{
	ls_graph_init(&n->graph, mem, max_nodes, max_edges);
	n->edges = (struct ls_nest_edge *)((ls_u8 *)mem + edges_offset(max_nodes, max_edges));
}

void ls_nest_clear(struct ls_nest *n)
{
	ls_u32 i;

	for (i = 0; i <= n->graph.nr_edges; i++)
		n->edges[i] = (struct ls_nest_edge){ { 0 }, 0 };
	ls_graph_clear(&n->graph);
}

static ls_u32 side_of(ls_u32 kind, ls_u32 ordinal)
{
	return (ordinal + 1) << KIND_BITS | (ls_u32)__builtin_ctz(kind);
}

static ls_u32 kind_of(ls_u32 side)
{
	return 1u << (side & ((1u << KIND_BITS) - 1));
}

static ls_u32 observation_of(ls_u32 side)
{
	return (side >> KIND_BITS) - 1;
}

/* A recursive reader does not wait for a reader. */
static bool follows(ls_u32 a, ls_u32 b)
{
	return !(kind_of(a) & (LS_DEP_ER | LS_DEP_SR)) || kind_of(b) & (LS_DEP_EN | LS_DEP_ER);
}

/* A walk along sides, from an instance that the first one acquires to the one that it holds. */
struct walk {
	const struct ls_nest *n;
	ls_nest_apart apart;
	void *cookie;
	ls_u32 goal;
	ls_u32 longest;
	ls_u32 steps;		/* left */
	bool cut;		/* longer ones were not tried */
	ls_u32 nr;		/* sides so far */
	ls_u32 sides[LS_CYCLE_MAX];
	struct {
		ls_u32 node;	/* that the side before acquires */
		ls_u32 edge;	/* next one to try from there, and observation of it */
		ls_u32 number;
	} at[LS_CYCLE_MAX];
};

static bool visited(const struct walk *w, ls_u32 node)
{
	ls_u32 i;

	for (i = 1; i <= w->nr; i++)
		if (w->at[i].node == node)
			return true;
	return false;
}

/* Can @side be the next one, with all before it at the same time? */
static bool fits(const struct walk *w, ls_u32 side, bool closes)
{
	ls_u32 i;

	if (!follows(w->sides[w->nr - 1], side) || (closes && !follows(side, w->sides[0])))
		return false;
	for (i = 0; i < w->nr; i++)
		if (w->apart(w->cookie, observation_of(w->sides[i]), observation_of(side)))
			return false;
	return true;
}

/* Depth first, to at most w->longest sides. */
static bool closes_ring(struct walk *w)
{
	while (w->nr) {
		const struct ls_graph_edge *edge = &w->n->graph.edges[w->at[w->nr].edge];
		const struct ls_nest_edge *of = &w->n->edges[w->at[w->nr].edge];
		bool closes;
		ls_u32 side;

		if (!w->at[w->nr].edge) {
			w->nr--;
			continue;
		}
		closes = edge->to == w->goal;
		side = w->at[w->nr].number < LS_NEST_SIDES ? of->sides[w->at[w->nr].number] : 0;
		if (!closes && w->nr + 1 >= w->longest) {
			w->cut = true;
			side = 0;
		}
		if (!side || visited(w, edge->to)) {
			w->at[w->nr].edge = edge->next_out;
			w->at[w->nr].number = 0;
			continue;
		}
		w->at[w->nr].number++;
		if (!w->steps) {
			w->cut = true;
			return false;
		}
		w->steps--;
		if (!fits(w, side, closes))
			continue;
		w->sides[w->nr++] = side;
		if (closes)
			return true;
		w->at[w->nr].node = edge->to;
		w->at[w->nr].edge = w->n->graph.first_out[edge->to];
		w->at[w->nr].number = 0;
	}
	return false;
}

enum ls_nest_result ls_nest_add(struct ls_nest *n, ls_u32 from, ls_u32 to, ls_u32 kind, ls_u32 ordinal,
				ls_nest_apart apart, void *cookie, ls_u32 path[LS_CYCLE_MAX], ls_u32 *nr)
{
	ls_u32 edge = ls_graph_add(&n->graph, from, to, kind, (ls_u32 *)0), i;
	struct walk w = { .n = n, .apart = apart, .cookie = cookie, .goal = from, .cut = true };

	*nr = 0;
	if (!edge)
		return LS_NEST_FULL;
	n->edges[edge].sides[n->edges[edge].nr++ % LS_NEST_SIDES] = side_of(kind, ordinal);
	/* Mostly there is none at all. */
	if (!ls_graph_shortest_cycle(&n->graph, edge, kind, path, 0, (ls_graph_filter)0, (void *)0))
		return LS_NEST_NONE;
	w.steps = LS_NEST_STEPS;
	w.sides[0] = side_of(kind, ordinal);
	for (w.longest = 2; w.longest <= LS_CYCLE_MAX && w.cut && w.steps; w.longest++) {
		w.cut = false;
		w.nr = 1;
		w.at[1].node = to;
		w.at[1].edge = n->graph.first_out[to];
		w.at[1].number = 0;
		if (!closes_ring(&w))
			continue;
		for (i = 0; i < w.nr; i++)
			path[i] = observation_of(w.sides[i]);
		*nr = w.nr;
		return LS_NEST_RING;
	}
	return w.cut ? LS_NEST_CUT : LS_NEST_NONE;
}
