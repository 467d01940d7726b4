// SPDX-License-Identifier: GPL-2.0
/*
 * A module that was loaded before LockScope: its objects were allocated unseen. Two spinlocks
 * of one object are taken in both orders; the twin's have a third one between them, a ring
 * that is open where they are two. Always by one function, which does not distinguish the
 * locks.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

struct before_object {
	unsigned long head[4];
	spinlock_t a;
	unsigned long middle[4];
	spinlock_t b;
};

/* Another type, in another cache. */
struct before_twin {
	unsigned long head[32];
	struct before_object more;
};

static struct before_object *fault;
static struct before_twin *twin;
static DEFINE_SPINLOCK(before_ok_m);

/* Two functions, although their code is the same. */
#define TAKE(name)								\
	static noinline __attribute__((__noipa__))				\
	void name(spinlock_t *outer, spinlock_t *inner)				\
	{									\
		spin_lock(outer);						\
		spin_lock(inner);						\
		spin_unlock(inner);						\
		spin_unlock(outer);						\
	}

TAKE(before_take)
TAKE(before_ok_take)

static void before_ab(void)
{
	before_take(&fault->a, &fault->b);
}

static void before_ba(void)
{
	before_take(&fault->b, &fault->a);
}

static void before_ok_am(void)
{
	before_ok_take(&twin->more.a, &before_ok_m);
}

static void before_ok_mb(void)
{
	before_ok_take(&before_ok_m, &twin->more.b);
}

static void (*const sides[])(void) = { before_ab, before_ba, before_ok_am, before_ok_mb };

static DECLARE_COMPLETION(over);

static int thread(void *side)
{
	((void (*)(void))side)();
	complete(&over);
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* Each in a thread of its own: the write of a parameter holds a mutex, which would be a gate. */
static int run(const char *value, const struct kernel_param *param)
{
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		task = kthread_run(thread, sides[i], "ls_before");
		if (IS_ERR(task))
			return PTR_ERR(task);
		wait_for_completion(&over);
		kthread_stop(task);
	}
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "the sides of the fault and of the twin");

static void init(struct before_object *object)
{
	spin_lock_init(&object->a);
	spin_lock_init(&object->b);
}

static int __init before_init(void)
{
	fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	twin = kzalloc(sizeof(*twin), GFP_KERNEL);
	if (!fault || !twin) {
		kfree(fault);
		kfree(twin);
		return -ENOMEM;
	}
	init(fault);
	init(&twin->more);
	return 0;
}

static void __exit before_exit(void)
{
	kfree(fault);
	kfree(twin);
}

module_init(before_init);
module_exit(before_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: loaded before LockScope");
