// SPDX-License-Identifier: GPL-2.0
/* Gates: contexts that wait, that arrive, and that are watched. */
#include "plan.h"

#define MS 1000000ull
#define US 1000ull
/* A watched context that did not come to its last acquisition by then took another way. */
#define WATCH_LIMIT (1000 * MS)
/* The same once it acquired another lock there: it may walk a list, and come to the right one. */
#define WATCH_WALK (100 * MS)
/* Waits in a row without a meeting, after which the other side waits. */
#define FAILS_PER_TURN 12
#define MAX_FAILS 64
/* What a long one counts more, and what a meeting counts that proved nothing. */
#define FAIL_LASTS (500 * MS)
#define FAILS_PARTED 4
/* After so many a wait is as long as the other sides are apart. */
#define FAILS_BEFORE_LONG 2
#define LONGEST_SLEEP (2000 * MS)

static bool interrupted(const struct ls_plan *m, ls_u32 side)
{
	return m->flags[side] == LS_CONFIRM_INTERRUPTED;
}

static bool race(const struct ls_plan *m)
{
	return m->flags[0] == LS_CONFIRM_ACCESS;
}

/* Each side was the one that arrived. Of a race that makes no difference. */
static bool settled(const struct ls_plan *m)
{
	ls_u32 confirmed = ls_load(&m->state.confirmed);

	return race(m) ? confirmed : confirmed == (1u << m->nr_sides) - 1;
}

/*
 * A side of a deadlock arrives behind its gate: one of them must not wait there. Of a race,
 * either arrives where the other one waits.
 */
static bool must_pass(const struct ls_plan *m, ls_u32 side)
{
	return m->nr_sides > 1 && !race(m) && !ls_plan_deadly(m) && ls_load(&m->turn) == side;
}

/* Others of @side, of the only side its own runs. */
static bool is_other(const struct ls_plan *m, ls_u32 side, ls_u32 k)
{
	return k != side || m->nr_sides == 1;
}

/* Of a run that walks a list there are many arrivals; some begin, and take another way. */
static ls_u64 runs(const struct ls_confirm_side *s)
{
	ls_u64 firsts = ls_load(&s->firsts), lasts = ls_load(&s->lasts);

	return firsts && firsts < lasts ? firsts : lasts;
}

/* Mean time between two runs of the other side that comes least, ns; 0: one never came. */
static ls_u64 interval(const struct ls_plan *m, ls_u32 side, ls_u64 now)
{
	ls_u64 least = ~0ull;
	ls_u32 k;

	for (k = 0; k < m->nr_sides; k++)
		if (is_other(m, side, k) && runs(&m->state.sides[k]) < least)
			least = runs(&m->state.sides[k]);
	return least ? (now - m->since) / least : 0;
}

static ls_u64 longest_sleep(const struct ls_plan *m, ls_u32 side, ls_u64 now)
{
	ls_u32 fails = ls_load(&m->gates[side].fails);
	ls_u64 doubled = 2 * MS << (fails / 2 < 5 ? fails / 2 : 5);
	/* The other side of a race waits at its own gate, and does not come meanwhile. */
	ls_u64 expected = race(m) || fails < FAILS_BEFORE_LONG ? 0 : 2 * interval(m, side, now);

	if (expected > LONGEST_SLEEP)
		expected = LONGEST_SLEEP;
	return expected > doubled ? expected : doubled;
}

static bool keeps_apart(const struct ls_held_rec *a, const struct ls_held *b)
{
	return ls_load(&a->lock) == b->lock &&
	       !((ls_load(&a->val) & LS_VAL_READ_MASK) && (b->val & LS_VAL_READ_MASK));
}

bool ls_gate_spares(const struct ls_plan *m, ls_u32 side, const struct ls_ctx *ctx)
{
	ls_u32 i, k, a, h;

	if (race(m))
		return false;
	for (k = 0; k < m->nr_sides; k++) {
		const struct ls_confirm_side *s = &m->state.sides[k];
		ls_u64 kept = ls_load(&s->lasts);

		if (!is_other(m, side, k))
			continue;
		if (!kept)
			return false;
		for (a = 0; a < LS_CONFIRM_ARRIVALS && a < kept; a++) {
			ls_u32 nr = ls_load(&s->arrivals[a].nr_held);

			if (nr > LS_CONFIRM_HELD)
				return false;
			for (h = 0; h < nr; h++)
				for (i = 0; i < ctx->depth; i++)
					if (keeps_apart(&s->arrivals[a].held[h], &ctx->held[i]))
						return false;
		}
	}
	return true;
}

ls_u64 ls_gate_patience(const struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now)
{
	const struct ls_gate *g = &m->gates[side];
	ls_u32 fails = ls_load(&g->fails) / 2;

	if (settled(m) || must_pass(m, side) || now < ls_load(&g->not_before))
		return 0;
	if (ls_plan_deadly(m))
		return how == LS_GATE_SPIN ? 20 * MS : 100 * MS;
	switch (how) {
	case LS_GATE_SLEEP:
	case LS_GATE_HOLD:
		return longest_sleep(m, side, now);
	case LS_GATE_YIELD:
		return MS << (fails < 2 ? fails : 2);
	case LS_GATE_STAY:
		return 500 * US << (fails < 3 ? fails : 3);
	case LS_GATE_SPIN:
		return 250 * US;
	}
	return 0;
}

/* The next side is the one that arrives. */
static void pass_turn(struct ls_plan *m)
{
	ls_store(&m->fails, 0);
	ls_store(&m->turn, (ls_load(&m->turn) + 1) % m->nr_sides);
}

static void count_fails(struct ls_plan *m, ls_u32 fails)
{
	if (ls_fetch_add(&m->fails, fails) + fails >= FAILS_PER_TURN)
		pass_turn(m);
}

bool ls_gate_enter(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u32 cpu,
		   const struct ls_gate_object *at, ls_u64 now)
{
	struct ls_gate *g = &m->gates[side];
	ls_u32 state = ls_load_acquire(&g->state);

	if (state == LS_GATE_WATCHED &&
	    (g->task == task || now - ls_load(&g->since) > (ls_load(&g->walks) ? WATCH_WALK : WATCH_LIMIT))) {
		if (!ls_cmpxchg(&g->state, &state, LS_GATE_TAKEN))
			return false;
		ls_fetch_add(&m->state.sides[side].parted, 1);
		count_fails(m, FAILS_PARTED);
	} else {
		state = LS_GATE_FREE;
		if (!ls_cmpxchg(&g->state, &state, LS_GATE_TAKEN))
			return false;
	}
	g->task = task;
	g->cpu = cpu;
	g->at = *at;
	g->came = g->passed = 0;
	ls_store(&g->walks, 0);
	g->strange = 0;
	g->holds = 0;
	ls_store(&g->since, now);
	ls_fetch_add(&m->state.sides[side].waits, 1);
	ls_store_release(&g->state, LS_GATE_WAITING);
	return true;
}

bool ls_gate_opened(const struct ls_plan *m, ls_u32 side)
{
	return ls_load_acquire(&m->gates[side].state) == LS_GATE_OPEN;
}

bool ls_gate_leave(struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now)
{
	struct ls_gate *g = &m->gates[side];
	ls_u64 waited = now - g->since;
	ls_u32 state;

	ls_fetch_add(&m->state.sides[side].waited_ns, waited);
	if (how == LS_GATE_SPIN)
		ls_fetch_add(&m->state.sides[side].too_atomic, 1);
	/* Its CPU, or a lock that it has, may be what keeps the other sides away. */
	if (how != LS_GATE_SLEEP)
		ls_fetch_add(&m->state.sides[side].kept_ns, waited);
	/*
	 * Half of the time at most; a quarter with locks held, a tenth where it takes the CPU. Nothing
	 * spares what is to end.
	 */
	if (!ls_plan_deadly(m))
		ls_store(&g->not_before,
			 now + waited * (how == LS_GATE_SLEEP ? 1 : how == LS_GATE_HOLD ? 3 : 9));
	for (;;) {
		state = LS_GATE_WAITING;
		if (ls_cmpxchg(&g->state, &state, LS_GATE_FREE)) {
			if (g->fails < MAX_FAILS)
				ls_store(&g->fails, g->fails + 1);
			count_fails(m, 1 + (ls_u32)(waited / FAIL_LASTS));
			return false;
		}
		/* Claimed: the context that looks is not preempted, and does so briefly. */
		if (state == LS_GATE_OPEN) {
			ls_store(&g->fails, 0);
			ls_store(&g->since, now);
			/* Nothing is left to be seen where an interrupt came. */
			ls_store_release(&g->state, interrupted(m, side) ? LS_GATE_FREE : LS_GATE_WATCHED);
			return true;
		}
	}
}

/* A side that walks a list arrives many times, which is one wait for other instances. Claimed. */
static void count_stranger(struct ls_plan *m, ls_u32 side)
{
	if (!m->gates[side].strange)
		ls_fetch_add(&m->state.sides[side].strangers, 1);
	m->gates[side].strange = 1;
}

static bool claim(struct ls_gate *g)
{
	ls_u32 state = LS_GATE_WAITING;

	return ls_cmpxchg(&g->state, &state, LS_GATE_CLAIMED);
}

/* Gates of all sides but @side, in order from the next one; of the only side its own. */
static void unclaim(struct ls_plan *m, ls_u32 side, ls_u32 nr)
{
	ls_u32 i;

	for (i = 0; i < nr; i++)
		ls_store_release(&m->gates[(side + 1 + i) % m->nr_sides].state, LS_GATE_WAITING);
}

enum ls_gate_arrival ls_gate_arrive(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				    ls_u64 last)
{
	ls_u32 i, nr = m->nr_sides > 1 ? m->nr_sides - 1 : 1;
	struct ls_gate *next = &m->gates[(side + 1) % m->nr_sides];

	/* Cheap, and right nearly always. */
	if (ls_load_acquire(&next->state) != LS_GATE_WAITING || settled(m))
		return LS_GATE_NOTHING;
	for (i = 0; i < nr; i++) {
		struct ls_gate *g = &m->gates[(side + 1 + i) % m->nr_sides];

		if (!claim(g)) {
			unclaim(m, side, i);
			return LS_GATE_NOTHING;
		}
		if (g->task == task) {
			unclaim(m, side, i + 1);
			return LS_GATE_NOTHING;
		}
	}
	if (next->at.addr != last) {
		count_stranger(m, (side + 1) % m->nr_sides);
		unclaim(m, side, nr);
		return LS_GATE_NOTHING;
	}
	for (i = 0; i < nr; i++) {
		ls_u32 k = (side + 1 + i) % m->nr_sides;
		struct ls_gate *g = &m->gates[k];

		g->expects = i + 1 == nr ? first : m->gates[(k + 1) % m->nr_sides].at.addr;
		g->other = task;
		g->holds = first;
		g->arrived = side;
	}
	if (interrupted(m, (side + 1) % m->nr_sides)) {
		next->passed = first;
		if (next->came != first)
			return LS_GATE_HALF;
	}
	return LS_GATE_MET;
}

enum ls_gate_arrival ls_gate_ring(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				  ls_u64 last)
{
	ls_u64 wanted = last;
	ls_u32 i, nr = m->nr_sides - 1;

	if (settled(m))
		return LS_GATE_NOTHING;
	for (i = 0; i < nr; i++) {
		struct ls_gate *g = &m->gates[(side + 1 + i) % m->nr_sides];

		if (!claim(g)) {
			unclaim(m, side, i);
			return LS_GATE_NOTHING;
		}
		if (g->task == task || g->at.held != wanted) {
			unclaim(m, side, i + 1);
			return LS_GATE_NOTHING;
		}
		wanted = g->at.addr;
	}
	if (wanted != first) {
		unclaim(m, side, nr);
		return LS_GATE_NOTHING;
	}
	return LS_GATE_MET;
}

#define MARKED (LS_ACC_MARKED | LS_ACC_ATOMIC | LS_ACC_TRAP)

static bool conflict(const struct ls_gate_object *a, const struct ls_gate_object *b)
{
	return (a->op | b->op) & LS_ACC_WRITE && !(a->op & MARKED && b->op & MARKED);
}

enum ls_gate_arrival ls_gate_access(struct ls_plan *m, ls_u32 side, ls_u64 task,
				    const struct ls_gate_object *at, ls_plan_apart apart)
{
	struct ls_gate *g = &m->gates[(side + 1) % m->nr_sides];

	if (ls_load_acquire(&g->state) != LS_GATE_WAITING || settled(m) || !claim(g))
		return LS_GATE_NOTHING;
	if (g->task == task || !conflict(&g->at, at) || apart(g->at.lockset, at->lockset)) {
		ls_store_release(&g->state, LS_GATE_WAITING);
		return LS_GATE_NOTHING;
	}
	if (at->addr >= g->at.addr + g->at.size || g->at.addr >= at->addr + at->size) {
		count_stranger(m, (side + 1) % m->nr_sides);
		ls_store_release(&g->state, LS_GATE_WAITING);
		return LS_GATE_NOTHING;
	}
	g->arrived = side;
	return LS_GATE_MET;
}

enum ls_gate_arrival ls_gate_interrupt(struct ls_plan *m, ls_u32 side, ls_u32 cpu, ls_u64 lock)
{
	struct ls_gate *g = &m->gates[side];

	/* The waiting context is the one that was interrupted: it does not move meanwhile. */
	if (ls_load_acquire(&g->state) != LS_GATE_WAITING || g->cpu != cpu || settled(m) || !claim(g))
		return LS_GATE_NOTHING;
	g->came = lock;
	if (m->nr_sides == 1) {
		if (lock == g->at.addr) {
			g->holds = 0;
			return LS_GATE_MET;
		}
	} else if (g->passed == lock) {
		return LS_GATE_MET;
	} else {
		return LS_GATE_HALF;
	}
	count_stranger(m, side);
	ls_store_release(&g->state, LS_GATE_WAITING);
	return LS_GATE_NOTHING;
}

/* The direction in which the sides just met is proven. */
static void confirm(struct ls_plan *m, const struct ls_gate *g)
{
	ls_fetch_or(&m->state.confirmed, 1u << g->arrived);
	if (ls_load(&m->turn) == g->arrived)
		pass_turn(m);
}

void ls_gate_open(struct ls_plan *m, ls_u32 side, enum ls_gate_arrival how, bool own)
{
	ls_u32 i, nr = own || m->nr_sides == 1 ? 1 : m->nr_sides - 1;
	ls_u32 first = own || m->nr_sides == 1 ? side : side + 1;

	if (how == LS_GATE_MET) {
		/* One that an interrupt came to is at its last step already. */
		if (ls_plan_deadly(m)) {
			ls_fetch_or(&m->state.confirmed, (1u << m->nr_sides) - 1);
		} else if (interrupted(m, first % m->nr_sides)) {
			ls_fetch_add(&m->state.sides[first % m->nr_sides].confirmed, 1);
			confirm(m, &m->gates[first % m->nr_sides]);
		} else {
			ls_store(&m->together, nr);
		}
	}
	for (i = 0; i < nr; i++) {
		ls_u32 k = (first + i) % m->nr_sides;

		if (how == LS_GATE_MET)
			ls_fetch_add(&m->state.sides[k].met, 1);
		ls_store_release(&m->gates[k].state,
				 how == LS_GATE_MET ? LS_GATE_OPEN : LS_GATE_WAITING);
	}
}

enum ls_gate_watched ls_gate_watch(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				   ls_u64 last)
{
	struct ls_gate *g = &m->gates[side];

	if (ls_load_acquire(&g->state) != LS_GATE_WATCHED || g->task != task || g->at.addr != first)
		return LS_GATE_UNWATCHED;
	if (g->expects == last)
		return LS_GATE_PROVEN;
	ls_store(&g->walks, 1u);
	return LS_GATE_PARTED;
}

void ls_gate_prove(struct ls_plan *m, ls_u32 side)
{
	ls_fetch_add(&m->state.sides[side].confirmed, 1);
	if (ls_fetch_add(&m->together, ~0u) == 1)
		confirm(m, &m->gates[side]);
	ls_store_release(&m->gates[side].state, LS_GATE_FREE);
}

struct ls_confirm_arrival *ls_plan_arrival(struct ls_plan *m, ls_u32 side)
{
	struct ls_confirm_side *s = &m->state.sides[side];

	return &s->arrivals[ls_fetch_add(&s->lasts, 1) % LS_CONFIRM_ARRIVALS];
}
