// SPDX-License-Identifier: GPL-2.0
/*
 * Stack traces in hooks: without frames of this module, and with the return addresses that
 * return tracers replace.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include "abi.h"
#include "base/lookup.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "hash.h"

/* Most frames between a hook and the hooked code. */
#define OWN_FRAMES 13

static unsigned long sched_start, sched_end;

/*
 * Return addresses of traced functions, under function_graph and under kretprobes; 0: not
 * available.
 */
static unsigned long graph_return, probe_return;
static unsigned long iterators[2];	/* between a tracepoint and several attached probes */

void ls_stacks_init(void)
{
	sched_start = ls_symbol("__sched_text_start");
	sched_end = ls_symbol("__sched_text_end");
	graph_return = ls_symbol("return_to_handler");
	probe_return = ls_symbol("arch_rethook_trampoline");
	iterators[0] = ls_symbol("__traceiter_kmalloc");
	iterators[1] = ls_symbol("__traceiter_kmalloc_node");
}

/*
 * The current stack, including frames of this module; returns its length. The unwinder is an
 * RCU reader: rcu_read_unlock() of one that was interrupted may wake a thread, and takes the
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

/* The first of @frames from @i on that is not ours. */
static u32 skip_own(const unsigned long *frames, u32 nr, u32 i)
{
	while (i < nr && within_module(frames[i], THIS_MODULE))
		i++;
	return i;
}

/* Where @frames have the place @ip; @nr: nowhere. */
static u32 find_place(const unsigned long *frames, u32 nr, u64 ip)
{
	u32 i;

	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	return i;
}

/*
 * What is kept of @frames, from frame @i on; @ip alone where the unwinder missed it. Any
 * context, preemption off.
 */
u32 ls_stack_keep(u64 *to, const unsigned long *frames, u32 nr, u32 i, u64 ip)
{
	if (i >= nr) {
		to[0] = ip;
		return 1;
	}
	nr = min_t(u32, nr - i, LS_STACK_FRAMES);
	memcpy(to, &frames[i], nr * sizeof(*to));
	return nr;
}

/* Is @ip a return tracer's address instead of a caller? Any context. */
bool ls_is_tracer(u64 ip)
{
	return ip && (ip == graph_return || ip == probe_return);
}

/* The unwinder knows the return address that the tracer replaced. Preemption off. */
static noinline u64 traced_caller(u64 ip)
{
	unsigned long frames[OWN_FRAMES + 4];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), first = skip_own(frames, nr, 0), i;

	/*
	 * This module, ftrace's call, the hooked function, its caller; the second and third
	 * are missing where the function returns through the trampoline.
	 */
	for (i = first; i + 1 < nr && i < first + 3; i++)
		if (ls_prims_hooks(frames[i]))
			return frames[i + 1];
	return first < nr ? frames[first] : ip;
}

/*
 * Caller of the hooked function, given the return address @ip that the hook found. Any
 * context, preemption off.
 */
u64 ls_caller(u64 ip)
{
	return unlikely(ls_is_tracer(ip)) ? traced_caller(ip) : ip;
}

/* Caller of the allocator whose tracepoint is being handled; 0: not known. Preemption off. */
u64 ls_allocator_caller(void)
{
	unsigned long frames[OWN_FRAMES + 4], size, offset;
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i = skip_own(frames, nr, 0);

	if (i < nr && ls_size_offset && ls_size_offset(frames[i], &size, &offset) &&
	    (frames[i] - offset == iterators[0] || frames[i] - offset == iterators[1]))
		i++;
	return i + 1 < nr ? frames[i + 1] : 0;
}

static bool in_scheduler(unsigned long frame)
{
	return frame >= sched_start && frame < sched_end;
}

/* Behind the outermost of @frames from @first on that is the scheduler's; @first: none is. */
static u32 behind_scheduler(const unsigned long *frames, u32 nr, u32 first)
{
	u32 i;

	for (i = first; i < nr; i++)
		if (in_scheduler(frames[i]))
			first = i + 1;
	return first;
}

/*
 * Stack from @ip outwards. Without @ip: from the caller of the scheduler, or from the first
 * frame outside this module.
 */
u32 ls_stack_from(u64 *to, unsigned long ip)
{
	unsigned long frames[LS_STACK_FRAMES + OWN_FRAMES];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames));
	u32 i = ip ? find_place(frames, nr, ip) : behind_scheduler(frames, nr, skip_own(frames, nr, 0));

	/* The caller must be there even if the unwinder missed it. */
	return ls_stack_keep(to, frames, nr, i, ip);
}

/* Caller of the lock function that is about to wait. Any context. */
u64 ls_waiter_ip(void)
{
	unsigned long frames[OWN_FRAMES];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames));
	/* The function may return through a trampoline of this module. */
	u32 first = skip_own(frames, nr, behind_scheduler(frames, nr, 0));

	return first < nr ? frames[first] : 0;
}

/* Hash of the innermost callers from @ip outwards. */
u64 ls_callers_of(u64 ip)
{
	unsigned long frames[OWN_FRAMES + LS_FAULT_CALLERS];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i = find_place(frames, nr, ip), k;
	u64 key = ip;

	for (k = 0; i < nr && k < LS_FAULT_CALLERS; i++, k++)
		key = ls_mix(key + frames[i]);
	return key;
}

/*
 * Stack of the sleeping @task from @ip outwards; without @ip, from the caller of the
 * scheduler. May be empty. Any context but hooks.
 */
u32 ls_task_stack(struct task_struct *task, u64 *to, u64 ip)
{
	static typeof(stack_trace_save_tsk) *save;
	unsigned long frames[LS_STACK_FRAMES + OWN_FRAMES];
	u32 nr, i;

	if (!save)
		save = (void *)ls_symbol("stack_trace_save_tsk");
	nr = save ? save(task, frames, ARRAY_SIZE(frames), 0) : 0;
	if (ip)
		return ls_stack_keep(to, frames, nr, find_place(frames, nr, ip), ip);
	for (i = 0; i < nr && in_scheduler(frames[i]); i++)
		;
	i = skip_own(frames, nr, i);
	return i < nr ? ls_stack_keep(to, frames, nr, i, 0) : 0;
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
