// SPDX-License-Identifier: GPL-2.0
/*
 * Preemption counts that the kernel repairs, with a report of its own on the console. The task
 * sleeps in earnest here.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "base/wrapper/hrtimer.h"
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

/*
 * Work items that leave a worker atomic. The next item, which the same worker runs at once, does
 * nothing wrong, and sets it right. Where another worker runs it, the case fails.
 */
#define END_WORK(name, begin, end, after)				\
static struct workqueue_struct *name##_queue;				\
static struct task_struct *name##_worker;				\
static DEFINE_MUTEX(name##_m);						\
									\
static __side void name##_next(struct work_struct *work)		\
{									\
	/* A consequence, where it is one. */				\
	mutex_lock(&name##_m);						\
	mutex_unlock(&name##_m);					\
	if (current == name##_worker)					\
		after;							\
}									\
static DECLARE_WORK(name##_second, name##_next);			\
									\
static __side void name##_item(struct work_struct *work)		\
{									\
	name##_worker = current;					\
	queue_work(name##_queue, &name##_second);			\
	begin;								\
	end;								\
}									\
static DECLARE_WORK(name##_first, name##_item);				\
									\
static int name##_setup(void)						\
{									\
	name##_queue = alloc_ordered_workqueue(#name, 0);		\
	return name##_queue ? 0 : -ENOMEM;				\
}									\
									\
static void name##_teardown(void)					\
{									\
	if (name##_queue)						\
		destroy_workqueue(name##_queue);			\
	name##_queue = NULL;						\
}									\
									\
static __side void name##_task(void)					\
{									\
	queue_work(name##_queue, &name##_first);			\
	flush_workqueue(name##_queue);					\
}

#define NOTHING do { } while (0)
END_WORK(end_preempt, preempt_disable(), NOTHING, preempt_enable())
END_WORK(end_rcu, rcu_read_lock(), NOTHING, rcu_read_unlock())
END_WORK(end_irq, local_irq_disable(), NOTHING, NOTHING)
END_WORK(end_work_ok, { preempt_disable(); rcu_read_lock(); local_irq_disable(); },
	 { local_irq_enable(); rcu_read_unlock(); preempt_enable(); }, NOTHING)

/* Timers, of which the kernel puts the count right. */
#define END_TIMER(name, begin, end)					\
static __side void name##_function(struct timer_list *timer)		\
{									\
	begin;								\
	end;								\
}									\
static DEFINE_TIMER(name##_timer, name##_function);			\
									\
static __side void name##_task(void)					\
{									\
	mod_timer(&name##_timer, jiffies + 1);				\
	msleep(50);							\
	del_timer_sync(&name##_timer);					\
}

END_TIMER(end_timer, preempt_disable(), NOTHING)
END_TIMER(end_timer_ok, preempt_disable(), preempt_enable())

/*
 * High-resolution timers, of which the kernel puts nothing right: the task that was interrupted
 * does it.
 */
#define END_HRTIMER(name, begin, end, after)				\
static int name##_fired;						\
static struct hrtimer name##_timer;					\
									\
static __side enum hrtimer_restart name##_function(struct hrtimer *timer)	\
{									\
	begin;								\
	end;								\
	WRITE_ONCE(name##_fired, 1);					\
	return HRTIMER_NORESTART;					\
}									\
									\
static __side void name##_task(void)					\
{									\
	hrtimer_setup(&name##_timer, name##_function, CLOCK_MONOTONIC,	\
		      HRTIMER_MODE_REL_PINNED_HARD);			\
	WRITE_ONCE(name##_fired, 0);					\
	preempt_disable();						\
	hrtimer_start(&name##_timer, ns_to_ktime(100000), HRTIMER_MODE_REL_PINNED_HARD);	\
	while (!READ_ONCE(name##_fired))				\
		cpu_relax();						\
	after;								\
	preempt_enable();						\
	hrtimer_cancel(&name##_timer);					\
}

END_HRTIMER(end_hrtimer, preempt_disable(), NOTHING, preempt_enable())
END_HRTIMER(end_hrtimer_ok, preempt_disable(), preempt_enable(), NOTHING)

/* Tasklets, in the task that turns softirqs on again. The kernel puts the count right. */
#define END_TASKLET(name, begin, end)					\
static __side void name##_function(struct tasklet_struct *tasklet)	\
{									\
	begin;								\
	end;								\
}									\
static DECLARE_TASKLET(name##_tasklet, name##_function);		\
									\
static __side void name##_task(void)					\
{									\
	local_bh_disable();						\
	tasklet_schedule(&name##_tasklet);				\
	local_bh_enable();						\
	tasklet_kill(&name##_tasklet);					\
}

END_TASKLET(end_tasklet, preempt_disable(), NOTHING)
END_TASKLET(end_tasklet_ok, preempt_disable(), preempt_enable())

/* Poll functions of network devices, the same way. */
#define END_POLL(name, begin, end)					\
static struct net_device *name##_device;				\
static struct napi_struct name##_napi;					\
									\
static __side int name##_function(struct napi_struct *napi, int budget)	\
{									\
	begin;								\
	end;								\
	napi_complete_done(napi, 0);					\
	return 0;							\
}									\
									\
static int name##_setup(void)						\
{									\
	name##_device = alloc_etherdev(0);				\
	if (!name##_device)						\
		return -ENOMEM;						\
	netif_napi_add(name##_device, &name##_napi, name##_function);	\
	napi_enable(&name##_napi);					\
	return 0;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	if (!name##_device)						\
		return;							\
	napi_disable(&name##_napi);					\
	netif_napi_del(&name##_napi);					\
	free_netdev(name##_device);					\
	name##_device = NULL;						\
}									\
									\
static __side void name##_task(void)					\
{									\
	local_bh_disable();						\
	napi_schedule(&name##_napi);					\
	local_bh_enable();						\
	napi_synchronize(&name##_napi);					\
}

END_POLL(end_poll, preempt_disable(), NOTHING)
END_POLL(end_poll_ok, preempt_disable(), preempt_enable())

#define END_SETUP_CASE(name, verdict, summary)				\
	{ #name, verdict, LS_FINDING_AT_END, summary, "", name##_setup, name##_teardown,	\
	  { { name##_task } } }

const struct ls_case count_cases[] = {
	{ "slp_count", LS_FAULT, LS_SLEEP_ATOMIC, "schedule() with preemption off, and what follows", "",
	  .side = { { slp_count_task } } },
	{ "slp_count_ok", LS_TWIN, LS_SLEEP_ATOMIC, "schedule() with preemption on again",
	  "slp_count_ok_m", .side = { { slp_count_ok_task } } },
	{ "slp_recount", LS_FAULT, LS_SLEEP_ATOMIC, "a fault after the count was repaired for good",
	  "slp_recount_m", .side = { { slp_recount_task } } },
	END_SETUP_CASE(end_preempt, LS_FAULT, "a work item that leaves preemption off"),
	END_SETUP_CASE(end_rcu, LS_FAULT, "a work item that leaves an RCU read side"),
	END_SETUP_CASE(end_irq, LS_FAULT, "a work item that leaves interrupts off"),
	END_SETUP_CASE(end_work_ok, LS_TWIN, "a work item that leaves nothing of all that"),
	{ "end_timer", LS_FAULT, LS_FINDING_AT_END, "a timer that leaves preemption off", "",
	  .side = { { end_timer_task } } },
	{ "end_timer_ok", LS_TWIN, LS_FINDING_AT_END, "a timer that leaves it on", "",
	  .side = { { end_timer_ok_task } } },
	{ "end_hrtimer", LS_FAULT, LS_FINDING_AT_END, "a high-resolution timer that leaves preemption off",
	  "", .side = { { end_hrtimer_task } } },
	{ "end_hrtimer_ok", LS_TWIN, LS_FINDING_AT_END, "a high-resolution timer that leaves it on",
	  "", .side = { { end_hrtimer_ok_task } } },
	{ "end_tasklet", LS_FAULT, LS_FINDING_AT_END, "a tasklet that leaves preemption off", "",
	  .side = { { end_tasklet_task } } },
	{ "end_tasklet_ok", LS_TWIN, LS_FINDING_AT_END, "a tasklet that leaves it on", "",
	  .side = { { end_tasklet_ok_task } } },
	END_SETUP_CASE(end_poll, LS_FAULT, "a poll function that leaves preemption off"),
	END_SETUP_CASE(end_poll_ok, LS_TWIN, "a poll function that leaves it on"),
	{ }
};
