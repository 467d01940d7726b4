// SPDX-License-Identifier: GPL-2.0
/*
 * What kills a machine, or a part of it, with locks held, and what looks like that and is legal.
 * /sys/kernel/debug/ls_dying/run: write a case. The write returns when the case has begun, or
 * with the result of a legal one.
 *
 *   hold      a task sleeps with a mutex and an rwsem held, till the module is unloaded
 *   hang      a task waits for that mutex, uninterruptible: a hung task after hold
 *   soft      a task spins with a spinlock held, preemption off, till "over" is written
 *   stall     the same with another lock, for a stall of RCU
 *   oops      a task oopses with three locks held; oops_ok: with none
 *   panic     an interrupt panics with a lock held, on top of a task that holds another
 *   twice     a task takes a spinlock twice, interrupts off the second time: its CPU is gone
 *   unsaid    the same with another lock
 *   all       the same, while all other CPUs wait for that lock, interrupts off
 *   irq       an interrupt takes the spinlock of the task that it interrupted
 *   mutex     a task takes a mutex twice, and the second time a signal could end the wait
 *   rwsem     the same with an rwsem, for reading and then for writing
 *   write     a task takes for writing what it holds for reading, an rwlock
 *   cross     two CPUs take two spinlocks in opposite orders, interrupts off, and meet
 *   three     three CPUs, each of which holds what the one before it wants: a spinlock, an rwlock
 *             as a writer, one as a reader
 *   legal     none of these, though it looks like them
 *
 * Each that takes a CPU for ever has one of its own, from the last one downwards. Several cases may
 * be written at once, with blanks between.
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

#define SPIN_SECONDS 60

static DEFINE_MUTEX(dying_mutex);
static DECLARE_RWSEM(dying_rwsem);
static DEFINE_SPINLOCK(dying_spin);
static DEFINE_SPINLOCK(dying_stall);
static DEFINE_SPINLOCK(dying_one);
static DEFINE_SPINLOCK(dying_other);
static DEFINE_SPINLOCK(dying_last);
static DEFINE_SPINLOCK(dying_task);
static DEFINE_SPINLOCK(dying_timer);
static DEFINE_MUTEX(dying_again);
static DECLARE_RWSEM(dying_upgrade);
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

static bool spin_over;

static __side void spin_under(spinlock_t *lock)
{
	u64 end = ktime_get_ns() + SPIN_SECONDS * NSEC_PER_SEC;

	WRITE_ONCE(spin_over, false);
	spin_lock(lock);
	while (!READ_ONCE(spin_over) && ktime_get_ns() < end)
		cpu_relax();
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

static __side void dying_inner(spinlock_t *lock)
{
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	spin_unlock_irqrestore(lock, flags);
}

static __side void dying_twice(void)
{
	spin_lock(&dying_one);
	dying_inner(&dying_one);
	spin_unlock(&dying_one);
}

static __side void dying_unsaid(void)
{
	spin_lock(&dying_other);
	dying_inner(&dying_other);
	spin_unlock(&dying_other);
}

/* @run as a thread of @cpu. */
static void start_on(int cpu, int (*run)(void *data), void *data, const char *name)
{
	struct task_struct *task = kthread_create(run, data, "%s/%d", name, cpu);

	if (IS_ERR(task))
		return;
	kthread_bind(task, cpu);
	wake_up_process(task);
}

static bool all_wait;

static int dying_waiter(void *unused)
{
	while (!READ_ONCE(all_wait))
		cond_resched();
	dying_inner(&dying_last);
	return 0;
}

static __side void dying_all(void)
{
	int cpu, me = get_cpu();

	put_cpu();
	for_each_online_cpu(cpu)
		if (cpu != me)
			start_on(cpu, dying_waiter, NULL, "dying_waiter");
	msleep(100);
	spin_lock(&dying_last);
	WRITE_ONCE(all_wait, true);
	spin(500);
	dying_inner(&dying_last);
	spin_unlock(&dying_last);
}

static __side void dying_mutex_twice(void)
{
	mutex_lock(&dying_again);
	if (!mutex_lock_killable(&dying_again))
		mutex_unlock(&dying_again);
	mutex_unlock(&dying_again);
}

static __side void dying_rwsem_twice(void)
{
	down_read(&dying_upgrade);
	if (!down_write_killable(&dying_upgrade))
		up_write(&dying_upgrade);
	up_read(&dying_upgrade);
}

/* Sides that meet: each has its first lock before any of them wants its second one. */
static atomic_t meeting;

static void meet(int nr)
{
	atomic_inc(&meeting);
	while (atomic_read(&meeting) < nr)
		cpu_relax();
}

static DEFINE_SPINLOCK(cross_a);
static DEFINE_SPINLOCK(cross_b);

static __side void cross_ab(void)
{
	unsigned long flags;

	spin_lock_irqsave(&cross_a, flags);
	meet(2);
	spin_lock(&cross_b);
	spin_unlock(&cross_b);
	spin_unlock_irqrestore(&cross_a, flags);
}

static __side void cross_ba(void)
{
	unsigned long flags;

	spin_lock_irqsave(&cross_b, flags);
	meet(2);
	spin_lock(&cross_a);
	spin_unlock(&cross_a);
	spin_unlock_irqrestore(&cross_b, flags);
}

static DEFINE_SPINLOCK(three_spin);
static DEFINE_RWLOCK(three_write);
static DEFINE_RWLOCK(three_read);

static __side void three_first(void)
{
	unsigned long flags;

	spin_lock_irqsave(&three_spin, flags);
	meet(3);
	write_lock(&three_write);
	write_unlock(&three_write);
	spin_unlock_irqrestore(&three_spin, flags);
}

static __side void three_second(void)
{
	unsigned long flags;

	write_lock_irqsave(&three_write, flags);
	meet(3);
	write_lock(&three_read);
	write_unlock(&three_read);
	write_unlock_irqrestore(&three_write, flags);
}

static __side void three_third(void)
{
	unsigned long flags;

	read_lock_irqsave(&three_read, flags);
	meet(3);
	spin_lock(&three_spin);
	spin_unlock(&three_spin);
	read_unlock_irqrestore(&three_read, flags);
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

/*
 * CPUs that wait for each other under spinning locks, interrupts off, and go on: in one order, by
 * trylocks in the other one, and readers of an rwlock in both.
 */
static DEFINE_SPINLOCK(order_a);
static DEFINE_SPINLOCK(order_b);
static DEFINE_RWLOCK(order_rw);
static atomic_t order_over;
#define ORDER_ROUNDS 3000

static __side void order_ab(void)
{
	spin_lock(&order_a);
	spin_lock(&order_b);
	read_lock(&order_rw);
	read_unlock(&order_rw);
	spin_unlock(&order_b);
	spin_unlock(&order_a);
}

static __side void order_ba(void)
{
	spin_lock(&order_b);
	if (spin_trylock(&order_a))
		spin_unlock(&order_a);
	read_lock(&order_rw);
	read_unlock(&order_rw);
	spin_unlock(&order_b);
}

static __side void order_read(void)
{
	read_lock(&order_rw);
	if (spin_trylock(&order_a)) {
		read_lock(&order_rw);
		read_unlock(&order_rw);
		spin_unlock(&order_a);
	}
	read_unlock(&order_rw);
}

static int legal_crosser(void *unused)
{
	unsigned long flags;
	int i;

	for (i = 0; i < ORDER_ROUNDS; i++) {
		local_irq_save(flags);
		order_ab();
		order_ba();
		order_read();
		local_irq_restore(flags);
		cond_resched();
	}
	atomic_inc(&order_over);
	return 0;
}

static __side void legal_crossing(void)
{
	int cpu, nr = 0;

	atomic_set(&order_over, 0);
	for_each_online_cpu(cpu) {
		start_on(cpu, legal_crosser, NULL, "legal_crosser");
		nr++;
	}
	while (atomic_read(&order_over) < nr)
		msleep(20);
}

/* Of what the task holds, it takes nothing again: a signal ends it, or another task. */
static __side int legal_interrupted(void)
{
	int rc;

	mutex_lock(&legal_mutex);
	mutex_unlock(&legal_mutex);
	rc = mutex_lock_killable(&legal_mutex);
	if (rc)
		return rc;
	mutex_unlock(&legal_mutex);
	rc = down_write_killable(&legal_rwsem);
	if (!rc)
		up_write(&legal_rwsem);
	return rc;
}

static int dying_legal(void)
{
	int rc;

	legal_crossing();

	legal_per_cpu();
	legal_readers();
	rc = legal_try();
	rc = rc ? rc : legal_wound();
	rc = rc ? rc : legal_semaphore();
	rc = rc ? rc : legal_interrupted();
	return rc ? rc : legal_contended();
}

static const struct dying_case {
	const char *name;
	void (*run)(void);
	void (*second)(void), (*third)(void);	/* on CPUs of their own */
	bool keeps_cpu;				/* its CPU is free again, or is the last one to go */
} cases[] = {
	{ "hold", dying_hold, .keeps_cpu = true },
	{ "hang", dying_hang, .keeps_cpu = true },
	{ "soft", dying_soft, .keeps_cpu = true },
	{ "stall", dying_stalls, .keeps_cpu = true },
	{ "oops", dying_oops, .keeps_cpu = true },
	{ "oops_ok", dying_oops_ok, .keeps_cpu = true },
	{ "panic", dying_interrupted, .keeps_cpu = true },
	{ "mutex", dying_mutex_twice, .keeps_cpu = true },
	{ "rwsem", dying_rwsem_twice, .keeps_cpu = true },
	{ "twice", dying_twice },
	{ "unsaid", dying_unsaid },
	{ "all", dying_all },
	{ "irq", dying_interrupted },
	{ "write", dying_write },
	{ "cross", cross_ab, cross_ba },
	{ "three", three_first, three_second, three_third },
};

static int dying_thread(void *data)
{
	((void (*)(void))data)();
	return 0;
}

static unsigned int gone;	/* CPUs that no case ends on */

/* A thread of @c, on the last CPU that is left, so that the first one may go on. It is not awake. */
static struct task_struct *side_of(const struct dying_case *c, void (*run)(void), const char *side)
{
	struct task_struct *task;

	if (gone >= num_online_cpus())
		return ERR_PTR(-ENOSPC);
	task = kthread_create(dying_thread, run, "dying_%s%s", c->name, side);
	if (IS_ERR(task))
		return task;
	if (run == dying_hold)
		holder = get_task_struct(task);
	kthread_bind(task, num_online_cpus() - 1 - gone);
	gone += !c->keeps_cpu;
	return task;
}

#define MOST_CASES 4
#define SIDES 3
#define BETWEEN_MS 1500		/* until what a case prints is printed */

/*
 * The cases of @names, which are separated by blanks. All threads are there before the first of
 * them takes a CPU: what the kernel needs to make one may wait for that CPU.
 */
static int begin(char *names)
{
	struct task_struct *tasks[MOST_CASES][SIDES] = { };
	const struct dying_case *which[MOST_CASES];
	unsigned int nr = 0, i, k;
	char *name;

	while ((name = strsep(&names, " "))) {
		for (i = 0; i < ARRAY_SIZE(cases) && strcmp(name, cases[i].name); i++)
			;
		if (i == ARRAY_SIZE(cases) || nr == MOST_CASES)
			return -ENOENT;
		void (*const sides[SIDES])(void) = { cases[i].run, cases[i].second, cases[i].third };

		for (k = 0; k < SIDES && sides[k]; k++) {
			tasks[nr][k] = side_of(&cases[i], sides[k], k ? k > 1 ? "_3" : "_2" : "");
			if (IS_ERR(tasks[nr][k]))
				return PTR_ERR(tasks[nr][k]);
		}
		which[nr++] = &cases[i];
	}
	for (i = 0; i < nr; i++) {
		timer_panics = !strcmp(which[i]->name, "panic");
		atomic_set(&meeting, 0);
		if (i)
			spin(BETWEEN_MS);
		pr_info("dying: begins: %s\n", which[i]->name);
		for (k = 0; k < SIDES && tasks[i][k]; k++)
			wake_up_process(tasks[i][k]);
	}
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	char names[64] = { }, *name;
	int rc = 0;

	if (len >= sizeof(names))
		return -EINVAL;
	if (copy_from_user(names, buf, len))
		return -EFAULT;
	name = strim(names);
	if (!strcmp(name, "legal"))
		rc = dying_legal();
	else if (!strcmp(name, "over"))
		WRITE_ONCE(spin_over, true);
	else
		rc = begin(name);
	return rc ? rc : len;
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
