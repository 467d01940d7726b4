// SPDX-License-Identifier: GPL-2.0
/*
 * What hooks have to tell the thread: sights of something new, and faults that
 * one sight alone shows. Any context, preemption off.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/stacktrace.h>

#include "lockscope.h"

/* Most frames between a hook and the code it hooked. */
#define OWN_FRAMES 13

/*
 * One event is enough for a fault at one place. A slot that two places fight for
 * costs further events, which the thread sorts out.
 */
#define TOLD_BITS 9
static u64 told[1 << TOLD_BITS];
static unsigned long sched_start, sched_end;

/* Where a function returns to whose return function_graph or a kretprobe traces; 0: not here. */
static unsigned long graph_return, probe_return;
static unsigned long iterators[2];	/* between a tracepoint and several who are attached to it */

void ls_events_clear(void)
{
	memset(told, 0, sizeof(told));
}

void ls_events_init(void)
{
	sched_start = ls_symbol("__sched_text_start");
	sched_end = ls_symbol("__sched_text_end");
	graph_return = ls_symbol("return_to_handler");
	probe_return = ls_symbol("arch_rethook_trampoline");
	iterators[0] = ls_symbol("__traceiter_kmalloc");
	iterators[1] = ls_symbol("__traceiter_kmalloc_node");
}

/*
 * The current stack, our own frames first; how many there are. The unwinder is a reader of
 * RCU: the end of one that an interrupt has come into may wake a thread, and takes the
 * scheduler's locks for it, unless interrupts are off.
 */
u32 ls_stack_save(unsigned long *frames, u32 size)
{
	unsigned long flags;
	u32 nr;

	raw_local_irq_save(flags);
	nr = stack_trace_save(frames, size, 0);
	raw_local_irq_restore(flags);
	return nr;
}

/* Is @ip no caller, but a tracer of returns that has put itself in a caller's place? Any context. */
bool ls_is_tracer(u64 ip)
{
	return ip && (ip == graph_return || ip == probe_return);
}

/* The unwinder knows whose place the tracer took. Preemption off. */
static noinline u64 traced_caller(u64 ip)
{
	unsigned long frames[OWN_FRAMES + 4];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), first = 0, i;

	while (first < nr && within_module(frames[first], THIS_MODULE))
		first++;
	/* Ours, ftrace's where it called us, the hooked function, its caller; without those in
	 * between where the function returns through us. */
	for (i = first; i + 1 < nr && i < first + 3; i++)
		if (ls_prims_hooks(frames[i]))
			return frames[i + 1];
	return first < nr ? frames[first] : ip;
}

/*
 * Who called the function that a hook is in, given the return address @ip that the hook
 * found. Any context, preemption off.
 */
u64 ls_caller(u64 ip)
{
	return unlikely(ls_is_tracer(ip)) ? traced_caller(ip) : ip;
}

/* Who called the allocator whose tracepoint a hook is on; 0: not known. Preemption off. */
u64 ls_allocator_caller(void)
{
	unsigned long frames[OWN_FRAMES + 4], size, offset;
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i = 0;

	while (i < nr && within_module(frames[i], THIS_MODULE))
		i++;
	if (i < nr && ls_size_offset && ls_size_offset(frames[i], &size, &offset) &&
	    (frames[i] - offset == iterators[0] || frames[i] - offset == iterators[1]))
		i++;
	return i + 1 < nr ? frames[i + 1] : 0;
}

/*
 * Stack from the place @ip down to the entry. Without a place: from whoever
 * called the scheduler, or where our own frames end.
 */
static u32 save_stack(u64 *to, unsigned long ip)
{
	unsigned long frames[LS_STACK_FRAMES + OWN_FRAMES];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames));
	u32 first = 0, i;

	if (!ip) {
		while (first < nr && within_module(frames[first], THIS_MODULE))
			first++;
		for (i = first; i < nr; i++)
			if (frames[i] >= sched_start && frames[i] < sched_end)
				first = i + 1;
		i = first;
	} else {
		for (i = 0; i < nr && frames[i] != ip; i++)
			;
	}
	/* The caller must be there even if the unwinder missed it. */
	if (i >= nr) {
		to[0] = ip;
		return 1;
	}
	nr = min_t(u32, nr - i, LS_STACK_FRAMES);
	memcpy(to, &frames[i], nr * sizeof(*to));
	return nr;
}

/* Who called the lock function that is about to wait. Any context. */
u64 ls_waiter_ip(void)
{
	unsigned long frames[OWN_FRAMES];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), first = 0, i;

	for (i = 0; i < nr; i++)
		if (frames[i] >= sched_start && frames[i] < sched_end)
			first = i + 1;
	/* The function may return through us. */
	while (first < nr && within_module(frames[first], THIS_MODULE))
		first++;
	return first < nr ? frames[first] : 0;
}

/* The innermost callers from the place @ip on, as one number. */
static u64 callers_of(u64 ip)
{
	unsigned long frames[OWN_FRAMES + LS_FAULT_CALLERS];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i, k;
	u64 key = ip;

	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	for (k = 0; i < nr && k < LS_FAULT_CALLERS; i++, k++)
		key = ls_mix(key + frames[i]);
	return key;
}

/*
 * Stack of @task, which sleeps, from the place @ip on; without one, from whoever
 * called the scheduler. May be none. Any context but hooks.
 */
u32 ls_task_stack(struct task_struct *task, u64 *to, u64 ip)
{
	static typeof(stack_trace_save_tsk) *save;
	unsigned long frames[LS_STACK_FRAMES + OWN_FRAMES];
	u32 nr, i;

	if (!save)
		save = (void *)ls_symbol("stack_trace_save_tsk");
	nr = save ? save(task, frames, ARRAY_SIZE(frames), 0) : 0;
	if (!ip) {
		for (i = 0; i < nr && frames[i] >= sched_start && frames[i] < sched_end; i++)
			;
		while (i < nr && within_module(frames[i], THIS_MODULE))
			i++;
		nr = min_t(u32, nr - i, LS_STACK_FRAMES);
		memcpy(to, &frames[i], nr * sizeof(*to));
		return nr;
	}
	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	if (i >= nr) {
		to[0] = ip;
		return 1;
	}
	nr = min_t(u32, nr - i, LS_STACK_FRAMES);
	memcpy(to, &frames[i], nr * sizeof(*to));
	return nr;
}

/* LS_TASK_* of the current task. Any context. */
u32 ls_task_flags(void)
{
	u32 flags = 0;

	if (current->flags & PF_KTHREAD)
		flags |= LS_TASK_KTHREAD;
	if (current->flags & PF_WQ_WORKER)
		flags |= LS_TASK_WORKER;
	return flags;
}

/* Room for an event about @ctx, NULL when there is none now. */
struct ls_event *ls_event_reserve(struct ls_cpu *pc, const struct ls_ctx *ctx)
{
	return ls_ring_reserve(&pc->ring, sizeof(struct ls_event) + sizeof(struct ls_rec_sight) +
					  ctx->depth * sizeof(struct ls_held_rec) +
					  LS_STACK_FRAMES * sizeof(u64));
}

/*
 * An event as it lies in the ring: ls_event, ls_rec_sight (its header unused but
 * for LS_EV_* flags, nr_held entries behind it), then the frames of its stack;
 * ls_rec_sight.stack says how many. Instances are told by address and life here: by
 * the time the thread looks, the objects may be others.
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
		s->held[i].pad = 0;
	}
	s->stack = save_stack((u64 *)&s->held[ctx->depth], ip);
	if (!ip)
		s->ip = *(u64 *)&s->held[ctx->depth];
}

/*
 * A fault: @what is an enum ls_finding_kind, @val the lock's class and how it is
 * or was to be held (class 0: no lock, only where we are), @mask the entries of
 * @ctx that matter. @ip 0: wherever the stack says. @ctx is busy, or not the current one.
 */
void ls_fault(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val, u64 mask,
	      u64 extra)
{
	u64 key, *slot;
	struct ls_event *e;

	/*
	 * Where no place is given, what is held tells one fault from another; where it
	 * is about no lock, who called: the place alone may be in the allocator.
	 */
	key = !ip ? ctx->key ^ current->pid : val & LS_VAL_CLASS_MASK ? ip : callers_of(ip);
	key = ls_mix(ls_mix(key) + (val & LS_VAL_CLASS_MASK) * 32 + what) | 1;
	slot = &told[key >> (64 - TOLD_BITS)];
	if (ls_load(slot) == key)
		return;
	e = ls_event_reserve(pc, ctx);
	if (!e) {
		ls_lose(LS_LOSS_RECORDS);
		return;
	}
	ls_store(slot, key);
	ls_event_fill(e, ctx, what, lock, ip, val, mask, 0, 0, extra);
	ls_ring_commit(e);
	ls_wake_worker();
}

/* The same from a context that is not busy yet. */
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

/*
 * Set the thread to work; at most one irq_work is under way on a CPU. One that comes or
 * goes takes locks while nobody serves its interrupts: an irq_work queued then would stay,
 * and no other on this CPU, not the kernel's either, would be raised ever after. The
 * thread looks by itself a few times a second.
 */
void ls_wake_worker(void)
{
	if (unlikely(!cpu_online(raw_smp_processor_id())))
		return;
	irq_work_queue(this_cpu_ptr(&ls_cpus.work));
}
