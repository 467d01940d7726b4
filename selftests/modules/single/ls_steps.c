// SPDX-License-Identifier: GPL-2.0
/*
 * A load whose dependencies are known at each moment: step number n takes two of LOCKS
 * spinlocks, a pair that no other step takes, always the lower one first. How many steps were
 * done is in memory, behind a mark, for a test that reads the memory of a machine that died.
 * Each CPU has a thread, which does its steps in bursts; write their number to the parameter go.
 * They are rare enough for the rings: a dependency without room there would be seen when it is
 * taken again, which it never is.
 *
 * Writing to the parameter die takes three of the locks, and oopses.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/spinlock.h>

#define BURST 24
#define PAUSE_US 40000

#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define SIXTEEN(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define MANY(X, n) SIXTEEN(X, n##0) SIXTEEN(X, n##1) SIXTEEN(X, n##2) SIXTEEN(X, n##3)
#define ALL(X) MANY(X, 0) MANY(X, 1) MANY(X, 2) MANY(X, 3)

#define DEFINE(n) static DEFINE_SPINLOCK(step_##n);
ALL(DEFINE)
#define POINTER(n) &step_##n,
static spinlock_t *const locks[] = { ALL(POINTER) };
#define LOCKS ARRAY_SIZE(locks)

/* A page of its own. Thread i does the steps i, i + threads, ...: done[i] of them by now. */
#define MOST 64
static struct progress {
	u64 mark[2];
	u64 threads;
	u64 done[MOST];
} *progress;

/* The pair of step @n: all (0, 1), (1, 2), ... first, then (0, 2), (1, 3), ... */
static bool pair_of(u32 n, u32 *low, u32 *high)
{
	u32 distance;

	for (distance = 1; distance < LOCKS; distance++) {
		if (n < LOCKS - distance) {
			*low = n;
			*high = n + distance;
			return true;
		}
		n -= LOCKS - distance;
	}
	return false;
}

static noinline void step(u32 low, u32 high)
{
	spin_lock(locks[low]);
	spin_lock(locks[high]);
	spin_unlock(locks[high]);
	spin_unlock(locks[low]);
}

static u32 go;

static int thread(void *number)
{
	u32 mine = (unsigned long)number, at = mine, burst = 0, low, high;

	while (!kthread_should_stop()) {
		if (at >= READ_ONCE(go) || !pair_of(at, &low, &high)) {
			msleep(20);
			continue;
		}
		step(low, high);
		/* The step is over: a reader of the memory may expect it. */
		smp_store_release(&progress->done[mine], progress->done[mine] + 1);
		at += progress->threads;
		if (++burst % BURST == 0)
			usleep_range(PAUSE_US, PAUSE_US + get_random_u32() % PAUSE_US);
	}
	return 0;
}

module_param(go, uint, 0644);
MODULE_PARM_DESC(go, "steps to be done");

static noinline int die_set(const char *text, const struct kernel_param *kp)
{
	spin_lock(locks[0]);
	spin_lock(locks[1]);
	spin_lock(locks[2]);
	BUG();
	return 0;
}

static const struct kernel_param_ops die_ops = { .set = die_set };
module_param_cb(die, &die_ops, NULL, 0200);
MODULE_PARM_DESC(die, "oops with three locks held");

static struct task_struct *threads[MOST];

static void stop(void)
{
	u32 i;

	for (i = 0; i < MOST; i++)
		if (threads[i])
			kthread_stop(threads[i]);
	memset(progress, 0, sizeof(*progress));
	free_page((unsigned long)progress);
}

static int __init steps_init(void)
{
	u32 i, nr = min_t(u32, num_online_cpus(), MOST);

	progress = (struct progress *)get_zeroed_page(GFP_KERNEL);
	if (!progress)
		return -ENOMEM;
	progress->threads = nr;
	progress->mark[0] = 0x7065747362617473ull;
	progress->mark[1] = 0x6fa1c03b5d2e9487ull;
	for (i = 0; i < nr; i++) {
		threads[i] = kthread_run(thread, (void *)(unsigned long)i, "ls_step/%u", i);
		if (IS_ERR(threads[i])) {
			int rc = PTR_ERR(threads[i]);

			threads[i] = NULL;
			stop();
			return rc;
		}
	}
	return 0;
}

static void __exit steps_exit(void)
{
	stop();
}

module_init(steps_init);
module_exit(steps_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: a load whose dependencies are known at each moment");
