// SPDX-License-Identifier: GPL-2.0
/*
 * Events from hooks to the worker: observations of something new, and faults that a single
 * observation shows. Any context, preemption off.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "check/events.h"
#include "core/context.h"
#include "core/stacks.h"
#include "core/state.h"
#include "identity/alloc.h"

/*
 * One event is enough for a fault at one place. Two places that share a slot cost further
 * events, which the worker drops.
 */
#define REPORTED_BITS 9
static u64 reported[1 << REPORTED_BITS];

void ls_events_clear(void)
{
	memset(reported, 0, sizeof(reported));
}

/* Reserve an event about @ctx; NULL when there is no room now. */
struct ls_event *ls_event_reserve(struct ls_cpu *pc, const struct ls_ctx *ctx)
{
	return ls_ring_reserve(&pc->ring, sizeof(struct ls_event) + sizeof(struct ls_rec_sight) +
					  ctx->depth * sizeof(struct ls_held_rec) +
					  LS_STACK_FRAMES * sizeof(u64));
}

/*
 * An event as it lies in the ring, see event.h. Instances are identified by address and life
 * here: by the time the worker takes the event, the objects may be others.
 */
void ls_event_fill(struct ls_event *e, const struct ls_ctx *ctx, u32 what, u64 lock, u64 ip,
		   u32 val, u64 mask, u32 chain, u32 flags, u64 extra)
{
	struct ls_rec_sight *s = (struct ls_rec_sight *)(e + 1);
	u32 i;

	ip = ls_caller(ip);
	s->hdr = (struct ls_rec){ .flags = flags };
	s->time_ns = local_clock();
	s->new_mask = mask;
	s->ip = ip;
	s->lock = ls_lock_instance(lock);
	s->val = val;
	s->chain = chain;
	s->pid = current->pid;
	s->tgid = current->tgid;
	s->task_flags = ls_task_flags();
	s->nr_held = ctx->depth;
	s->cpu = smp_processor_id();
	s->what = what;
	s->extra = extra;
	memcpy(s->comm, current->comm, LS_COMM_LEN);
	for (i = 0; i < ctx->depth; i++) {
		s->held[i].val = ctx->held[i].val;
		s->held[i].ip = ctx->held[i].ip;
		s->held[i].lock = ls_lock_instance(ctx->held[i].lock);
		s->held[i].passed = 0;
	}
	s->stack = ls_stack_from((u64 *)&s->held[ctx->depth], ip);
	if (!ip)
		s->ip = *(u64 *)&s->held[ctx->depth];
}

/*
 * Observation of @s, one CPU of a ring (spinring.h): as that of a task of a deadlock (waits.c).
 * @number: the same for all of the ring, the @last one of which completes it. The stack of another
 * CPU is not known.
 */
void ls_event_spinner(struct ls_cpu *pc, const struct ls_spin_view *view, const struct ls_spinner *s,
		      u64 number, bool last)
{
	const struct ls_cpu *other = per_cpu_ptr(&ls_cpus, s->cpu);
	struct task_struct *task = READ_ONCE(other->cur);
	struct ls_rec_sight *sight;
	struct ls_event *e;
	struct ls_held h;
	u32 nr = 0, i;
	u64 *frames;

	while (nr < LS_MAX_DEPTH && ls_spinner_held(view, s, nr, &h))
		nr++;
	e = ls_ring_reserve(&pc->ring, sizeof(*e) + sizeof(*sight) + nr * sizeof(struct ls_held_rec) +
				       LS_STACK_FRAMES * sizeof(u64));
	if (!e) {
		ls_lose(LS_LOSS_RECORDS);
		return;
	}
	sight = (struct ls_rec_sight *)(e + 1);
	*sight = (struct ls_rec_sight){
		.hdr.flags = LS_EV_RING | (last ? LS_EV_RING_LAST : 0),
		.time_ns = local_clock(), .ip = s->waits.ip, .lock = ls_lock_instance(s->waits.lock),
		.val = s->waits.val, .nr_held = nr, .cpu = s->cpu, .what = LS_FINDING_DEADLOCK,
		.extra = number,
	};
	copy_from_kernel_nofault(sight->comm, task->comm, LS_COMM_LEN);
	get_kernel_nofault(sight->pid, &task->pid);
	get_kernel_nofault(sight->tgid, &task->tgid);
	for (i = 0; i < nr; i++) {
		if (!ls_spinner_held(view, s, i, &h))
			h = (struct ls_held){ };
		if (h.lock == s->holds.lock)
			sight->new_mask = 1ull << i;
		sight->held[i] = (struct ls_held_rec){
			.val = h.val, .ip = h.ip, .lock = ls_lock_instance(h.lock),
		};
	}
	frames = (u64 *)&sight->held[nr];
	if (s->cpu == smp_processor_id()) {
		sight->task_flags = ls_task_flags();
		sight->stack = ls_stack_from(frames, s->waits.ip);
	} else {
		frames[0] = s->waits.ip;
		sight->stack = 1;
	}
	ls_ring_commit(e);
}

/*
 * Is a fault shown by the preemption count, or by locks that were kept by it, where the entries
 * @mask of the held-lock stack are its reason? They are one in themselves.
 */
static bool by_count(u32 what, u64 mask)
{
	return what == LS_FINDING_SLEEP_ATOMIC ? !mask :
	       what == LS_FINDING_DOUBLE_UNLOCK || what == LS_FINDING_BAD_UNLOCK ||
	       what == LS_FINDING_HELD_USER || what == LS_FINDING_HELD_EXIT;
}

/*
 * A fault: @what is an enum ls_finding_kind, @val the lock's class and how it is or was to be
 * held (class 0: no lock, only the context), @mask the entries of @ctx that matter. @ip 0:
 * taken from the stack. @ctx is busy, or not the current one.
 */
void ls_fault(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val, u64 mask,
	      u64 extra)
{
	bool repaired = by_count(what, mask) && ls_task_repaired(ls_entry(LS_TASK));
	u64 key, *slot;
	struct ls_event *e;

	/*
	 * Without a place, faults are distinguished by the held locks; without a lock, by the
	 * callers: the place alone may be in the allocator.
	 */
	key = !ip ? ctx->key ^ current->pid : val & LS_VAL_CLASS_MASK ? ip : ls_callers_of(ip);
	key = ls_mix(ls_mix(key) + (val & LS_VAL_CLASS_MASK) * LS_FAULT_KINDS + what + repaired * ls_mix(1)) | 1;
	slot = &reported[key >> (64 - REPORTED_BITS)];
	if (ls_load(slot) == key)
		return;
	e = ls_event_reserve(pc, ctx);
	if (!e) {
		ls_lose(LS_LOSS_RECORDS);
		return;
	}
	ls_store(slot, key);
	ls_event_fill(e, ctx, what, lock, ip, val, mask, 0, 0, extra);
	if (unlikely(repaired))
		((struct ls_rec_sight *)(e + 1))->task_flags |= LS_TASK_REPAIRED;
	ls_ring_commit(e);
	ls_wake_worker();
}

/* The same for a context that is not busy yet. */
void ls_fault_here(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val,
		   u64 mask, u64 extra)
{
	if (ctx->busy)
		return;
	ctx->busy = 1;
	barrier();
	ls_fault(pc, ctx, what, lock, ip, val, mask, extra);
	barrier();
	ctx->busy = 0;
}

