// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses of planned races. One side waits before its access; when the other one arrives for
 * the same bytes, both are about to access them at the same time. Runs only while there is a
 * plan with races.
 */
#include <linux/sched/clock.h>
#include <linux/uaccess.h>

#include "check/access/planned.h"
#include "check/gate_wait.h"
#include "core/context.h"

static bool apart(ls_u32 a, ls_u32 b)
{
	return ls_lockset_meet(&ls_acc->sets, a, b).apart;
}

/* Up to eight bytes at @n's address; 0 if they cannot be read. */
static u64 value(const struct ls_now *n)
{
	u64 word, granule = n->addr & ~7ul;
	u32 skip = n->addr & 7, size = min(n->size, 8 - skip);

	__get_kernel_nofault(&word, (u64 *)granule, u64, gone);
	word >>= 8 * skip;
	return size < 8 ? word & ((1ull << 8 * size) - 1) : word;
gone:
	return 0;
}

static noinline void record(struct ls_confirm_context *to, struct ls_now *n, bool waited)
{
	ls_confirm_fill(to, n->ctx, n->level, n->addr, value(n), n->ip, waited);
	if (!n->regs)
		return;
	n->ctx->busy = 1;
	barrier();
	to->nr_stack = ls_access_frames(to->stack, n);
	barrier();
	n->ctx->busy = 0;
}

/* Does another side wait at the same bytes? An interrupt is no task, whatever it interrupts. */
static bool meets(struct ls_plan *m, u32 side, const struct ls_gate_object *at, struct ls_now *n)
{
	ls_fetch_add(&m->state.sides[side].firsts, 1);
	ls_confirm_fill_arrival(ls_plan_arrival(m, side), n->ctx, n->addr, value(n));
	if (ls_gate_access(m, side, (u64)current + n->level, at, apart) == LS_GATE_NOTHING)
		return false;
	/* The only side of a plan meets itself. */
	if (ls_plan_records(m))
		record(&m->state.contexts[m->nr_sides > 1 ? side : 1], n, false);
	ls_gate_open(m, side, LS_GATE_MET, false);
	return true;
}

noinline void ls_access_planned(struct ls_now *n)
{
	struct ls_confirm *c = ls_plan_now();
	struct ls_gate_visit visit = {
		.plan = c, .at = { .addr = n->addr, .size = n->size, .op = n->op, .lockset = n->lockset },
		.ip = n->ip, .count = n->count, .spin = n->regs,
	};
	const struct ls_confirm_point *p;
	enum ls_gate_waited waited = LS_GATE_NO_WAIT;
	struct ls_plan *m;
	u32 i, first;
	bool met = false;

	first = c ? ls_confirm_find(c, n->ip) : 0;
	if (likely(!first))
		return;
	for (i = first; i; i = ls_confirm_next(c, i)) {
		p = &c->points[i - 1];
		m = &c->meets[p->plan];
		if (m->flags[p->side] == LS_CONFIRM_ACCESS)
			met |= meets(m, p->side, &visit.at, n);
	}
	if (met || n->level)
		return;
	/* The plan stays, although this may sleep. */
	ls_fetch_add(&c->waiting, 1);
	for (i = first; i && waited == LS_GATE_NO_WAIT; i = ls_confirm_next(c, i)) {
		p = &c->points[i - 1];
		m = &c->meets[p->plan];
		if (m->flags[p->side] != LS_CONFIRM_ACCESS)
			continue;
		waited = ls_gate_wait(m, p->side, &visit, ls_gate_clock());
		if (waited != LS_GATE_TOGETHER)
			continue;
		n->ctx = ls_context_of(this_cpu_ptr(&ls_cpus), n->count, &n->level);
		if (ls_plan_records(m))
			record(&m->state.contexts[p->side], n, true);
		ls_gate_prove(m, p->side);
	}
	ls_fetch_add(&c->waiting, ~0u);
}
