// SPDX-License-Identifier: GPL-2.0
/*
 * The table of cases, and one more file beside those of driver.h and loops.h in
 * /sys/kernel/debug/lockscope_selftest/:
 *
 *   sleep  write N: tasks sleep in lock functions for N milliseconds. The write
 *          returns once they have been started.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "driver.h"
#include "loops.h"

/*
 * order: orders of locks. verdict: all other rules. stock: in
 * objects of the distribution's own drivers, which have to be there. count: the kernel itself
 * reports them on the console. special: cases that
 * need something done around them, see there; they do nothing wrong without.
 */
static const struct ls_table ls_tables[] = {
	{ "order", order_spin_cases },
	{ "order", order_sleeping_cases },
	{ "order", order_ww_cases },
	{ "order", order_socket_cases },
	{ "order", order_rw_cases },
	{ "order", order_recursion_cases },
	{ "order", order_chain_cases },
	{ "order", order_objects_cases },
	{ "order", order_types_cases },
	{ "order", order_try_cases },
	{ "order", order_gate_cases },
	{ "order", order_gates_cases },
	{ "order", order_passed_cases },
	{ "order", order_release_cases },
	{ "order", order_failing_cases },
	{ "order", order_failing_sem_cases },
	{ "order", order_context_cases },
	{ "order", order_memory_cases },
	{ "order", order_reuse_cases },
	{ "order", order_names_cases },
	{ "order", order_known_cases },
	{ "order", order_wrapper_cases },
	{ "order", order_work_cases },
	{ "verdict", verdict_irq_cases },
	{ "verdict", verdict_irq_object_cases },
	{ "verdict", verdict_inversion_cases },
	{ "verdict", verdict_wait_cases },
	{ "verdict", verdict_sleep_cases },
	{ "verdict", verdict_user_copy_cases },
	{ "verdict", verdict_unlock_cases },
	{ "verdict", verdict_freed_cases },
	{ "verdict", verdict_life_cases },
	{ "verdict", verdict_never_cases },
	{ "verdict", verdict_gone_cases },
	{ "verdict", verdict_annotate_cases },
	{ "verdict", verdict_ww_cases },
	{ "verdict", verdict_order_cases },
	{ "verdict", verdict_belief_cases },
	{ "verdict", verdict_handed_cases },
	{ "verdict", verdict_first_cases },
	{ "verdict", verdict_ring_cases },
	{ "verdict", verdict_completion_cases },
	{ "verdict", verdict_reference_cases },
	{ "verdict", verdict_refined_cases },
	{ "verdict", verdict_roles_cases },
	{ "verdict", verdict_transmit_cases },
	{ "verdict", verdict_bh_work_cases },
	{ "verdict", verdict_regmap_cases },
	{ "verdict", verdict_devices_cases },
	{ "verdict", verdict_sockets_cases },
	{ "verdict", verdict_terminals_cases },
	{ "verdict", verdict_nested_cases },
	{ "verdict", verdict_users_cases },
	{ "verdict", verdict_reborn_cases },
	{ "verdict", verdict_waitqueue_cases },
	{ "stock", verdict_stock_cases },
	{ "special", special_hold_cases },
	{ "count", count_cases },
	{ }
};

static int ls_run_sides(const struct ls_case *c, unsigned int only)
{
	unsigned int i, nr = ls_nr_sides(c);
	char comm[32];
	int ret = 0;

	if (ls_loops_wanted())
		return ls_loops_run(c, nr, only);
	for (i = 0; i < nr && !ret; i++) {
		if (only && i + 1 != only)
			continue;
		snprintf(comm, sizeof(comm), "lst%u_%s", i + 1, c->name);
		ret = ls_run_in(c->side[i].where, comm, c->side[i].run);
	}
	return ret;
}

static const struct ls_driver ls_driver = {
	.dir = "lockscope_selftest",
	.tables = ls_tables,
	.run_sides = ls_run_sides,
	.begin = ls_loops_begin,
	.option = ls_loops_option,
	.refuse = ls_loops_refuse,
};

static ssize_t ls_sleep_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	unsigned int ms;
	int ret = kstrtouint_from_user(ubuf, len, 10, &ms);

	if (ret)
		return ret;
	if (!ls_claim())
		return -EBUSY;
	ret = ls_sleepers_start(ms);
	ls_disclaim();
	return ret ? ret : len;
}

static const struct file_operations ls_sleep_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ls_sleep_write,
	.llseek = noop_llseek,
};

static int __init ls_selftest_init(void)
{
	struct dentry *dir = ls_driver_start(&ls_driver);

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	debugfs_create_file("sleep", 0200, dir, NULL, &ls_sleep_fops);
	ls_loops_start(dir);
	return 0;
}

static void __exit ls_selftest_exit(void)
{
	ls_driver_stop();
	ls_sleepers_wait();
}

module_init(ls_selftest_init);
module_exit(ls_selftest_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: seeded locking faults and their corrected twins");
