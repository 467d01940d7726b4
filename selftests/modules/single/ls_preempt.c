// SPDX-License-Identifier: GPL-2.0
/*
 * A task that takes one spinlock inside another all the time, and is preempted by a
 * timer's thread as often as the kernel lets it: on its way into a lock, too. From when the
 * module is loaded until it goes; the parameter "preempted" says how often.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "base/wrapper/hrtimer.h"

#define PERIOD_NS 150000

static DEFINE_SPINLOCK(preempt_outer);
static DEFINE_SPINLOCK(preempt_inner);
static unsigned long preempted;
module_param(preempted, ulong, 0444);
MODULE_PARM_DESC(preempted, "times that the timer's thread ran");

static struct task_struct *taker, *waker;
static struct hrtimer timer;

static noinline void preempt_take(void)
{
	spin_lock(&preempt_outer);
	spin_lock(&preempt_inner);
	spin_unlock(&preempt_inner);
	spin_unlock(&preempt_outer);
}

static int preempt_taker(void *unused)
{
	u32 i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++)
			preempt_take();
		cond_resched();
	}
	return 0;
}

static int preempt_waker(void *unused)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		preempted++;
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static enum hrtimer_restart preempt_tick(struct hrtimer *t)
{
	wake_up_process(waker);
	hrtimer_forward_now(t, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static struct task_struct *start(int (*run)(void *), const char *name)
{
	struct task_struct *task = kthread_create(run, NULL, "%s", name);

	if (!IS_ERR(task))
		kthread_bind(task, 0);
	return task;
}

static int __init ls_preempt_init(void)
{
	waker = start(preempt_waker, "preempt_waker");
	if (IS_ERR(waker))
		return PTR_ERR(waker);
	taker = start(preempt_taker, "preempt_taker");
	if (IS_ERR(taker)) {
		kthread_stop(waker);
		return PTR_ERR(taker);
	}
	sched_set_fifo(waker);
	wake_up_process(waker);
	wake_up_process(taker);
	hrtimer_setup(&timer, preempt_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL);
	return 0;
}
module_init(ls_preempt_init);

static void __exit ls_preempt_exit(void)
{
	hrtimer_cancel(&timer);
	kthread_stop(taker);
	kthread_stop(waker);
}
module_exit(ls_preempt_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: preempted on the way into a spinlock");
