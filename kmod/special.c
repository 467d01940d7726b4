// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks of what is rare or odd. Any context, like those of hooks.c.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include <linux/ww_mutex.h>

#include "handover.h"
#include "lockscope.h"
#include "core/lockword.h"

static void downgrade(struct ls_cpu *pc, u64 lock)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	int i = ctx->busy ? -1 : ls_held_find(ctx, lock);

	if (i >= 0)
		ls_held_set_read(ctx, i, LS_SHARED);
}

/* As good as taking @lock, but nothing is held afterwards. */
static void wait_for(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	u32 lost = ctx->lost;

	ls_acquire(pc, lock, ip, desc);
	/* Not by the depth: what lay below may have been found gone. Runs are readers. */
	if (ls_held_is_top(ctx, lock) && !(ctx->held[ctx->depth - 1].val & LS_VAL_READ_MASK))
		ls_held_pop_top(ctx);
	/* Nobody will give it back. */
	ctx->lost = lost;
}

/* A compiler may have made several of a function. */
static const char *const freezer_names[] = {
#define X(f) #f, #f ".part.0", #f ".isra.0", #f ".constprop.0",
	LS_FREEZERS(X)
#undef X
};

/* Code of LS_FREEZERS, as far as this kernel has it. */
static struct {
	unsigned long start, size;
} freezers[ARRAY_SIZE(freezer_names)];
static u32 nr_freezers;

static void find_freezers(void)
{
	u32 i;

	nr_freezers = 0;
	for (i = 0; i < ARRAY_SIZE(freezer_names); i++) {
		ls_find_function(freezer_names[i], &freezers[nr_freezers].start,
				 &freezers[nr_freezers].size);
		nr_freezers += freezers[nr_freezers].size != 0;
	}
}

/* Is @lock taken or given back at @ip to freeze or to thaw a file system? */
static bool freezes(u32 kind, u64 ip)
{
	u32 i;

	for (i = 0; kind == LS_KIND_PERCPU_RWSEM && i < nr_freezers; i++)
		if (ip - freezers[i].start < freezers[i].size)
			return true;
	return false;
}

/*
 * Items of one function run side by side: each is a reader of the function's
 * "lock", and who waits for one is a writer.
 */
#define RUN_DESC LS_DESC(WORK, LS_SH, 0, 0)
#define WAIT_DESC LS_DESC(WORK, 0, 0, 0)

/* Waits until @work has run: as good as waiting for a lock that every run of its function holds. */
static void wait_for_work(struct ls_cpu *pc, struct work_struct *work, u64 ip)
{
	u64 function = (u64)READ_ONCE(work->func);
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (!function || !ctx->depth)
		return;
	wait_for(pc, function, ip, WAIT_DESC);
}

/* ww_mutex_unlock(): its context counts what it has acquired. */
static void look_at_ww_unlock(struct ls_cpu *pc, u64 lock, u64 ip)
{
	struct ww_mutex *ww = (struct ww_mutex *)lock;
	struct ww_acquire_ctx *acquire;
	unsigned int acquired;
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (ctx->busy || get_kernel_nofault(acquire, &ww->ctx) || !acquire ||
	    get_kernel_nofault(acquired, &acquire->acquired) || acquired)
		return;
	ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip,
		      ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip) | LS_VAL_CTX, 0, 0);
}

void ls_hook_special(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5)
{
	u32 desc, kind;
	u64 lock;
	struct ls_cpu *pc;
	bool dropped;

	preempt_disable_notrace();
	if (unlikely(!ls_active))
		goto out;
	pc = this_cpu_ptr(&ls_cpus);
	ip = ls_caller(ip);
	desc = ls_desc_of(func5);
	kind = desc >> LS_DESC_KIND_SHIFT;
	lock = arg0 + (desc & LS_DESC_OFFSET);
	switch (desc & LS_OP_MASK) {
	case LS_OP_ACQUIRE:
		if (freezes(kind, ip))
			wait_for(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		else
			ls_acquire(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		break;
	case LS_OP_RELEASE:
		if (freezes(kind, ip)) {
			this_cpu_inc(ls_cpus.releases);
			break;
		}
		dropped = kind == LS_KIND_SEMAPHORE && ls_semaphore_release(pc, lock, ip);
		ls_release(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		/* No entry is left that depends on it. */
		if (dropped)
			ls_orphans_done(&ls.orphans, lock);
		break;
	case LS_OP_DOWNGRADE:
		downgrade(pc, lock);
		break;
	case LS_OP_INIT:
		ls_lock_initialised(pc, lock, ip);
		ls_identity_named(lock, kind, (const char *)arg1, ip);
		if (kind == LS_KIND_SPINLOCK)	/* __init_swait_queue_head() */
			ls_completion_made(pc, lock - offsetof(struct completion, wait));
		break;
	case LS_OP_INIT_UNNAMED:
		ls_lock_initialised(pc, lock, ip);
		ls_identity_named(lock, kind, "", ip);
		break;
	case LS_OP_INIT_QUEUE:
		ls_lock_initialised(pc, lock, ip);
		ls_identity_named(lock, kind, (const char *)arg1, ip);
		if (ls_waitqueues)
			ls_identity_named(lock + LS_WQ_OFF, LS_KIND_WAITQUEUE, (const char *)arg1, ip);
		break;
	case LS_OP_CACHE_GONE:
		ls_identity_cache_gone(arg0);
		break;
	case LS_OP_VFREE:
		ls_vmalloc_freed(arg0, ip);
		break;
	case LS_OP_WAIT_WORK:
		wait_for_work(pc, (struct work_struct *)arg0, ip);
		/* If it is idle already; else a completion tells, or the end of __flush_work(). */
		ls_waited(arg0 | LS_ENDED);
		break;
	case LS_OP_COMPLETE:
		ls_complete(pc, lock, ip);
		break;
	case LS_OP_WW_UNLOCK:
		look_at_ww_unlock(pc, lock, ip);
		if (!ls_ww_unlock_covered)
			ls_release(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		break;
	case LS_OP_TICK:
		ls_tick(pc, arg0);
		break;
	}
out:
	ls_leave();
}

/* One use of an acquire context: the next one at its address has another stamp. */
static u64 ww_use(u64 acquire)
{
	return ls_mix(acquire) + READ_ONCE(((struct ww_acquire_ctx *)acquire)->stamp);
}

/*
 * Locks under one acquire context order nothing among each other, and there may be
 * thousands. A few of a class stand for all: true when @lock, which was taken, is
 * to be left out.
 */
#define WW_KEPT 8

bool ls_ww_enough(struct ls_cpu *pc, u64 lock, u64 ip)
{
	u32 level, id, i, nr = 0;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (ctx->busy || ctx->depth < WW_KEPT)
		return false;
	id = ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip);
	for (i = 0; i < ctx->depth; i++)
		if ((ctx->held[i].val & (LS_VAL_CTX | LS_VAL_CLASS_MASK)) == (LS_VAL_CTX | id))
			nr++;
	if (nr < WW_KEPT)
		return false;
	this_cpu_inc(ls_cpus.acquisitions[level]);
	if (static_branch_unlikely(&ls_stat_key))
		ls_stat_acquired(ctx, lock, ip, id | LS_VAL_CTX | ls_where(level), false);
	ctx->lost++;
	return true;
}

/*
 * ww_mutex_lock() with acquire context @acquire (or none) came back with @ret. Who got
 * -EDEADLK has to give back all that the context holds, and then to begin with
 * the lock that was contended.
 */
void ls_look_at_ww(struct ls_cpu *pc, u64 lock, u64 ip, u64 acquire, long ret)
{
	u32 level, i, id;
	struct ls_ctx *ctx = ls_context(pc, &level);
	u64 mask = 0;
	bool wrong;

	if (ctx->busy)
		return;
	id = ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip);
	wrong = acquire && READ_ONCE(((struct ww_acquire_ctx *)acquire)->task) != current;
	if (!acquire) {
		/* Nobody backs off for the sake of a lock taken without a context. */
		for (i = 0; i < ctx->depth; i++)
			if (ctx->held[i].val & LS_VAL_CTX && (ctx->held[i].val & LS_VAL_CLASS_MASK) == id)
				mask |= 1ull << i;
		wrong = mask;
	} else if (ctx->backoff && ctx->backoff == ww_use(acquire)) {
		for (i = 0; i < ctx->depth; i++)
			if (ctx->held[i].val & LS_VAL_CTX)
				mask |= 1ull << i;
		wrong |= mask || ctx->contended != lock;
		ctx->backoff = 0;
	}
	if (wrong)
		ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip, id | (acquire ? LS_VAL_CTX : 0), mask, 0);
	if (acquire && (int)ret == -EDEADLK) {
		ctx->backoff = ww_use(acquire);
		ctx->contended = lock;
	}
}

/*
 * ww_mutex_lock() with acquire context @acquire begins. A free lock belongs to no
 * context: it is given up before the lock is.
 */
void ls_hook_ww(unsigned long lock, unsigned long acquire, unsigned long ip)
{
	struct ww_mutex *ww = (struct ww_mutex *)lock;
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;

	if (!acquire || likely(!READ_ONCE(ww->ctx)))
		return;
	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	/* Free before and after: nobody had it in between, or all of a hold went by. */
	if (ls_active && !ctx->busy && ls_lock_word(lock, LS_KIND_WW_MUTEX, false) == LS_WORD_FREE &&
	    READ_ONCE(ww->ctx) && ls_lock_word(lock, LS_KIND_WW_MUTEX, false) == LS_WORD_FREE)
		ls_fault_here(pc, ctx, LS_FINDING_WW, lock, ip,
			      ls_class_at(ctx, lock, LS_KIND_WW_MUTEX, ip) | LS_VAL_CTX, 0, 0);
	ls_leave();
}

static void on_work_start(void *data, struct work_struct *work)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	/* As a return address would lie: behind the function's start. */
	pc = this_cpu_ptr(&ls_cpus);
	ls_acquire(pc, (u64)work->func, (u64)work->func + 1, RUN_DESC);
	ctx = ls_context(pc, &level);
	if (ctx->depth)
		ctx->run = (u64)work;
	ls_waited((u64)work);
	ls_leave();
}

static void on_work_end(void *data, struct work_struct *work, work_func_t function)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;
	int i;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	/* It may have begun before us. */
	i = ctx->busy ? -1 : ls_held_find(ctx, (u64)function);
	if (i >= 0)
		ls_held_remove(ctx, i);
	if (unlikely(ctx->depth) && !ctx->busy)
		ls_drop_semaphores(ctx, false);
	ctx->run = 0;
	ls_completed((u64)work | LS_ENDED);
	ls_leave();
}

/* The item that the timer that runs here queues: whoever started the timer has queued it. */
static DEFINE_PER_CPU(struct work_struct *, delayed);
static void *delayed_expired;		/* function of the timers of delayed work */

static struct work_struct *delayed_work_of(struct timer_list *timer)
{
	return timer->function == delayed_expired && delayed_expired ?
		       &container_of(timer, struct delayed_work, timer)->work : NULL;
}

struct pool_workqueue;

/* Whoever queues an item is done with what it hands over in it. */
static void on_work_queued(void *data, int cpu, struct pool_workqueue *pwq, struct work_struct *work)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	if (this_cpu_read(delayed) != work)
		ls_completed((u64)work);
	ls_leave();
}

/* Timers of either sort: the same goes for whoever starts one. */
static void on_hrtimer_started(void *data, void *timer)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_completed((u64)timer);
	ls_alarm_set(this_cpu_ptr(&ls_cpus), (u64)timer);
	ls_leave();
}

static void on_timer_started(void *data, struct timer_list *timer)
{
	struct work_struct *work = delayed_work_of(timer);

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_completed((u64)timer);
	if (work)
		ls_completed((u64)work);
	ls_leave();
}

static void on_hrtimer_expired(void *data, void *timer)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_waited((u64)timer);
	ls_leave();
}

static void on_timer_expired(void *data, struct timer_list *timer)
{
	/* Read before its function runs, which may free it. */
	this_cpu_write(delayed, delayed_work_of(timer));
	on_hrtimer_expired(data, timer);
}

/* Its function has returned; the timer may be gone. */
static void on_hrtimer_ended(void *data, void *timer)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_completed((u64)timer | LS_ENDED);
	ls_leave();
}

static void on_timer_ended(void *data, void *timer)
{
	this_cpu_write(delayed, NULL);
	on_hrtimer_ended(data, timer);
}

static const struct {
	const char *name;
	void *probe;
} special_probes[] = {
	{ "workqueue_execute_start", on_work_start },
	{ "workqueue_queue_work", on_work_queued },
	{ "workqueue_execute_end", on_work_end },
	{ "timer_start", on_timer_started },
	{ "timer_expire_entry", on_timer_expired },
	{ "timer_expire_exit", on_timer_ended },
	{ "hrtimer_start", on_hrtimer_started },
	{ "hrtimer_expire_entry", on_hrtimer_expired },
	{ "hrtimer_expire_exit", on_hrtimer_ended },
};

int ls_special_attach(void)
{
	int rc = 0;
	u32 i;

	find_freezers();
	delayed_expired = (void *)ls_symbol("delayed_work_timer_fn");
	for (i = 0; i < ARRAY_SIZE(special_probes) && !rc; i++)
		rc = ls_tracepoint_attach(special_probes[i].name, special_probes[i].probe, NULL);
	return rc;
}

void ls_special_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(special_probes); i++)
		ls_tracepoint_detach(special_probes[i].name, special_probes[i].probe, NULL);
}

