// SPDX-License-Identifier: GPL-2.0
/*
 * Gates of a plan in acquisitions. What a context may do depends on where it is: a task that
 * may sleep does so, one that holds a lock gives up the CPU when others want it, all else spins
 * for microseconds. Interrupts and NMIs are never held. While there is no plan, nothing here
 * runs.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>

#include "base/memory.h"
#include "base/preempt.h"
#include "check/confirm.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "hash.h"
#include "identity/identity.h"
#include "plan.h"

DEFINE_STATIC_KEY_FALSE(ls_confirm_key);

static DEFINE_MUTEX(plan_mutex);
static struct ls_confirm *plan;		/* NULL: none. Under RCU, or while counted in at_gates */
static const void *owner;		/* open file */
static int closing;			/* all gates open */
static atomic_t at_gates;		/* contexts that wait */

/*
 * Time that a CPU may spend at gates without doing anything else, in ns a second; and when a
 * task may wait again, by hash: it is delayed for half of its time at most.
 */
#define SPIN_BUDGET (100 * NSEC_PER_MSEC)
struct spent {
	u64 since;
	u64 ns;
};
static DEFINE_PER_CPU(struct spent, spent);
#define PATIENT_TASKS 256
static u64 not_before[PATIENT_TASKS];

/* How long a context that met waits for the other one to go on. */
#define PASS_SLEEP (200 * NSEC_PER_MSEC)
#define PASS_SPIN (2 * NSEC_PER_MSEC)
/* How long one waits that would run into the other side. */
#define BEGIN_SLEEP (20 * NSEC_PER_MSEC)
#define BEGIN_SPIN (1 * NSEC_PER_MSEC)

static u64 *task_pause(void)
{
	return &not_before[ls_mix((u64)current) >> 32 & (PATIENT_TASKS - 1)];
}

static bool may_spin(u64 now)
{
	struct spent *s = this_cpu_ptr(&spent);

	if (now - s->since > NSEC_PER_SEC) {
		s->since = now;
		s->ns = 0;
	}
	return s->ns < SPIN_BUDGET;
}

/* @count: preempt_count() of the hook. */
static enum ls_gate_how how_to_wait(const struct ls_ctx *ctx, bool interrupted, unsigned long count)
{
	bool atomic = !IS_ENABLED(CONFIG_PREEMPT_COUNT) || ls_is_atomic(count);

	if (atomic || is_idle_task(current))
		return LS_GATE_SPIN;
	/* The handler has to come to this CPU. */
	if (interrupted)
		return LS_GATE_STAY;
	/* A task about to sleep must keep its state: it may only be preempted. */
	if (ctx->depth || READ_ONCE(current->__state) != TASK_RUNNING || current->flags & PF_EXITING)
		return LS_GATE_YIELD;
	return LS_GATE_SLEEP;
}

/* Acquisitions of the scheduler and of timers are not those of the waiting code. */
static void ignore(bool begin)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (begin) {
		ctx->ignoring++;
		ctx->busy = 1;
	} else if (ctx->ignoring && !--ctx->ignoring) {
		ctx->busy = 0;
	}
}

/* One step of a wait. Preemption is on with SLEEP and YIELD. */
static void pause_for(enum ls_gate_how how)
{
	switch (how) {
	case LS_GATE_SLEEP:
		/* Without slack: the other side may wake up by a timer, and would do so at once. */
		usleep_range(200, 200);
		break;
	case LS_GATE_YIELD:
		cond_resched();
		cpu_relax();
		break;
	case LS_GATE_SPIN:
	case LS_GATE_STAY:
		cpu_relax();
		break;
	}
}

/*
 * The other context goes on first: acquiring now what it is about to acquire could be the
 * deadlock itself. It was switched out between two looks if it seems to hold nothing once.
 */
static void let_pass(const struct ls_gate *g, enum ls_gate_how how)
{
	u64 start = local_clock(), limit = how == LS_GATE_SLEEP ? PASS_SLEEP : PASS_SPIN;
	u32 gone = 0;

	if (!g->holds)
		return;
	while (gone < 2 && local_clock() - start < limit && !READ_ONCE(closing)) {
		bool holds;

		preempt_disable_notrace();
		holds = ls_context_holds((struct task_struct *)g->other, g->holds);
		ls_leave();
		gone = holds ? 0 : gone + 1;
		pause_for(how);
	}
}

static void fill_arrival(struct ls_confirm_arrival *to, const struct ls_ctx *ctx, u64 first, u64 last)
{
	u32 i;

	to->time_ns = local_clock();
	to->first = first;
	to->last = last;
	to->pid = current->pid;
	to->nr_held = ctx->depth;
	for (i = 0; i < ctx->depth && i < LS_CONFIRM_HELD; i++)
		to->held[i] = (struct ls_held_rec){
			.val = ctx->held[i].val, .ip = ctx->held[i].ip, .lock = ctx->held[i].lock,
		};
}

static noinline void fill_context(struct ls_confirm_context *to, struct ls_ctx *ctx, u32 level,
				  u64 first, u64 last, u64 ip, bool waited)
{
	fill_arrival(&to->at, ctx, first, last);
	to->tgid = current->tgid;
	to->task_flags = ls_task_flags();
	to->cpu = raw_smp_processor_id();
	to->level = level;
	to->waited = waited;
	memcpy(to->comm, current->comm, LS_COMM_LEN);
	ctx->busy = 1;
	barrier();
	to->nr_stack = ls_stack_from(to->stack, ip);
	barrier();
	ctx->busy = 0;
}

static bool holds(ls_u64 task, ls_u64 lock)
{
	return ls_context_holds((struct task_struct *)task, lock);
}

/* Wait, for a short time, until no other side is inside. */
static noinline void begin_side(struct ls_plan *m, u32 side, u64 lock, unsigned long count)
{
	u64 start = local_clock(), now = start, limit;
	u32 level;
	struct ls_ctx *ctx = ls_context_of(this_cpu_ptr(&ls_cpus), count, &level);
	enum ls_gate_how how = how_to_wait(ctx, false, count);
	bool on = how == LS_GATE_SLEEP || how == LS_GATE_YIELD;

	if (ls_plan_begin(m, side, (u64)current, lock, now, holds))
		return;
	limit = how == LS_GATE_SLEEP ? BEGIN_SLEEP : may_spin(now) ? BEGIN_SPIN : 0;
	atomic_inc(&at_gates);
	ignore(true);
	do {
		if (on)
			ls_leave();
		pause_for(how);
		if (on)
			preempt_disable_notrace();
		now = local_clock();
	} while (!ls_plan_begin(m, side, (u64)current, lock, now, holds) && now - start < limit);
	ignore(false);
	if (how != LS_GATE_SLEEP)
		this_cpu_ptr(&spent)->ns += now - start;
	atomic_dec(&at_gates);
}

/* False: no wait. @ctx of the caller may have changed otherwise. */
static noinline bool wait_at(struct ls_plan *m, u32 side, u64 lock, u64 ip, unsigned long count, u64 now)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_gate *g = &m->gates[side];
	u32 level;
	struct ls_ctx *ctx = ls_context_of(pc, count, &level);
	enum ls_gate_how how = how_to_wait(ctx, m->flags[side] & LS_CONFIRM_INTERRUPTED, count);
	bool on = how == LS_GATE_SLEEP || how == LS_GATE_YIELD;
	u64 limit = ls_gate_patience(m, side, how, now);

	if (!limit || now < READ_ONCE(*task_pause()) || (how != LS_GATE_SLEEP && !may_spin(now)))
		return false;
	if (!ls_gate_enter(m, side, (u64)current, raw_smp_processor_id(), lock, now))
		return false;
	atomic_inc(&at_gates);
	/* Others are recorded at their last acquisition. */
	if (m->flags[side] & LS_CONFIRM_INTERRUPTED && ls_plan_records(m))
		fill_context(&m->state.contexts[side], ctx, level, lock, 0, ip, true);
	ignore(true);
	if (on)
		ls_leave();
	while (!ls_gate_opened(m, side) && local_clock() - now < limit && !READ_ONCE(closing))
		pause_for(how);
	if (ls_gate_leave(m, side, how, local_clock()))
		let_pass(g, how);
	if (on)
		preempt_disable_notrace();
	ignore(false);
	limit = local_clock() - now;
	if (how != LS_GATE_SLEEP)
		this_cpu_ptr(&spent)->ns += limit;
	WRITE_ONCE(*task_pause(), now + 2 * limit);
	/* Unloading waits for this, and then for tasks that were preempted in module code. */
	atomic_dec(&at_gates);
	return true;
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
				fill_context(&m->state.interrupt, ctx, level, 0, lock, ip, false);
			ls_gate_open(m, p->side, met, true);
		}
	}
	first = first_lock(c, holder, p->plan, p->side);
	if (!first) {
		/* The interrupt's own part, for the record of what it holds. */
		if (by_interrupt)
			fill_arrival(ls_plan_arrival(m, p->side), ctx, 0, lock);
		return;
	}
	fill_arrival(ls_plan_arrival(m, p->side), holder, first, lock);
	switch (ls_gate_watch(m, p->side, (u64)current, first, lock)) {
	case LS_GATE_PROVEN:
		if (ls_plan_records(m))
			fill_context(shown, ctx, level, first, lock, ip, true);
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
		fill_context(m->nr_sides > 1 ? shown : &m->state.contexts[1], ctx, level, first, lock, ip,
			     false);
	ls_gate_open(m, p->side, met, false);
}

void ls_confirm_at(u64 lock, u64 ip)
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_confirm *c = READ_ONCE(plan);
	struct ls_ctx *ctx;
	u32 level, i, wait = 0;

	if (unlikely(!c) || READ_ONCE(closing))
		return;
	i = ls_confirm_find(c, ip);
	if (likely(!i))
		return;
	ctx = ls_context_of(pc, count, &level);
	if (ctx->busy || level == LS_NMI)
		return;
	for (; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_LAST) {
			arrive(c, p, pc, ctx, level, lock, ip);
			continue;
		}
		ls_fetch_add(&c->meets[p->plan].state.sides[p->side].firsts, 1);
		if (!wait && level == LS_TASK && !first_lock(c, ctx, p->plan, LS_CONFIRM_SIDES))
			wait = i;
	}
	/* Sides may begin at one site: a gate that is not waited at leaves it to the next one. */
	for (i = wait; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_FIRST &&
		    !first_lock(c, ctx, p->plan, LS_CONFIRM_SIDES) &&
		    wait_at(&c->meets[p->plan], p->side, lock, ip, count, local_clock()))
			break;
	}
	for (i = wait; i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->role == LS_CONFIRM_FIRST && !(c->meets[p->plan].flags[p->side] & LS_CONFIRM_INTERRUPTED))
			begin_side(&c->meets[p->plan], p->side, lock, count);
	}
}

static void free_plan(struct ls_confirm *c)
{
	if (c) {
		ls_free(c->meets);
		ls_free(c->points);
	}
	ls_free(c);
}

static void end_locked(void)
{
	struct ls_confirm *c = plan;

	if (!c)
		return;
	static_branch_disable(&ls_confirm_key);
	WRITE_ONCE(closing, 1);
	/* Contexts look at the plan with preemption off, or are counted. */
	synchronize_rcu();
	while (atomic_read(&at_gates))
		usleep_range(500, 1000);
	WRITE_ONCE(plan, NULL);
	synchronize_rcu();
	WRITE_ONCE(closing, 0);
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
	smp_store_release(&plan, c);
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
