// SPDX-License-Identifier: GPL-2.0
/*
 * Sides in other contexts than a thread. Locks that interrupts take are taken
 * with those interrupts off elsewhere: the order is the only fault.
 */
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_MUTEX(ctx_work_a);
static DEFINE_MUTEX(ctx_work_b);

static __side void ctx_work_ab(void)
{
	mutex_lock(&ctx_work_a);
	mutex_lock(&ctx_work_b);
	mutex_unlock(&ctx_work_b);
	mutex_unlock(&ctx_work_a);
}

static __side void ctx_work_ba(void)
{
	mutex_lock(&ctx_work_b);
	mutex_lock(&ctx_work_a);
	mutex_unlock(&ctx_work_a);
	mutex_unlock(&ctx_work_b);
}

static DEFINE_MUTEX(ctx_work_ok_a);
static DEFINE_MUTEX(ctx_work_ok_b);

static __side void ctx_work_ok_ab(void)
{
	mutex_lock(&ctx_work_ok_a);
	mutex_lock(&ctx_work_ok_b);
	mutex_unlock(&ctx_work_ok_b);
	mutex_unlock(&ctx_work_ok_a);
}

static __side void ctx_work_ok_apart(void)
{
	mutex_lock(&ctx_work_ok_b);
	mutex_unlock(&ctx_work_ok_b);
	mutex_lock(&ctx_work_ok_a);
	mutex_unlock(&ctx_work_ok_a);
}

static DEFINE_SPINLOCK(ctx_timer_a);
static DEFINE_SPINLOCK(ctx_timer_b);

static __side void ctx_timer_softirq_ab(void)
{
	spin_lock(&ctx_timer_a);
	spin_lock(&ctx_timer_b);
	spin_unlock(&ctx_timer_b);
	spin_unlock(&ctx_timer_a);
}

static __side void ctx_timer_task_ba(void)
{
	spin_lock_bh(&ctx_timer_b);
	spin_lock(&ctx_timer_a);
	spin_unlock(&ctx_timer_a);
	spin_unlock_bh(&ctx_timer_b);
}

static DEFINE_SPINLOCK(ctx_timer_ok_a);
static DEFINE_SPINLOCK(ctx_timer_ok_b);

static __side void ctx_timer_ok_softirq_ab(void)
{
	spin_lock(&ctx_timer_ok_a);
	spin_lock(&ctx_timer_ok_b);
	spin_unlock(&ctx_timer_ok_b);
	spin_unlock(&ctx_timer_ok_a);
}

static __side void ctx_timer_ok_task_ab(void)
{
	spin_lock_bh(&ctx_timer_ok_b);
	spin_unlock_bh(&ctx_timer_ok_b);
	spin_lock_bh(&ctx_timer_ok_a);
	spin_lock(&ctx_timer_ok_b);
	spin_unlock(&ctx_timer_ok_b);
	spin_unlock_bh(&ctx_timer_ok_a);
}

static DEFINE_SPINLOCK(ctx_tasklet_a);
static DEFINE_SPINLOCK(ctx_tasklet_b);

static __side void ctx_tasklet_softirq_ab(void)
{
	spin_lock(&ctx_tasklet_a);
	spin_lock(&ctx_tasklet_b);
	spin_unlock(&ctx_tasklet_b);
	spin_unlock(&ctx_tasklet_a);
}

static __side void ctx_tasklet_timer_ba(void)
{
	spin_lock(&ctx_tasklet_b);
	spin_lock(&ctx_tasklet_a);
	spin_unlock(&ctx_tasklet_a);
	spin_unlock(&ctx_tasklet_b);
}

static DEFINE_SPINLOCK(ctx_tasklet_ok_a);
static DEFINE_SPINLOCK(ctx_tasklet_ok_b);

static __side void ctx_tasklet_ok_softirq_ab(void)
{
	spin_lock(&ctx_tasklet_ok_a);
	spin_lock(&ctx_tasklet_ok_b);
	spin_unlock(&ctx_tasklet_ok_b);
	spin_unlock(&ctx_tasklet_ok_a);
}

static __side void ctx_tasklet_ok_timer_apart(void)
{
	spin_lock(&ctx_tasklet_ok_b);
	spin_unlock(&ctx_tasklet_ok_b);
	spin_lock(&ctx_tasklet_ok_a);
	spin_unlock(&ctx_tasklet_ok_a);
}

static DEFINE_SPINLOCK(ctx_hrtimer_a);
static DEFINE_SPINLOCK(ctx_hrtimer_b);

static __side void ctx_hrtimer_hardirq_ab(void)
{
	spin_lock(&ctx_hrtimer_a);
	spin_lock(&ctx_hrtimer_b);
	spin_unlock(&ctx_hrtimer_b);
	spin_unlock(&ctx_hrtimer_a);
}

static __side void ctx_hrtimer_task_ba(void)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx_hrtimer_b, flags);
	spin_lock(&ctx_hrtimer_a);
	spin_unlock(&ctx_hrtimer_a);
	spin_unlock_irqrestore(&ctx_hrtimer_b, flags);
}

static DEFINE_SPINLOCK(ctx_hrtimer_ok_a);
static DEFINE_SPINLOCK(ctx_hrtimer_ok_b);

static __side void ctx_hrtimer_ok_hardirq_ab(void)
{
	spin_lock(&ctx_hrtimer_ok_a);
	spin_lock(&ctx_hrtimer_ok_b);
	spin_unlock(&ctx_hrtimer_ok_b);
	spin_unlock(&ctx_hrtimer_ok_a);
}

static __side void ctx_hrtimer_ok_task_ab(void)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx_hrtimer_ok_a, flags);
	spin_lock(&ctx_hrtimer_ok_b);
	spin_unlock(&ctx_hrtimer_ok_b);
	spin_unlock_irqrestore(&ctx_hrtimer_ok_a, flags);
}

const struct ls_case order_context_cases[] = {
	{ "ctx_work", LS_FAULT, LS_CYCLE, "two work items",
	  "ctx_work_a ctx_work_b",
	  .side = { { ctx_work_ab, LS_WORK }, { ctx_work_ba, LS_WORK } } },
	{ "ctx_work_ok", LS_TWIN, LS_CYCLE, "two work items, one order",
	  "ctx_work_ok_a ctx_work_ok_b",
	  .side = { { ctx_work_ok_ab, LS_WORK }, { ctx_work_ok_apart, LS_WORK } } },
	{ "ctx_timer", LS_FAULT, LS_CYCLE, "timer against a task",
	  "ctx_timer_a ctx_timer_b",
	  .side = { { ctx_timer_softirq_ab, LS_TIMER }, { ctx_timer_task_ba } } },
	{ "ctx_timer_ok", LS_TWIN, LS_CYCLE, "timer and a task, one order",
	  "ctx_timer_ok_a ctx_timer_ok_b",
	  .side = { { ctx_timer_ok_softirq_ab, LS_TIMER }, { ctx_timer_ok_task_ab } } },
	{ "ctx_tasklet", LS_FAULT, LS_CYCLE, "tasklet against a timer",
	  "ctx_tasklet_a ctx_tasklet_b",
	  .side = { { ctx_tasklet_softirq_ab, LS_TASKLET }, { ctx_tasklet_timer_ba, LS_TIMER } } },
	{ "ctx_tasklet_ok", LS_TWIN, LS_CYCLE, "tasklet and a timer, one order",
	  "ctx_tasklet_ok_a ctx_tasklet_ok_b",
	  .side = { { ctx_tasklet_ok_softirq_ab, LS_TASKLET },
		    { ctx_tasklet_ok_timer_apart, LS_TIMER } } },
	{ "ctx_hrtimer", LS_FAULT, LS_CYCLE, "high-resolution timer against a task",
	  "ctx_hrtimer_a ctx_hrtimer_b",
	  .side = { { ctx_hrtimer_hardirq_ab, LS_HRTIMER }, { ctx_hrtimer_task_ba } } },
	{ "ctx_hrtimer_ok", LS_TWIN, LS_CYCLE, "high-resolution timer and a task, one order",
	  "ctx_hrtimer_ok_a ctx_hrtimer_ok_b",
	  .side = { { ctx_hrtimer_ok_hardirq_ab, LS_HRTIMER }, { ctx_hrtimer_ok_task_ab } } },
	{ }
};
