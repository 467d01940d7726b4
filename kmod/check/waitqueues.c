// SPDX-License-Identifier: GPL-2.0
/*
 * Wait queues, checked with waitqueues=1 only. Any context, like acquire.c.
 *
 * The same two dependencies as for completions (completions.c): from the locks of a task that
 * waits on a queue to the queue, and from the queue to the locks held at every wake-up. A
 * queue proves less than a completion: the waiter tests a condition in a loop, and any context
 * may wake it. So only a sleep counts as a wait: the task sleeps without a timeout in the
 * frame that added it to the queue, with the locks held at that time. A sleep with a timeout,
 * on several queues at once, or for a lock that the condition needs, is no wait. And every
 * wake-up of a queue of the class, with or without waiters, excludes the locks that were not
 * held at it, as does every wake-up that bypasses the queue.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/wait.h>

#include "base/lookup.h"
#include "base/stack.h"
#include "check/check.h"
#include "core/context.h"
#include "core/prims.h"
#include "identity/identity.h"

#define WAIT_DESC LS_DESC(WAITQUEUE, 0, 0, 0)

/* Wake function that ignores the waker's key; others wait for one of many events. */
static unsigned long wakes_always;

/*
 * Class of the queue at @queue, an address as hooks see it; 0 when it has none. Preemption
 * off, @ctx not busy.
 */
static u32 class_of_queue(struct ls_ctx *ctx, u64 queue, u64 ip)
{
	u32 id = ls_class_at(ctx, queue, LS_KIND_WAITQUEUE, ip);

	/* Elements of an array may share their class with locks. */
	return id && ls.classes.table[id].kind == LS_KIND_WAITQUEUE ? id : 0;
}

/* Can @entry, whose frame may be gone, wake the current task? */
static bool can_be_woken(u64 entry)
{
	struct wait_queue_entry *e = (struct wait_queue_entry *)entry;

	return ls_on_own_stack(entry) && READ_ONCE(e->private) == current &&
	       (unsigned long)READ_ONCE(e->func) == wakes_always && !list_empty(&e->entry);
}

/* prepare_to_wait() or a variant; @frame is the address of its return address. */
void ls_queue_add(struct ls_cpu *pc, u64 head, u64 entry, u64 ip, u64 frame)
{
	u64 queue = head + LS_WQ_OFF;
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	struct ls_queued *w = &ctx->queued;

	if (level != LS_TASK || ctx->busy)
		return;
	/* On a stack it gets its class here, where the waker will find it. */
	if (ls_on_own_stack(queue))
		class_of_queue(ctx, queue, ip);
	w->id = 0;
	if (!ctx->depth || !ls_on_own_stack(entry)) {
		w->frame = 0;
		return;
	}
	/* The function that armed it has returned. */
	if (w->alarm <= frame)
		w->alarm = 0;
	w->several = w->entry != entry ? w->frame == frame && can_be_woken(w->entry) : w->several;
	w->queue = queue;
	w->entry = entry;
	w->frame = frame;
}

void ls_queue_remove(struct ls_cpu *pc, u64 head)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (level != LS_TASK || ctx->busy)
		return;
	ctx->queued.frame = 0;
	ctx->queued.id = 0;
	/* The next queue at this address belongs to another function. */
	if (ls_on_own_stack(head))
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(head + LS_WQ_OFF));
}

/* A function that sleeps until it is woken is called. */
void ls_queue_sleep(struct ls_cpu *pc, u64 ip, u64 frame)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	struct ls_queued *w = &ctx->queued;

	if (likely(w->frame != frame) || level != LS_TASK || ctx->busy || !ctx->depth)
		return;
	if (w->several || !can_be_woken(w->entry) || READ_ONCE(current->__state) == TASK_RUNNING)
		return;
	/* A timer in a live frame will wake the task. */
	if (w->alarm > frame && ls_on_own_stack(w->alarm))
		return;
	w->id = class_of_queue(ctx, w->queue, ip);
	if (!w->id)
		return;
	ls_acquire(pc, w->queue, ip, WAIT_DESC);
	/* Entries below may have been dropped: the depth cannot be compared. */
	if (ls_held_is_top(ctx, w->queue))
		ls_held_pop_top(ctx);
}

/*
 * Locks that @ctx needed to get here and that a sleeping task can hold as well: not spinning
 * locks, which are all that an interrupt holds.
 */
static u64 needed(const struct ls_ctx *ctx)
{
	return ls_needed_mask(ctx) & ~ls_spinning_mask(ctx, ctx->depth);
}

void ls_queue_wake(struct ls_cpu *pc, u64 head, u64 ip)
{
	u64 queue = head + LS_WQ_OFF;
	u32 level, id;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (!head)
		return;
	if (ctx->busy) {
		if (!ctx->ignoring)
			ls_lose(LS_LOSS_RECURSION);
		return;
	}
	id = class_of_queue(ctx, queue, ip);
	if (id)
		ls_see_completer(pc, ctx, id, queue, ip, needed(ctx), level, 0);
}

/*
 * A timer at @timer is started: one on the stack belongs to a task that is about to sleep.
 * Preemption off.
 */
void ls_alarm_set(struct ls_cpu *pc, u64 timer)
{
	u32 level;
	struct ls_ctx *ctx;

	if (!ls_waitqueues || !ls_on_own_stack(timer))
		return;
	ctx = ls_context(pc, &level);
	if (level == LS_TASK && ctx->depth)
		ctx->queued.alarm = timer;
}

/*
 * @task is about to be woken. A wake-up that bypasses the queue, without its lock, shows that
 * no lock is certainly needed; a signal does not count as such. Preemption off.
 */
void ls_queue_waking(struct task_struct *task)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level, id;
	u64 queue;

	id = ls_context_waits_on(task, &queue);
	if (!id)
		return;
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	if (ls_held_find(ctx, queue - LS_WQ_OFF) >= 0)
		ls_see_completer(pc, ctx, id, queue, 0, needed(ctx), level, 0);
	else if (!signal_pending(task))
		ls_see_completer(pc, ctx, id, queue, 0, 0, level, 0);
}

void ls_waitqueues_init(void)
{
	wakes_always = ls_symbol("autoremove_wake_function");
}
