// SPDX-License-Identifier: GPL-2.0
/*
 * A lock in an interrupt and held with it enabled, on the console: printed once one instance
 * was seen in both states (states.h), as the report has it. Worker only, ls_work_mutex held.
 */
#include <linux/sched.h>

#include "base/memory.h"
#include "core/state.h"
#include "edges.h"
#include "out/console/splat.h"
#include "out/evidence.h"
#include "out/out.h"
#include "states.h"

#define KEPT 64		/* findings that wait for an instance */
#define EARLIER 65536	/* observations before the finding that are looked at */

struct kept {
	u32 class_id;			/* 0: free */
	struct ls_finding_edge edges[2];	/* into the interrupt's lock, and out of the lock held */
	struct ls_states states;
};

static struct kept *kept;
static u32 nr_kept;

/* Print @k with these observations, and forget it. */
static void met(struct kept *k, u32 in, u32 on)
{
	k->edges[0].sight = in;
	k->edges[1].sight = on;
	if (ls_splat)
		ls_splat_interrupt(LS_FINDING_IRQ_STATE, k->edges, 2);
	k->class_id = 0;
	WRITE_ONCE(nr_kept, nr_kept - 1);
}

/* One lock of observation @ordinal, used as @use (LS_USE_*). */
static void look_at(struct kept *k, u64 lock, u32 use, u32 ordinal)
{
	bool hard = k->edges[0].from == LS_CLASS_HARDIRQ;
	u32 in = hard ? LS_USE_IN_ANY_HARDIRQ : LS_USE_IN_ANY_SOFTIRQ;
	u32 on = hard ? LS_USE_ON_ANY_HARDIRQ : LS_USE_ON_ANY_SOFTIRQ;
	u32 readers = LS_USE_IN_HARDIRQ_READ | LS_USE_IN_SOFTIRQ_READ | LS_USE_ON_HARDIRQ_READ |
		      LS_USE_ON_SOFTIRQ_READ;
	struct ls_state_side side = { .lock = lock, .sight = ordinal };
	u32 other;

	if (!lock)
		return;
	side.read = use & in & readers;
	if (use & in && ls_states_meet(&k->states, LS_STATE_IN, &side, &other)) {
		met(k, ordinal, other);
		return;
	}
	side.read = use & on & readers;
	if (use & on && ls_states_meet(&k->states, LS_STATE_ON, &side, &other))
		met(k, other, ordinal);
}

static void look(struct kept *k, const struct ls_rec_sight *s, const struct ls_held_rec *held, u32 ordinal)
{
	u32 i;

	if (ls_worker_class(s->val) == k->class_id)
		look_at(k, s->lock, s->what == LS_SIGHT_ACQUIRE ? ls_usage(s->val) :
								  ls_usage_on(s->val, s->val), ordinal);
	for (i = 0; i < s->nr_held && k->class_id; i++)
		if (ls_worker_class(held[i].val) == k->class_id)
			look_at(k, held[i].lock, ls_usage_on(held[i].val, s->val), ordinal);
}

/* Observation @ordinal, new in the log. */
void ls_states_take(const struct ls_rec_sight *s, u32 ordinal)
{
	u32 i;

	lockdep_assert_held(&ls_work_mutex);
	for (i = 0; nr_kept && i < KEPT; i++)
		if (kept[i].class_id && !ls_worker_left_out(kept[i].class_id))
			look(&kept[i], s, s->held, ordinal);
}

/*
 * A new finding of kind IRQ_STATE: keep it until one instance was in both states. False when it
 * has to be printed now: the class has one instance, or there is no room. Its own observations
 * are in the log, and are looked at with the earlier ones.
 */
bool ls_states_keep(const struct ls_finding_edge *edges, u32 nr_observations)
{
	static struct ls_rec_sight s;
	static struct ls_held_rec held[LS_MAX_DEPTH];
	u32 id = edges[0].to, at = nr_observations > EARLIER ? nr_observations - EARLIER : 0, i;
	struct kept *k;

	lockdep_assert_held(&ls_work_mutex);
	if (ls.classes.table[id].origin == LS_ORIGIN_STATIC)
		return false;
	for (i = 0; i < KEPT && kept[i].class_id; i++)
		;
	if (i == KEPT)
		return false;
	k = &kept[i];
	*k = (struct kept){ .class_id = id, .edges = { edges[0], edges[1] } };
	WRITE_ONCE(nr_kept, nr_kept + 1);
	for (; at < nr_observations && k->class_id; at++) {
		if (ls_worker_observation(at, &s, held))
			look(k, &s, held, at);
		if (!(at % 256))
			cond_resched();
	}
	return true;
}

/* Findings kept so far. Any context. */
u32 ls_states_unproven(void)
{
	return READ_ONCE(nr_kept);
}

void ls_states_forget(void)
{
	memset(kept, 0, array_size(KEPT, sizeof(*kept)));
	WRITE_ONCE(nr_kept, 0);
}

int ls_states_init(void)
{
	kept = ls_zalloc(array_size(KEPT, sizeof(*kept)));
	return kept ? 0 : -ENOMEM;
}

void ls_states_exit(void)
{
	ls_free(kept);
}
