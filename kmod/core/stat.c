// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of every acquisition, for programs on the tracepoints acquired, released and
 * waited. Any context, like the hooks; only called while a program is attached.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>

#include "core/stat.h"
#include "core/trace.h"

DEFINE_STATIC_KEY_FALSE(ls_stat_key);
DEFINE_STATIC_KEY_FALSE(ls_each_key);
static u64 attached_at;		/* ns: for older entries no time is known */

/* The fast path has no branch for this: it leaves acquisitions that are counted. */
static void count_each(void *unused)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	pc->sample = pc->sample_weight = 1;
}

/* From now on no acquisition takes the fast path. Process context. */
void ls_each_on(void)
{
	int cpu;

	static_branch_inc(&ls_each_key);
	/* After that every CPU has seen the key, and none goes back to larger steps. */
	synchronize_rcu();
	/* CPUs that are offline start with that when they come up. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			per_cpu_ptr(&ls_cpus, cpu)->sample = per_cpu_ptr(&ls_cpus, cpu)->sample_weight = 1;
	on_each_cpu(count_each, NULL, 1);
	cpus_read_unlock();
}

void ls_each_off(void)
{
	static_branch_dec(&ls_each_key);
}

int ls_stat_on(void)
{
	if (!static_key_enabled(&ls_stat_key))
		WRITE_ONCE(attached_at, local_clock());
	static_branch_inc(&ls_stat_key);
	ls_each_on();
	return 0;
}

void ls_stat_off(void)
{
	static_branch_dec(&ls_stat_key);
	ls_each_off();
}

static u64 passed(u64 since)
{
	s64 ns = local_clock() - since;

	/* Clocks of two processors may differ by a little. */
	return ns > 0 ? ns : 0;
}

/*
 * Handlers run with interrupts off: a BPF program interrupted by itself would miss the event.
 * They may acquire locks, which are not checked.
 */
static bool begin(struct ls_ctx *ctx, unsigned long *flags)
{
	if (unlikely(!rcu_is_watching())) {
		ls_lose(LS_LOSS_RECURSION);
		return false;
	}
	raw_local_irq_save(*flags);
	ctx->busy = 1;
	barrier();
	return true;
}

static void end(struct ls_ctx *ctx, unsigned long flags)
{
	barrier();
	ctx->busy = 0;
	raw_local_irq_restore(flags);
}

static bool is_lock(u32 val)
{
	return LS_GUARDING_KINDS >> ls_kind_of(val) & 1;
}

/*
 * @val was acquired, or is about to be waited for. @held: it is on top of @ctx, which is not
 * busy.
 */
noinline void ls_stat_acquired(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, bool held)
{
	unsigned long flags;

	if (held) {
		ctx->since[ctx->depth - 1] = local_clock();
		ctx->timed = 1;
	}
	if (!is_lock(val) || !begin(ctx, &flags))
		return;
	trace_acquired(val & LS_VAL_CLASS_MASK, val, lock, ip);
	end(ctx, flags);
}

/* Entry @i of @ctx, which is not busy, is released. */
noinline void ls_stat_released(struct ls_ctx *ctx, u32 i)
{
	const struct ls_held *h = &ctx->held[i];
	unsigned long flags;

	if (!is_lock(h->val) || ctx->since[i] < attached_at || !begin(ctx, &flags))
		return;
	trace_released(h->val & LS_VAL_CLASS_MASK, h->val, h->lock, h->ip, passed(ctx->since[i]));
	end(ctx, flags);
}

/* Wait @w of @ctx, which is not busy, ended with @ret: 0, or the error. */
void ls_stat_waited(struct ls_ctx *ctx, const struct ls_wait *w, int ret)
{
	u64 ns = passed(w->since);
	unsigned long flags;
	u32 i;

	/* The hold time does not include the wait. A mutex says so with its own spinlock held. */
	for (i = ret ? 0 : ctx->depth; i > 0; i--)
		if (ctx->held[i - 1].lock == w->lock) {
			ctx->since[i - 1] = local_clock();
			break;
		}
	if (w->since >= attached_at && begin(ctx, &flags)) {
		trace_waited(w->val & LS_VAL_CLASS_MASK, w->val, w->lock, w->ip, ns, ret);
		end(ctx, flags);
	}
}
