// SPDX-License-Identifier: GPL-2.0
/* Task exit, and places that may sleep, reached in atomic context. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "base/preempt.h"
#include "base/tracepoint.h"
#include "base/wrapper/tracepoint.h"
#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "core/prims.h"
#include "hook/hook.h"

static void on_exit(void *data, struct task_struct *task)
{
	if (!READ_ONCE(ls_active) || task != current)
		return;
	preempt_disable_notrace();
	ls_task_exits(this_cpu_ptr(&ls_cpus));
	ls_repaired_forget(task);
	ls_leave();
}

/* For ls_tramp_sleep: offset of the depth of RCU read sides in struct task_struct. */
static void __used __maybe_unused export_offsets(void)
{
	asm volatile(".globl ls_rcu_nesting\n\t.set ls_rcu_nesting, %c0"
		     : : "i" (offsetof(struct task_struct, rcu_read_lock_nesting)));
}

/* A place that may sleep was reached in atomic context. Called by the trampoline, any context. */
void ls_hook_sleep(unsigned long ip)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;

	preempt_disable_notrace();
	if (!ls_active || oops_in_progress || system_state != SYSTEM_RUNNING)
		goto out;
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	if (level == LS_TASK && is_idle_task(current))
		goto out;
	/* Lock functions are such places too; they are checked at the acquire. */
	if (ctx->busy || ls_prims_acquire_in(ip))
		goto out;
	ls_fault_here(pc, ctx, LS_FINDING_SLEEP_ATOMIC, 0, ip, ls_where(level),
		      ls_spinning_mask(ctx, ctx->depth), ls_atomic_in(preempt_count()));
out:
	ls_leave();
}

/*
 * Kernel code faulted on user memory. In atomic context the access fails, unless the code
 * expects that (pagefault_disable()).
 */
static void on_kernel_fault(void *data, unsigned long address, struct pt_regs *regs,
			    unsigned long error_code)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level, count = preempt_count();
	u64 mask;

	if (!READ_ONCE(ls_active) || address >= TASK_SIZE_MAX || current->pagefault_disabled ||
	    !current->mm || in_nmi())
		return;
	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	mask = ls_spinning_mask(ctx, ctx->depth);
	if (mask || (count & (HARDIRQ_MASK | SOFTIRQ_MASK)) || (count & PREEMPT_MASK) > LS_TRACEPOINT_PREEMPT ||
	    !(regs->flags & X86_EFLAGS_IF))
		ls_fault_here(pc, ctx, LS_FINDING_SLEEP_ATOMIC, 0, regs->ip, ls_where(level), mask,
			      ls_atomic_by((count & PREEMPT_MASK) > LS_TRACEPOINT_PREEMPT));
	ls_leave();
}

static const struct {
	const char *name;
	void *probe;
} probes[] = {
	{ "sched_process_exit", on_exit },
	{ "page_fault_kernel", on_kernel_fault },
};

int ls_task_attach(void)
{
	u32 i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		rc = ls_tracepoint_attach(probes[i].name, probes[i].probe, NULL);
		if (rc)
			pr_warn("no tracepoint %s (%d)\n", probes[i].name, rc);
	}
	return 0;
}

void ls_task_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		ls_tracepoint_detach(probes[i].name, probes[i].probe, NULL);
}
