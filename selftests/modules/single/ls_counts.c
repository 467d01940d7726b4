// SPDX-License-Identifier: GPL-2.0
/*
 * Locks taken a known number of times, on two processors, in tasks, softirqs and
 * interrupts, for statistics to be compared with. /sys/kernel/debug/ls_counts/:
 *
 *   run       write N: every lock is taken some multiple of N times. The write
 *             returns when that is done.
 *   expected  a line for each lock and context: NAME CONTEXT ACQUIRED READERS TRYLOCKS
 *   blocked   write N: two threads get into each other's way N times, each time for
 *             a few milliseconds: counts_blocked is contended N times and no more
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwlock.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "base/wrapper/hrtimer.h"

#define HOLD_MS 5

static DEFINE_SPINLOCK(counts_spin);
static DEFINE_RAW_SPINLOCK(counts_raw);
static DEFINE_RWLOCK(counts_rw);
static DEFINE_MUTEX(counts_mutex);
static DECLARE_RWSEM(counts_rwsem);
static struct semaphore counts_sem = __SEMAPHORE_INITIALIZER(counts_sem, 1);
static DEFINE_RT_MUTEX(counts_rtm);
static DEFINE_MUTEX(counts_blocked);

enum { TASK, SOFTIRQ, HARDIRQ, NR_CONTEXTS };
static const char *const contexts[] = { "task", "softirq", "hardirq" };

enum { SPIN, RAW, RW, MUTEX, RWSEM, SEM, RTM, NR_LOCKS };
static const char *const names[] = {
	"counts_spin", "counts_raw", "counts_rw", "counts_mutex", "counts_rwsem", "counts_sem",
	"counts_rtm",
};

/* What was done, counted by the code that did it. */
static struct {
	atomic_long_t acquired, readers, trylocks;
} done[NR_LOCKS][NR_CONTEXTS];

static void did(int lock, int context, bool reader, bool trylock)
{
	atomic_long_inc(&done[lock][context].acquired);
	if (reader)
		atomic_long_inc(&done[lock][context].readers);
	if (trylock)
		atomic_long_inc(&done[lock][context].trylocks);
}

static noinline void counts_in_task(unsigned int i)
{
	unsigned long flags;

	spin_lock_bh(&counts_spin);
	spin_unlock_bh(&counts_spin);
	did(SPIN, TASK, false, false);
	raw_spin_lock_irqsave(&counts_raw, flags);
	raw_spin_unlock_irqrestore(&counts_raw, flags);
	did(RAW, TASK, false, false);
	local_irq_save(flags);
	if (raw_spin_trylock(&counts_raw)) {
		raw_spin_unlock(&counts_raw);
		did(RAW, TASK, false, true);
	}
	local_irq_restore(flags);
	read_lock_bh(&counts_rw);
	read_unlock_bh(&counts_rw);
	did(RW, TASK, true, false);
	if (i % 4 == 0) {
		write_lock_bh(&counts_rw);
		write_unlock_bh(&counts_rw);
		did(RW, TASK, false, false);
	}
	mutex_lock(&counts_mutex);
	down_read(&counts_rwsem);
	down(&counts_sem);
	rt_mutex_lock(&counts_rtm);
	rt_mutex_unlock(&counts_rtm);
	up(&counts_sem);
	up_read(&counts_rwsem);
	mutex_unlock(&counts_mutex);
	did(MUTEX, TASK, false, false);
	did(RWSEM, TASK, true, false);
	did(SEM, TASK, false, false);
	did(RTM, TASK, false, false);
	if (!mutex_lock_killable(&counts_mutex)) {
		did(MUTEX, TASK, false, false);
		mutex_unlock(&counts_mutex);
	}
	if (down_write_trylock(&counts_rwsem)) {
		did(RWSEM, TASK, false, true);
		up_write(&counts_rwsem);
	}
}

static noinline void counts_in_softirq(void)
{
	spin_lock(&counts_spin);
	spin_unlock(&counts_spin);
	did(SPIN, SOFTIRQ, false, false);
	read_lock(&counts_rw);
	read_unlock(&counts_rw);
	did(RW, SOFTIRQ, true, false);
}

static noinline void counts_in_hardirq(void)
{
	raw_spin_lock(&counts_raw);
	raw_spin_unlock(&counts_raw);
	did(RAW, HARDIRQ, false, false);
}

/* One worker on each of two processors, with a timer of both sorts there. */
static struct worker {
	struct timer_list timer;
	struct hrtimer hrtimer;
	atomic_t left[2];		/* rounds of the two timers */
	unsigned int rounds;
	struct completion done, soft, hard;
} workers[2];

static void on_timer(struct timer_list *timer)
{
	struct worker *w = container_of(timer, struct worker, timer);
	int i;

	for (i = 0; i < 100; i++) {
		counts_in_softirq();
		if (!atomic_dec_return(&w->left[0])) {
			complete(&w->soft);
			return;
		}
	}
	mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart on_hrtimer(struct hrtimer *timer)
{
	struct worker *w = container_of(timer, struct worker, hrtimer);
	int i;

	for (i = 0; i < 100; i++) {
		counts_in_hardirq();
		if (!atomic_dec_return(&w->left[1])) {
			complete(&w->hard);
			return HRTIMER_NORESTART;
		}
	}
	hrtimer_forward_now(timer, ms_to_ktime(1));
	return HRTIMER_RESTART;
}

static int work(void *data)
{
	struct worker *w = data;
	unsigned int i;

	mod_timer(&w->timer, jiffies + 1);
	hrtimer_start(&w->hrtimer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < w->rounds; i++) {
		counts_in_task(i);
		cond_resched();
	}
	wait_for_completion(&w->soft);
	wait_for_completion(&w->hard);
	timer_delete_sync(&w->timer);
	hrtimer_cancel(&w->hrtimer);
	kthread_complete_and_exit(&w->done, 0);
	return 0;
}

static int start(struct worker *w, unsigned int cpu, unsigned int rounds)
{
	struct task_struct *task;

	w->rounds = rounds;
	atomic_set(&w->left[0], rounds);
	atomic_set(&w->left[1], rounds);
	init_completion(&w->done);
	init_completion(&w->soft);
	init_completion(&w->hard);
	timer_setup(&w->timer, on_timer, TIMER_PINNED);
	hrtimer_setup(&w->hrtimer, on_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	task = kthread_create(work, w, "ls_counts/%u", cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	unsigned int n, cpu, i = 0, k;
	int rc = kstrtouint_from_user(buf, len, 10, &n);

	if (rc || !n)
		return rc ? rc : -EINVAL;
	for_each_online_cpu(cpu) {
		if (i == ARRAY_SIZE(workers))
			break;
		/* The second one does twice as much. */
		rc = start(&workers[i], cpu, n * (i + 1));
		if (rc)
			break;
		i++;
	}
	for (k = 0; k < i; k++)
		wait_for_completion(&workers[k].done);
	return rc ? rc : len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = run_write, .llseek = noop_llseek,
};

static int expected_show(struct seq_file *m, void *unused)
{
	int lock, c;

	for (lock = 0; lock < NR_LOCKS; lock++)
		for (c = 0; c < NR_CONTEXTS; c++)
			seq_printf(m, "%s %s %ld %ld %ld\n", names[lock], contexts[c],
				   atomic_long_read(&done[lock][c].acquired),
				   atomic_long_read(&done[lock][c].readers),
				   atomic_long_read(&done[lock][c].trylocks));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(expected);

/* The holder has it, the other one requests it and certainly waits. */
static struct completion held, released;
static struct task_struct *blocked_task;
static unsigned int blocked_rounds;

static noinline __noclone void counts_blocked_wait(void)
{
	mutex_lock(&counts_blocked);
	mutex_unlock(&counts_blocked);
}

static int counts_blocked_thread(void *unused)
{
	unsigned int i;

	for (i = 0; i < blocked_rounds; i++) {
		wait_for_completion(&held);
		counts_blocked_wait();
		complete(&released);
	}
	kthread_complete_and_exit(NULL, 0);
	return 0;
}

static noinline void counts_blocked_hold(void)
{
	mutex_lock(&counts_blocked);
	complete(&held);
	/* Until the other one sleeps in mutex_lock(), and then some. */
	do {
		msleep(HOLD_MS);
	} while (READ_ONCE(blocked_task->__state) != TASK_UNINTERRUPTIBLE);
	mutex_unlock(&counts_blocked);
	wait_for_completion(&released);
}

static ssize_t blocked_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	unsigned int i;
	int rc = kstrtouint_from_user(buf, len, 10, &blocked_rounds);

	if (rc)
		return rc;
	init_completion(&held);
	init_completion(&released);
	blocked_task = kthread_create(counts_blocked_thread, NULL, "ls_blocked");
	if (IS_ERR(blocked_task))
		return PTR_ERR(blocked_task);
	get_task_struct(blocked_task);
	wake_up_process(blocked_task);
	for (i = 0; i < blocked_rounds; i++)
		counts_blocked_hold();
	while (!READ_ONCE(blocked_task->exit_state))
		msleep(1);
	put_task_struct(blocked_task);
	return len;
}

static const struct file_operations blocked_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = blocked_write, .llseek = noop_llseek,
};

static struct dentry *dir;

static int __init counts_init(void)
{
	dir = debugfs_create_dir("ls_counts", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("expected", 0400, dir, NULL, &expected_fops);
	debugfs_create_file("blocked", 0200, dir, NULL, &blocked_fops);
	return 0;
}

static void __exit counts_exit(void)
{
	debugfs_remove(dir);
}

module_init(counts_init);
module_exit(counts_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: locks taken a known number of times");
