// SPDX-License-Identifier: GPL-2.0
/* Hooks of rare or odd primitives. Any context. */
#include <linux/completion.h>
#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/semaphore.h>
#include <linux/workqueue.h>
#include <linux/ww_mutex.h>
#include <net/sock.h>

#include "base/lookup.h"
#include "base/preempt.h"
#include "check/access/access.h"
#include "check/access/handover.h"
#include "check/check.h"
#include "check/confirm.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "hook/hook.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/wrappers.h"

static void downgrade(struct ls_cpu *pc, u64 lock)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	int i = ctx->busy ? -1 : ls_held_find(ctx, lock);

	if (i >= 0)
		ls_held_set_read(ctx, i, LS_SHARED);
}

/* Equivalent to acquiring @lock and releasing it at once. */
static void wait_for(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);
	u32 lost = ctx->lost;

	ls_acquire(pc, lock, ip, desc);
	/* The depth cannot be compared: entries below may have been dropped. Runs are readers. */
	if (ls_held_is_top(ctx, lock) && !(ctx->held[ctx->depth - 1].val & LS_VAL_READ_MASK))
		ls_held_pop_top(ctx);
	/* There will be no release for it. */
	ctx->lost = lost;
}

/* Including clones that a compiler may make. */
static const char *const freezer_names[] = {
#define X(f) #f, #f ".part.0", #f ".isra.0", #f ".constprop.0",
	LS_FREEZERS(X)
#undef X
};

/* Code of LS_FREEZERS in the running kernel. */
static struct {
	unsigned long start, size;
} freezers[ARRAY_SIZE(freezer_names)];
static u32 nr_freezers;

/* Process context. */
void ls_special_init(void)
{
	u32 i;

	nr_freezers = 0;
	for (i = 0; i < ARRAY_SIZE(freezer_names); i++) {
		ls_find_function(freezer_names[i], &freezers[nr_freezers].start,
				 &freezers[nr_freezers].size);
		nr_freezers += freezers[nr_freezers].size != 0;
	}
}

/* Is @lock acquired or released at @ip to freeze or to thaw a file system? */
static bool freezes(u32 kind, u64 ip)
{
	u32 i;

	for (i = 0; kind == LS_KIND_PERCPU_RWSEM && i < nr_freezers; i++)
		if (ip - freezers[i].start < freezers[i].size)
			return true;
	return false;
}

#define WAIT_DESC LS_DESC(WORK, 0, 0, 0)

/*
 * Wait for the end of @work: equivalent to acquiring a lock that every run of this item holds.
 */
static void wait_for_work(struct ls_cpu *pc, struct work_struct *work, u64 ip)
{
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	if (!READ_ONCE(work->func) || !ctx->depth)
		return;
	wait_for(pc, ls_work_instance(work), ip, WAIT_DESC);
}

static void acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	if (freezes(desc >> LS_DESC_KIND_SHIFT, ip))
		wait_for(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
	else
		ls_acquire(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
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
		if (static_branch_unlikely(&ls_confirm_key)) {
			ls_confirm_at(lock, ip);
			/* The hooks may have been stopped, or the task moved, while it slept. */
			if (READ_ONCE(ls_active))
				acquire(this_cpu_ptr(&ls_cpus), lock, ip, desc);
			ls_confirm_done();
			break;
		}
		acquire(pc, lock, ip, desc);
		break;
	case LS_OP_RELEASE:
		if (freezes(kind, ip)) {
			this_cpu_inc(ls_cpus.releases);
			break;
		}
		dropped = kind == LS_KIND_SEMAPHORE && ls_semaphore_release(pc, lock, ip);
		ls_release(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		/* No entry depends on it any more. */
		if (dropped)
			ls_orphans_done(&ls.orphans, lock);
		break;
	case LS_OP_DOWNGRADE:
		downgrade(pc, lock);
		break;
	case LS_OP_INIT:
		ip = ls_lock_place(ip);
		ls_lock_initialised(pc, lock, ip);
		ls_identity_named(lock, kind, (const char *)arg1, ip);
		if (kind == LS_KIND_SPINLOCK)	/* __init_swait_queue_head() */
			ls_completion_made(pc, lock - offsetof(struct completion, wait));
		break;
	case LS_OP_INIT_UNNAMED:
		ip = ls_lock_place(ip);
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
		ls_memo_clear();
		break;
	case LS_OP_VFREE:
		ls_vmalloc_freed(arg0, ip);
		break;
	case LS_OP_WAIT_WORK:
		wait_for_work(pc, (struct work_struct *)arg0, ip);
		/*
		 * If it is idle already; otherwise a completion or the end of __flush_work()
		 * shows it.
		 */
		ls_waited(arg0 | LS_ENDED);
		break;
	case LS_OP_ALLOC_NET:
		ls_alloc_for_net((const struct pernet_operations *)arg0);
		break;
	case LS_OP_ALLOC_ALG:
		ls_alloc_for_alg((struct crypto_alg *)arg0);
		break;
	/*
	 * File systems bring an inode back to life whose memory was never freed (xfs). And one
	 * that is new belongs to the task that makes it: other tasks wait for its I_NEW bit
	 * before they take its locks.
	 */
	case LS_OP_REBORN:
		ls_life_begins(arg1);
		break;
	case LS_OP_PUBLISHED:
		ls_life_begins(arg0);
		break;
	case LS_OP_COMPLETE:
		ls_complete(pc, lock, ip);
		break;
	case LS_OP_WW_UNLOCK:
		ls_look_at_ww_unlock(pc, lock, ip);
		if (!ls_ww_unlock_covered)
			ls_release(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		break;
	case LS_OP_SCHEDULE_BUG:
		ls_schedule_bug(pc);
		break;
	case LS_OP_TICK:
		ls_tick(pc, arg0);
		break;
	}
out:
	ls_leave();
}

static noinline void at_gate(u64 lock, u64 ip)
{
	preempt_disable_notrace();
	if (ls_active) {
		ls_confirm_at(lock, ip);
		ls_confirm_trying();
	}
	ls_leave();
}

/* An acquisition that a signal or a timeout may end begins. */
void ls_hook_fallible(unsigned long lock, unsigned long ip, unsigned long func5)
{
	if (static_branch_unlikely(&ls_confirm_key))
		at_gate(lock + (ls_desc_of(func5) & LS_DESC_OFFSET), ip);
}

/* ww_mutex_lock() with acquire context @acquire (or none) begins. */
void ls_hook_ww(unsigned long lock, unsigned long acquire, unsigned long ip)
{
	struct ww_mutex *ww = (struct ww_mutex *)lock;

	if (static_branch_unlikely(&ls_confirm_key))
		at_gate(lock, ip);
	if (!acquire || likely(!READ_ONCE(ww->ctx)))
		return;
	preempt_disable_notrace();
	if (ls_active)
		ls_ww_begins(this_cpu_ptr(&ls_cpus), lock, ip);
	ls_leave();
}

/*
 * Entry of wait_for_completion() or a variant. @arg1: the timeout, if there is one. A wait
 * with a timeout is no deadlock.
 */
void ls_hook_wait(unsigned long completion, unsigned long arg1, unsigned long ip, unsigned long func5)
{
	u32 desc = ls_desc_of(func5);

	if (desc & LS_VAL_TRY && arg1 != MAX_SCHEDULE_TIMEOUT)
		return;
	preempt_disable_notrace();
	if (likely(ls_active))
		ls_wait_begins(this_cpu_ptr(&ls_cpus), completion, ip);
	ls_leave();
}
