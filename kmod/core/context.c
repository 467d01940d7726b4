// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of tasks. A task needs a context of its own only while it is switched out with
 * locks held; all others share the CPU's home context, one after the other. So the pool is
 * small for any number of tasks, and the exit of a task needs no hook.
 */
#include <linux/hardirq.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "core/context.h"
#include "hash.h"

struct ls_ctx *ls_contexts;
static u32 pool_size;
static u32 task_map_bits;
static ls_u64 *times;			/* ls_ctx.since of all contexts */
static struct ls_ctx *levels;		/* ls_cpu.level of all CPUs */
static unsigned long *pool_used;	/* bit per context */

/* The scheduler; size 0 where it is not found. */
static unsigned long schedule_start, schedule_size;

u32 ls_context_count(void)
{
	return pool_size;
}

/* Allocate one for a task that sleeps with locks held. Any context. NULL when all are in use. */
struct ls_ctx *ls_context_get(void)
{
	u32 word, words = BITS_TO_LONGS(pool_size);

	for (word = 0; word < words; word++) {
		unsigned long used = READ_ONCE(pool_used[word]);

		while (~used) {
			u32 bit = __ffs(~used);
			struct ls_ctx *ctx;

			if (word * BITS_PER_LONG + bit >= pool_size)
				return NULL;
			if (!ls_cmpxchg(&pool_used[word], &used, used | BIT(bit)))
				continue;
			ctx = &ls_contexts[word * BITS_PER_LONG + bit];
			ls_held_clear(ctx);
			return ctx;
		}
	}
	return NULL;
}

void ls_context_put(struct ls_ctx *ctx)
{
	u32 i = ctx->id;

	ls_store(&ctx->owner, NULL);
	ls_fetch_and(&pool_used[i / BITS_PER_LONG], ~BIT(i % BITS_PER_LONG));
}

/* The CPU's notion of the current task is stale: find the context of @current. Preemption off. */
struct ls_ctx *ls_ctx_fix(struct ls_cpu *pc)
{
	struct ls_ctx *ctx = ls_context_registered(current);

	if (!ls_has_tail(pc))
		pc->cur = current;
	pc->task = ctx ? ctx : pc->home;
	return pc->task;
}

/* Context of the hooked code. Preemption off. */
struct ls_ctx *ls_context(struct ls_cpu *pc, u32 *level)
{
	return ls_context_in(pc, preempt_count(), level);
}

/* The same for code that had preempt_count() @count. */
struct ls_ctx *ls_context_of(struct ls_cpu *pc, unsigned long count, u32 *level)
{
	return ls_context_in(pc, count, level);
}

/* LS_VAL_* bits of the current context. Preemption off. */
u32 ls_where(u32 level)
{
	return ls_how(0, ls_count_mend(preempt_count())) | level << LS_VAL_LEVEL_SHIFT;
}

/* Identifies the current task's entry into the kernel by its user registers; 0 for interrupts. */
u32 ls_entry(u32 level)
{
	const u64 *word = (const u64 *)task_pt_regs(current);
	u64 hash = 0;
	u32 i;

	if (level != LS_TASK || current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return 0;
	for (i = 0; i < sizeof(struct pt_regs) / sizeof(u64); i++)
		hash = (hash ^ word[i]) * LS_GOLDEN;
	return ls_mix(hash);
}

/* Is @ip in the scheduler itself? */
bool ls_in_schedule(u64 ip)
{
	return ip - schedule_start < schedule_size;
}

/* Clear all contexts. Only while no hook can run. */
void ls_context_clear(void)
{
	u32 i, cpu;

	for (i = 0; i < pool_size; i++) {
		ls_held_clear(&ls_contexts[i]);
		ls_contexts[i].owner = NULL;
	}
	memset(ls.tasks.slots, 0, ls_addrmap_bytes(task_map_bits));
	memset(pool_used, 0, BITS_TO_LONGS(pool_size) * sizeof(long));
	ls_repaired_clear();
	for_each_possible_cpu(cpu) {
		struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		pc->home = ls_context_get();
		pc->cur = NULL;
		pc->task = pc->home;
		for (i = 0; i < LS_NR_LEVELS - 1; i++)
			ls_held_clear(&pc->level[i]);
		pc->tail = 0;
	}
}

/* Number of the first context in use from @i on, or the size of ls_contexts. */
u32 ls_context_next(u32 i)
{
	return find_next_bit(pool_used, pool_size, i);
}

/*
 * Context number @i and its task, NULL when it is not in use. Under RCU, which keeps the task.
 * The task may wake up at any time: what is read is a guess.
 */
const struct ls_ctx *ls_context_sleeping(u32 i, struct task_struct **task)
{
	*task = ls_load(&ls_contexts[i].owner);
	return &ls_contexts[i];
}

/* Entry of @lock in the context of @task. Under RCU. */
bool ls_context_entry(struct task_struct *task, u64 lock, struct ls_held *out)
{
	u32 i, k;

	for (i = 0; i < pool_size; i++) {
		if (ls_load(&ls_contexts[i].owner) != task)
			continue;
		for (k = 0; k < ls_load(&ls_contexts[i].depth) && k < LS_MAX_DEPTH; k++) {
			*out = ls_contexts[i].held[k];
			if (out->lock == lock)
				return true;
		}
	}
	return false;
}

/*
 * Does @task hold @lock? Preemption off. While the task is being switched, it may seem to hold
 * nothing: two looks in a row do not both fall into that.
 */
bool ls_context_holds(struct task_struct *task, u64 lock)
{
	const struct ls_ctx *ctx = ls_context_registered(task);
	u32 i;
	int cpu;

	for_each_online_cpu(cpu) {
		const struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		if (READ_ONCE(pc->cur) == task)
			ctx = READ_ONCE(pc->task);
	}
	for (i = 0; ctx && i < LS_MAX_DEPTH && i < ls_load(&ctx->depth); i++)
		if (ls_load(&ctx->held[i].lock) == lock)
			return true;
	return false;
}

/*
 * Class of the wait queue that @task sleeps on with locks held, 0 when it sleeps on
 * none; @queue: which. A guess unless the task cannot wake up. Any context.
 */
u32 ls_context_waits_on(struct task_struct *task, u64 *queue)
{
	const struct ls_ctx *ctx = ls_context_registered(task);

	if (!ctx || ls_load(&ctx->owner) != task)
		return 0;
	*queue = READ_ONCE(ctx->queued.queue);
	return READ_ONCE(ctx->queued.id);
}

/* Where the contexts are. */
void ls_context_anchor(struct ls_anchor *a)
{
	a->contexts = (struct ls_anchor_array){ (u64)ls_contexts, sizeof(*ls_contexts), pool_size };
	a->contexts_used = (u64)pool_used;
}

/* @nr: tasks that may sleep with locks held at one time; the CPUs' own contexts are added. */
int ls_context_init(u32 nr)
{
	void *map;
	u32 i, k;
	int cpu;

	pool_size = nr + num_possible_cpus();
	/* A quarter full at most: a bucket of eight hardly ever overflows then. */
	task_map_bits = order_base_2(pool_size) + 2;
	ls_find_function("__schedule", &schedule_start, &schedule_size);
	ls_contexts = ls_zalloc(array_size(pool_size, sizeof(*ls_contexts)));
	pool_used = ls_zalloc(BITS_TO_LONGS(pool_size) * sizeof(long));
	map = ls_zalloc(ls_addrmap_bytes(task_map_bits));
	if (!ls_contexts || !pool_used || !map) {
		ls_free(map);
		return -ENOMEM;
	}
	ls_addrmap_init(&ls.tasks, map, task_map_bits);
	times = ls_zalloc(array3_size(pool_size + num_possible_cpus() * (LS_NR_LEVELS - 1),
				      LS_MAX_DEPTH, sizeof(*times)));
	levels = ls_zalloc(array3_size(num_possible_cpus(), LS_NR_LEVELS - 1, sizeof(*levels)));
	if (!times || !levels)
		return -ENOMEM;
	for (i = 0; i < pool_size; i++) {
		ls_contexts[i].id = i;
		ls_contexts[i].since = times + (size_t)i * LS_MAX_DEPTH;
	}
	for_each_possible_cpu(cpu) {
		struct ls_ctx *level = levels + (i - pool_size);

		per_cpu_ptr(&ls_cpus, cpu)->level = level;
		for (k = 0; k < LS_NR_LEVELS - 1; k++)
			level[k].since = times + (size_t)i++ * LS_MAX_DEPTH;
	}
	ls_context_clear();
	return 0;
}

void ls_context_exit(void)
{
	ls_free(levels);
	ls_free(times);
	ls_free(ls.tasks.slots);
	ls_free(pool_used);
	ls_free(ls_contexts);
}
