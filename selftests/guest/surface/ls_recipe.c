// SPDX-License-Identifier: GPL-2.0
/* An out-of-tree module: one race and its twin, from two threads. */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>

static int recipe_bare, recipe_kept;
static DEFINE_SPINLOCK(recipe_lock);

static noinline void recipe_race(void)
{
	recipe_bare++;
}

static noinline void recipe_race_ok(void)
{
	spin_lock(&recipe_lock);
	recipe_kept++;
	spin_unlock(&recipe_lock);
}

static int recipe_thread(void *unused)
{
	while (!kthread_should_stop()) {
		recipe_race();
		recipe_race_ok();
		schedule_timeout_interruptible(1);
	}
	return 0;
}

static struct task_struct *threads[2];

static void recipe_stop(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
}

static int __init recipe_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i] = kthread_run(recipe_thread, NULL, "recipe%u", i);
		if (IS_ERR(threads[i])) {
			recipe_stop();
			return PTR_ERR(threads[i]);
		}
	}
	return 0;
}
module_init(recipe_init);

static void __exit recipe_exit(void)
{
	recipe_stop();
}
module_exit(recipe_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: built by the words of docs/instrument.md");
