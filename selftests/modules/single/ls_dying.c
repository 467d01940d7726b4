// SPDX-License-Identifier: GPL-2.0
/*
 * What kills a machine, or a part of it, with locks held, and what looks like that and is legal.
 * /sys/kernel/debug/ls_dying/run: write a case. The write returns when the case has begun, or
 * with the result of a legal one.
 *
 *   hold      a task sleeps with a mutex and an rwsem held, till the module is unloaded
 *   hang      a task waits for that mutex, uninterruptible: a hung task after hold
 *   soft      a task spins with a spinlock held for 12 s, preemption off
 *   stall     the same with another lock, for a stall of RCU
 *   oops      a task oopses with three locks held; oops_ok: with none
 *   panic     an interrupt panics with a lock held, on top of a task that holds another
 *   twice     a task takes a spinlock twice, interrupts off the second time: its CPU is gone
 *   all       the same, while all other CPUs wait for that lock, interrupts off
 *   irq       an interrupt takes the spinlock of the task that it interrupted
 *   mutex     a task takes a mutex twice
 *   write     a task takes for writing what it holds for reading, an rwlock
 *   legal     none of these, though it looks like them
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rwlock.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/ww_mutex.h>

#include "base/wrapper/hrtimer.h"

#define SPIN_SECONDS 12

static DEFINE_MUTEX(dying_mutex);
static DECLARE_RWSEM(dying_rwsem);
static DEFINE_SPINLOCK(dying_spin);
static DEFINE_SPINLOCK(dying_stall);
static DEFINE_SPINLOCK(dying_one);
static DEFINE_SPINLOCK(dying_task);
static DEFINE_SPINLOCK(dying_timer);
static DEFINE_MUTEX(dying_again);
static DEFINE_RWLOCK(dying_rw);
static DECLARE_COMPLETION(hold_over);
static struct task_struct *holder;

/* A side shows up in stacks under its own name. */
#define __side noinline __attribute__((__noipa__))

static __side void dying_hold(void)
{
	mutex_lock(&dying_mutex);
	down_write(&dying_rwsem);
	wait_for_completion(&hold_over);
	up_write(&dying_rwsem);
	mutex_unlock(&dying_mutex);
}

static __side void dying_hang(void)
{
	mutex_lock(&dying_mutex);
	mutex_unlock(&dying_mutex);
}

/* mdelay() is no measure where a CPU is emulated. */
static void spin_us(unsigned int us)
{
	u64 end = ktime_get_ns() + us * NSEC_PER_USEC;

	while (ktime_get_ns() < end)
		cpu_relax();
}

static void spin(unsigned int ms)
{
	spin_us(ms * 1000);
}

static __side void spin_under(spinlock_t *lock)
{
	spin_lock(lock);
	spin(SPIN_SECONDS * 1000);
	spin_unlock(lock);
}

static __side void dying_soft(void)
{
	spin_under(&dying_spin);
}

static __side void dying_stalls(void)
{
	spin_under(&dying_stall);
}

static __side void dying_oops(void)
{
	static DEFINE_MUTEX(dying_oops_a);
	static DECLARE_RWSEM(dying_oops_b);
	static DEFINE_SPINLOCK(dying_oops_c);

	mutex_lock(&dying_oops_a);
	down_read(&dying_oops_b);
	spin_lock(&dying_oops_c);
	WRITE_ONCE(*(int *)8, 1);
	spin_unlock(&dying_oops_c);
	up_read(&dying_oops_b);
	mutex_unlock(&dying_oops_a);
}

static __side void dying_oops_ok(void)
{
	WRITE_ONCE(*(int *)16, 1);
}

static struct hrtimer timer;
static bool timer_panics;

static __side enum hrtimer_restart dying_interrupt(struct hrtimer *t)
{
	if (timer_panics) {
		spin_lock(&dying_timer);
		panic("ls_dying: from an interrupt");
	}
	spin_lock(&dying_task);
	spin_unlock(&dying_task);
	return HRTIMER_NORESTART;
}

static void start_timer(void)
{
	hrtimer_setup(&timer, dying_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&timer, ms_to_ktime(5), HRTIMER_MODE_REL_PINNED_HARD);
}

/* The timer comes on this CPU while its task holds the lock. */
static __side void dying_interrupted(void)
{
	spin_lock(&dying_task);
	start_timer();
	spin(1000);
	spin_unlock(&dying_task);
}

static __side void dying_inner(void)
{
	unsigned long flags;

	spin_lock_irqsave(&dying_one, flags);
	spin_unlock_irqrestore(&dying_one, flags);
}

static __side void dying_twice(void)
{
	spin_lock(&dying_one);
	dying_inner();
	spin_unlock(&dying_one);
}

static bool all_wait;

static int dying_waiter(void *unused)
{
	while (!READ_ONCE(all_wait))
		cond_resched();
	dying_inner();
	return 0;
}

static __side void dying_all(void)
{
	struct task_struct *task;
	int cpu, me = get_cpu();

	put_cpu();
	for_each_online_cpu(cpu) {
		if (cpu == me)
			continue;
		task = kthread_create(dying_waiter, NULL, "dying_waiter/%d", cpu);
		if (IS_ERR(task))
			continue;
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	msleep(100);
	spin_lock(&dying_one);
	WRITE_ONCE(all_wait, true);
	spin(500);
	dying_inner();
	spin_unlock(&dying_one);
}

static __side void dying_mutex_twice(void)
{
	mutex_lock(&dying_again);
	mutex_lock(&dying_again);
	mutex_unlock(&dying_again);
	mutex_unlock(&dying_again);
}

static __side void dying_write(void)
{
	read_lock(&dying_rw);
	write_lock(&dying_rw);
	write_unlock(&dying_rw);
	read_unlock(&dying_rw);
}

static DEFINE_PER_CPU(spinlock_t, legal_cpu);
static DEFINE_WW_CLASS(legal_ww);
static DEFINE_SPINLOCK(legal_held);
static DEFINE_RWLOCK(legal_rw);
static DECLARE_RWSEM(legal_rwsem);
static DEFINE_MUTEX(legal_mutex);
static struct semaphore legal_sem = __SEMAPHORE_INITIALIZER(legal_sem, 1);
static DEFINE_SPINLOCK(legal_irq);
static bool legal_on;
#define LEGAL_PERIOD (200 * NSEC_PER_USEC)

/* The lock of a CPU, and then that of another. */
static __side void legal_per_cpu(void)
{
	spinlock_t *first = per_cpu_ptr(&legal_cpu, 0), *second;
	int cpu;

	for_each_possible_cpu(cpu) {
		second = per_cpu_ptr(&legal_cpu, cpu);
		spin_lock_init(second);
	}
	if (second == first)
		return;
	spin_lock(first);
	spin_lock_nested(second, 1);
	spin_unlock(second);
	spin_unlock(first);
}

static __side int legal_try(void)
{
	int rc = 0;

	spin_lock(&legal_held);
	if (spin_trylock(&legal_held)) {
		spin_unlock(&legal_held);
		rc = -EPROTO;
	}
	spin_unlock(&legal_held);
	mutex_lock(&legal_mutex);
	if (mutex_trylock(&legal_mutex)) {
		mutex_unlock(&legal_mutex);
		rc = -EPROTO;
	}
	mutex_unlock(&legal_mutex);
	return rc;
}

static __side void legal_readers(void)
{
	read_lock(&legal_rw);
	read_lock(&legal_rw);
	read_unlock(&legal_rw);
	read_unlock(&legal_rw);
	down_read(&legal_rwsem);
	down_read_nested(&legal_rwsem, 1);
	up_read(&legal_rwsem);
	up_read(&legal_rwsem);
}

static __side int legal_wound(void)
{
	struct ww_acquire_ctx ctx;
	struct ww_mutex lock;
	int rc;

	ww_mutex_init(&lock, &legal_ww);
	ww_acquire_init(&ctx, &legal_ww);
	rc = ww_mutex_lock(&lock, &ctx);
	if (!rc) {
		rc = ww_mutex_lock(&lock, &ctx) == -EALREADY ? 0 : -EPROTO;
		ww_mutex_unlock(&lock);
	}
	ww_acquire_fini(&ctx);
	return rc;
}

static int legal_upper(void *unused)
{
	msleep(50);
	up(&legal_sem);
	return 0;
}

/* A semaphore that another task releases. */
static __side int legal_semaphore(void)
{
	struct task_struct *task;

	down(&legal_sem);
	task = kthread_run(legal_upper, NULL, "legal_upper");
	if (IS_ERR(task))
		return PTR_ERR(task);
	down(&legal_sem);
	up(&legal_sem);
	return 0;
}

/* An interrupt waits for another CPU's lock, while the task that it interrupted holds its own. */
static int legal_contender(void *unused)
{
	unsigned long flags;

	while (READ_ONCE(legal_on)) {
		spin_lock_irqsave(&legal_irq, flags);
		spin_us(300);
		spin_unlock_irqrestore(&legal_irq, flags);
		usleep_range(20, 50);
	}
	return 0;
}

static __side enum hrtimer_restart legal_interrupt(struct hrtimer *t)
{
	spin_lock(&legal_irq);
	spin_unlock(&legal_irq);
	hrtimer_forward_now(t, ns_to_ktime(LEGAL_PERIOD));
	return READ_ONCE(legal_on) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static __side int legal_contended(void)
{
	struct task_struct *task;
	int i;

	WRITE_ONCE(legal_on, true);
	task = kthread_run(legal_contender, NULL, "legal_contender");
	if (IS_ERR(task))
		return PTR_ERR(task);
	hrtimer_setup(&timer, legal_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&timer, ns_to_ktime(LEGAL_PERIOD), HRTIMER_MODE_REL_HARD);
	for (i = 0; i < 300; i++) {
		spin_lock(&legal_held);
		spin_us(500);
		spin_unlock(&legal_held);
		cond_resched();
	}
	WRITE_ONCE(legal_on, false);
	hrtimer_cancel(&timer);
	msleep(20);	/* the thread ends by itself */
	return 0;
}

static int dying_legal(void)
{
	int rc;

	legal_per_cpu();
	legal_readers();
	rc = legal_try();
	rc = rc ? rc : legal_wound();
	rc = rc ? rc : legal_semaphore();
	return rc ? rc : legal_contended();
}

static const struct dying_case {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "hold", dying_hold },
	{ "hang", dying_hang },
	{ "soft", dying_soft },
	{ "stall", dying_stalls },
	{ "oops", dying_oops },
	{ "oops_ok", dying_oops_ok },
	{ "panic", dying_interrupted },
	{ "twice", dying_twice },
	{ "all", dying_all },
	{ "irq", dying_interrupted },
	{ "mutex", dying_mutex_twice },
	{ "write", dying_write },
};

static int dying_thread(void *data)
{
	((void (*)(void))data)();
	return 0;
}

/* On the last CPU, so that the first one may go on. */
static int begin(const struct dying_case *c)
{
	struct task_struct *task = kthread_create(dying_thread, c->run, "dying_%s", c->name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	timer_panics = !strcmp(c->name, "panic");
	if (c->run == dying_hold)
		holder = get_task_struct(task);
	kthread_bind(task, cpumask_last(cpu_online_mask));
	wake_up_process(task);
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	char name[16] = { };
	unsigned int i;
	int rc;

	if (len >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, buf, len))
		return -EFAULT;
	if (!strcmp(strim(name), "legal")) {
		rc = dying_legal();
		return rc ? rc : len;
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(name, cases[i].name)) {
			rc = begin(&cases[i]);
			return rc ? rc : len;
		}
	return -ENOENT;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE, .open = simple_open, .write = run_write, .llseek = noop_llseek,
};

static struct dentry *dir;

static int __init dying_init(void)
{
	dir = debugfs_create_dir("ls_dying", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	return 0;
}

/* Only where nothing has died. */
static void __exit dying_exit(void)
{
	debugfs_remove(dir);
	complete_all(&hold_over);
	if (holder) {
		while (!READ_ONCE(holder->exit_state))
			msleep(5);
		put_task_struct(holder);
	}
}

module_init(dying_init);
module_exit(dying_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: machines that die with locks held");
