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

static DEFINE_MUTEX(plan_mutex);
static struct ls_confirm *plan;		/* NULL: none. Under RCU, or while counted in ls_at_gates */
static const void *owner;		/* open file */
int ls_gates_closing;
atomic_t ls_at_gates;

struct ls_confirm *ls_plan_now(void)
{
	return READ_ONCE(ls_gates_closing) ? NULL : READ_ONCE(plan);
}

/* The lock that @ctx acquired first as side @side of plan @nr, 0: none. */
static u64 first_lock(const struct ls_confirm *c, const struct ls_ctx *ctx, u32 nr, u32 side)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;)
		if (ls_confirm_begins(c, nr, side, ctx->held[i].ip))
			return ctx->held[i].lock;
	return 0;
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
	first = first_lock(c, holder, p->plan, p->side);
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
	u64 lock = visit->at.addr, first = first_lock(c, ctx, p->plan, p->side);
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
	atomic_inc(&ls_at_gates);
	waited = ls_gate_wait(m, p->side, visit, ls_gate_clock()) != LS_GATE_NO_WAIT;
	atomic_dec(&ls_at_gates);
	return waited;
}

void ls_confirm_at(u64 lock, u64 ip)
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_confirm *c = ls_plan_now();
	struct ls_gate_visit visit = { .at.addr = lock, .ip = ip, .count = count };
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
		if (!wait && !ls_plan_deadly(&c->meets[p->plan]) && level == LS_TASK && !first_lock(c, ctx, p->plan, LS_CONFIRM_SIDES))
			wait = i;
	}
	if (!wait)
		return;
	/* The plan stays, although this may sleep. */
	atomic_inc(&ls_at_gates);
	/* Sides may begin at one site: a gate that is not waited at leaves it to the next one. */
	for (i = wait; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_FIRST &&
		    !first_lock(c, ctx, p->plan, LS_CONFIRM_SIDES) &&
		    ls_gate_wait(&c->meets[p->plan], p->side, &visit, ls_gate_clock()) != LS_GATE_NO_WAIT)
			break;
	}
	for (i = wait; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_FIRST && !(c->meets[p->plan].flags[p->side] & LS_CONFIRM_INTERRUPTED))
			ls_gate_begin_side(&c->meets[p->plan], p->side, lock, count);
	}
	/* Unloading waits for this, and then for tasks that were preempted in module code. */
	atomic_dec(&ls_at_gates);
}

static void free_plan(struct ls_confirm *c)
{
	if (c) {
		ls_free(c->meets);
		ls_free(c->points);
	}
	ls_free(c);
}

/* All gates open, until further notice. plan_mutex held. */
static void open_gates(void)
{
	WRITE_ONCE(ls_gates_closing, 1);
	/* Contexts look at the plan with preemption off, or are counted. */
	synchronize_rcu();
	while (atomic_read(&ls_at_gates))
		usleep_range(500, 1000);
}

void ls_confirm_pause(void)
{
	mutex_lock(&plan_mutex);
	if (ls_accesses_planned())
		open_gates();
}

void ls_confirm_resume(void)
{
	WRITE_ONCE(ls_gates_closing, 0);
	mutex_unlock(&plan_mutex);
}

/* Sides end before others begin that do not know of them; so many looks, 0.5 to 1 ms each. */
#define LEAVE_LIMIT 100

static void end_locked(void)
{
	struct ls_confirm *c = plan;
	u32 turns = LEAVE_LIMIT;

	if (!c)
		return;
	static_branch_disable(&ls_confirm_key);
	ls_accesses_plan(false);
	open_gates();
	while (ls_plans_busy(c) && --turns)
		usleep_range(500, 1000);
	WRITE_ONCE(plan, NULL);
	synchronize_rcu();
	WRITE_ONCE(ls_gates_closing, 0);
	owner = NULL;
	ls_each_off();
	free_plan(c);
}

int ls_confirm_set(const struct ls_confirm_plan *plans, u32 nr_plans,
		   const struct ls_confirm_point *points, u32 nr_points, const void *file)
{
	struct ls_confirm_point *own;
	struct ls_confirm *c;
	struct ls_plan *meets;
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
	ls_confirm_init(c, meets, plans, nr_plans, own, nr_points);
	mutex_lock(&plan_mutex);
	if (plan && owner != file) {
		mutex_unlock(&plan_mutex);
		free_plan(c);
		return -EBUSY;
	}
	end_locked();
	ls_each_on();
	owner = file;
	/* A hook that finds the plan finds it complete. */
	smp_store_release(&plan, c);
	for (i = 0; i < nr_plans; i++)
		if (plans[i].flags[0] == LS_CONFIRM_ACCESS)
			ls_accesses_plan(true);
	static_branch_enable(&ls_confirm_key);
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
