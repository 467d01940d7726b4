// SPDX-License-Identifier: GPL-2.0
/* Per-CPU data: preemption off is a lock for it, on its own processor only. */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "races.h"

/* All copies are set from one processor, whatever the others are doing. */
static DEFINE_PER_CPU(unsigned long, pcpu_reset_v);

static __side void pcpu_reset_set(void)
{
	get_cpu_var(pcpu_reset_v) = ls_value();
	put_cpu_var(pcpu_reset_v);
}

static __side void pcpu_reset_all(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		per_cpu(pcpu_reset_v, cpu) = 0;
}

static DEFINE_PER_CPU(unsigned long, pcpu_reset_ok_v);

static __side void pcpu_reset_ok_set(void)
{
	get_cpu_var(pcpu_reset_ok_v) = ls_value();
	put_cpu_var(pcpu_reset_ok_v);
}

static __side void pcpu_reset_ok_own(void)
{
	get_cpu_var(pcpu_reset_ok_v) = 0;
	put_cpu_var(pcpu_reset_ok_v);
}

/* Preemption off, but it is another processor's copy. */
static DEFINE_PER_CPU(unsigned long, pcpu_other_v);

static __side void pcpu_other_own(void)
{
	get_cpu_var(pcpu_other_v) = ls_value();
	put_cpu_var(pcpu_other_v);
}

static __side void pcpu_other_first(void)
{
	preempt_disable();
	per_cpu(pcpu_other_v, cpumask_first(cpu_online_mask)) = ls_value();
	preempt_enable();
}

static DEFINE_PER_CPU(unsigned long, pcpu_other_ok_v);

static __side void pcpu_other_ok_own(void)
{
	get_cpu_var(pcpu_other_ok_v) = ls_value();
	put_cpu_var(pcpu_other_ok_v);
}

static __side void pcpu_other_ok_too(void)
{
	get_cpu_var(pcpu_other_ok_v) = ls_value();
	put_cpu_var(pcpu_other_ok_v);
}

/* Two tasks of one processor, and preemption on. */
static DEFINE_PER_CPU(int, pcpu_on_v);

static __side void pcpu_on_a(void)
{
	*raw_cpu_ptr(&pcpu_on_v) = ls_value();
}

static __side void pcpu_on_b(void)
{
	*raw_cpu_ptr(&pcpu_on_v) = ls_value();
}

static DEFINE_PER_CPU(int, pcpu_on_ok_v);

static __side void pcpu_on_ok_a(void)
{
	int *p = get_cpu_ptr(&pcpu_on_ok_v);

	*p = ls_value();
	put_cpu_ptr(&pcpu_on_ok_v);
}

static __side void pcpu_on_ok_b(void)
{
	preempt_disable();
	*this_cpu_ptr(&pcpu_on_ok_v) = ls_value();
	preempt_enable();
}

/* Preemption off does not keep interrupts away. */
static DEFINE_PER_CPU(long, pcpu_irq_v);

static __side void pcpu_irq_a(void)
{
	get_cpu_var(pcpu_irq_v) = ls_value();
	put_cpu_var(pcpu_irq_v);
}

static __side void pcpu_irq_irq(void)
{
	*this_cpu_ptr(&pcpu_irq_v) = ls_value();
}

static DEFINE_PER_CPU(long, pcpu_irq_ok_v);

static __side void pcpu_irq_ok_a(void)
{
	unsigned long flags;

	local_irq_save(flags);
	*this_cpu_ptr(&pcpu_irq_ok_v) = ls_value();
	local_irq_restore(flags);
}

static __side void pcpu_irq_ok_irq(void)
{
	*this_cpu_ptr(&pcpu_irq_ok_v) = ls_value();
}

const struct ls_case race_percpu_cases[] = {
	{ "pcpu_reset", LS_FAULT, LS_RACE, "all processors' copies set with preemption on",
	  "severity!=note variable=pcpu_reset_v",
	  .side = { SIDE(pcpu_reset_set), SIDE(pcpu_reset_all) } },
	{ "pcpu_reset_ok", LS_TWIN, LS_RACE, "each processor's copy set there with preemption off",
	  "", .side = { SIDE(pcpu_reset_ok_set), SIDE(pcpu_reset_ok_own) } },
	{ "pcpu_other", LS_FAULT, LS_RACE, "another processor's copy set with preemption off",
	  "severity!=note variable=pcpu_other_v",
	  .side = { SIDE(pcpu_other_own), SIDE(pcpu_other_first) }, .cpus = LS_CPUS_TWO },
	{ "pcpu_other_ok", LS_TWIN, LS_RACE, "two processors, each sets its own copy",
	  "", .side = { SIDE(pcpu_other_ok_own), SIDE(pcpu_other_ok_too) }, .cpus = LS_CPUS_TWO },
	{ "pcpu_on", LS_FAULT, LS_RACE, "two tasks of one processor with preemption on",
	  "severity!=note variable=pcpu_on_v",
	  .side = { SIDE(pcpu_on_a), SIDE(pcpu_on_b) }, .cpus = LS_CPUS_SAME },
	{ "pcpu_on_ok", LS_TWIN, LS_RACE, "two tasks of one processor with preemption off",
	  "", .side = { SIDE(pcpu_on_ok_a), SIDE(pcpu_on_ok_b) }, .cpus = LS_CPUS_SAME },
	{ "pcpu_irq", LS_FAULT, LS_RACE, "preemption off against an interrupt of the processor",
	  "severity!=note variable=pcpu_irq_v",
	  .side = { SIDE(pcpu_irq_a), IN(LS_HRTIMER, pcpu_irq_irq) }, .cpus = LS_CPUS_SAME },
	{ "pcpu_irq_ok", LS_TWIN, LS_RACE, "interrupts off against an interrupt of the processor",
	  "", .side = { SIDE(pcpu_irq_ok_a), IN(LS_HRTIMER, pcpu_irq_ok_irq) },
	  .cpus = LS_CPUS_SAME },
	{ }
};
