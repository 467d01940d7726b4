// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetimes of locks and of the memory around them: memory freed, a frame left, a lock
 * initialised, a task exits, user mode entered, while a lock is held.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/unwind.h>

#include "base/preempt.h"
#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stacks.h"
#include "identity/alloc.h"
#include "identity/slab.h"

/* Report entries of @ctx in [start, end) as @what, and drop them. */
static noinline void held_in_range(struct ls_ctx *ctx, u32 what, u64 start, u64 end, u64 ip)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		struct ls_held *h = &ctx->held[i];

		if (h->lock < start || h->lock >= end)
			continue;
		/*
		 * A function may free its item, and the next one at that address is another: from
		 * now on the run is one that nothing waits for.
		 */
		if (ls_kind_of(h->val) == LS_KIND_WORK) {
			h->lock = ls.classes.table[h->val & LS_VAL_CLASS_MASK].addr;
			continue;
		}
		if (ls_still_held(h)) {
			ls_fault_here(pc, ctx, what, h->lock, ip, h->val, 1ull << i, 0);
			ls_held_distrust(ctx);
		}
		ls_held_remove(ctx, i);
	}
}

/* [start, start + size) is about to be freed by the current context. Preemption off. */
void ls_range_freed(unsigned long start, unsigned long size, unsigned long ip)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 level, i;
	struct ls_ctx *ctx = ls_context(pc, &level);

	for (i = 0; i < ctx->depth; i++) {
		if (ctx->held[i].lock - start < size) {
			if (!ctx->busy)
				held_in_range(ctx, LS_FINDING_HELD_FREED, start, start + size, ip);
			break;
		}
	}
}

/*
 * The object at @object is about to be freed. Its size is looked up only when a lock nearby is
 * held. Preemption off.
 */
void ls_object_freed(unsigned long object, unsigned long ip)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct kmem_cache *cache;
	unsigned long start;
	u32 level, i, offset;
	struct ls_ctx *ctx = ls_context(pc, &level);

	for (i = 0; i < ctx->depth; i++) {
		if (likely(ctx->held[i].lock - object >= KMALLOC_MAX_CACHE_SIZE))
			continue;
		if (!ctx->busy && ls_slab_locate(object, &cache, &start, &offset))
			held_in_range(ctx, LS_FINDING_HELD_FREED, object,
				      object + ls_cache_object_size(cache), ip);
		break;
	}
}

/*
 * vfree(@addr): the area has no holes and ends where the next page is not mapped. So a held
 * lock lies in it if all pages up to it are mapped.
 */
void ls_vmalloc_freed(unsigned long addr, unsigned long ip)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 level, i;
	struct ls_ctx *ctx = ls_context(pc, &level);

	ls_area_freed(addr);
	for (i = 0; i < ctx->depth; i++) {
		u64 lock = ctx->held[i].lock, page;

		if (!is_vmalloc_addr((void *)lock) || lock < addr || lock - addr > SZ_1M)
			continue;
		for (page = addr & PAGE_MASK; page <= lock; page += PAGE_SIZE)
			if (!vmalloc_to_page((void *)page))
				break;
		if (page > lock && !ctx->busy) {
			held_in_range(ctx, LS_FINDING_HELD_FREED, addr, page, ip);
			break;
		}
	}
}

/*
 * The work function that ran in @ctx has returned. Its item may be freed or queued again by
 * now, but runs of items do not nest. It may have begun before the module was loaded. @ctx not
 * busy.
 */
void ls_run_ends(struct ls_ctx *ctx)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;)
		if (ls_kind_of(ctx->held[i].val) == LS_KIND_WORK)
			ls_held_remove(ctx, i);
}

/* Start of the frame of the function that @ip returns to; 0 when it is not found. */
static noinline u64 frame_at(u64 ip)
{
	struct unwind_state state;

	/* Other words on the stack that look like it may be copies by this module. */
	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state); unwind_next_frame(&state))
		if (unwind_get_return_address(&state) == ip)
			return state.sp;
	return 0;
}

/*
 * Drop locks on this stack below the frame that now acquires a lock: their function has
 * returned. @ctx is busy. The key of the new chain is recomputed.
 */
void ls_drop_gone_frames(struct ls_cpu *pc, struct ls_ctx *ctx, u64 ip, u64 *key, u32 val)
{
	u64 stack = (u64)task_stack_page(current), frame = 0;
	bool dropped = false;
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		struct ls_held *h = &ctx->held[i];

		if (likely(h->lock - stack >= THREAD_SIZE))
			continue;
		/* On another stack, an interrupt's, there is nothing below. */
		if (!frame)
			frame = frame_at(ip);
		if (!frame || frame - stack >= THREAD_SIZE)
			break;
		if (h->lock >= frame)
			continue;
		ls_fault(pc, ctx, LS_FINDING_HELD_FREED, h->lock, ip, h->val, 1ull << i, 0);
		ls_held_distrust(ctx);
		ls_held_remove(ctx, i);
		dropped = true;
	}
	if (dropped)
		*key = ls_chain_mix(ctx->key, val);
}

/* @lock is being initialised at @ip. */
void ls_lock_initialised(struct ls_cpu *pc, unsigned long lock, unsigned long ip)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (unlikely(ctx->depth) && !ctx->busy && ls_held_find(ctx, lock) >= 0)
		held_in_range(ctx, LS_FINDING_HELD_INIT, lock, lock + 1, ip);
}

/* Another context may release these; a file system stays frozen meanwhile. */
static bool may_be_passed_on(const struct ls_held *h)
{
	const u32 kinds = 1u << LS_KIND_SEMAPHORE | 1u << LS_KIND_WORK | 1u << LS_KIND_PERCPU_RWSEM;

	return kinds >> ls_kind_of(h->val) & 1;
}

/*
 * The current task holds locks of @ctx where it should hold none. Stale entries are dropped.
 * The rest is one fault, about the topmost.
 */
static void held_at_end(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what)
{
	u64 mask = 0;
	u32 i;

	if (ctx->busy)
		return;
	ls_drop_moved(ctx, LS_TASK);
	ls_drop_semaphores(ctx, what == LS_FINDING_HELD_USER);
	for (i = ctx->depth; i-- > 0;)
		if (!may_be_passed_on(&ctx->held[i]) && !ls_still_held(&ctx->held[i])) {
			ls_held_remove(ctx, i);
			pc->stale++;
		}
	for (i = 0; i < ctx->depth; i++)
		if (!may_be_passed_on(&ctx->held[i]))
			mask |= 1ull << i;
	if (mask) {
		i = __fls(mask);
		ls_fault_here(pc, ctx, what, ctx->held[i].lock, what == LS_FINDING_HELD_EXIT ? 0 : ctx->held[i].ip,
			      ctx->held[i].val, mask, 0);
	}
}

/* The tick interrupted @user code. Hardirq. */
void ls_tick(struct ls_cpu *pc, bool user)
{
	struct ls_ctx *ctx;

	if (!user)
		return;
	ctx = likely(pc->cur == current) ? pc->task : ls_ctx_fix(pc);
	if (unlikely(ctx->depth))
		held_at_end(pc, ctx, LS_FINDING_HELD_USER);
}

/* The current task is about to exit. Preemption off. */
void ls_task_exits(struct ls_cpu *pc)
{
	struct ls_ctx *ctx = pc->cur == current ? pc->task : ls_ctx_fix(pc);

	if (unlikely(ctx->depth))
		held_at_end(pc, ctx, LS_FINDING_HELD_EXIT);
}

/*
 * schedule() has found preemption or softirqs off, or enabled once too often, and is about to
 * repair the count. Interrupts are on or off.
 */
void ls_schedule_bug(struct ls_cpu *pc)
{
	u32 level, entry;
	struct ls_ctx *ctx = ls_context(pc, &level);
	/* schedule() itself has turned preemption off once, this hook once or twice. */
	int excess = ls_count_value(preempt_count()) - (int)(2 * PREEMPT_OFFSET + ls_slack / 2);

	entry = ls_entry(level);
	/* A task that was below zero is right again from here on: nothing sleeps wrongly. */
	if (excess > 0 && !ls_task_repaired(entry))
		ls_fault_here(pc, ctx, LS_FINDING_SLEEP_ATOMIC, 0, ls_waiter_ip(), ls_where(level),
			      ls_spinning_mask(ctx, ctx->depth),
			      ls_atomic_by(excess & PREEMPT_MASK));
	ls_count_repaired(excess, entry);
}

/*
 * Code and data at [start, end) are about to go: no lock in there may be held. Other contexts
 * change meanwhile, so each is checked and reported from a copy. Process context.
 */
void ls_context_range_gone(unsigned long start, unsigned long end)
{
	struct ls_ctx *copy = kmalloc(sizeof(*copy), GFP_KERNEL);
	u32 i, k;

	if (!copy) {
		ls_lose(LS_LOSS_RECORDS);
		return;
	}
	for (i = 0; i < ls_context_count(); i++) {
		*copy = ls_contexts[i];
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

