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
u32 ls_slack __read_mostly;		/* what a hooking method may add to preempt_count() */

/*
 * Wake the worker; at most one irq_work is pending on a CPU. A CPU that goes online or offline
 * acquires locks while its interrupts are not served: an irq_work queued then would stay
 * pending, and no other one on this CPU, not even the kernel's, would be raised afterwards.
 * The worker also polls a few times a second.
 */
void ls_wake_worker(void)
{
	if (unlikely(!cpu_online(raw_smp_processor_id())))
		return;
	irq_work_queue(this_cpu_ptr(&ls_cpus.work));
}
