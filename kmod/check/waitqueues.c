// SPDX-License-Identifier: GPL-2.0
/*
 * Wait queues, looked at with waitqueues=1 only. Any context, like acquire.c.
 *
 * The same two edges as with completions (completions.c): from the locks of a task
 * that waits on a queue to the queue, and from the queue to the locks that all who
 * wake it hold. A queue says less than a completion does: who waits looks at a
 * condition, in a loop, and anybody may wake it. So only a sleep counts, not the
 * attempt: a task waits when it goes to sleep for ever in the very frame that put it
 * on the queue, with the locks that it has then. Sleep for a while, on several queues
 * at once, or for a lock that the condition takes, is no wait. And every call that
 * could wake somebody on a queue of the class counts against the locks that it did
 * without, whether anybody was there or not, as does every wake-up past the queue.
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

/* Wakes an entry whatever the waker's key says; others wait for one of many events. */
static unsigned long wakes_always;

/* Class of the queue at @queue, as hooks see it; 0 when it has none. Preemption off, @ctx not busy. */
static u32 class_of_queue(struct ls_ctx *ctx, u64 queue, u64 ip)
{
	u32 id = ls_class_at(ctx, queue, LS_KIND_WAITQUEUE, ip);

	/* Elements of an array may share theirs with locks. */
	return id && ls.classes.table[id].kind == LS_KIND_WAITQUEUE ? id : 0;
}

/* Is @entry, perhaps of a frame that is gone, one by which the current task can be woken? */
static bool can_be_woken(u64 entry)
{
	struct wait_queue_entry *e = (struct wait_queue_entry *)entry;

	return ls_on_own_stack(entry) && READ_ONCE(e->private) == current &&
	       (unsigned long)READ_ONCE(e->func) == wakes_always && !list_empty(&e->entry);
}

/* prepare_to_wait() or one of its kin, called from where @frame has its return address. */
void ls_queue_add(struct ls_cpu *pc, u64 head, u64 entry, u64 ip, u64 frame)
{
	u64 queue = head + LS_WQ_OFF;
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	struct ls_queued *w = &ctx->queued;

	if (level != LS_TASK || ctx->busy)
		return;
	/* On a stack it gets its class here, so that whoever wakes it finds that. */
	if (ls_on_own_stack(queue))
		class_of_queue(ctx, queue, ip);
	w->id = 0;
	if (!ctx->depth || !ls_on_own_stack(entry)) {
		w->frame = 0;
		return;
	}
	/* The function that set it has returned. */
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
	/* The next one at this address is another function's. */
	if (ls_on_own_stack(head))
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(head + LS_WQ_OFF));
}

/* A function that sleeps until somebody wakes it is called. */
void ls_queue_sleep(struct ls_cpu *pc, u64 ip, u64 frame)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	struct ls_queued *w = &ctx->queued;

	if (likely(w->frame != frame) || level != LS_TASK || ctx->busy || !ctx->depth)
		return;
	if (w->several || !can_be_woken(w->entry) || READ_ONCE(current->__state) == TASK_RUNNING)
		return;
	/* A timer in a frame that is still there will wake it. */
	if (w->alarm > frame && ls_on_own_stack(w->alarm))
		return;
	w->id = class_of_queue(ctx, w->queue, ip);
	if (!w->id)
		return;
	ls_acquire(pc, w->queue, ip, WAIT_DESC);
	/* What lay below may have been found gone: the depth tells nothing. */
	if (ls_held_is_top(ctx, w->queue))
		ls_held_pop_top(ctx);
}

/*
 * Of what @ctx had to have to get here, what somebody asleep can have too: nobody
 * sleeps with a spinning lock, and in an interrupt there are no others.
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

/* A timer at @timer is started: one on the stack is for who is about to sleep. Preemption off. */
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
 * @task is about to be woken. A wake-up past the queue, with no lock of it, shows that
 * nothing is needed for certain; but a signal is not what was waited for. Preemption off.
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
