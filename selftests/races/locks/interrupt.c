// SPDX-License-Identifier: GPL-2.0
/* Data shared with interrupts. */
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "races.h"

/* The task leaves interrupts on. */
static unsigned long irq_task_v __shared;

static __side void irq_task_a(void)
{
	irq_task_v = ls_value();
}

static __side void irq_task_irq(void)
{
	irq_task_v = ls_value();
}

static unsigned long irq_task_ok_v __shared;
static DEFINE_SPINLOCK(irq_task_ok_s);

static __side void irq_task_ok_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_task_ok_s, flags);
	irq_task_ok_v = ls_value();
	spin_unlock_irqrestore(&irq_task_ok_s, flags);
}

static __side void irq_task_ok_irq(void)
{
	spin_lock(&irq_task_ok_s);
	irq_task_ok_v = ls_value();
	spin_unlock(&irq_task_ok_s);
}

/* A mutex among tasks does not impress an interrupt. */
static int irq_mutex_v __shared;
static DEFINE_MUTEX(irq_mutex_m);

static __side void irq_mutex_a(void)
{
	mutex_lock(&irq_mutex_m);
	irq_mutex_v = ls_value();
	mutex_unlock(&irq_mutex_m);
}

static __side void irq_mutex_irq(void)
{
	ls_use(irq_mutex_v);
}

static int irq_mutex_ok_v __shared;
static DEFINE_MUTEX(irq_mutex_ok_m);
static DEFINE_SPINLOCK(irq_mutex_ok_s);

static __side void irq_mutex_ok_a(void)
{
	mutex_lock(&irq_mutex_ok_m);
	spin_lock_irq(&irq_mutex_ok_s);
	irq_mutex_ok_v = ls_value();
	spin_unlock_irq(&irq_mutex_ok_s);
	mutex_unlock(&irq_mutex_ok_m);
}

static __side void irq_mutex_ok_irq(void)
{
	spin_lock(&irq_mutex_ok_s);
	ls_use(irq_mutex_ok_v);
	spin_unlock(&irq_mutex_ok_s);
}

/* Softirqs off leaves hard interrupts on. */
static unsigned int irq_bh_v __shared;

static __side void irq_bh_a(void)
{
	local_bh_disable();
	irq_bh_v = ls_value();
	local_bh_enable();
}

static __side void irq_bh_irq(void)
{
	irq_bh_v = ls_value();
}

/* What belongs to one processor: interrupts off is all it takes. */
static DEFINE_PER_CPU(unsigned int, irq_bh_ok_v);

static __side void irq_bh_ok_a(void)
{
	unsigned long flags;

	local_irq_save(flags);
	*this_cpu_ptr(&irq_bh_ok_v) = ls_value();
	local_irq_restore(flags);
}

static __side void irq_bh_ok_irq(void)
{
	*this_cpu_ptr(&irq_bh_ok_v) = ls_value();
}

/* A softirq is interrupted as well. */
static u64 irq_soft_v __shared;

static __side void irq_soft_tasklet(void)
{
	irq_soft_v = ls_value();
}

static __side void irq_soft_irq(void)
{
	irq_soft_v = ls_value();
}

static u64 irq_soft_ok_v __shared;
static DEFINE_SPINLOCK(irq_soft_ok_s);

static __side void irq_soft_ok_tasklet(void)
{
	spin_lock_irq(&irq_soft_ok_s);
	irq_soft_ok_v = ls_value();
	spin_unlock_irq(&irq_soft_ok_s);
}

static __side void irq_soft_ok_irq(void)
{
	spin_lock(&irq_soft_ok_s);
	irq_soft_ok_v = ls_value();
	spin_unlock(&irq_soft_ok_s);
}

/* Each keeps interrupts away from its own processor, not from the other's. */
static int irq_two_v __shared;

static __side void irq_two_a(void)
{
	unsigned long flags;

	local_irq_save(flags);
	irq_two_v = ls_value();
	local_irq_restore(flags);
}

static __side void irq_two_b(void)
{
	unsigned long flags;

	local_irq_save(flags);
	irq_two_v = ls_value();
	local_irq_restore(flags);
}

static int irq_two_ok_v __shared;
static DEFINE_SPINLOCK(irq_two_ok_s);

static __side void irq_two_ok_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_two_ok_s, flags);
	irq_two_ok_v = ls_value();
	spin_unlock_irqrestore(&irq_two_ok_s, flags);
}

static __side void irq_two_ok_b(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_two_ok_s, flags);
	irq_two_ok_v = ls_value();
	spin_unlock_irqrestore(&irq_two_ok_s, flags);
}

/* The interrupt of the other processor forgets the lock. */
static long irq_half_v __shared;
static DEFINE_SPINLOCK(irq_half_s);

static __side void irq_half_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_half_s, flags);
	irq_half_v = ls_value();
	spin_unlock_irqrestore(&irq_half_s, flags);
}

static __side void irq_half_irq(void)
{
	irq_half_v = ls_value();
}

static long irq_half_ok_v __shared;
static DEFINE_SPINLOCK(irq_half_ok_s);

static __side void irq_half_ok_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_half_ok_s, flags);
	irq_half_ok_v = ls_value();
	spin_unlock_irqrestore(&irq_half_ok_s, flags);
}

static __side void irq_half_ok_irq(void)
{
	spin_lock(&irq_half_ok_s);
	irq_half_ok_v = ls_value();
	spin_unlock(&irq_half_ok_s);
}

const struct ls_case race_interrupt_cases[] = {
	{ "irq_task", LS_FAULT, LS_RACE, "task with interrupts on against a hard interrupt",
	  "severity!=note variable=irq_task_v",
	  .side = { SIDE(irq_task_a), IN(LS_HRTIMER, irq_task_irq) } },
	{ "irq_task_ok", LS_TWIN, LS_RACE, "task under spin_lock_irqsave, interrupt under the lock",
	  "", .side = { SIDE(irq_task_ok_a), IN(LS_HRTIMER, irq_task_ok_irq) } },
	{ "irq_mutex", LS_FAULT, LS_RACE, "written under a mutex, read in a hard interrupt",
	  "severity!=note variable=irq_mutex_v",
	  .side = { SIDE(irq_mutex_a), IN(LS_HRTIMER, irq_mutex_irq) } },
	{ "irq_mutex_ok", LS_TWIN, LS_RACE, "the interrupt and the task share a spinlock besides",
	  "", .side = { SIDE(irq_mutex_ok_a), IN(LS_HRTIMER, irq_mutex_ok_irq) } },
	{ "irq_bh", LS_FAULT, LS_RACE, "task with softirqs off against a hard interrupt",
	  "severity!=note variable=irq_bh_v",
	  .side = { SIDE(irq_bh_a), IN(LS_HRTIMER, irq_bh_irq) }, .cpus = LS_CPUS_SAME },
	{ "irq_bh_ok", LS_TWIN, LS_RACE, "task with interrupts off against one of its processor",
	  "", .side = { SIDE(irq_bh_ok_a), IN(LS_HRTIMER, irq_bh_ok_irq) }, .cpus = LS_CPUS_SAME },
	{ "irq_soft", LS_FAULT, LS_RACE, "tasklet against a hard interrupt",
	  "severity!=note variable=irq_soft_v",
	  .side = { IN(LS_TASKLET, irq_soft_tasklet), IN(LS_HRTIMER, irq_soft_irq) } },
	{ "irq_soft_ok", LS_TWIN, LS_RACE, "tasklet under spin_lock_irq, interrupt under the lock",
	  "", .side = { IN(LS_TASKLET, irq_soft_ok_tasklet), IN(LS_HRTIMER, irq_soft_ok_irq) } },
	{ "irq_two", LS_FAULT, LS_RACE, "two processors, each with its interrupts off",
	  "severity!=note variable=irq_two_v",
	  .side = { SIDE(irq_two_a), SIDE(irq_two_b) }, .cpus = LS_CPUS_TWO },
	{ "irq_two_ok", LS_TWIN, LS_RACE, "two processors under spin_lock_irqsave",
	  "", .side = { SIDE(irq_two_ok_a), SIDE(irq_two_ok_b) }, .cpus = LS_CPUS_TWO },
	{ "irq_half", LS_FAULT, LS_RACE, "spin_lock_irqsave against another processor's interrupt",
	  "severity!=note variable=irq_half_v",
	  .side = { SIDE(irq_half_a), IN(LS_HRTIMER, irq_half_irq) }, .cpus = LS_CPUS_TWO },
	{ "irq_half_ok", LS_TWIN, LS_RACE, "the other processor's interrupt takes the lock",
	  "", .side = { SIDE(irq_half_ok_a), IN(LS_HRTIMER, irq_half_ok_irq) },
	  .cpus = LS_CPUS_TWO },
	{ }
};
