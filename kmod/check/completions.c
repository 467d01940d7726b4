// SPDX-License-Identifier: GPL-2.0
/*
 * Completions. Any context, like acquire.c.
 *
 * A task that waits for a completion with a lock held blocks every other task that wants this
 * lock: a dependency of the completion on the lock. The context that completes it needs locks
 * to get there: dependencies from the completion to locks that were held at every completion.
 * Locks released before complete() do not count: at that time there may be no waiter yet. Nor
 * does the run of a work function: its code after complete() delays no waiter.
 *
 * Where the last put of a reference completes, the waiter itself may do that: it drops its own
 * reference and then waits until all are gone, with the same locks held. This does not show
 * which locks other contexts need. So a class is only confirmed once a completion of it was
 * completed by another context than the waiter: while a task was waiting, or, by
 * ls.completers, before the wait began.
 *
 * The mutex of a device is held around all of a driver's probe and removal, with completions
 * that are initialised, completed and dropped inside. If it is held since before the
 * completion was initialised, it was not acquired while any task could wait for the
 * completion, and is not needed (ls.makers).
 */
#include <linux/completion.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "base/stack.h"
#include "check/access/handover.h"
#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "identity/identity.h"
#include "identity/refine.h"

#define WAIT_DESC LS_DESC(COMPLETION, 0, 0, 0)

/* Class of the completion, 0 when it has none. Preemption off, @ctx not busy. */
static u32 class_of_completion(struct ls_ctx *ctx, u64 completion, u64 ip)
{
	u32 id = ls_class_at(ctx, completion, LS_KIND_COMPLETION, ip);

	/* Elements of an array may share their class with locks. */
	return id && ls.classes.table[id].kind == LS_KIND_COMPLETION ? id : 0;
}

/* Is there a lock left that was held at every completion of class @c? */
static bool needs_left(const struct ls_class *c)
{
	return ~ls_load(&c->absent[0]) | ~ls_load(&c->absent[1]);
}

/*
 * Report an event of @kind about class @id, which reduces the needed locks by @narrows. @ctx
 * not busy.
 */
static void report(struct ls_cpu *pc, struct ls_ctx *ctx, u32 id, u64 completion, u64 ip, u64 mask,
		   u32 level, u64 bits, u32 kind)
{
	struct ls_class *c = &ls.classes.table[id];
	struct ls_event *e;

	ctx->busy = 1;
	barrier();
	e = ls_event_reserve(pc, ctx);
	if (e) {
		ls_fetch_or(&c->absent[0], ~(u32)bits);
		ls_fetch_or(&c->absent[1], ~(u32)(bits >> 32));
		if (kind != LS_COMPLETE_OPEN)
			ls_fetch_or(&c->marks, LS_CLASS_CONFIRMED);
		ls_event_fill(e, ctx, LS_SIGHT_COMPLETE, completion, ip, id | ls_where(level), mask,
			      0, 0, kind);
		ls_ring_commit(e);
		ls_wake_worker();
	}
	barrier();
	ctx->busy = 0;
}

/*
 * Class @id is completed in @ctx, which needed the entries @mask for that. Reports to the
 * worker when a lock turns out not to be needed, and when the class is confirmed. @kind: 0 or
 * LS_COMPLETE_OPEN. Preemption off.
 */
void ls_see_completer(struct ls_cpu *pc, struct ls_ctx *ctx, u32 id, u64 completion, u64 ip,
		      u64 mask, u32 level, u32 kind)
{
	struct ls_class *c = &ls.classes.table[id];
	u64 bits = 0;
	u32 i;

	/* Nothing is needed any more. */
	if (ctx->busy || !needs_left(c))
		return;
	for (i = 0; i < ctx->depth; i++)
		if (mask & (1ull << i))
			bits |= ls_need_bits(ctx->held[i].val);
	if (!(~(ls_load(&c->absent[0]) | (u32)bits)) &&
	    !(~(ls_load(&c->absent[1]) | (u32)(bits >> 32))) &&
	    (kind == LS_COMPLETE_OPEN || ls_load(&c->marks) & LS_CLASS_CONFIRMED))
		return;
	report(pc, ctx, id, completion, ip, mask, level, bits, kind);
}

/* Mask of entries of @ctx that were needed to get here; none after an error. */
u64 ls_needed_mask(const struct ls_ctx *ctx)
{
	bool distrusted = ls_held_distrusted(ctx);
	u64 mask = 0;
	u32 i;

	for (i = 0; i < ctx->depth && !distrusted; i++)
		if (ls_needed(ctx->held[i].val) && ls_kind_of(ctx->held[i].val) != LS_KIND_WORK)
			mask |= 1ull << i;
	return mask;
}

/* The current context as ls.completers records it; interrupts never wait. */
static u32 me(u32 level)
{
	return level == LS_TASK ? (u32)current->pid % (LS_ADDR_ID_MASK - 1) + 1 : LS_ADDR_ID_MASK;
}

/* Does a task sleep until @completion is completed? */
static bool waited_for(u64 completion)
{
	return !list_empty_careful(&((struct completion *)completion)->wait.task_list);
}

static bool is_device(u32 val)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].refinement == LS_REFINE_DEVICE;
}

/*
 * @completion is initialised. Preemption off, hooks active. No loss is counted when there is
 * no room: the mutex counts as needed then.
 */
void ls_completion_made(struct ls_cpu *pc, u64 completion)
{
	u32 level, i;
	struct ls_ctx *ctx = ls_context(pc, &level);

	/* What was completed here was another one. */
	ls_addrmap_remove(&ls.completers, completion);
	for (i = ctx->depth; i-- > 0;) {
		struct ls_held *h = &ctx->held[i];

		if (!is_device(h->val))
			continue;
		/* A new number for each hold. */
		if (!h->stamp)
			h->stamp = ls_fetch_add(&ls.device_holds, 1) % LS_ADDR_ID_MASK + 1;
		if (ls_addrmap_set(&ls.makers, completion, h->stamp)) {
			/* Evicted an entry, usually of a completion that is gone. */
		}
		return;
	}
	ls_addrmap_remove(&ls.makers, completion);
}

/* Mutexes of devices that @ctx has held since before it made @completion, as a mask of entries. */
static u64 held_before(const struct ls_ctx *ctx, u64 completion)
{
	u32 made = ls_addrmap_find(&ls.makers, completion), i;
	u64 mask = 0;

	for (i = ctx->depth; made && i-- > 0;)
		if (is_device(ctx->held[i].val) && (mask || ctx->held[i].stamp == made))
			mask |= 1ull << i;
	return mask;
}

/* complete() or complete_all(). Preemption off, hooks active. */
void ls_complete(struct ls_cpu *pc, u64 completion, u64 ip)
{
	u32 level, id;
	struct ls_ctx *ctx = ls_context(pc, &level);

	ls_completed(completion);
	if (ctx->busy) {
		if (!ctx->ignoring)
			ls_lose(LS_LOSS_RECURSION);
		return;
	}
	id = class_of_completion(ctx, completion, ip);
	if (!id)
		return;
	if (!needs_left(&ls.classes.table[id]))
		return;
	if (!(ls_load(&ls.classes.table[id].marks) & LS_CLASS_CONFIRMED))
		ls_remember(&ls.completers, completion, me(level));
	ls_see_completer(pc, ctx, id, completion, ip, ls_needed_mask(ctx) & ~held_before(ctx, completion),
			 level, waited_for(completion) ? 0 : LS_COMPLETE_OPEN);
}

/*
 * The current task is about to wait with locks held: was @completion completed by another
 * context?
 */
static void confirm(struct ls_cpu *pc, struct ls_ctx *ctx, u32 id, u64 completion, u64 ip, u32 level)
{
	struct ls_class *c = &ls.classes.table[id];
	u32 last;

	if (ls_load(&c->marks) & LS_CLASS_CONFIRMED || !needs_left(c))
		return;
	last = ls_addrmap_find(&ls.completers, completion);
	if (last && last != me(level))
		report(pc, ctx, id, completion, ip, 0, level, ~0ull, LS_COMPLETE_CONFIRMED);
}

/* The current task is about to wait for @completion. Preemption off, hooks active. */
void ls_wait_begins(struct ls_cpu *pc, u64 completion, u64 ip)
{
	bool stack = ls_on_own_stack(completion);
	u32 level, id;
	struct ls_ctx *ctx = ls_context(pc, &level);

	/* On a stack it gets its class here, where the completer will find it. */
	if (ctx->busy || (!ctx->depth && !stack))
		return;
	id = class_of_completion(ctx, completion, ip);
	if (!id)
		return;
	/*
	 * A completion before the class was assigned was missed: count it as one that needed
	 * no lock.
	 */
	if (stack && READ_ONCE(((struct completion *)completion)->done))
		ls_see_completer(pc, ctx, id, completion, ip, 0, level, 0);
	if (!ctx->depth)
		return;
	confirm(pc, ctx, id, completion, ip, level);
	ls_acquire(pc, completion, ip, WAIT_DESC);
	/* Entries below may have been dropped: the depth cannot be compared. */
	if (ls_held_is_top(ctx, completion))
		ls_held_pop_top(ctx);
}

/* A wait for @completion is over: forget its completer, unless complete_all() was called. */
static void used_up(u64 completion)
{
	unsigned int done;

	if (ls_addrmap_find(&ls.completers, completion) &&
	    (get_kernel_nofault(done, &((struct completion *)completion)->done) || done != UINT_MAX))
		ls_addrmap_remove(&ls.completers, completion);
}

/* The wait returned @ret. Preemption off. */
void ls_wait_over(u64 completion, u32 desc, unsigned long ret)
{
	bool done = desc & LS_DESC_BOOL ? (ret & 0xff) : (long)ret > 0;

	if (desc & LS_DESC_ZERO)
		done = !(int)ret;
	if (done || desc & LS_DESC_VOID) {
		ls_waited(completion);
		used_up(completion);
	}
	/* The next completion at this address belongs to another function. */
	if (ls_on_own_stack(completion))
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(completion));
}
