// SPDX-License-Identifier: GPL-2.0
/*
 * A module that comes while others record: one side of a fault runs in code for its
 * start, slowly, the other one later, when that code has been freed and what comes
 * after it may lie there. The twin takes the same locks in one order.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(late_first);
static DEFINE_MUTEX(late_second);
static DEFINE_MUTEX(late_outer);
static DEFINE_MUTEX(late_inner);

static noinline void __init late_setup(void)
{
	mutex_lock(&late_first);
	mutex_lock(&late_second);
	/* Symbols are read now, or never. */
	msleep(1500);
	mutex_unlock(&late_second);
	mutex_unlock(&late_first);
}

static noinline void __init late_setup_twin(void)
{
	mutex_lock(&late_outer);
	mutex_lock(&late_inner);
	mutex_unlock(&late_inner);
	mutex_unlock(&late_outer);
}

static noinline void late_run(void)
{
	mutex_lock(&late_second);
	mutex_lock(&late_first);
	mutex_unlock(&late_first);
	mutex_unlock(&late_second);
}

static noinline void late_run_twin(void)
{
	mutex_lock(&late_outer);
	mutex_lock(&late_inner);
	mutex_unlock(&late_inner);
	mutex_unlock(&late_outer);
}

static int run(const char *value, const struct kernel_param *param)
{
	late_run();
	late_run_twin();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "take the locks the other way round");

static int __init late_init(void)
{
	late_setup();
	late_setup_twin();
	return 0;
}

static void __exit late_exit(void)
{
}

module_init(late_init);
module_exit(late_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: loaded while recording");
