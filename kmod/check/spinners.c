// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that spin for each other (lockclass/spinring.h), found by the last one of them when it begins
 * to wait: with interrupts off on all of them nothing else will run. Any context, preemption off.
 * Only in the slow paths of spinning locks, under another one.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "check/check.h"
#include "check/events.h"
#include "check/hang.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stacks.h"
#include "event.h"
#include "identity/alloc.h"

/*
 * A ring is read in pieces, from stacks that change: it stays as it is for so long, in ns, and
 * for so many looks.
 */
#define STANDS (10 * NSEC_PER_MSEC)
#define STANDS_LOOKS 1000
#define MOST_LOOKS 200000	/* where the clock stands still */

static const struct ls_ctx *stack_of(u32 cpu, u32 level)
{
	const struct ls_cpu *pc;

	if (!cpu_online(cpu))
		return NULL;
	pc = per_cpu_ptr(&ls_cpus, cpu);
	return level ? &pc->level[level - 1] : READ_ONCE(pc->task);
}

static ls_u64 noted_of(u32 cpu, u32 level)
{
	return READ_ONCE(per_cpu_ptr(&ls_cpus, cpu)->spins[level]);
}

static bool is_spinning(u32 val)
{
	return LS_SPINNING_KINDS >> ls_kind_of(val) & 1;
}

static struct ls_spin_view view = { .stack = stack_of, .noted = noted_of, .spins = is_spinning };

void ls_spinners_init(void)
{
	view.nr_cpus = nr_cpu_ids;
}

/* Does another CPU spin for the lock @lock? */
static bool awaited(u64 lock)
{
	int cpu;
	u32 i;

	for_each_online_cpu(cpu) {
		const struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		for (i = 0; i < LS_NR_LEVELS; i++)
			if (READ_ONCE(pc->spins[i]) == lock && cpu != raw_smp_processor_id())
				return true;
	}
	return false;
}

/*
 * Is a spinning lock held by this CPU, below the one on top of @ctx? @asked: one that another CPU
 * spins for.
 */
static bool holds_spinning(const struct ls_cpu *pc, const struct ls_ctx *ctx, u32 level, bool asked)
{
	u32 l, i;

	for (l = 0; l <= level; l++) {
		const struct ls_ctx *at = l ? &pc->level[l - 1] : pc->task;

		for (i = 0; i + (at == ctx) < at->depth; i++)
			if (is_spinning(at->held[i].val) && (!asked || awaited(at->held[i].lock)))
				return true;
	}
	return false;
}

/* Does each lock of the ring look held? */
static bool held(const struct ls_spinner *ring, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct ls_held *h = &ring[i].holds;

		if (ls_lock_word(h->lock, ls_kind_of(h->val), h->val & LS_VAL_READ_MASK) != LS_WORD_HELD)
			return false;
	}
	return true;
}

static bool stands(const struct ls_spinner *ring, u32 nr)
{
	u64 start = local_clock();
	u32 looks;

	for (looks = 0; looks < MOST_LOOKS; looks++) {
		if (!held(ring, nr) || !ls_spin_ring_stands(&view, ring, nr))
			return false;
		if (looks >= STANDS_LOOKS && local_clock() - start >= STANDS)
			break;
		cpu_relax();
	}
	return true;
}

/* Of the CPUs of a ring several may have found it: one reports it, once for its classes. */
static bool first_report(const struct ls_spinner *ring, u32 nr)
{
	const struct ls_held *lead = &ring[0].waits;
	u32 i;

	for (i = 1; i < nr; i++)
		if (ring[i].waits.lock < lead->lock)
			lead = &ring[i].waits;
	return !(ls_fetch_or(&ls.classes.table[lead->val & LS_VAL_CLASS_MASK].marks, LS_CLASS_SPUN) &
		 LS_CLASS_SPUN);
}

/*
 * An observation of each CPU, as of a task of a deadlock (waits.c): the lock is what it waits for,
 * the marked entry what the one before it waits for. Of other CPUs the stack is not known.
 */
static void note_ring(struct ls_cpu *pc, const struct ls_spinner *ring, u32 nr)
{
	u64 number = local_clock();
	u32 i;

	for (i = 0; i < nr; i++)
		ls_event_spinner(pc, &view, &ring[i], number, i + 1 == nr);
	ls_wake_worker();
}

/* @ctx is the current one. Interrupts may be on. */
static noinline void look(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level)
{
	struct ls_spinner ring[LS_SPIN_CPUS];
	u32 nr = ls_spin_ring(&view, raw_smp_processor_id(), level, ring);

	if (!nr || !stands(ring, nr) || !first_report(ring, nr))
		return;
	ctx->busy = 1;
	barrier();
	note_ring(pc, ring, nr);
	ls_hang_say_ring(ctx, &view, ring, nr);
	barrier();
	ctx->busy = 0;
}

/* The current context has to spin for @lock. */
void ls_spins(u64 lock)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *ctx;
	u32 level;

	if (!READ_ONCE(ls_hang_report))
		return;
	ctx = ls_context(pc, &level);
	/* Locks that are not followed, such as that within an rwlock, are not on top. */
	if (ctx->busy || ctx->ignoring || !ls_held_is_top(ctx, lock) || !holds_spinning(pc, ctx, level, false))
		return;
	WRITE_ONCE(pc->spins[level], lock);
	/* Of two CPUs that get here at the same time one sees the other's note. */
	smp_mb();
	if (holds_spinning(pc, ctx, level, true) && !ls_held_distrusted(ctx))
		look(pc, ctx, level);
}
