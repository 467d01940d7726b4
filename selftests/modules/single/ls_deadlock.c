// SPDX-License-Identifier: GPL-2.0
/*
 * Real deadlocks that can be ended, and their twins: tasks that wait for long, in a
 * chain or even in what looks like a ring, and go on. /sys/kernel/debug/ls_deadlock/:
 *
 *   start  write a case: two, three, rw; twins: slow, event. The write returns when
 *          all its tasks sleep.
 *   end    write anything: kills the tasks that are left, returns when all have gone
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/semaphore.h>
#include <linux/uaccess.h>

#define MAX_TASKS 4
#define SLOW_MS 8000

static DEFINE_MUTEX(dead_two_a);
static DEFINE_MUTEX(dead_two_b);
static DEFINE_MUTEX(dead_three_m);
static DECLARE_RWSEM(dead_three_rw);
static DEFINE_RT_MUTEX(dead_three_rt);
static DEFINE_MUTEX(dead_rw_m);
static DECLARE_RWSEM(dead_rw_rw);
static DEFINE_MUTEX(dead_slow_a);
static DEFINE_MUTEX(dead_slow_b);
static DEFINE_MUTEX(dead_event_m);
static struct semaphore dead_event_sem = __SEMAPHORE_INITIALIZER(dead_event_sem, 1);

/* All tasks have their first lock before any of them requests the second. */
static atomic_t first_locks;
static unsigned int nr_first;

static void meet(void)
{
	atomic_inc(&first_locks);
	while (atomic_read(&first_locks) < nr_first)
		msleep(1);
}

static noinline void dead_two_ab(void)
{
	mutex_lock(&dead_two_a);
	meet();
	if (!mutex_lock_killable(&dead_two_b))
		mutex_unlock(&dead_two_b);
	mutex_unlock(&dead_two_a);
}

static noinline void dead_two_ba(void)
{
	mutex_lock(&dead_two_b);
	meet();
	if (!mutex_lock_killable(&dead_two_a))
		mutex_unlock(&dead_two_a);
	mutex_unlock(&dead_two_b);
}

static noinline void dead_three_1(void)
{
	mutex_lock(&dead_three_m);
	meet();
	if (!down_write_killable(&dead_three_rw))
		up_write(&dead_three_rw);
	mutex_unlock(&dead_three_m);
}

static noinline void dead_three_2(void)
{
	down_write(&dead_three_rw);
	meet();
	if (!rt_mutex_lock_interruptible(&dead_three_rt))
		rt_mutex_unlock(&dead_three_rt);
	up_write(&dead_three_rw);
}

static noinline void dead_three_3(void)
{
	rt_mutex_lock(&dead_three_rt);
	meet();
	if (!mutex_lock_killable(&dead_three_m))
		mutex_unlock(&dead_three_m);
	rt_mutex_unlock(&dead_three_rt);
}

/* The lock has no owner's name in it: readers share it. */
static noinline void dead_rw_reader(void)
{
	down_read(&dead_rw_rw);
	meet();
	if (!mutex_lock_killable(&dead_rw_m))
		mutex_unlock(&dead_rw_m);
	up_read(&dead_rw_rw);
}

static noinline void dead_rw_writer(void)
{
	mutex_lock(&dead_rw_m);
	meet();
	if (!down_write_killable(&dead_rw_rw))
		up_write(&dead_rw_rw);
	mutex_unlock(&dead_rw_m);
}

/* A chain: the last one waits for one that waits for one that sleeps. */
static noinline void dead_slow_sleeper(void)
{
	mutex_lock(&dead_slow_a);
	meet();
	msleep(SLOW_MS);
	mutex_unlock(&dead_slow_a);
}

static noinline void dead_slow_middle(void)
{
	mutex_lock(&dead_slow_b);
	meet();
	mutex_lock(&dead_slow_a);
	mutex_unlock(&dead_slow_a);
	mutex_unlock(&dead_slow_b);
}

static noinline void dead_slow_last(void)
{
	meet();
	msleep(50);
	mutex_lock(&dead_slow_b);
	mutex_unlock(&dead_slow_b);
}

/* A ring through a semaphore, which a task outside of it releases. */
static noinline void dead_event_holder(void)
{
	down(&dead_event_sem);
	meet();
	msleep(50);
	mutex_lock(&dead_event_m);
	mutex_unlock(&dead_event_m);
}

static noinline void dead_event_waiter(void)
{
	mutex_lock(&dead_event_m);
	meet();
	if (!down_killable(&dead_event_sem))
		up(&dead_event_sem);
	mutex_unlock(&dead_event_m);
}

static noinline void dead_event_other(void)
{
	meet();
	msleep(SLOW_MS);
	up(&dead_event_sem);
}

static const struct dead_case {
	const char *name;
	void (*run[MAX_TASKS])(void);
} cases[] = {
	{ "two", { dead_two_ab, dead_two_ba } },
	{ "three", { dead_three_1, dead_three_2, dead_three_3 } },
	{ "rw", { dead_rw_reader, dead_rw_writer } },
	{ "slow", { dead_slow_sleeper, dead_slow_middle, dead_slow_last } },
	{ "event", { dead_event_holder, dead_event_waiter, dead_event_other } },
};

static struct task_struct *tasks[MAX_TASKS];
static unsigned int nr_tasks;

static int dead_thread(void *data)
{
	void (*run)(void) = data;

	allow_signal(SIGKILL);
	run();
	kthread_complete_and_exit(NULL, 0);
	return 0;
}

static int start(const struct dead_case *c)
{
	unsigned int i, k;

	if (nr_tasks)
		return -EBUSY;
	for (nr_first = 0; nr_first < MAX_TASKS && c->run[nr_first]; nr_first++)
		;
	atomic_set(&first_locks, 0);
	for (i = 0; i < nr_first; i++) {
		struct task_struct *task = kthread_create(dead_thread, c->run[i], "dead_%s_%u", c->name, i);

		if (IS_ERR(task)) {
			/* Running tasks do not wait any more. */
			nr_first = i;
			return PTR_ERR(task);
		}
		tasks[nr_tasks++] = get_task_struct(task);
		wake_up_process(task);
	}
	while (atomic_read(&first_locks) < nr_first)
		msleep(1);
	/* Sleeping in a lock, and not for a millisecond in meet(). */
	for (i = 0; i < nr_tasks; i++)
		for (k = 0; k < 20; k++)
			if (!READ_ONCE(tasks[i]->__state))
				msleep(1);
	return 0;
}

static ssize_t start_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	char name[16] = { };
	unsigned int i;
	int rc;

	if (len >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, buf, len))
		return -EFAULT;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(strim(name), cases[i].name)) {
			rc = start(&cases[i]);
			return rc ? rc : len;
		}
	return -ENOENT;
}

static const struct file_operations start_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = start_write, .llseek = noop_llseek,
};

static void end_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_tasks; i++) {
		while (!READ_ONCE(tasks[i]->exit_state)) {
			send_sig(SIGKILL, tasks[i], 1);
			msleep(5);
		}
		put_task_struct(tasks[i]);
	}
	nr_tasks = 0;
}

static ssize_t end_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	end_all();
	return len;
}

static const struct file_operations end_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = end_write, .llseek = noop_llseek,
};

static struct dentry *dir;

static int __init deadlock_init(void)
{
	dir = debugfs_create_dir("ls_deadlock", NULL);
	debugfs_create_file("start", 0200, dir, NULL, &start_fops);
	debugfs_create_file("end", 0200, dir, NULL, &end_fops);
	return 0;
}

static void __exit deadlock_exit(void)
{
	debugfs_remove(dir);
	end_all();
}

module_init(deadlock_init);
module_exit(deadlock_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: deadlocks that can be ended");
