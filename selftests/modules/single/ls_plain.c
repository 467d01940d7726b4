// SPDX-License-Identifier: GPL-2.0
/*
 * Data races in a module that was built like any other, for probes on its
 * instructions. Two threads count, without a lock and, for the twins, under one,
 * from when the module is loaded until it goes. Each access is in a function of
 * the side's own, plain_NAME_a and _b, with _ok in the names of twins.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define BURST 4

struct plain_object {
	u64 before;
	u64 count;
	u64 count_ok;
	spinlock_t lock;
};

static struct plain_object *object;
static unsigned long plain_static __used;
static unsigned long plain_static_ok __used;
static DEFINE_SPINLOCK(plain_static_lock);

/* Each side counts in its own steps, or the compiler would make one function of two. */
#define SIDES(SIDE, STEP) \
	static noinline void plain_member_##SIDE(void) \
	{ \
		object->count += STEP; \
	} \
	static noinline void plain_member_ok_##SIDE(void) \
	{ \
		spin_lock(&object->lock); \
		object->count_ok += STEP; \
		spin_unlock(&object->lock); \
	} \
	static noinline void plain_static_##SIDE(void) \
	{ \
		plain_static += STEP; \
	} \
	static noinline void plain_static_ok_##SIDE(void) \
	{ \
		spin_lock(&plain_static_lock); \
		plain_static_ok += STEP; \
		spin_unlock(&plain_static_lock); \
	} \
	static int plain_thread_##SIDE(void *unused) \
	{ \
		while (!kthread_should_stop()) { \
			int i; \
			for (i = 0; i < BURST; i++) { \
				plain_member_##SIDE(); \
				plain_static_##SIDE(); \
				plain_member_ok_##SIDE(); \
				plain_static_ok_##SIDE(); \
			} \
			usleep_range(500, 1000); \
		} \
		return 0; \
	}
SIDES(a, 1)
SIDES(b, 3)

static struct task_struct *threads[2];

static struct task_struct *start(int (*run)(void *), unsigned int cpu, const char *name)
{
	struct task_struct *task = kthread_create(run, NULL, "%s", name);

	if (!IS_ERR(task)) {
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	return task;
}

static int __init ls_plain_init(void)
{
	object = kzalloc(sizeof(*object), GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	spin_lock_init(&object->lock);
	threads[0] = start(plain_thread_a, 0, "plain_a");
	if (IS_ERR(threads[0]))
		goto fail;
	threads[1] = start(plain_thread_b, num_online_cpus() - 1, "plain_b");
	if (!IS_ERR(threads[1]))
		return 0;
	kthread_stop(threads[0]);
	threads[0] = threads[1];
fail:
	kfree(object);
	return PTR_ERR(threads[0]);
}

static void __exit ls_plain_exit(void)
{
	kthread_stop(threads[0]);
	kthread_stop(threads[1]);
	kfree(object);
}

module_init(ls_plain_init);
module_exit(ls_plain_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: data races without instrumentation");
