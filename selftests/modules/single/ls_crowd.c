// SPDX-License-Identifier: GPL-2.0
/*
 * Locks in pages of their own, of which nothing is known but their addresses and the
 * initialiser: COUNT of them at a time, more than LockScope has room for or fewer.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>

static unsigned int count = 131072;
module_param(count, uint, 0);
MODULE_PARM_DESC(count, "locks");

static int __init crowd_init(void)
{
	unsigned int order = get_order(count * sizeof(struct mutex)), i;
	struct mutex *locks = (struct mutex *)__get_free_pages(GFP_KERNEL, order);

	if (!locks)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		mutex_init(&locks[i]);
	free_pages((unsigned long)locks, order);
	return 0;
}

static void __exit crowd_exit(void)
{
}

module_init(crowd_init);
module_exit(crowd_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: many locks known by address");
