// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of tasks. Only a task that is switched out while it holds something
 * needs a context of its own; all others share the CPU's home context, one
 * after the other. So the pool is small however many tasks there are, and a
 * task's end needs no hook.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "access.h"
#include "control.h"
#include "lockscope.h"
#include "base/wrapper/tracepoint.h"

static struct ls_ctx *pool;
static u32 pool_size;
static u32 task_map_bits;
static ls_u64 *times;			/* ls_ctx.since of all contexts */
static struct ls_ctx *levels;		/* ls_cpu.level of all CPUs */
static unsigned long *pool_used;	/* bit per context */

/* Any context. NULL when all are in use. */
static struct ls_ctx *pool_get(void)
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
			ctx = &pool[word * BITS_PER_LONG + bit];
			ls_held_clear(ctx);
			return ctx;
		}
	}
	return NULL;
}

static void pool_put(struct ls_ctx *ctx)
{
	u32 i = ctx->id;

	ls_store(&ctx->owner, NULL);
	ls_fetch_and(&pool_used[i / BITS_PER_LONG], ~BIT(i % BITS_PER_LONG));
}

static struct ls_ctx *registered(struct task_struct *task)
{
	u32 id = ls_addrmap_find(&ls.tasks, (u64)task);

	return id ? &pool[id - 1] : NULL;
}

/* The CPU's idea of the current task is old: find what @current holds. Preemption off. */
struct ls_ctx *ls_ctx_fix(struct ls_cpu *pc)
{
	struct ls_ctx *ctx = registered(current);

	if (!ls_has_tail(pc))
		pc->cur = current;
	pc->task = ctx ? ctx : pc->home;
	return pc->task;
}

/* The scheduler; size 0 where it is not found. */
static unsigned long schedule_start, schedule_size;

static bool spins(const struct ls_held *h)
{
	u32 kind = ls.classes.table[h->val & LS_VAL_CLASS_MASK].kind;

	return kind == LS_KIND_SPINLOCK || kind == LS_KIND_RWLOCK;
}

/*
 * Was the current task preempted between the hook of a spinning lock and the lock? The
 * hook's direct call keeps that from happening, ftrace_ops cannot. The lock is forgotten:
 * it would stand below all that the scheduler takes meanwhile. Interrupts are off.
 */
static noinline bool enters_lock(void)
{
	unsigned long frames[32];
	u32 i, nr = ls_stack_save(frames, ARRAY_SIZE(frames));

	for (i = 0; i < nr; i++)
		if (ls_prims_spins_in(frames[i]))
			return true;
	return false;
}

/*
 * What a task takes across a switch: the lock on top, the run queue's, goes to
 * next. No other spinning lock can be held here; one that is left over was
 * released where no hook could see it, and must not stand below everything the
 * CPU does from now on. Returns the index from which entries change hands.
 */
static u32 clean(struct ls_cpu *pc, struct ls_ctx *ctx, bool preempt)
{
	u32 i, level, last, top;

	for (i = 0; i < ctx->depth; i++) {
		if (unlikely(ls_kind_of(ctx->held[i].val) == LS_KIND_SEMAPHORE)) {
			ls_drop_moved(ctx, LS_TASK);
			break;
		}
	}
	last = ctx->depth;
	if (last && spins(&ctx->held[last - 1]))
		last--;
	top = last;
	for (i = last; i-- > 0;) {
		if (spins(&ctx->held[i])) {
			ls_held_remove(ctx, i);
			if (preempt && i + 1 == top && enters_lock())
				ls_lose(LS_LOSS_HELD_OVERFLOW);
			else
				pc->stale++;
			last--;
		}
	}
	/* The same goes for interrupts: none is being served now. */
	for (level = 0; level < LS_NR_LEVELS - 1; level++) {
		if (unlikely(pc->level[level].depth)) {
			pc->stale += pc->level[level].depth;
			ls_held_clear(&pc->level[level]);
		}
	}
	pc->tail = 0;
	return last;
}

/*
 * Interrupts are off and prev still runs. The run-queue lock that prev took is
 * released by next, so it changes hands.
 */
static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *from, *to;
	bool keeps;		/* the task needs its context when it comes back */
	u32 first;

	if (!READ_ONCE(ls_active))
		return;
	from = pc->cur == prev ? pc->task : ls_ctx_fix(pc);
	/* The scheduler itself and the run queue's lock count as one each. */
	if (!preempt && unlikely((preempt_count() & PREEMPT_MASK) > 2 + LS_TRACEPOINT_PREEMPT) &&
	    !(prev_state & TASK_DEAD))
		ls_switch_atomic(pc, from);
	first = clean(pc, from, preempt);
	from->section = ls_section_leave(prev, preempt);
	keeps = first || from->ignoring || from->may_race || from->wait[LS_WAIT_SLEEP].lock || from->section;
	to = registered(next);

	if (from == pc->home) {
		if (unlikely(keeps)) {
			struct ls_ctx *home = prev_state & TASK_DEAD ? NULL : pool_get();

			if (home && !ls_addrmap_add(&ls.tasks, (u64)prev, from->id + 1)) {
				pool_put(home);
				home = NULL;
			}
			if (home) {
				from->owner = prev;
				pc->home = home;
			} else {
				/* Dead, or no room: what prev holds is forgotten. */
				if (!(prev_state & TASK_DEAD))
					ls_lose(LS_LOSS_HELD_OVERFLOW);
				while (first) {
					ls_held_remove(from, 0);
					first--;
				}
				/* The context is everybody's again. */
				from->ignoring = from->may_race = 0;
				from->busy = from->nest = 0;
				from->wait[LS_WAIT_SLEEP].lock = 0;
				from->section = 0;
			}
		}
	} else if (!keeps || prev_state & TASK_DEAD) {
		ls_addrmap_remove(&ls.tasks, (u64)prev);
	}
	if (!to)
		to = pc->home;
	if (to != from) {
		u32 lost = ls_held_move(from, first, to);

		while (lost--)
			ls_lose(LS_LOSS_HELD_OVERFLOW);
		if (from != pc->home && (!keeps || prev_state & TASK_DEAD))
			pool_put(from);
	}
	if (unlikely(to->section))
		ls_section_return(next, to->section);
	pc->cur = next;
	pc->task = to;
}

/* Everything held is forgotten. Only while no hook can run. */
void ls_context_clear(void)
{
	u32 i, cpu;

	for (i = 0; i < pool_size; i++) {
		ls_held_clear(&pool[i]);
		pool[i].owner = NULL;
	}
	memset(ls.tasks.slots, 0, ls_addrmap_bytes(task_map_bits));
	memset(pool_used, 0, BITS_TO_LONGS(pool_size) * sizeof(long));
	for_each_possible_cpu(cpu) {
		struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		pc->home = pool_get();
		pc->cur = NULL;
		pc->task = pc->home;
		for (i = 0; i < LS_NR_LEVELS - 1; i++)
			ls_held_clear(&pc->level[i]);
		pc->tail = 0;
	}
}

/* Number of the first context from @i on that somebody has, the pool's size when nobody has one. */
u32 ls_context_next(u32 i)
{
	return find_next_bit(pool_used, pool_size, i);
}

/*
 * Context number @i and the task whose it is, NULL when it is nobody's. Under RCU,
 * which keeps the task. The task may wake up at any time: what is read is a guess.
 */
const struct ls_ctx *ls_context_sleeping(u32 i, struct task_struct **task)
{
	*task = ls_load(&pool[i].owner);
	return &pool[i];
}

/* Entry of @lock that @task holds, as far as its context tells. Under RCU. */
bool ls_context_entry(struct task_struct *task, u64 lock, struct ls_held *out)
{
	u32 i, k;

	for (i = 0; i < pool_size; i++) {
		if (ls_load(&pool[i].owner) != task)
			continue;
		for (k = 0; k < ls_load(&pool[i].depth) && k < LS_MAX_DEPTH; k++) {
			*out = pool[i].held[k];
			if (out->lock == lock)
				return true;
		}
	}
	return false;
}

/*
 * Class of the wait queue that @task sleeps on with locks held, 0 when it sleeps on
 * none; @queue: which. A guess unless the task cannot wake up. Any context.
 */
u32 ls_context_waits_on(struct task_struct *task, u64 *queue)
{
	const struct ls_ctx *ctx = registered(task);

	if (!ctx || ls_load(&ctx->owner) != task)
		return 0;
	*queue = READ_ONCE(ctx->queued.queue);
	return READ_ONCE(ctx->queued.id);
}

/*
 * Code and data at [start, end) are about to go: nobody may hold a lock in there.
 * What others hold changes meanwhile, so each is looked at, and told of, through a copy.
 * Process context.
 */
void ls_context_range_gone(unsigned long start, unsigned long end)
{
	struct ls_ctx *copy = kmalloc(sizeof(*copy), GFP_KERNEL);
	u32 i, k;

	if (!copy) {
		ls_lose(LS_LOSS_RECORDS);
		return;
	}
	for (i = 0; i < pool_size; i++) {
		*copy = pool[i];
		copy->depth = min_t(u32, copy->depth, LS_MAX_DEPTH);
		for (k = 0; k < copy->depth; k++) {
			const struct ls_held *h = &copy->held[k];

			if (h->lock < start || h->lock >= end ||
			    ls_kind_of(h->val) == LS_KIND_WORK)
				continue;
			preempt_disable_notrace();
			ls_fault(this_cpu_ptr(&ls_cpus), copy, LS_FINDING_HELD_FREED, h->lock,
				 h->ip, h->val, 1ull << k, 0);
			ls_leave();
		}
	}
	kfree(copy);
}

/* Does the scheduler itself call from @ip? */
bool ls_in_schedule(u64 ip)
{
	return ip - schedule_start < schedule_size;
}

int ls_context_attach(void)
{
	ls_find_function("__schedule", &schedule_start, &schedule_size);
	return ls_tracepoint_attach("sched_switch", on_switch, NULL);
}

void ls_context_detach(void)
{
	ls_tracepoint_detach("sched_switch", on_switch, NULL);
}

/* @nr: tasks that may sleep with locks held at one time; the CPUs' own come on top. */
int ls_context_init(u32 nr)
{
	void *map;
	u32 i, k;
	int cpu;

	pool_size = nr + num_possible_cpus();
	/* A quarter full at most: eight to a bucket are hardly ever too many then. */
	task_map_bits = order_base_2(pool_size) + 2;
	if (ls_waits_init(pool_size))
		return -ENOMEM;
	pool = ls_zalloc(array_size(pool_size, sizeof(*pool)));
	pool_used = ls_zalloc(BITS_TO_LONGS(pool_size) * sizeof(long));
	map = ls_zalloc(ls_addrmap_bytes(task_map_bits));
	if (!pool || !pool_used || !map) {
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
		pool[i].id = i;
		pool[i].since = times + (size_t)i * LS_MAX_DEPTH;
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
	ls_free(pool);
	ls_waits_exit();
}

void lockscope_forget_held(void)
{
	struct ls_cpu *pc;
	u32 i;

	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	/* While nothing is recorded no task may become current. */
	if (ls_active)
		ls_held_clear(pc->cur == current ? pc->task : ls_ctx_fix(pc));
	for (i = 0; i < LS_NR_LEVELS - 1; i++)
		ls_held_clear(&pc->level[i]);
	pc->tail = 0;
	ls_leave();
}
EXPORT_SYMBOL_GPL(lockscope_forget_held);
