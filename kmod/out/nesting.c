// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one class that nest in each other: one instance twice, two in both orders, several
 * in a cycle. Worker only, ls_work_mutex held.
 */
#include <linux/slab.h>

#include "base/memory.h"
#include "check/events.h"
#include "core/state.h"
#include "core/trace.h"
#include "hash.h"
#include "judge.h"
#include "nest.h"
#include "out/console/splat.h"
#include "out/out.h"
#include "tagtab.h"

#define PAIR_BITS 15
#define INSTANCE_NODES 4096
#define INSTANCE_EDGES 8192
#define INSTANCE_BITS 13

static struct ls_tagtab pair_tab;	/* pair of instances of one class -> 1 + its first observation */
static struct ls_nest instances;	/* locks of classes that nest in themselves */
static void *instance_memory;
static struct ls_tagtab instance_ids;
static u32 nr_instances;

/* Recursive reads: printed once a waiting writer of the class was seen. */
#define READ_AGAIN 16
static struct { u32 class_id, sight; } read_again[READ_AGAIN];
static u32 nr_read_again;

/* The held entry that observation @s is about, besides the acquired lock, see LS_RELATED_*. */
static const struct ls_held_rec *outer_of(const struct ls_rec_sight *s, const struct ls_held_rec *held)
{
	u32 i;

	for (i = s->nr_held; i-- > 0;)
		if (s->new_mask & (1ull << i) && ls_worker_class(held[i].val) == ls_worker_class(s->val))
			return &held[i];
	return NULL;
}

static bool inner_points_back(const struct ls_rec_sight *s)
{
	return (s->extra & (LS_RELATED_BACK | LS_RELATED_FORTH)) == LS_RELATED_BACK;
}

/* Did both orders follow a hierarchy when they were observed? See docs/severity.md. */
static bool follows_hierarchy(const struct ls_rec_sight *s, u32 first)
{
	static struct ls_rec_sight other;
	static struct ls_held_rec held[LS_MAX_DEPTH];
	const struct ls_held_rec *here, *there;

	if (!inner_points_back(s) || !ls_worker_observation(first, &other, held) ||
	    !inner_points_back(&other))
		return false;
	here = outer_of(s, s->held);
	there = outer_of(&other, held);
	return here && there && here->lock == other.lock && there->lock == s->lock;
}

/* Does @s acquire as a reader an instance that it holds as a reader only? */
static bool reads_again(const struct ls_rec_sight *s)
{
	u32 i;

	if (!(s->val & LS_VAL_READ_MASK))
		return false;
	for (i = 0; i < s->nr_held; i++)
		if (s->held[i].lock == s->lock && !(s->held[i].val & LS_VAL_READ_MASK))
			return false;
	return true;
}

/* Were only trylocks of writers seen? A reader is not blocked by a writer that does not wait. */
static bool no_writer_waits(u32 class_id)
{
	bool tried = false;
	u32 id;

	for (id = 1; id <= ls_load(&ls.chains.nr); id++) {
		const struct ls_chain *data = ls_chains_get(&ls.chains, id);

		if (!(id & 1023))
			cond_resched();
		if (!data || !ls_load(&data->count) || data->val & LS_VAL_READ_MASK ||
		    ls_worker_class(data->val) != class_id)
			continue;
		if (!(data->val & LS_VAL_TRY))
			return false;
		tried = true;
	}
	return tried;
}

/* One warning on the console per class, for each of the two kinds. */
static u64 console_key(u32 class_id, bool same)
{
	return ls_mix(ls_mix(class_id * 2 + same));
}

/* Print those whose class has a waiting writer by now. */
void ls_nesting_settle(void)
{
	u32 i = 0;

	lockdep_assert_held(&ls_work_mutex);
	while (i < nr_read_again) {
		u32 class_id = read_again[i].class_id, sight = read_again[i].sight;

		if (no_writer_waits(class_id)) {
			i++;
			continue;
		}
		read_again[i] = read_again[--nr_read_again];
		if (ls_splat && ls_worker_new_report(console_key(class_id, true)))
			ls_splat_inversion(class_id, true, sight, sight);
	}
}

/* Defer printing observation @ordinal if it needs a waiting writer and there is room. */
static bool put_off(const struct ls_rec_sight *s, u32 class_id, u32 ordinal)
{
	u32 i;

	if (ls_splat_unproven || !reads_again(s) || !no_writer_waits(class_id))
		return false;
	for (i = 0; i < nr_read_again; i++)
		if (read_again[i].class_id == class_id)
			return true;
	if (nr_read_again == READ_AGAIN)
		return false;
	read_again[nr_read_again].class_id = class_id;
	read_again[nr_read_again++].sight = ordinal;
	return true;
}

static void report_recursion(const struct ls_rec_sight *s, u32 ordinal, u32 first, bool same)
{
	struct {
		struct ls_rec_finding rec;
		struct ls_finding_edge edge;
	} f = { };
	struct ls_rec_inversion inv = {
		.hdr = { sizeof(inv), LS_REC_INVERSION },
		.class_id = ls_worker_class(s->val), .same_instance = same,
		.first = first, .second = ordinal,
	};
	u64 key = ls_mix(inv.class_id * 2 + same);

	ls_log_append(&inv, sizeof(inv), NULL, 0, NULL);
	/* Once per canonical class. */
	if (ls_worker_new_report(key)) {
		f.rec.hdr.len = sizeof(f.rec) + sizeof(f.edge);
		f.rec.hdr.type = LS_REC_FINDING;
		f.rec.id = ls_worker_new_finding();
		f.rec.kind = LS_FINDING_RECURSIVE;
		f.rec.nr_edges = 1;
		f.edge.from = f.edge.to = inv.class_id;
		f.edge.kinds = LS_DEP_EN;
		f.edge.sight = ordinal;
		ls_log_append(&f, f.rec.hdr.len, NULL, 0, NULL);
		trace_finding(f.rec.id, LS_FINDING_RECURSIVE, 1, ls_class_name(inv.class_id));
	}
	/* Printed when it happened, if it could not return (kmod/check/hang.c). */
	if (same && ls_load(&ls.classes.table[s->val & LS_VAL_CLASS_MASK].marks) & LS_CLASS_TOLD)
		return;
	/* The console waits for a pair that no hierarchy explains, or a reader for a writer. */
	if (ls_splat && !ls_worker_handed_over(inv.class_id) && !(same && put_off(s, inv.class_id, ordinal)) &&
	    (same || ls_splat_unproven || !follows_hierarchy(s, first)) &&
	    ls_worker_new_report(console_key(inv.class_id, same)))
		ls_splat_inversion(inv.class_id, same, first, ordinal);
}

/* Node of a lock instance, 0 when there are too many. */
static u32 instance_node(u64 lock)
{
	u64 key = ls_mix(lock);
	u32 id = ls_tagtab_find(&instance_ids, key);

	if (!id && nr_instances + 1 < INSTANCE_NODES)
		id = ls_tagtab_insert(&instance_ids, key, ++nr_instances);
	return id;
}

/* Does an instance held in both observations, in one of them exclusively, serialise them? */
static bool apart(void *cookie, u32 a, u32 b)
{
	static struct ls_rec_sight sights[2];
	static struct ls_held_rec held[2][LS_MAX_DEPTH];
	u32 i, k;

	if (!ls_worker_observation(a, &sights[0], held[0]) || !ls_worker_observation(b, &sights[1], held[1]))
		return false;
	for (i = 0; i < sights[0].nr_held; i++)
		for (k = 0; k < sights[1].nr_held; k++)
			if (held[0][i].lock == held[1][k].lock &&
			    !((held[0][i].val & LS_VAL_READ_MASK) && (held[1][k].val & LS_VAL_READ_MASK)))
				return true;
	return false;
}

/*
 * Instances of one class in a cycle: a->b, b->c, c->a. Pairs do not show that; a small graph
 * of the first instances of each class does.
 */
static void take_pair(const struct ls_rec_sight *s, u32 ordinal)
{
	u32 to = instance_node(s->lock), i, nr, path[LS_CYCLE_MAX];

	for (i = 0; i < s->nr_held; i++) {
		u32 from, kind = ls_dep_kind(s->held[i].val, s->val);
		enum ls_nest_result r = LS_NEST_FULL;

		if (!(s->new_mask & (1ull << i)) || s->held[i].lock == s->lock ||
		    ls_worker_class(s->held[i].val) != ls_worker_class(s->val))
			continue;
		from = instance_node(s->held[i].lock);
		if (from && to)
			r = ls_nest_add(&instances, from, to, kind, ordinal, apart, NULL, path, &nr);
		if (r == LS_NEST_FULL)
			ls_lose(LS_LOSS_PAIRS);
		else if (r == LS_NEST_CUT)
			ls_lose(LS_LOSS_CYCLES);
		else if (r == LS_NEST_RING)
			report_recursion(s, ordinal, path[1], false);
	}
}

static u64 pair_key(u64 outer, u64 inner)
{
	return ls_mix(ls_mix(outer) + inner);
}

/* Two instances in the opposite order. The observation of the first order is the other side. */
static void take_inversion(const struct ls_rec_sight *s, u32 self, u32 ordinal)
{
	u32 i, first = 0;

	for (i = 0; i < s->nr_held && !first; i++)
		if (s->new_mask & (1ull << i) && ls_worker_class(s->held[i].val) == self)
			first = ls_tagtab_find(&pair_tab, pair_key(s->lock, s->held[i].lock));
	report_recursion(s, ordinal, first ? first - 1 : ordinal, false);
}

/* Process observation number @ordinal, which is in the log; @flags are those of its event. */
void ls_nesting_take(const struct ls_rec_sight *s, u32 flags, u32 ordinal)
{
	u32 self = ls_worker_class(s->val), i;

	lockdep_assert_held(&ls_work_mutex);
	if (flags & (LS_EV_SAME | LS_EV_STRICT))
		report_recursion(s, ordinal, ordinal, flags & LS_EV_SAME);
	if (ls_worker_left_out(self))
		return;
	if (flags & LS_EV_INVERSION)
		take_inversion(s, self, ordinal);
	if (flags & (LS_EV_PAIR | LS_EV_NESTED))
		take_pair(s, ordinal);
	for (i = 0; self && s->what == LS_SIGHT_ACQUIRE && i < s->nr_held; i++)
		if (s->held[i].lock != s->lock && ls_worker_class(s->held[i].val) == self)
			ls_tagtab_insert(&pair_tab, pair_key(s->held[i].lock, s->lock), ordinal + 1);
}

void ls_nesting_forget(void)
{
	lockdep_assert_held(&ls_work_mutex);
	memset(pair_tab.slots, 0, ls_tagtab_bytes(PAIR_BITS));
	memset(instance_ids.slots, 0, ls_tagtab_bytes(INSTANCE_BITS));
	nr_instances = nr_read_again = 0;
	ls_nest_clear(&instances);
}

int ls_nesting_init(void)
{
	int rc;

	instance_memory = ls_zalloc(ls_nest_bytes(INSTANCE_NODES, INSTANCE_EDGES));
	if (!instance_memory)
		return -ENOMEM;
	ls_nest_init(&instances, instance_memory, INSTANCE_NODES, INSTANCE_EDGES);
	rc = ls_worker_tagtab(&pair_tab, PAIR_BITS);
	return rc ? rc : ls_worker_tagtab(&instance_ids, INSTANCE_BITS);
}

void ls_nesting_exit(void)
{
	ls_free(instance_memory);
	ls_free(pair_tab.slots);
	ls_free(instance_ids.slots);
}
