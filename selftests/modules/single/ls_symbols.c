// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a lock class of every address that it is given: flushing a work counts as taking
 * a lock that is called by the work's function, and nothing is read there.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

static DEFINE_MUTEX(symbols_outer);
static struct work_struct symbols_work;

static void nothing(struct work_struct *work)
{
}

/* Hexadecimal addresses, a space behind each. */
static int take(const char *value, const struct kernel_param *param)
{
	unsigned long addr;
	int n;

	mutex_lock(&symbols_outer);
	for (; sscanf(value, "%lx%n", &addr, &n) == 1; value += n) {
		symbols_work.func = (work_func_t)addr;
		flush_work(&symbols_work);
		value += strspn(value + n, " \n");
	}
	mutex_unlock(&symbols_outer);
	return 0;
}

static const struct kernel_param_ops take_ops = { .set = take };
module_param_cb(take, &take_ops, NULL, 0200);
MODULE_PARM_DESC(take, "addresses");

static int __init symbols_init(void)
{
	INIT_WORK(&symbols_work, nothing);
	return 0;
}

static void __exit symbols_exit(void)
{
}

module_init(symbols_init);
module_exit(symbols_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: classes of static addresses");
