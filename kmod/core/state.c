// SPDX-License-Identifier: GPL-2.0
/* One CPU's state, and the tables that all CPUs share. */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/smp.h>

#include "core/state.h"

DEFINE_PER_CPU_ALIGNED(struct ls_cpu, ls_cpus);
struct ls_tables ls __cacheline_aligned;
int ls_active __read_mostly;

bool ls_strict __read_mostly;		/* any nesting of a class in itself is a fault */
u32 ls_slack __read_mostly;		/* what a way of hooking may add to preempt_count() */

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
