// SPDX-License-Identifier: GPL-2.0
/*
 * Waits at gates. What a context may do depends on where it is: a task that may sleep does so,
 * one that holds a lock gives up the CPU when others want it, all else spins for microseconds.
 * Interrupts and NMIs are never held.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/sched/clock.h>

#include "base/preempt.h"
#include "check/confirm.h"
#include "check/gate_wait.h"
#include "core/context.h"
#include "core/stacks.h"
#include "hash.h"

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
#define PASS_SLEEP (2 * NSEC_PER_SEC)
#define PASS_SPIN (2 * NSEC_PER_MSEC)
/* The same again, should the clock stand still. */
#define MAX_TURNS 200000
/*
 * CPUs of a guest stand still for longer than that, and tasks are preempted: the other context has
 * to have had the time for a step.
 */
#define MIN_TURNS 32
#define MIN_NAPS 1000
/* How long one waits that would run into the other side, which may be preempted while it is inside. */
#define BEGIN_SLEEP (1 * NSEC_PER_SEC)
#define BEGIN_YIELD (100 * NSEC_PER_MSEC)	/* the CPU is the other side's meanwhile */
#define BEGIN_SPIN (1 * NSEC_PER_MSEC)

/* Since ls_gate_clock() was @since. */
static u64 passed(u64 since)
{
	s64 ns = ls_gate_clock() - since;

	return ns > 0 ? ns : 0;
}

static bool sleeps(enum ls_gate_how how)
{
	return how == LS_GATE_SLEEP || how == LS_GATE_HOLD;
}

/* Does a wait for another context that is inside go on? @turn: steps made. */
static bool goes_on(enum ls_gate_how how, u64 start, u64 limit, u32 turn)
{
	u32 least = sleeps(how) ? MIN_NAPS : MIN_TURNS;

	return turn < least || (turn < MAX_TURNS && passed(start) < limit);
}

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

/* @count: preempt_count() of the hook. @holding: may it sleep with locks held? */
static enum ls_gate_how how_to_wait(const struct ls_ctx *ctx, bool interrupted, bool holding,
				    unsigned long count)
{
	bool atomic = !IS_ENABLED(CONFIG_PREEMPT_COUNT) || ls_is_atomic(count);

	if (atomic || is_idle_task(current))
		return LS_GATE_SPIN;
	/* The handler has to come to this CPU. */
	if (interrupted)
		return LS_GATE_STAY;
	/* A task about to sleep must keep its state, and one in an RCU reader may not sleep. */
	if ((ctx->depth && !holding) || READ_ONCE(current->__state) != TASK_RUNNING ||
	    current->flags & PF_EXITING || ls_rcu_depth())
		return LS_GATE_YIELD;
	return ctx->depth ? LS_GATE_HOLD : LS_GATE_SLEEP;
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
	case LS_GATE_HOLD:
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
 * The other context goes on first, also when the plan ends meanwhile: acquiring now what it is
 * about to acquire could be the deadlock itself. It was switched out between two looks if it
 * seems to hold nothing once.
 */
static void let_pass(const struct ls_gate *g, enum ls_gate_how how)
{
	u64 start = ls_gate_clock(), limit = sleeps(how) ? PASS_SLEEP : PASS_SPIN;
	u32 gone = 0, turn = 0;

	if (!g->holds)
		return;
	while (gone < 2 && goes_on(how, start, limit, turn++)) {
		bool holds;

		preempt_disable_notrace();
		holds = ls_context_holds((struct task_struct *)g->other, g->holds);
		ls_leave();
		gone = holds ? 0 : gone + 1;
		pause_for(how);
	}
}

void ls_confirm_fill_arrival(struct ls_confirm_arrival *to, const struct ls_ctx *ctx, u64 first, u64 last)
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

noinline void ls_confirm_fill(struct ls_confirm_context *to, struct ls_ctx *ctx, u32 level,
				  u64 first, u64 last, u64 ip, bool waited)
{
	ls_confirm_fill_arrival(&to->at, ctx, first, last);
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

/*
 * Acquire site at which the CPU's task begins a side, until the lock is on its held-lock stack.
 * Preemption is off meanwhile. One context at a time decides whether it may begin.
 */
static DEFINE_PER_CPU(u64, beginning);
static u32 deciding;

/*
 * What is looked for: contexts that bar @own from acquiring at @ip; without @own, those inside a
 * side that @next does not know.
 */
struct look {
	const struct ls_confirm *plan;
	const struct ls_ctx *own;
	u64 ip;
	const struct ls_confirm *next;
};

static bool found_at(const struct look *l, u64 ip)
{
	if (l->own)
		return ls_confirm_bars(l->plan, l->own, l->ip, ip);
	return ls_confirm_inside(l->plan, ip) && !(l->next && ls_confirm_inside(l->next, ip));
}

static bool found_in(const struct look *l, const struct ls_ctx *ctx)
{
	u64 begins = ls_load(&ctx->begins);
	u32 i;

	if (ctx != l->own && begins && found_at(l, begins))
		return true;
	for (i = 0; ctx != l->own && i < LS_MAX_DEPTH && i < ls_load(&ctx->depth); i++)
		if (found_at(l, ls_load(&ctx->held[i].ip)))
			return true;
	return false;
}

/* All contexts: those of interrupts, and of tasks, on a CPU or not. */
static bool found(const struct look *l)
{
	int cpu;
	u32 i;

	for_each_online_cpu(cpu) {
		const struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);
		/* What began before that is held by now, or was released. */
		u64 at = smp_load_acquire(per_cpu_ptr(&beginning, cpu));

		if (at && found_at(l, at))
			return true;
		for (i = 0; i < LS_NR_LEVELS - 1; i++)
			if (found_in(l, &pc->level[i]))
				return true;
	}
	for (i = ls_context_next(0); i < ls_context_count(); i = ls_context_next(i + 1))
		if (found_in(l, &ls_contexts[i]))
			return true;
	return false;
}

bool ls_plans_busy(const struct ls_confirm *c, const struct ls_confirm *next)
{
	return found(&(struct look){ .plan = c, .next = next });
}

/* Preemption off, no interrupt calls this. */
static bool may_begin(const struct ls_confirm *c, const struct ls_ctx *own, u64 ip)
{
	u32 free = 0;
	bool may;

	while (!ls_cmpxchg(&deciding, &free, 1u)) {
		free = 0;
		cpu_relax();
	}
	may = !found(&(struct look){ .plan = c, .own = own, .ip = ip });
	if (may)
		this_cpu_write(beginning, ip);
	ls_store_release(&deciding, 0u);
	return may;
}

noinline void ls_gate_begin(const struct ls_gate_visit *v)
{
	u64 start = ls_gate_clock(), limit;
	u32 level, turn = 0;
	struct ls_ctx *ctx = ls_context_of(this_cpu_ptr(&ls_cpus), v->count, &level);
	/* With locks held, too: what is inside may be preempted for long, and the deadlock is worse. */
	enum ls_gate_how how = how_to_wait(ctx, false, true, v->count);
	bool on = sleeps(how) || how == LS_GATE_YIELD;

	if (may_begin(v->plan, ctx, v->ip))
		return;
	if (on)
		limit = sleeps(how) ? BEGIN_SLEEP : BEGIN_YIELD;
	else
		limit = may_spin(start) ? BEGIN_SPIN : 0;
	ignore(true);
	do {
		if (on)
			ls_leave();
		pause_for(how);
		if (on)
			preempt_disable_notrace();
		ctx = ls_context_of(this_cpu_ptr(&ls_cpus), v->count, &level);
	} while (!may_begin(v->plan, ctx, v->ip) && goes_on(how, start, limit, turn++));
	ignore(false);
	if (!on)
		this_cpu_ptr(&spent)->ns += passed(start);
}

void ls_confirm_done(void)
{
	/* An interrupt leaves alone what the task below it begins. */
	if (!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		/* Pairs with found(): the lock is on its held-lock stack. */
		smp_store_release(this_cpu_ptr(&beginning), 0);
}

void ls_confirm_trying(void)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(this_cpu_ptr(&ls_cpus), &level);

	if (level == LS_TASK)
		ls_store(&ctx->begins, this_cpu_read(beginning));
	ls_confirm_done();
}

/* Two sides may have begun to wait at the same time, and each found none. */
static bool ring_closes(struct ls_plan *m, u32 side, const struct ls_gate_visit *v)
{
	if (ls_gate_ring(m, side, (u64)current, v->at.held, v->at.addr) != LS_GATE_MET)
		return false;
	ls_gate_open(m, side, LS_GATE_MET, false);
	return true;
}

/* After a wait the caller's context may be another one, of another CPU. */
noinline enum ls_gate_waited ls_gate_wait(struct ls_plan *m, u32 side, const struct ls_gate_visit *v, u64 now)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_gate *g = &m->gates[side];
	u32 level;
	struct ls_ctx *ctx = ls_context_of(pc, v->count, &level);
	bool interrupted = m->flags[side] == LS_CONFIRM_INTERRUPTED, deadly = ls_plan_deadly(m), met;
	bool holding = deadly || (ctx->depth && ls_gate_spares(m, side, ctx));
	enum ls_gate_how how =
		v->spin ? LS_GATE_SPIN : how_to_wait(ctx, interrupted, holding, v->count);
	bool on = sleeps(how) || how == LS_GATE_YIELD;
	u32 turns = MAX_TURNS;
	u64 limit = ls_gate_patience(m, side, how, now);

	/* Nothing spares a task that is to end: it may wait as the one side, and then as the other. */
	if (!limit || (!deadly && now < READ_ONCE(*task_pause())) || (!sleeps(how) && !may_spin(now)))
		return LS_GATE_NO_WAIT;
	if (!ls_gate_enter(m, side, (u64)current, raw_smp_processor_id(), &v->at, now))
		return LS_GATE_NO_WAIT;
	/* Others are recorded at their last acquisition. */
	if (interrupted && ls_plan_records(m))
		ls_confirm_fill(&m->state.contexts[side], ctx, level, v->at.addr, 0, v->ip, true);
	if (deadly && ls_plan_records(m))
		ls_confirm_fill(&m->state.contexts[side], ctx, level, v->at.held, v->at.addr, v->ip,
				true);
	ignore(true);
	if (on)
		ls_leave();
	while (!ls_gate_opened(m, side) && passed(now) < limit && !ls_load(&v->plan->closing) && --turns) {
		if (deadly && ring_closes(m, side, v))
			break;
		pause_for(how);
	}
	met = ls_gate_leave(m, side, how, now + passed(now));
	if (met)
		let_pass(g, how);
	if (on)
		preempt_disable_notrace();
	ignore(false);
	limit = passed(now);
	if (!sleeps(how))
		this_cpu_ptr(&spent)->ns += limit;
	WRITE_ONCE(*task_pause(), now + 2 * limit);
	return met ? LS_GATE_TOGETHER : LS_GATE_ALONE;
}
