// SPDX-License-Identifier: GPL-2.0
/*
 * Makes new observations for LockScope at a given rate: a thread takes one ordered pair of
 * locks after the other, none of them twice. The parameter "made" says how many by now. Every
 * pair is an acquisition in a new order: one event, one observation, one edge.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#define LOCKS 2048u	/* 2096128 pairs */

static uint rate = 500;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "pairs a second");
static uint pairs = 300000;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "pairs in all, at most 2096128");
static uint made;
module_param(made, uint, 0444);
MODULE_PARM_DESC(made, "pairs taken so far");

static spinlock_t locks[LOCKS];
static struct task_struct *thread;

/* The inner lock lies higher: no order ever closes a cycle. */
static noinline void take_pair(u32 a, u32 b)
{
	spin_lock(&locks[a]);
	spin_lock(&locks[b]);
	spin_unlock(&locks[b]);
	spin_unlock(&locks[a]);
}

static int run(void *unused)
{
	unsigned long begin;
	u32 a = 0, b = 1;

	/* Classes first: their records are no part of the rate. */
	for (a = 0; a < LOCKS && !kthread_should_stop(); a++) {
		spin_lock(&locks[a]);
		spin_unlock(&locks[a]);
		if (!(a % 64))
			msleep(20);
	}
	begin = jiffies;
	a = 0;
	while (!kthread_should_stop()) {
		u64 due = (u64)jiffies_to_msecs(jiffies - begin) * rate / 1000;

		while (made < pairs && made < due && b < LOCKS) {
			take_pair(a, b);
			WRITE_ONCE(made, made + 1);
			if (++a == b) {
				a = 0;
				b++;
			}
		}
		msleep(5);
	}
	return 0;
}

static int __init ls_rate_init(void)
{
	u32 i;

	for (i = 0; i < LOCKS; i++)
		spin_lock_init(&locks[i]);
	thread = kthread_run(run, NULL, "ls_rate");
	return PTR_ERR_OR_ZERO(thread);
}
module_init(ls_rate_init);

static void __exit ls_rate_exit(void)
{
	kthread_stop(thread);
}
module_exit(ls_rate_exit);

MODULE_DESCRIPTION("New lock orders at a given rate");
MODULE_LICENSE("GPL");
