// SPDX-License-Identifier: GPL-2.0
/*
 * Evidence: which observations of a cycle's dependencies belong to one deadlock. The judge
 * finds cycles of classes; the console only reports those whose instances matched (meeting.h),
 * or whose instances cannot be followed. Worker only, ls_work_mutex held.
 */
#include <linux/sched.h>

#include "base/memory.h"
#include "core/state.h"
#include "judge.h"
#include "meeting.h"
#include "out/console/splat.h"
#include "out/evidence.h"
#include "out/out.h"

#define SIDES 96		/* of one dependency; one observation may show it more than once */
#define CYCLES 256		/* that wait for matching instances */

struct cycle {
	u32 nr;			/* 0: free */
	bool changed;		/* one of its dependencies was observed since the last try */
	struct ls_finding_edge edges[LS_CYCLE_MAX];
	u16 numbers[LS_CYCLE_MAX];
};

static struct cycle *cycles;
static u32 nr_cycles;			/* in use */

/* Dependency @number of a cycle was observed. */
void ls_evidence_noted(u32 number)
{
	u32 i, e;

	for (i = 0; i < CYCLES; i++)
		for (e = 0; e < cycles[i].nr; e++)
			cycles[i].changed |= cycles[i].numbers[e] == number;
}

static u64 instance_of(u32 val, u64 lock)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].origin == LS_ORIGIN_STATIC ?
		       LS_INSTANCE_GLOBAL : lock;
}

/* Locks held besides entries @own and the acquired lock. */
static void add_gates(struct ls_meeting_side *side, const struct ls_rec_sight *s,
		      const struct ls_held_rec *held, u32 own)
{
	u32 i, id;

	for (i = 0; i < s->nr_held && side->nr_gates < LS_MEETING_GATES; i++) {
		id = ls_worker_class(held[i].val);
		if (i != own && id && !ls_worker_left_out(id))
			side->gates[side->nr_gates++] =
				held[i].lock | (held[i].val & LS_VAL_READ_MASK ? 1 : 0);
	}
}

/*
 * Append to @sides, from @nr on, what observation @ordinal shows of @edge; returns the new
 * number.
 */
static u32 add_sides(const struct ls_finding_edge *edge, u32 ordinal, struct ls_meeting_side *sides,
		     u32 nr)
{
	static struct ls_rec_sight s;
	static struct ls_held_rec held[LS_MAX_DEPTH];
	u32 i;

	if (!ls_worker_observation(ordinal, &s, held) || ls_worker_class(s.val) != edge->to)
		return nr;
	for (i = 0; i < s.nr_held && nr < SIDES; i++) {
		if (ls_worker_class(held[i].val) != edge->from || !ls_orders(held[i].val, s.val))
			continue;
		sides[nr] = (struct ls_meeting_side){
			.from = instance_of(held[i].val, held[i].lock),
			.to = instance_of(s.val, s.lock),
			.kind = ls_dep_kind(held[i].val, s.val), .sight = ordinal,
		};
		add_gates(&sides[nr++], &s, held, i);
	}
	return nr;
}

static bool left_out(const struct cycle *c)
{
	u32 e;

	for (e = 0; e < c->nr; e++)
		if (ls_worker_left_out(c->edges[e].from) || ls_worker_handed_over(c->edges[e].from))
			return true;
	return false;
}

/* Print @c if its observations match. @sides: room for all of them. */
static void try_cycle(struct cycle *c, struct ls_meeting_side *sides)
{
	struct ls_meeting m = { .nr_edges = c->nr };
	u32 chosen[LS_MEETING_EDGES], e, i, nr;
	enum ls_meeting_result result;

	for (e = 0; e < c->nr; e++) {
		struct ls_meeting_side *of = sides + e * SIDES;
		const u32 *noted = ls_wanted_observations(c->numbers[e], &nr);

		for (i = 0; i < nr; i++)
			m.nr[e] = add_sides(&c->edges[e], noted[i], of, m.nr[e]);
		m.sides[e] = of;
	}
	result = ls_meeting_find(&m, chosen);
	if (result == LS_MEETING_NONE)
		return;
	for (e = 0; result == LS_MEETING_FOUND && e < c->nr; e++)
		c->edges[e].sight = m.sides[e][chosen[e]].sight;
	if (ls_splat)
		ls_splat_cycle(c->edges, c->nr);
	c->nr = 0;
	nr_cycles--;
}

static void try_cycles(void)
{
	struct ls_meeting_side *sides = NULL;
	u32 i;

	for (i = 0; i < CYCLES; i++) {
		struct cycle *c = &cycles[i];

		if (!c->nr || !c->changed || left_out(c))
			continue;
		if (!sides)
			sides = ls_zalloc(array_size(LS_CYCLE_MAX * SIDES, sizeof(*sides)));
		if (!sides)
			return;		/* retry in another round */
		c->changed = false;
		try_cycle(c, sides);
		cond_resched();
	}
	ls_free(sides);
}

/* Is a side a wait for a completion? The judge matches those instances itself. */
static bool has_awaited(const struct ls_finding_edge *edges, u32 nr)
{
	u32 e;

	for (e = 0; e < nr; e++)
		if (LS_AWAITED_KINDS >> ls_kind_of(edges[e].from) & 1)
			return true;
	return false;
}

/* Keep a cycle until its instances match. False when there is no room. */
static bool keep(const struct ls_finding_edge *edges, const u32 *of, u32 nr)
{
	struct cycle *c;
	u32 i, e;

	for (i = 0; i < CYCLES && cycles[i].nr; i++)
		;
	if (i == CYCLES)
		return false;
	c = &cycles[i];
	*c = (struct cycle){ .nr = nr, .changed = true };
	for (e = 0; e < nr; e++) {
		c->edges[e] = edges[e];
		c->numbers[e] = of[e];
	}
	nr_cycles++;
	return true;
}

/* A new cycle of classes. */
void ls_evidence_cycle(u32 kind, const struct ls_finding_edge *edges, u32 nr)
{
	u32 of[LS_CYCLE_MAX], e;
	bool room = true;

	lockdep_assert_held(&ls_work_mutex);
	for (e = 0; e < nr; e++) {
		of[e] = ls_wanted_add(edges[e].from, edges[e].to);
		room = room && of[e];
	}
	if (!ls_splat)
		return;
	if (kind == LS_FINDING_IRQ_STATE && !ls_splat_unproven && ls_states_keep(edges, ls_ledger_observations()))
		return;
	/* An interrupt can come while any instance of the class is held. */
	if (kind != LS_FINDING_ORDER_CYCLE)
		ls_splat_interrupt(kind, edges, nr);
	/* Print what cannot be followed, unproven. */
	else if (ls_splat_unproven || !room || has_awaited(edges, nr) || !keep(edges, of, nr))
		ls_splat_cycle(edges, nr);
}

/* One round, with @nr observations in the log; @all: until everything is done. */
void ls_evidence_work(u32 nr, bool all)
{
	lockdep_assert_held(&ls_work_mutex);
	ls_wanted_work(nr, all);
	if (nr_cycles)
		try_cycles();
}

/* Cycles whose instances have not matched so far. Any context. */
u32 ls_evidence_unproven(void)
{
	return READ_ONCE(nr_cycles) + ls_states_unproven();
}

void ls_evidence_forget(u32 nr)
{
	lockdep_assert_held(&ls_work_mutex);
	memset(cycles, 0, array_size(CYCLES, sizeof(*cycles)));
	nr_cycles = 0;
	ls_states_forget();
	ls_wanted_forget(nr);
}

int ls_evidence_init(void)
{
	BUILD_BUG_ON(LS_CYCLE_MAX > LS_MEETING_EDGES);
	cycles = ls_zalloc(array_size(CYCLES, sizeof(*cycles)));
	if (!cycles || ls_states_init())
		return -ENOMEM;
	return ls_wanted_init();
}

void ls_evidence_exit(void)
{
	ls_wanted_exit();
	ls_states_exit();
	ls_free(cycles);
}
