// SPDX-License-Identifier: GPL-2.0
#include "judge.h"
#include "edges.h"
#include "hash.h"
#include "judge_gates.h"

#define REPORTED_BITS 14

/* Nodes: class ids, then the two interrupts. */
#define NODES(max_classes) ((max_classes) + 3)

/* Bytes of per-class arrays, so that what follows stays aligned. */
static ls_size per_class(ls_u32 max_classes, ls_size each)
{
	return (((ls_size)max_classes + 1) * each + 7) & ~(ls_size)7;
}

ls_size ls_judge_bytes(ls_u32 max_classes, ls_u32 max_edges)
{
	ls_size segs = (max_edges >> LS_JUDGE_SEG_BITS) + 1;

	return ls_graph_bytes(NODES(max_classes), max_edges) + ls_tagtab_bytes(REPORTED_BITS) +
	       segs * sizeof(struct ls_judge_edge *) +
	       per_class(max_classes, sizeof(ls_u32)) +
	       per_class(max_classes, sizeof(ls_u16));
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
	at += per_class(max_classes, sizeof(ls_u32));
	j->usage = (ls_u16 *)at;
	at += per_class(max_classes, sizeof(ls_u16));
	ls_graph_init(&j->graph, at, NODES(max_classes), max_edges);
	j->graph.nests = true;
	j->max_classes = max_classes;
	j->ops = ops;
	j->cookie = cookie;
	j->nr_signals = 0;
	j->lost_edges = 0;
	j->lost_cycles = 0;
	j->cut_searches = 0;
	j->nr_needs = 0;
	j->unsettled = false;
}

void ls_judge_clear(struct ls_judge *j)
{
	ls_u32 i, k;

	for (i = 0; i <= j->reported.mask; i++)
		j->reported.slots[i] = 0;
	for (i = 0; i < j->nr_segs; i++)
		for (k = 0; j->segs[i] && k < LS_JUDGE_SEG; k++)
			j->segs[i][k] = (struct ls_judge_edge){ { 0 }, { 0 }, 0, 0, 0, 0, 0 };
	for (i = 0; i <= j->max_classes; i++)
		j->usage[i] &= LS_JUDGE_EXEMPT;
	j->nr_signals = 0;
	j->nr_needs = 0;
	j->unsettled = false;
	ls_graph_clear(&j->graph);
}

void ls_judge_unite(struct ls_judge *j, ls_u32 id, ls_u32 canonical)
{
	if (id <= j->max_classes && canonical <= j->max_classes)
		j->canonical[id] = canonical;
}

void ls_judge_signal(struct ls_judge *j, ls_u32 id, bool signal)
{
	if (id > j->max_classes || !(j->usage[id] & LS_JUDGE_SIGNAL) == !signal)
		return;
	j->usage[id] ^= LS_JUDGE_SIGNAL;
	j->nr_signals += signal ? 1 : -1;
	if (signal) {
		j->usage[id] &= (ls_u16)~LS_JUDGE_RESUMED;
		return;
	}
	j->usage[id] |= LS_JUDGE_RESUMED;
	j->unsettled = true;
}

static struct ls_judge_edge *edge_data(struct ls_judge *j, ls_u32 index)
{
	ls_u32 seg = index >> LS_JUDGE_SEG_BITS;

	if (!j->segs[seg])
		j->segs[seg] = j->ops->alloc(j->cookie, sizeof(struct ls_judge_edge) << LS_JUDGE_SEG_BITS);
	return j->segs[seg] ? &j->segs[seg][index & (LS_JUDGE_SEG - 1)] : (struct ls_judge_edge *)0;
}

/*
 * Do waiter and completer hold different locks of the class: neither the same lock nor that of
 * the same object, according to the distance to the completion?
 */
static bool apart(const struct ls_judge_edge *a, const struct ls_judge_edge *b)
{
	return a->lock != b->lock && a->lock - a->completion != b->lock - b->completion;
}

/* Does a class nest in itself there? */
static bool nests(const struct ls_graph_edge *edge)
{
	return edge->from == edge->to;
}

/*
 * Two edges of the walk that cannot be in one deadlock: they lead to one class, unless it nests
 * in itself there, or exclude each other. False when there are none, and the walk is a possible
 * cycle.
 */
static bool conflict(struct ls_judge *j, const ls_u32 *path, ls_u32 nr, ls_u32 *pair)
{
	const struct ls_graph_edge *edges = j->graph.edges;
	ls_u32 i, k;

	/* The first class that occurs twice: those before it differ, so the edges do. */
	for (k = 1; k < nr; k++)
		for (i = 0; i < k; i++)
			if (edges[path[i]].to == edges[path[k]].to && !nests(&edges[path[i]]) &&
			    !nests(&edges[path[k]])) {
				pair[0] = path[k];
				pair[1] = path[i];
				return true;
			}
	for (i = 0; i < nr; i++)
		for (k = i + 1; k < nr; k++) {
			struct ls_judge_edge *a = edge_data(j, path[i]), *b = edge_data(j, path[k]);

			if (!a || !b || !(ls_judge_exclude(a, b) ||
					  (nr == 2 && (a->completes || b->completes) && apart(a, b))))
				continue;
			pair[0] = path[k];
			pair[1] = path[i];
			return true;
		}
	return false;
}

static bool is_interrupt(const struct ls_judge *j, ls_u32 node)
{
	return node > j->max_classes;
}

#define DETOURS 8		/* edges excluded at one time */
#define SEARCHES 64		/* for one cycle */

/* A search for a cycle through an edge; classes are those of locks, and one interrupt at most. */
struct detour {
	struct ls_judge *judge;
	ls_u32 index;
	ls_u32 interrupt;	/* its node; 0: none */
	bool through;		/* the interrupt is neither end of the edge */
	bool cut;		/* some alternatives were not tried */
	bool pruned;		/* without any edge that the edge's gates exclude */
	ls_u32 searches;
	ls_u32 without[DETOURS];
	ls_u32 nr;
};

static bool other_interrupt(const struct detour *d, ls_u32 node)
{
	return is_interrupt(d->judge, node) && node != d->interrupt;
}

/*
 * Report the dependencies whose gates exclude a pair of edges: an observation without a gate
 * is wanted.
 */
static void say_gated(struct ls_judge *j, const ls_u32 *pair)
{
	const struct ls_judge_edge *a = edge_data(j, pair[0]), *b = edge_data(j, pair[1]);
	ls_u32 i;

	if (!j->ops->gated || !a || !b || !ls_judge_exclude(a, b))
		return;
	for (i = 0; i < 2; i++) {
		const struct ls_graph_edge *e = &j->graph.edges[pair[i]];

		if (!nests(e) && !is_interrupt(j, e->from) && !is_interrupt(j, e->to))
			j->ops->gated(j->cookie, e->from, e->to);
	}
}

/* Edge @index excludes the edge that the search is for: no cycle through both can deadlock. */
static bool excluded(const struct detour *d, ls_u32 index)
{
	const ls_u32 pair[2] = { index, d->index };
	const struct ls_judge_edge *a, *b;

	if (index == d->index)
		return false;
	a = edge_data(d->judge, index);
	b = edge_data(d->judge, d->index);
	if (!a || !b || !ls_judge_exclude(a, b))
		return false;
	/* Once. */
	if (d->searches == 1)
		say_gated(d->judge, pair);
	return true;
}

static ls_u32 leave_out(void *cookie, ls_u32 index, const struct ls_graph_edge *edge)
{
	const struct detour *d = cookie;
	ls_u32 i;

	if (other_interrupt(d, edge->from) || other_interrupt(d, edge->to))
		return 0;
	if ((ls_judge_usage(d->judge, edge->from) | ls_judge_usage(d->judge, edge->to)) & LS_JUDGE_SIGNAL)
		return 0;
	for (i = 0; i < d->nr; i++)
		if (d->without[i] == index)
			return 0;
	if (d->pruned && excluded(d, index))
		return 0;
	return edge->kinds;
}

/* Class id used in findings. */
static ls_u32 class_of_node(const struct ls_judge *j, ls_u32 node)
{
	return is_interrupt(j, node) ? LS_CLASS_HARDIRQ + (node - j->max_classes - 1) : node;
}

/*
 * The edge into a completion that the cycle leaves by an edge to a needed lock; 0 when there
 * is none.
 */
static ls_u32 waiting_edge(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	ls_u32 i;

	for (i = 0; i < nr; i++) {
		struct ls_judge_edge *next = edge_data(j, path[(i + 1) % nr]);

		if (next && next->completes)
			return i;
	}
	return 0;
}

/* First edge of the report: after the interrupt, else independent of the rotation. */
static ls_u32 first_edge(const struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	ls_u32 start = 0, i;

	for (i = 0; i < nr; i++)
		if (is_interrupt(j, j->graph.edges[path[i]].from))
			return i;
	for (i = 1; i < nr; i++)
		if (j->graph.edges[path[i]].from < j->graph.edges[path[start]].from)
			start = i;
	return start;
}

/*
 * Independent of the rotation. Of all inversions between a lock acquired in an interrupt and
 * one held with it enabled, one is enough.
 */
static ls_u64 signature(struct ls_judge *j, const ls_u32 *path, ls_u32 nr, ls_u32 start)
{
	bool interrupt = is_interrupt(j, j->graph.edges[path[start]].from);
	ls_u64 key = interrupt ? 0 : nr;
	ls_u32 i;

	for (i = 0; i < nr; i++) {
		if (interrupt && i > 1 && i < nr - 1)
			continue;
		key = ls_chain_mix(key, j->graph.edges[path[(start + i) % nr]].from);
	}
	return key;
}

static void report(struct ls_judge *j, const ls_u32 *path, ls_u32 nr)
{
	struct ls_finding_edge out[LS_CYCLE_MAX];
	ls_u32 start = first_edge(j, path, nr), kind = LS_FINDING_ORDER_CYCLE, first = 0, i, k;
	ls_u64 key = signature(j, path, nr, start);

	if (ls_tagtab_find(&j->reported, key))
		return;
	if (!ls_tagtab_insert(&j->reported, key, 1))
		j->lost_cycles++;
	if (is_interrupt(j, j->graph.edges[path[start]].from)) {
		kind = nr == 2 ? LS_FINDING_IRQ_STATE : LS_FINDING_IRQ_INVERSION;
		first = start;
	} else {
		first = waiting_edge(j, path, nr);
	}
	for (i = 0; i < nr; i++) {
		ls_u32 index = path[(first + i) % nr];
		const struct ls_graph_edge *ge = &j->graph.edges[index];
		struct ls_judge_edge *e = edge_data(j, index);
		/* The strongest observation: exclusive acquires before readers. */
		static const ls_u8 order[4] = { 1, 3, 0, 2 };

		out[i] = (struct ls_finding_edge){ class_of_node(j, ge->from),
						   class_of_node(j, ge->to), ge->kinds, 0 };
		for (k = 0; e && k < 4; k++)
			if (e->sight[order[k]]) {
				out[i].sight = e->sight[order[k]] - 1;
				break;
			}
	}
	j->ops->cycle(j->cookie, kind, out, nr);
}

/*
 * The shortest cycle may be gated and a longer one not: search again without either of the
 * edges that exclude each other. True when a cycle was found. Recursive, DETOURS deep.
 */
static bool look(struct detour *d)
{
	struct ls_graph *g = &d->judge->graph;
	ls_u32 path[LS_CYCLE_MAX], pair[2], kinds = g->edges[d->index].kinds, nr, i;
	bool found = false;

	if (d->searches++ == SEARCHES) {
		d->searches--;
		d->cut = true;
		return false;
	}
	if (d->through)
		nr = ls_graph_cycle_through(g, d->index, kinds, d->interrupt, path, LS_CYCLE_MAX,
					    leave_out, d);
	else
		nr = ls_graph_shortest_cycle(g, d->index, kinds, path, LS_CYCLE_MAX, leave_out, d);
	if (!nr)
		return false;
	if (nr <= LS_CYCLE_MAX && !conflict(d->judge, path, nr, pair)) {
		report(d->judge, path, nr);
		return true;
	}
	if (nr <= LS_CYCLE_MAX)
		say_gated(d->judge, pair);
	if (nr > LS_CYCLE_MAX || d->nr == DETOURS) {
		d->cut = true;
		return false;
	}
	for (i = 0; i < 2 && !found; i++) {
		if (pair[i] == d->index)
			continue;
		d->without[d->nr++] = pair[i];
		found = look(d);
		d->nr--;
	}
	return found;
}

/* Report a cycle through edge @index and @interrupt, or of locks only, if there is one. */
static void search_among(struct ls_judge *j, ls_u32 index, ls_u32 interrupt)
{
	const struct ls_graph_edge *e = &j->graph.edges[index];
	struct detour d = { .judge = j, .index = index, .interrupt = interrupt };

	d.through = interrupt && e->from != interrupt && e->to != interrupt;
	if (look(&d) || !d.cut)
		return;
	/*
	 * Many locks under one gate have more cycles than are tried one by one: each has a
	 * second edge under that gate, so leave them all out at once.
	 */
	d.cut = false;
	d.pruned = true;
	d.searches = 0;
	if (!look(&d) && d.cut)
		j->cut_searches++;
}

/*
 * Each interrupt separately, since a path through one may be shorter than one through the
 * other or through none, and hide it. What softirqs can interrupt, hardirqs can: a cycle with
 * both contains a shorter one.
 */
static void search(struct ls_judge *j, ls_u32 index)
{
	const struct ls_graph_edge *e = &j->graph.edges[index];
	bool locks_only = !is_interrupt(j, e->from) && !is_interrupt(j, e->to);
	ls_u32 node;

	if (locks_only)
		search_among(j, index, 0);
	for (node = j->max_classes + 1; node <= j->max_classes + 2; node++)
		if (locks_only ? j->graph.first_out[node] : e->from == node || e->to == node)
			search_among(j, index, node);
}

/*
 * Add a dependency. What @s holds besides @self are gates. True when something is new and the
 * graph has to be searched.
 */
static bool add_edge(struct ls_judge *j, ls_u32 from, ls_u32 to, ls_u32 kind,
		     const struct ls_rec_sight *s, ls_u64 self, ls_u32 ordinal, ls_u32 *index)
{
	ls_u32 added;
	struct ls_judge_edge *e;
	bool narrowed;

	*index = ls_graph_add(&j->graph, from, to, kind, &added);
	e = *index ? edge_data(j, *index) : (struct ls_judge_edge *)0;
	if (!e) {
		j->lost_edges++;
		return false;
	}
	narrowed = ls_judge_narrow(e, s, self);
	if (!added && !narrowed)
		return false;
	j->unsettled = true;
	e->sight[__builtin_ctz(kind)] = ordinal + 1;
	if (added && from != to && !is_interrupt(j, from) && !is_interrupt(j, to))
		j->ops->edge(j->cookie, from, to, j->graph.edges[*index].kinds, ordinal);
	return true;
}

/*
 * Add usage of lock @lock of class @id: LS_USE_* bits become edges from and to the interrupts.
 * A holder with the interrupt enabled can be excluded by gates like any other.
 */
static void add_usage(struct ls_judge *j, ls_u32 id, ls_u32 use, const struct ls_rec_sight *s,
		      ls_u64 lock, ls_u32 ordinal)
{
	if (j->usage[id] & LS_JUDGE_OUT)
		return;
	j->usage[id] |= use;
	while (use) {
		ls_u32 bit = (ls_u32)__builtin_ctz(use), index;
		bool read = bit & 1, in = bit < 4;
		ls_u32 irq = j->max_classes + 1 + ((bit >> 1) & 1);
		ls_u32 kind = !read ? LS_DEP_EN : in ? LS_DEP_ER : LS_DEP_SN;

		use &= use - 1;
		if (add_edge(j, in ? irq : id, in ? id : irq, kind, s, lock, ordinal, &index))
			search(j, index);
	}
}

static void take_usage(struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 id = ls_judge_class(j, s->val), i;

	if (id)
		add_usage(j, id, s->what == LS_SIGHT_ACQUIRE ? ls_usage(s->val) :
							       ls_usage_on(s->val, s->val),
			  s, s->lock, ordinal);
	for (i = 0; i < s->nr_held; i++) {
		id = ls_judge_class(j, s->held[i].val);
		if (id)
			add_usage(j, id, ls_usage_on(s->held[i].val, s->val), s, s->held[i].lock,
				  ordinal);
	}
}

/* How the completer of @s needed class @id, an LS_DEP_* bit; 0 when it did not. */
static ls_u32 needed_as(const struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 id)
{
	ls_u32 i, kind = 0;

	for (i = 0; i < s->nr_held; i++) {
		if (!(s->new_mask & (1ull << i)) || ls_judge_class(j, s->held[i].val) != id)
			continue;
		if (ls_need_kind(s->held[i].val) == LS_DEP_EN)
			return LS_DEP_EN;
		kind = LS_DEP_ER;
	}
	return kind;
}

/* The first completion of class @id: the locks held are those needed so far. */
static void first_needs(struct ls_judge *j, ls_u32 id, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 i;

	for (i = 0; i < s->nr_held; i++) {
		ls_u32 lock = ls_judge_class(j, s->held[i].val), kind, index, added;
		struct ls_judge_edge *e;

		kind = lock && lock != id ? needed_as(j, s, lock) : 0;
		if (!kind || ls_judge_usage(j, lock) & LS_JUDGE_OUT)
			continue;
		index = j->nr_needs < LS_JUDGE_NEEDS ? ls_graph_add(&j->graph, id, lock, kind, &added) : 0;
		e = index ? edge_data(j, index) : (struct ls_judge_edge *)0;
		if (!e) {
			j->lost_edges++;
			continue;
		}
		if (!added)		/* held twice */
			continue;
		e->completes = 1;
		e->lock = s->held[i].lock;
		e->completion = s->lock;
		e->sight[__builtin_ctz(kind)] = ordinal + 1;
		j->needs[j->nr_needs++] = (struct ls_judge_need){ index, kind };
	}
	/* Inactive until ls_judge_settle(). */
	for (i = 0; i < j->nr_needs; i++)
		j->graph.edges[j->needs[i].edge].kinds = 0;
}

/* Class @id is completed: locks not held at this completion are not needed. */
static void take_completion(struct ls_judge *j, ls_u32 id, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	bool confirms = s->extra != LS_COMPLETE_OPEN && !(j->usage[id] & LS_JUDGE_CONFIRMED);
	ls_u32 i = 0;

	j->unsettled = true;
	if (confirms)
		j->usage[id] |= LS_JUDGE_CONFIRMED;
	if (s->extra == LS_COMPLETE_CONFIRMED)
		return;
	if (!(j->usage[id] & LS_JUDGE_COMPLETED)) {
		j->usage[id] |= LS_JUDGE_COMPLETED;
		first_needs(j, id, s, ordinal);
		return;
	}
	while (i < j->nr_needs) {
		struct ls_judge_need *need = &j->needs[i];
		const struct ls_graph_edge *ge = &j->graph.edges[need->edge];
		ls_u32 kind = ge->from == id ? needed_as(j, s, ge->to) : need->kinds;

		if (!kind) {
			*need = j->needs[--j->nr_needs];
			continue;
		}
		struct ls_judge_edge *e = edge_data(j, need->edge);

		/* Show the observation of the confirming context. */
		if (confirms && ge->from == id)
			e->sight[__builtin_ctz(need->kinds)] = ordinal + 1;
		/* A recursive reader needs less. */
		if (kind == LS_DEP_ER && need->kinds == LS_DEP_EN) {
			need->kinds = kind;
			e->sight[__builtin_ctz(kind)] = ordinal + 1;
			e->sight[__builtin_ctz(LS_DEP_EN)] = 0;
		}
		i++;
	}
}

/* Every cycle through class @id leaves it by one of these edges. */
static void search_from(struct ls_judge *j, ls_u32 id)
{
	ls_u32 index;

	for (index = j->graph.first_out[id]; index; index = j->graph.edges[index].next_out)
		search(j, index);
}

void ls_judge_settle(struct ls_judge *j)
{
	ls_u32 i;

	if (!j->unsettled)
		return;
	j->unsettled = false;
	for (i = 0; i < j->nr_needs; i++) {
		struct ls_graph_edge *ge = &j->graph.edges[j->needs[i].edge];

		ge->kinds = j->usage[ge->from] & LS_JUDGE_CONFIRMED ? j->needs[i].kinds : 0;
	}
	for (i = 0; i < j->nr_needs; i++)
		if (j->graph.edges[j->needs[i].edge].kinds)
			search_among(j, j->needs[i].edge, 0);
	for (i = 1; i <= j->max_classes; i++) {
		if (!(j->usage[i] & LS_JUDGE_RESUMED))
			continue;
		j->usage[i] &= (ls_u16)~LS_JUDGE_RESUMED;
		search_from(j, i);
	}
	for (i = 0; i < j->nr_needs; i++)
		j->graph.edges[j->needs[i].edge].kinds = 0;
}

/* Does some dependency of another class on class @id end in a recursive reader? */
static bool read_recursively(const struct ls_judge *j, ls_u32 id)
{
	const struct ls_graph_edge *edges = j->graph.edges;
	ls_u32 index;

	for (index = 1; index <= j->graph.nr_edges; index++)
		if (edges[index].to == id && edges[index].kinds & (LS_DEP_ER | LS_DEP_SR))
			return true;
	return false;
}

/*
 * Class @id nests in itself: @held is another instance of it. What waits for @held as a
 * recursive reader then waits for whatever keeps @s from its instance, readers included. Only
 * for that is it a dependency: two instances in both orders are not found by class.
 */
static void take_nesting(struct ls_judge *j, ls_u32 id, const struct ls_held_rec *held,
			 const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 index;

	if (held->lock == s->lock || s->val & LS_VAL_WAIT ||
	    ls_dep_kind(held->val, s->val) != LS_DEP_EN)
		return;
	if (add_edge(j, id, id, LS_DEP_EN, s, 0, ordinal, &index) && read_recursively(j, id))
		search_from(j, id);
}

void ls_judge_observe(struct ls_judge *j, const struct ls_rec_sight *s, ls_u32 ordinal)
{
	ls_u32 to = ls_judge_class(j, s->val), i;

	if (s->what == LS_SIGHT_COMPLETE && to && !(ls_judge_usage(j, to) & LS_JUDGE_OUT))
		take_completion(j, to, s, ordinal);
	if (s->what > LS_SIGHT_RELEASE)
		return;
	if (ls_judge_usage(j, to) & LS_JUDGE_OUT)
		to = 0;
	for (i = 0; to && s->what == LS_SIGHT_ACQUIRE && i < s->nr_held; i++) {
		ls_u32 from = ls_judge_class(j, s->held[i].val), index;

		if (!from || !ls_orders(s->held[i].val, s->val) || j->usage[from] & LS_JUDGE_OUT)
			continue;
		if (from == to) {
			take_nesting(j, to, &s->held[i], s, ordinal);
			continue;
		}
		if (!add_edge(j, from, to, ls_dep_kind(s->held[i].val, s->val), s, 0, ordinal, &index))
			continue;
		if (s->val & LS_VAL_WAIT) {
			struct ls_judge_edge *e = edge_data(j, index);

			e->lock = s->held[i].lock;
			e->completion = s->lock;
		}
		search(j, index);
	}
	take_usage(j, s, ordinal);
}
