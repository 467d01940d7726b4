// SPDX-License-Identifier: GPL-2.0
/*
 * Called by the trampolines of acquisitions and releases. Any context, NMI included. The fast
 * paths have no function call; everything else goes to acquire.c and release.c.
 */
#include <linux/hardirq.h>
#include <linux/kernel.h>

#include "base/preempt.h"
#include "check/check.h"
#include "check/confirm.h"
#include "core/context.h"
#include "core/prims.h"
#include "hook/hook.h"
#include "identity/lookup.h"

static noinline void acquire_leave(u64 lock, u64 ip, unsigned long func5)
{
	if (!ls_active)
		goto out;
	if (static_branch_unlikely(&ls_confirm_key)) {
		ls_confirm_at(lock, ip);
		/* The hooks may have been stopped while it slept. */
		if (READ_ONCE(ls_active))
			ls_acquire(this_cpu_ptr(&ls_cpus), lock, ip, ls_desc_of(func5));
		ls_confirm_done();
		goto out;
	}
	ls_acquire(this_cpu_ptr(&ls_cpus), lock, ip, ls_desc_of(func5));
out:
	ls_leave();
}

/* The same for a lock that is held already: it is too late to keep it apart from others. */
static noinline void acquired_leave(u64 lock, u64 ip, unsigned long func5)
{
	if (ls_active)
		ls_acquire(this_cpu_ptr(&ls_cpus), lock, ip, ls_desc_of(func5));
	ls_leave();
}

/*
 * Fast path: a task acquires a lock of a known class in a known chain. Equivalent to
 * ls_acquire() but without a call, so that the compiler saves few registers or none; all other
 * cases go to @slow at the start.
 */
static __always_inline void acquire_usual(u64 lock, u64 ip, unsigned long func5, bool is_static,
					  void (*slow)(u64 lock, u64 ip, unsigned long func5))
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *ctx;
	u64 key;
	u32 val, desc;

	/* No task is current while recording is off. */
	if (unlikely(count & LS_COUNT_UNUSUAL) ||
	    unlikely(pc->cur != current))
		goto unusual;
	ctx = pc->task;
	/* A static lock's key has no kind. Looked up here it would take one register more. */
	desc = is_static ? 0 : ls_desc_of(func5);
	val = is_static ? ls_classes_fast(&ls.classes, ls_key_address(lock)) :
			  ls_class_known(lock, desc >> LS_DESC_KIND_SHIFT, false);
	if (unlikely(!val) || unlikely(ctx->state >= LS_MAX_DEPTH))
		goto unusual;
	if (is_static)
		desc = ls_desc_of(func5);
	val |= ls_how(desc, count);
	/* Readers with softirqs off are recursive readers. */
	if (unlikely((val & LS_VAL_BH_OFF) && (val & LS_VAL_READ_MASK)))
		goto unusual;
	if (!(desc & LS_DESC_SLEEPS)) {
		if (unlikely(ls_rearms(ip)))
			goto unusual;
	} else if (unlikely(val & LS_VAL_IRQ_OFF) ||
		   unlikely(((u32)count ^ PREEMPT_OFFSET) | (u32)ls_rcu_depth())) {
		goto unusual;
	}
	key = ls_chain_mix(ctx->key, val);
	if (unlikely(!ls_tagtab_below(&ls.chains.tab, key, LS_CHAIN_SLOW_MIN)))
		goto unusual;
	if (unlikely(!--pc->sample)) {
		pc->sample = 1;		/* the slow path counts it again */
		goto unusual;
	}
	this_cpu_inc(ls_cpus.acquisitions[LS_TASK]);
	ls_held_push(ctx, lock, ip, val, key);
	ls_leave();
	return;
unusual:
	slow(lock, ip, func5);
}

static noinline void acquire_object(u64 lock, u64 ip, unsigned long func5)
{
	acquire_usual(lock, ip, func5, false, acquire_leave);
}

void __noendbr ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5)
{
	preempt_disable_notrace();
	if (lock >= __START_KERNEL_map)
		acquire_usual(lock, ip, func5, true, acquire_leave);
	else
		acquire_object(lock, ip, func5);
}

static noinline void release_leave(u64 lock, const unsigned long *frame)
{
	if (ls_active)
		ls_release(this_cpu_ptr(&ls_cpus), lock, frame[1], ls_desc_of(frame[0]));
	ls_leave();
}

/* @frame: return address into the hooked function, then that of its caller. */
void __noendbr ls_hook_release(unsigned long lock, const unsigned long *frame)
{
	unsigned long count;
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	struct ls_held *h;
	u64 top;

	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	count = preempt_count();
	if (unlikely(count & LS_COUNT_UNUSUAL) ||
	    unlikely(pc->cur != current))
		goto unusual;
	ctx = pc->task;
	top = ctx->state - 1;
	h = &ctx->held[top];
	if (unlikely(top >= LS_MAX_DEPTH) || unlikely(h->lock != lock))
		goto unusual;
	/* Are the interrupts that were off at the acquire on again? */
	if (h->val & (LS_VAL_IRQ_OFF | LS_VAL_BH_OFF)) {
		if (h->val & LS_VAL_IRQ_OFF && unlikely(native_save_fl() & X86_EFLAGS_IF))
			goto unusual;
		if (h->val & LS_VAL_BH_OFF && unlikely(!(count & SOFTIRQ_MASK)))
			goto unusual;
	}
	this_cpu_inc(ls_cpus.releases);
	ctx->depth = top;
	ctx->key = h->below;
	ls_leave();
	return;
unusual:
	release_leave(lock, frame);
}

static noinline void acquired_usual(u64 lock, u64 ip, unsigned long func5)
{
	acquire_usual(lock, ip, func5, false, acquired_leave);
}

/* Kinds with more to look at than the value. */
#define ODD_RESULTS								\
	(1u << LS_KIND_WW_MUTEX | 1u << LS_KIND_COMPLETION | 1u << LS_KIND_WORK |	\
	 1u << LS_KIND_SEMAPHORE)

static noinline void odd_result(u64 lock, u64 ip, u32 desc, unsigned long ret, bool taken, u64 arg1)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	switch (desc >> LS_DESC_KIND_SHIFT) {
	case LS_KIND_COMPLETION:
	case LS_KIND_WORK:
		ls_wait_over(lock + (desc & LS_DESC_OFFSET), desc, ret);
		return;
	case LS_KIND_WW_MUTEX:
		if (!(desc & LS_VAL_TRY))
			ls_look_at_ww(pc, lock, ip, arg1, ret);
		if (arg1)
			desc |= LS_VAL_CTX;
		if (taken && arg1 && ls_ww_enough(pc, lock, ip))
			return;
	}
	if (taken)
		ls_acquire(pc, lock + (desc & LS_DESC_OFFSET), ip, desc);
}

/* @arg1: second argument of the primitive; for a ww_mutex, the acquire context. */
void __noendbr ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5,
			      unsigned long ret, unsigned long arg1)
{
	u32 desc;
	bool taken;

	preempt_disable_notrace();
	if (likely(ls_active)) {
		desc = ls_desc_of(func5);
		taken = desc & LS_DESC_BOOL ? (ret & 0xff) : (u32)ret;
		if (desc & LS_DESC_ZERO)
			taken = !taken;
		if (unlikely(ODD_RESULTS >> (desc >> LS_DESC_KIND_SHIFT) & 1)) {
			odd_result(lock, ip, desc, ret, taken, arg1);
		} else if (taken) {
			acquired_usual(lock + (desc & LS_DESC_OFFSET), ip, func5);
			return;
		}
	}
	ls_leave();
}
