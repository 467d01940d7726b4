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

#define SHARED_GATE 1ull	/* locks are aligned: the bit is free */

/* How @s holds instance @lock: 0 not at all, else its gate word. */
static ls_u64 gate_word(const struct ls_rec_sight *s, ls_u64 lock)
{
	ls_u64 word = 0;
	ls_u32 i;

	for (i = 0; i < s->nr_held; i++) {
		if (s->held[i].lock != lock)
			continue;
		if (!(s->held[i].val & LS_VAL_READ_MASK))
			return lock;
		word = lock | SHARED_GATE;
	}
	return word;
}

static bool has_gate(const struct ls_judge_edge *e, ls_u64 lock)
{
	ls_u32 i;

	for (i = 0; i < e->nr_gates; i++)
		if (!((e->gates[i] ^ lock) & ~SHARED_GATE))
			return true;
	return false;
}

/* Intersect the edge's gates with what @s holds. True when one went or weakened. */
static bool narrow_gates(struct ls_judge_edge *e, const struct ls_rec_sight *s)
{
	ls_u32 i, kept = 0, had = e->nr_gates;
	bool narrowed = false;

	if (!e->seen) {
		e->seen = 1;
		for (i = 0; i < s->nr_held && e->nr_gates < LS_JUDGE_GATES; i++)
			if (!has_gate(e, s->held[i].lock))
				e->gates[e->nr_gates++] = gate_word(s, s->held[i].lock);
		return false;
	}
	for (i = 0; i < had; i++) {
		ls_u64 word = gate_word(s, e->gates[i] & ~SHARED_GATE);

		if (!word) {
			narrowed = true;
			continue;
		}
		narrowed |= (word | e->gates[i]) != e->gates[i];
		e->gates[kept++] = word | e->gates[i];
	}
	e->nr_gates = kept;
	return narrowed;
}

/* Do two edges exclude each other? Then neither can wait for the other. */
static bool exclude(const struct ls_judge_edge *a, const struct ls_judge_edge *b)
{
	ls_u32 i, k;

	for (i = 0; i < a->nr_gates; i++)
		for (k = 0; k < b->nr_gates; k++)
			if (!((a->gates[i] ^ b->gates[k]) & ~SHARED_GATE) &&
			    !(a->gates[i] & b->gates[k] & SHARED_GATE))
				return true;
	return false;
}

/* An edge of the cycle that another one excludes, 0 when the cycle can happen. */
static ls_u32 gated_edge(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	ls_u32 i, k;

	for (i = 0; i < nr; i++) {
		for (k = i + 1; k < nr; k++) {
			struct ls_judge_edge *a = edge_data(j, path[i]), *b = edge_data(j, path[k]);

			if (a && b && exclude(a, b))
				return path[k];
		}
	}
	return 0;
}

#define DETOURS 4

struct detour {
	ls_u32 without[DETOURS];
	ls_u32 nr;
};

static ls_u32 leave_out(void *cookie, ls_u32 index, const struct ls_graph_edge *edge)
{
	const struct detour *d = cookie;
	ls_u32 i;

	for (i = 0; i < d->nr; i++)
		if (d->without[i] == index)
			return 0;
	return edge->kinds;
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

/*
 * The shortest cycle may be gated and a longer one not: look again without the
 * edge that was excluded, a few times.
 */
static void search(struct ls_judge *j, ls_u32 index)
{
	struct detour d = { { 0 }, 0 };
	ls_u32 path[LS_CYCLE_MAX], nr, gated;

	for (;;) {
		nr = ls_graph_shortest_cycle(&j->graph, index, j->graph.edges[index].kinds, path,
					     LS_CYCLE_MAX, d.nr ? leave_out : (ls_graph_filter)0, &d);
		if (!nr)
			return;
		gated = gated_edge(j, path, nr);
		if (!gated) {
			report(j, path, nr);
			return;
		}
		if (gated == index || d.nr == DETOURS)
			return;
		d.without[d.nr++] = gated;
	}
}

void ls_judge_sight(struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 to = ls_judge_class(j, s->val), i;

	if (!to)
		return;
	for (i = 0; i < s->nr_held; i++) {
		ls_u32 from = ls_judge_class(j, s->held[i].val);
		ls_u32 kind = ls_dep_kind(s->held[i].val, s->val), added, index;
		struct ls_judge_edge *e;
		bool narrowed;

		if (!from || from == to || !ls_orders(s->held[i].val, s->val))
			continue;
		index = ls_graph_add(&j->graph, from, to, kind, &added);
		e = index ? edge_data(j, index) : (struct ls_judge_edge *)0;
		if (!e) {
			j->lost_edges++;
			continue;
		}
		narrowed = narrow_gates(e, s);
		if (!added && !narrowed)
			continue;
		e->sight[__builtin_ctz(kind)] = ordinal + 1;
		if (added)
			j->ops->edge(j->cookie, from, to, j->graph.edges[index].kinds, ordinal);
		search(j, index);
	}
}
