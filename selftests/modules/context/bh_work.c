// SPDX-License-Identifier: GPL-2.0
/*
 * Work items that run in softirq, which kernels have since 6.9. A task that waits for one with
 * softirqs on holds nothing that the softirq needs; a lock that it holds in that way is a fault.
 */
#include <linux/delay.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#include "selftest.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)

#define BH_WORK(name, take, give)					\
static DEFINE_SPINLOCK(name##_l);					\
									\
static __side void name##_item(struct work_struct *work)		\
{									\
	spin_lock(&name##_l);						\
	spin_unlock(&name##_l);						\
}									\
									\
static DECLARE_WORK(name##_work, name##_item);				\
									\
static __side void name##_queue(void)					\
{									\
	queue_work(system_bh_wq, &name##_work);				\
	msleep(50);							\
}									\
									\
static __side void name##_task(void)					\
{									\
	take(&name##_l);						\
	give(&name##_l);						\
}									\
									\
static __side void name##_wait(void)					\
{									\
	queue_work(system_bh_wq, &name##_work);				\
	flush_work(&name##_work);					\
	cancel_work_sync(&name##_work);					\
}

BH_WORK(bh_work, spin_lock, spin_unlock)
BH_WORK(bh_work_ok, spin_lock_bh, spin_unlock_bh)

#define BH_WORK_CASE(name, verdict, summary)				\
	{ #name, verdict, LS_IRQ_STATE, summary, #name "_l",		\
	  .side = { { name##_queue }, { name##_task }, { name##_wait } } }
#endif

const struct ls_case verdict_bh_work_cases[] = {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	BH_WORK_CASE(bh_work, LS_FAULT, "acquired by a work item in softirq, and with softirqs on"),
	BH_WORK_CASE(bh_work_ok, LS_TWIN, "the same with softirqs off, and a task that waits for the item"),
#endif
	{ }
};
