// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks asleep inside the functions whose return matters. A hook that sits on their stacks,
 * waiting for that result, must survive or prevent the unload of its module; so these sleep
 * for a given time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>

#include "selftest.h"

static DEFINE_MUTEX(sleepers_mutex);
static struct semaphore sleepers_sem = __SEMAPHORE_INITIALIZER(sleepers_sem, 1);
static DECLARE_RWSEM(sleepers_rwsem);
static DEFINE_RT_MUTEX(sleepers_rtmutex);

static void sleep_in_mutex_interruptible(void)
{
	if (!mutex_lock_interruptible(&sleepers_mutex))
		mutex_unlock(&sleepers_mutex);
}

static void sleep_in_mutex_killable(void)
{
	if (!mutex_lock_killable(&sleepers_mutex))
		mutex_unlock(&sleepers_mutex);
}

static void sleep_in_mutex(void)
{
	mutex_lock(&sleepers_mutex);
	mutex_unlock(&sleepers_mutex);
}

static void sleep_in_down_interruptible(void)
{
	if (!down_interruptible(&sleepers_sem))
		up(&sleepers_sem);
}

static void sleep_in_down_timeout(void)
{
	if (!down_timeout(&sleepers_sem, msecs_to_jiffies(60000)))
		up(&sleepers_sem);
}

static void sleep_in_read_killable(void)
{
	if (!down_read_killable(&sleepers_rwsem))
		up_read(&sleepers_rwsem);
}

static void sleep_in_write_killable(void)
{
	if (!down_write_killable(&sleepers_rwsem))
		up_write(&sleepers_rwsem);
}

static void sleep_in_rt_mutex_interruptible(void)
{
	if (!rt_mutex_lock_interruptible(&sleepers_rtmutex))
		rt_mutex_unlock(&sleepers_rtmutex);
}

static DECLARE_COMPLETION(sleepers_over);

static void sleep_in_wait(void)
{
	wait_for_completion(&sleepers_over);
}

static void sleep_in_wait_killable(void)
{
	if (wait_for_completion_killable(&sleepers_over))
		pr_warn("somebody was killed\n");
}

static void sleep_in_wait_timeout(void)
{
	wait_for_completion_timeout(&sleepers_over, msecs_to_jiffies(60000));
}

static unsigned int sleepers_ms;
static DECLARE_COMPLETION(sleepers_held);

static void sleepers_hold(void)
{
	mutex_lock(&sleepers_mutex);
	down(&sleepers_sem);
	down_write(&sleepers_rwsem);
	rt_mutex_lock(&sleepers_rtmutex);
	complete(&sleepers_held);
	msleep(sleepers_ms);
	rt_mutex_unlock(&sleepers_rtmutex);
	up_write(&sleepers_rwsem);
	up(&sleepers_sem);
	mutex_unlock(&sleepers_mutex);
	complete_all(&sleepers_over);
}

static struct ls_sleeper {
	void (*run)(void);
	bool started;
	struct completion gone;
} sleepers[] = {
	{ sleepers_hold },	/* first: the others sleep because of it */
	{ sleep_in_mutex_interruptible },
	{ sleep_in_mutex_killable },
	{ sleep_in_mutex },
	{ sleep_in_down_interruptible },
	{ sleep_in_down_timeout },
	{ sleep_in_read_killable },
	{ sleep_in_write_killable },
	{ sleep_in_rt_mutex_interruptible },
	{ sleep_in_wait },
	{ sleep_in_wait_killable },
	{ sleep_in_wait_timeout },
};

static int sleeper_thread(void *data)
{
	struct ls_sleeper *sleeper = data;

	sleeper->run();
	kthread_complete_and_exit(&sleeper->gone, 0);
	return 0;
}

void ls_sleepers_wait(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		if (sleepers[i].started)
			wait_for_completion(&sleepers[i].gone);
		sleepers[i].started = false;
	}
}

int ls_sleepers_start(unsigned int ms)
{
	struct task_struct *task;
	unsigned int i;

	ls_sleepers_wait();
	sleepers_ms = ms;
	reinit_completion(&sleepers_held);
	reinit_completion(&sleepers_over);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		init_completion(&sleepers[i].gone);
		task = kthread_run(sleeper_thread, &sleepers[i], "lst_sleeper%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		sleepers[i].started = true;
		if (!i)
			wait_for_completion(&sleepers_held);
	}
	return 0;
}
