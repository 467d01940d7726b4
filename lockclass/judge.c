// SPDX-License-Identifier: GPL-2.0
#include "judge.h"
#include "edges.h"
#include "hash.h"

#define REPORTED_BITS 14

ls_size ls_judge_bytes(ls_u32 max_classes, ls_u32 max_edges)
{
	ls_size segs = (max_edges >> LS_JUDGE_SEG_BITS) + 1;

	return ls_graph_bytes(max_classes + 1, max_edges) + ls_tagtab_bytes(REPORTED_BITS) +
	       segs * sizeof(struct ls_judge_edge *) +
	       (((ls_size)max_classes + 2) & ~(ls_size)1) * sizeof(ls_u32);
}

void ls_judge_init(struct ls_judge *j, void *mem, ls_u32 max_classes, ls_u32 max_edges,
		   const struct ls_judge_ops *ops, void *cookie)
{
	ls_u8 *at = mem;

	ls_tagtab_init(&j->reported, at, REPORTED_BITS);
	at += ls_tagtab_bytes(REPORTED_BITS);
	j->nr_segs = (max_edges >> LS_JUDGE_SEG_BITS) + 1;
	j->segs = (struct ls_judge_edge **)at;
	at += j->nr_segs * sizeof(struct ls_judge_edge *);
	j->canonical = (ls_u32 *)at;
	at += (((ls_size)max_classes + 2) & ~(ls_size)1) * sizeof(ls_u32);
	ls_graph_init(&j->graph, at, max_classes + 1, max_edges);
	j->max_classes = max_classes;
	j->ops = ops;
	j->cookie = cookie;
	j->lost_edges = 0;
	j->lost_cycles = 0;
}

void ls_judge_clear(struct ls_judge *j)
{
	ls_u32 i, k;

	for (i = 0; i <= j->reported.mask; i++)
		j->reported.slots[i] = 0;
	for (i = 0; i < j->nr_segs; i++)
		for (k = 0; j->segs[i] && k < LS_JUDGE_SEG; k++)
			j->segs[i][k] = (struct ls_judge_edge){ { 0 }, { 0 }, 0, 0 };
	ls_graph_clear(&j->graph);
}

void ls_judge_unite(struct ls_judge *j, ls_u32 id, ls_u32 canonical)
{
	if (id <= j->max_classes && canonical <= j->max_classes)
		j->canonical[id] = canonical;
}

static struct ls_judge_edge *edge_data(struct ls_judge *j, ls_u32 index)
{
	ls_u32 seg = index >> LS_JUDGE_SEG_BITS;

	if (!j->segs[seg])
		j->segs[seg] = j->ops->alloc(j->cookie, sizeof(struct ls_judge_edge) << LS_JUDGE_SEG_BITS);
	return j->segs[seg] ? &j->segs[seg][index & (LS_JUDGE_SEG - 1)] : (struct ls_judge_edge *)0;
}

/* Is @lock held exclusively in @s by an entry other than @skip? */
static bool gate_held(const struct ls_rec_sight *s, ls_u32 skip, ls_u64 lock)
{
	ls_u32 i;

	for (i = 0; i < s->nr_held; i++)
		if (i != skip && s->held[i].lock == lock && !(s->held[i].val & LS_VAL_READ_MASK))
			return true;
	return false;
}

/* Intersect the edge's gates with what @s holds. True when one went. */
static bool narrow_gates(struct ls_judge_edge *e, const struct ls_rec_sight *s, ls_u32 from)
{
	ls_u32 i, kept = 0, had = e->nr_gates;

	if (!e->seen) {
		e->seen = 1;
		for (i = 0; i < s->nr_held && e->nr_gates < LS_JUDGE_GATES; i++)
			if (i != from && !(s->held[i].val & LS_VAL_READ_MASK))
				e->gates[e->nr_gates++] = s->held[i].lock;
		return false;
	}
	for (i = 0; i < had; i++)
		if (gate_held(s, from, e->gates[i]))
			e->gates[kept++] = e->gates[i];
	e->nr_gates = kept;
	return kept < had;
}

static bool gated(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	struct ls_judge_edge *first = edge_data(j, path[0]);
	ls_u32 g, i, k;

	for (g = 0; first && g < first->nr_gates; g++) {
		bool all = true;

		for (i = 1; all && i < nr; i++) {
			struct ls_judge_edge *e = edge_data(j, path[i]);
			bool here = false;

			for (k = 0; e && k < e->nr_gates; k++)
				here |= e->gates[k] == first->gates[g];
			all = here;
		}
		if (all)
			return true;
	}
	return false;
}

/* The same for every rotation of the cycle. */
static ls_u64 signature(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	ls_u32 start = 0, i;
	ls_u64 key = nr;

	for (i = 1; i < nr; i++)
		if (j->graph.edges[path[i]].from < j->graph.edges[path[start]].from)
			start = i;
	for (i = 0; i < nr; i++)
		key = ls_chain_mix(key, j->graph.edges[path[(start + i) % nr]].from);
	return key;
}

static void report(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	struct ls_finding_edge out[LS_CYCLE_MAX];
	ls_u64 key = signature(j, path, nr);
	ls_u32 i, k;

	if (ls_tagtab_find(&j->reported, key))
		return;
	if (!ls_tagtab_insert(&j->reported, key, 1))
		j->lost_cycles++;
	for (i = 0; i < nr; i++) {
		const struct ls_graph_edge *ge = &j->graph.edges[path[i]];
		struct ls_judge_edge *e = edge_data(j, path[i]);
		/* The sight that shows most: waiting for good before waiting as a reader. */
		static const ls_u8 order[4] = { 1, 3, 0, 2 };

		out[i] = (struct ls_finding_edge){ ge->from, ge->to, ge->kinds, 0 };
		for (k = 0; e && k < 4; k++)
			if (e->sight[order[k]]) {
				out[i].sight = e->sight[order[k]] - 1;
				break;
			}
	}
	j->ops->cycle(j->cookie, out, nr);
}

void ls_judge_sight(struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 to = ls_judge_class(j, s->val), i;
	ls_u32 path[LS_CYCLE_MAX];

	if (s->val & LS_VAL_TRY || !to)
		return;
	for (i = 0; i < s->nr_held; i++) {
		ls_u32 from = ls_judge_class(j, s->held[i].val);
		ls_u32 kind = ls_dep_kind(s->held[i].val, s->val), added, index, nr;
		struct ls_judge_edge *e;
		bool narrowed;

		if (!from || from == to)
			continue;
		index = ls_graph_add(&j->graph, from, to, kind, &added);
		e = index ? edge_data(j, index) : (struct ls_judge_edge *)0;
		if (!e) {
			j->lost_edges++;
			continue;
		}
		narrowed = narrow_gates(e, s, i);
		if (added || narrowed)
			e->sight[__builtin_ctz(kind)] = ordinal + 1;
		if (!added && !narrowed)
			continue;
		if (added)
			j->ops->edge(j->cookie, from, to, j->graph.edges[index].kinds, ordinal);
		nr = ls_graph_shortest_cycle(&j->graph, index, j->graph.edges[index].kinds, path,
					     LS_CYCLE_MAX, (ls_graph_filter)0, (void *)0);
		if (nr && !gated(j, path, nr))
			report(j, path, nr);
	}
}
