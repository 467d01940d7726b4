// SPDX-License-Identifier: GPL-2.0
/*
 * Preemption counts that the kernel repairs, with a report of its own on the console. The task
 * sleeps in earnest here.
 */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

/*
 * schedule() with preemption off: the kernel sets the preemption count right, so that it is below
 * zero once preemption is on again, until the next schedule(). What the task does meanwhile is a
 * consequence: slp_count_follows() does nothing wrong.
 */
static DEFINE_MUTEX(slp_count_follows_m);
static DEFINE_SPINLOCK(slp_count_follows_s);

static __side void slp_count_follows(void)
{
	mutex_lock(&slp_count_follows_m);
	kfree(kmalloc(64, GFP_KERNEL));
	might_sleep();
	mutex_unlock(&slp_count_follows_m);
	spin_lock_irq(&slp_count_follows_s);
	spin_unlock_irq(&slp_count_follows_s);
	spin_lock_bh(&slp_count_follows_s);
	spin_unlock_bh(&slp_count_follows_s);
}

static __side void slp_count_task(void)
{
	preempt_disable();
	schedule_timeout_uninterruptible(1);
	preempt_enable();
	slp_count_follows();
	schedule_timeout_uninterruptible(1);
}

/* The count is right again after the second one: the next fault is one. */
static DEFINE_MUTEX(slp_recount_m);

static __side void slp_recount_second(void)
{
	preempt_disable();
	mutex_lock(&slp_recount_m);
	mutex_unlock(&slp_recount_m);
	preempt_enable();
}

static __side void slp_recount_task(void)
{
	preempt_disable();
	preempt_disable();
	schedule_timeout_uninterruptible(1);
	preempt_enable();
	preempt_enable();
	schedule_timeout_uninterruptible(1);
	slp_recount_second();
}

static DEFINE_MUTEX(slp_count_ok_m);

static __side void slp_count_ok_task(void)
{
	preempt_disable();
	preempt_enable();
	schedule_timeout_uninterruptible(1);
	mutex_lock(&slp_count_ok_m);
	mutex_unlock(&slp_count_ok_m);
	schedule_timeout_uninterruptible(1);
}

const struct ls_case count_cases[] = {
	{ "slp_count", LS_FAULT, LS_SLEEP_ATOMIC, "schedule() with preemption off, and what follows", "",
	  .side = { { slp_count_task } } },
	{ "slp_count_ok", LS_TWIN, LS_SLEEP_ATOMIC, "schedule() with preemption on again",
	  "slp_count_ok_m", .side = { { slp_count_ok_task } } },
	{ "slp_recount", LS_FAULT, LS_SLEEP_ATOMIC, "a fault after the count was repaired for good",
	  "slp_recount_m", .side = { { slp_recount_task } } },
	{ }
};
