// SPDX-License-Identifier: GPL-2.0
/*
 * Plans, and contexts that arrive at their acquire sites. While there is no plan, nothing here
 * runs.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "base/memory.h"
#include "check/access/planned.h"
#include "check/confirm.h"
#include "check/gate_wait.h"
#include "core/context.h"
#include "core/stat.h"
#include "identity/identity.h"
#include "plan.h"

DEFINE_STATIC_KEY_FALSE(ls_confirm_key);
void (*ls_confirm_switch)(bool on);

static DEFINE_MUTEX(plan_mutex);
static struct ls_confirm *plan;		/* NULL: none. Under RCU, or while counted in its waiting */
static const void *owner;		/* open file */

struct ls_confirm *ls_plan_now(void)
{
	return READ_ONCE(plan);
}

/* Side @p->side arrives at its last acquisition, @lock. */
static noinline void arrive(struct ls_confirm *c, const struct ls_confirm_point *p, struct ls_cpu *pc,
			    struct ls_ctx *ctx, u32 level, u64 lock, u64 ip)
{
	struct ls_plan *m = &c->meets[p->plan];
	struct ls_confirm_context *shown = &m->state.contexts[p->side];
	/* Of an interrupt's side, the task holds the first lock. */
	bool by_interrupt = m->flags[p->side] & LS_CONFIRM_INTERRUPTED;
	struct ls_ctx *holder = by_interrupt && pc->cur == current ? pc->task : ctx;
	enum ls_gate_arrival met;
	u64 first;

	if (by_interrupt) {
		if (level == LS_TASK)
			return;
		met = ls_gate_interrupt(m, p->side, raw_smp_processor_id(), lock);
		if (met != LS_GATE_NOTHING) {
			if (ls_plan_records(m))
				ls_confirm_fill(&m->state.interrupt, ctx, level, 0, lock, ip, false);
			ls_gate_open(m, p->side, met, true);
		}
	}
	first = ls_confirm_first(c, holder, p->plan, p->side);
	if (!first) {
		/* The interrupt's own part, for the record of what it holds. */
		if (by_interrupt)
			ls_confirm_fill_arrival(ls_plan_arrival(m, p->side), ctx, 0, lock);
		return;
	}
	ls_confirm_fill_arrival(ls_plan_arrival(m, p->side), holder, first, lock);
	switch (ls_gate_watch(m, p->side, (u64)current, first, lock)) {
	case LS_GATE_PROVEN:
		if (ls_plan_records(m))
			ls_confirm_fill(shown, ctx, level, first, lock, ip, true);
		ls_gate_prove(m, p->side);
		return;
	case LS_GATE_PARTED:
	case LS_GATE_UNWATCHED:
		break;
	}
	if (m->nr_sides == 1 && by_interrupt)
		return;
	met = ls_gate_arrive(m, p->side, (u64)current, first, lock);
	if (met == LS_GATE_NOTHING)
		return;
	/* The only side of a plan meets itself: the one that waited is recorded last. */
	if (ls_plan_records(m))
		ls_confirm_fill(m->nr_sides > 1 ? shown : &m->state.contexts[1], ctx, level, first, lock, ip,
			     false);
	ls_gate_open(m, p->side, met, false);
}

/* The same, of a deadly plan. True: it waited, and its context may be another one. */
static noinline bool arrive_deadly(struct ls_confirm *c, const struct ls_confirm_point *p,
				   struct ls_gate_visit *visit, struct ls_ctx *ctx, u32 level)
{
	struct ls_plan *m = &c->meets[p->plan];
	u64 lock = visit->at.addr, first = ls_confirm_first(c, ctx, p->plan, p->side);
	bool waited;

	if (!first || level != LS_TASK)
		return false;
	ls_confirm_fill_arrival(ls_plan_arrival(m, p->side), ctx, first, lock);
	if (ls_gate_ring(m, p->side, (u64)current, first, lock) == LS_GATE_MET) {
		if (ls_plan_records(m))
			ls_confirm_fill(&m->state.contexts[p->side], ctx, level, first, lock, visit->ip,
					false);
		ls_gate_open(m, p->side, LS_GATE_MET, false);
		return false;
	}
	visit->at.held = first;
	/* The plan stays, although this may sleep. */
	ls_fetch_add(&c->waiting, 1);
	waited = ls_gate_wait(m, p->side, visit, ls_gate_clock()) != LS_GATE_NO_WAIT;
	ls_fetch_add(&c->waiting, ~0u);
	return waited;
}

void ls_confirm_at(u64 lock, u64 ip)
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_confirm *c = ls_plan_now();
	struct ls_gate_visit visit = { .plan = c, .at.addr = lock, .ip = ip, .count = count };
	struct ls_ctx *ctx;
	u32 level, i, wait = 0;

	if (unlikely(!c))
		return;
	i = ls_confirm_find(c, ip);
	if (likely(!i))
		return;
	ctx = ls_context_of(pc, count, &level);
	if (ctx->busy || level == LS_NMI)
		return;
	for (; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_LAST && ls_plan_deadly(&c->meets[p->plan])) {
			if (arrive_deadly(c, p, &visit, ctx, level))
				return;
			continue;
		}
		if (p->role == LS_CONFIRM_LAST) {
			arrive(c, p, pc, ctx, level, lock, ip);
			continue;
		}
		ls_fetch_add(&c->meets[p->plan].state.sides[p->side].firsts, 1);
		if (!wait && level == LS_TASK && !ls_plan_deadly(&c->meets[p->plan]) &&
		    !ls_confirm_first(c, ctx, p->plan, LS_CONFIRM_SIDES))
			wait = i;
	}
	if (!wait)
		return;
	/* The plan stays, although this may sleep. */
	ls_fetch_add(&c->waiting, 1);
	/* Sides may begin at one site: a gate that is not waited at leaves it to the next one. */
	for (i = wait; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_FIRST &&
		    !ls_confirm_first(c, ctx, p->plan, LS_CONFIRM_SIDES) &&
		    ls_gate_wait(&c->meets[p->plan], p->side, &visit, ls_gate_clock()) != LS_GATE_NO_WAIT)
			break;
	}
	ls_gate_begin(&visit);
	/* Unloading waits for this, and then for tasks that were preempted in module code. */
	ls_fetch_add(&c->waiting, ~0u);
}

static void free_plan(struct ls_confirm *c)
{
	if (c) {
		ls_free(c->meets);
		ls_free(c->points);
	}
	ls_free(c);
}

/* No context finds @c any more: leave none at its gates. plan_mutex held. */
static void open_gates(struct ls_confirm *c)
{
	ls_store(&c->closing, 1u);
	/* Contexts look the plan up with preemption off, or are counted. */
	synchronize_rcu();
	while (ls_load(&c->waiting))
		usleep_range(500, 1000);
}

static struct ls_confirm *paused;

void ls_confirm_pause(void)
{
	mutex_lock(&plan_mutex);
	if (!ls_accesses_planned())
		return;
	paused = plan;
	WRITE_ONCE(plan, NULL);
	open_gates(paused);
}

void ls_confirm_resume(void)
{
	if (paused) {
		paused->closing = 0;
		/* A hook that finds the plan finds its gates usable. */
		smp_store_release(&plan, paused);
		paused = NULL;
	}
	mutex_unlock(&plan_mutex);
}

/* Looks, 0.5 to 1 ms each: tasks may be preempted while they are inside. */
#define LEAVE_LIMIT 2000

/*
 * @next, or NULL, is the plan from now on. Gates open at once, but contexts begin by the last plan
 * while a side is inside that the next one does not know: another one would begin meanwhile, into
 * the deadlock. Returns the last plan.
 */
static struct ls_confirm *replace_plan(struct ls_confirm *next)
{
	struct ls_confirm *last = plan;
	u32 turns = LEAVE_LIMIT;
	bool busy;

	if (last)
		ls_store(&last->closing, 1u);
	do {
		preempt_disable();
		busy = last && ls_plans_busy(last, next) && --turns;
		if (!busy)
			/* A hook that finds the plan finds it complete. */
			smp_store_release(&plan, next);
		preempt_enable();
		if (busy)
			usleep_range(500, 1000);
	} while (busy);
	if (last)
		open_gates(last);
	return last;
}

static void end_locked(void)
{
	if (!plan)
		return;
	free_plan(replace_plan(NULL));
	static_branch_disable(&ls_confirm_key);
	ls_confirm_switch(false);
	ls_accesses_plan(false);
	owner = NULL;
	ls_each_off();
}

int ls_confirm_set(const struct ls_confirm_plan *plans, u32 nr_plans,
		   const struct ls_confirm_point *points, u32 nr_points, const void *file)
{
	struct ls_confirm_point *own;
	struct ls_confirm *c, *last;
	struct ls_plan *meets;
	bool races = false;
	u32 i;

	if (!ls_confirm_valid(plans, nr_plans, points, nr_points))
		return -EINVAL;
	c = ls_zalloc(sizeof(*c));
	meets = ls_zalloc(array_size(nr_plans, sizeof(*meets)));
	own = ls_zalloc(array_size(nr_points, sizeof(*own)));
	if (!c || !meets || !own) {
		ls_free(meets);
		ls_free(own);
		ls_free(c);
		return -ENOMEM;
	}
	memcpy(own, points, nr_points * sizeof(*own));
	ls_confirm_init(c, meets, plans, nr_plans, own, nr_points, ls_gate_clock());
	mutex_lock(&plan_mutex);
	if (plan && owner != file) {
		mutex_unlock(&plan_mutex);
		free_plan(c);
		return -EBUSY;
	}
	for (i = 0; i < nr_plans; i++)
		races |= plans[i].flags[0] == LS_CONFIRM_ACCESS;
	if (!plan)
		ls_each_on();
	owner = file;
	last = replace_plan(c);
	ls_accesses_plan(races);
	if (!last) {
		ls_confirm_switch(true);
		static_branch_enable(&ls_confirm_key);
	}
	free_plan(last);
	mutex_unlock(&plan_mutex);
	return 0;
}

void ls_confirm_end(const void *file)
{
	mutex_lock(&plan_mutex);
	if (!file || owner == file)
		end_locked();
	mutex_unlock(&plan_mutex);
}

u32 ls_confirm_plans(void)
{
	u32 nr;

	mutex_lock(&plan_mutex);
	nr = plan ? plan->nr_meets : 0;
	mutex_unlock(&plan_mutex);
	return nr;
}

int ls_confirm_read(u32 nr, struct ls_confirm_state *to, const void *file)
{
	int rc = -ENOENT;

	mutex_lock(&plan_mutex);
	if (plan && owner == file && nr < plan->nr_meets) {
		*to = plan->meets[nr].state;
		rc = 0;
	}
	mutex_unlock(&plan_mutex);
	return rc;
}
