// SPDX-License-Identifier: GPL-2.0
/*
 * Races to be caught in the act, and what looks like one to a watchpoint. Two threads
 * on two processors access from when the module is loaded until it goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "watch.h"

#define BURST 16

static struct task_struct *threads[2];

static int watch_thread(void *all)
{
	void (*run)(unsigned int round) = all;
	unsigned int round = 0;

	while (!kthread_should_stop()) {
		do
			run(round);
		while (++round % BURST);
		usleep_range(2000, 3000);
	}
	return 0;
}

static struct task_struct *start(void (*all)(unsigned int round), unsigned int cpu, const char *name)
{
	struct task_struct *task = kthread_create(watch_thread, all, "%s", name);

	if (!IS_ERR(task)) {
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	return task;
}

static int __init ls_watch_init(void)
{
	threads[0] = start(watch_all_a, 0, "watch_a");
	if (IS_ERR(threads[0]))
		return PTR_ERR(threads[0]);
	threads[1] = start(watch_all_b, num_online_cpus() - 1, "watch_b");
	if (!IS_ERR(threads[1]))
		return 0;
	kthread_stop(threads[0]);
	return PTR_ERR(threads[1]);
}

static void __exit ls_watch_exit(void)
{
	kthread_stop(threads[0]);
	kthread_stop(threads[1]);
}

module_init(ls_watch_init);
module_exit(ls_watch_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: races for watchpoints");
