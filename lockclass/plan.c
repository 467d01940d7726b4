// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include "hash.h"

#define MS 1000000ull
#define US 1000ull
/* A watched context that did not come to its last acquisition by then took another way. */
#define WATCH_LIMIT (1000 * MS)
/* Waits in a row without a meeting, after which the other side waits. */
#define FAILS_PER_TURN 12
#define MAX_FAILS 64

static ls_u32 place_of(ls_u64 ip)
{
	return (ls_u32)(ls_mix(ip) >> 32) & (LS_CONFIRM_HASH - 1);
}

static bool sides_valid(const struct ls_confirm_plan *p)
{
	ls_u32 i, interrupted = 0;

	if (!p->nr_sides || p->nr_sides > LS_CONFIRM_SIDES || p->pad)
		return false;
	for (i = 0; i < LS_CONFIRM_SIDES; i++) {
		if (p->flags[i] & ~LS_CONFIRM_INTERRUPTED || (p->flags[i] && i >= p->nr_sides))
			return false;
		interrupted += p->flags[i] & LS_CONFIRM_INTERRUPTED;
	}
	return !interrupted || (interrupted == 1 && p->nr_sides <= 2);
}

bool ls_confirm_valid(const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		      const struct ls_confirm_point *points, ls_u32 nr_points)
{
	ls_u8 ends[LS_CONFIRM_PLANS][LS_CONFIRM_SIDES] = { };
	ls_u32 i, k;

	if (!nr_plans || nr_plans > LS_CONFIRM_PLANS || nr_points > LS_CONFIRM_POINTS)
		return false;
	for (i = 0; i < nr_plans; i++)
		if (!sides_valid(&plans[i]))
			return false;
	for (i = 0; i < nr_points; i++) {
		const struct ls_confirm_point *p = &points[i];

		if (!p->ip || p->pad || p->role > LS_CONFIRM_LAST || p->plan >= nr_plans ||
		    p->side >= plans[p->plan].nr_sides)
			return false;
		ends[p->plan][p->side] |= (ls_u8)(1u << p->role);
	}
	for (i = 0; i < nr_plans; i++)
		for (k = 0; k < plans[i].nr_sides; k++)
			if (ends[i][k] != 3)
				return false;
	return true;
}

void ls_confirm_init(struct ls_confirm *c, struct ls_plan *meets,
		     const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		     struct ls_confirm_point *points, ls_u32 nr_points)
{
	ls_u32 i, k;

	c->meets = meets;
	c->points = points;
	c->nr_meets = nr_plans;
	c->nr_points = nr_points;
	for (i = 0; i < LS_CONFIRM_HASH; i++)
		c->head[i] = 0;
	for (i = 0; i < nr_points; i++) {
		ls_u16 *head = &c->head[place_of(points[i].ip)];

		c->next[i] = *head;
		*head = (ls_u16)(i + 1);
	}
	for (i = 0; i < nr_plans; i++) {
		meets[i].nr_sides = meets[i].state.nr_sides = plans[i].nr_sides;
		for (k = 0; k < LS_CONFIRM_SIDES; k++)
			meets[i].flags[k] = plans[i].flags[k];
		/* Interrupts come where they are waited for. */
		meets[i].turn = plans[i].nr_sides == 2 && !plans[i].flags[1] ? 1 : 0;
	}
}

static ls_u32 same_ip(const struct ls_confirm *c, ls_u32 point, ls_u64 ip)
{
	while (point && c->points[point - 1].ip != ip)
		point = c->next[point - 1];
	return point;
}

ls_u32 ls_confirm_find(const struct ls_confirm *c, ls_u64 ip)
{
	return same_ip(c, c->head[place_of(ip)], ip);
}

ls_u32 ls_confirm_next(const struct ls_confirm *c, ls_u32 point)
{
	return same_ip(c, c->next[point - 1], c->points[point - 1].ip);
}

bool ls_confirm_begins(const struct ls_confirm *c, ls_u32 plan, ls_u32 side, ls_u64 ip)
{
	ls_u32 i;

	for (i = ls_confirm_find(c, ip); i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->plan == plan && p->role == LS_CONFIRM_FIRST &&
		    (side == LS_CONFIRM_SIDES || p->side == side))
			return true;
	}
	return false;
}

static bool interrupted(const struct ls_plan *m, ls_u32 side)
{
	return m->flags[side] & LS_CONFIRM_INTERRUPTED;
}

/* Each side was the one that arrived. */
static bool settled(const struct ls_plan *m)
{
	return ls_load(&m->state.confirmed) == (1u << m->nr_sides) - 1;
}

ls_u64 ls_gate_patience(const struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now)
{
	const struct ls_gate *g = &m->gates[side];
	ls_u32 fails = ls_load(&g->fails) / 2;

	if (settled(m) || (m->nr_sides > 1 && ls_load(&m->turn) == side) ||
	    now < ls_load(&g->not_before))
		return 0;
	switch (how) {
	case LS_GATE_SLEEP:
		return 2 * MS << (fails < 5 ? fails : 5);
	case LS_GATE_YIELD:
		return MS << (fails < 2 ? fails : 2);
	case LS_GATE_STAY:
		return 500 * US << (fails < 3 ? fails : 3);
	case LS_GATE_SPIN:
		return 250 * US;
	}
	return 0;
}

bool ls_gate_enter(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u32 cpu, ls_u64 lock, ls_u64 now)
{
	struct ls_gate *g = &m->gates[side];
	ls_u32 state = ls_load_acquire(&g->state);

	if (state == LS_GATE_WATCHED && (g->task == task || now - g->since > WATCH_LIMIT)) {
		if (!ls_cmpxchg(&g->state, &state, LS_GATE_TAKEN))
			return false;
		ls_fetch_add(&m->state.sides[side].parted, 1);
	} else {
		state = LS_GATE_FREE;
		if (!ls_cmpxchg(&g->state, &state, LS_GATE_TAKEN))
			return false;
	}
	g->task = task;
	g->cpu = cpu;
	g->lock = lock;
	g->came = g->passed = 0;
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

/* The next side is the one that arrives. */
static void pass_turn(struct ls_plan *m)
{
	ls_store(&m->fails, 0);
	ls_store(&m->turn, (ls_load(&m->turn) + 1) % m->nr_sides);
}

bool ls_gate_leave(struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now)
{
	struct ls_gate *g = &m->gates[side];
	ls_u64 waited = now - g->since;
	ls_u32 state;

	ls_fetch_add(&m->state.sides[side].waited_ns, waited);
	if (how == LS_GATE_SPIN)
		ls_fetch_add(&m->state.sides[side].too_atomic, 1);
	/* Half of the time at most; a tenth where it takes the CPU. */
	ls_store(&g->not_before, now + waited * (how == LS_GATE_SLEEP ? 1 : 9));
	for (;;) {
		state = LS_GATE_WAITING;
		if (ls_cmpxchg(&g->state, &state, LS_GATE_FREE)) {
			if (g->fails < MAX_FAILS)
				ls_store(&g->fails, g->fails + 1);
			if (ls_fetch_add(&m->fails, 1) + 1 >= FAILS_PER_TURN)
				pass_turn(m);
			return false;
		}
		/* Claimed: the context that looks is not preempted, and does so briefly. */
		if (state == LS_GATE_OPEN) {
			ls_store(&g->fails, 0);
			/* Nothing is left to be seen where an interrupt came. */
			ls_store_release(&g->state, interrupted(m, side) ? LS_GATE_FREE : LS_GATE_WATCHED);
			return true;
		}
	}
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
	if (next->lock != last) {
		ls_fetch_add(&m->state.sides[(side + 1) % m->nr_sides].strangers, 1);
		unclaim(m, side, nr);
		return LS_GATE_NOTHING;
	}
	for (i = 0; i < nr; i++) {
		ls_u32 k = (side + 1 + i) % m->nr_sides;
		struct ls_gate *g = &m->gates[k];

		g->expects = i + 1 == nr ? first : m->gates[(k + 1) % m->nr_sides].lock;
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

enum ls_gate_arrival ls_gate_interrupt(struct ls_plan *m, ls_u32 side, ls_u32 cpu, ls_u64 lock)
{
	struct ls_gate *g = &m->gates[side];

	/* The waiting context is the one that was interrupted: it does not move meanwhile. */
	if (ls_load_acquire(&g->state) != LS_GATE_WAITING || g->cpu != cpu || settled(m) || !claim(g))
		return LS_GATE_NOTHING;
	g->came = lock;
	if (m->nr_sides == 1) {
		if (lock == g->lock) {
			g->holds = 0;
			return LS_GATE_MET;
		}
	} else if (g->passed == lock) {
		return LS_GATE_MET;
	} else {
		return LS_GATE_HALF;
	}
	ls_fetch_add(&m->state.sides[side].strangers, 1);
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
		if (interrupted(m, first % m->nr_sides)) {
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

	if (ls_load_acquire(&g->state) != LS_GATE_WATCHED || g->task != task || g->lock != first)
		return LS_GATE_UNWATCHED;
	if (g->expects == last)
		return LS_GATE_PROVEN;
	ls_fetch_add(&m->state.sides[side].parted, 1);
	ls_store_release(&g->state, LS_GATE_FREE);
	return LS_GATE_PARTED;
}

void ls_gate_prove(struct ls_plan *m, ls_u32 side)
{
	ls_fetch_add(&m->state.sides[side].confirmed, 1);
	if (ls_fetch_add(&m->together, ~0u) == 1)
		confirm(m, &m->gates[side]);
	ls_store_release(&m->gates[side].state, LS_GATE_FREE);
}

/* Until then a context that began may not have been seen to hold its lock yet. */
#define BEGIN_TIME (200 * US)

static bool is_inside(const struct ls_inside *i, ls_u64 task, ls_u64 now, ls_plan_holds holds)
{
	return i->since && i->task != task && (now - i->since < BEGIN_TIME || holds(i->task, i->lock));
}

bool ls_plan_begin(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 lock, ls_u64 now,
		   ls_plan_holds holds)
{
	bool free = true;
	ls_u32 k, was = 0;

	while (!ls_cmpxchg(&m->entering, &was, 1u))
		was = 0;
	/* Runs of one side do not harm each other, unless it is the only one. */
	for (k = 0; k < m->nr_sides && free; k++)
		if ((k != side || m->nr_sides == 1) && is_inside(&m->inside[k], task, now, holds))
			free = false;
	if (free)
		m->inside[side] = (struct ls_inside){ .task = task, .lock = lock, .since = now };
	ls_store_release(&m->entering, 0u);
	return free;
}

struct ls_confirm_arrival *ls_plan_arrival(struct ls_plan *m, ls_u32 side)
{
	struct ls_confirm_side *s = &m->state.sides[side];

	return &s->arrivals[ls_fetch_add(&s->lasts, 1) % LS_CONFIRM_ARRIVALS];
}
