// SPDX-License-Identifier: GPL-2.0
/*
 * The table of races, in /sys/kernel/debug/lockscope_races/ (driver.h). Words for
 * "run" besides names, good for the words after them in the same write:
 *
 *   turns=N  each side runs N times, one after the other on one processor
 *   ms=N     all sides run at once for N milliseconds. Without a word: for 20
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "driver.h"
#include "races.h"
#include "turns.h"

static const struct ls_table ls_tables[] = {
	{ "race", race_lock_cases },
	{ "race", race_lock_more_cases },
	{ "race", race_rw_cases },
	{ "race", race_interrupt_cases },
	{ "race", race_context_cases },
	{ "race", race_object_cases },
	{ "race", race_torn_cases },
	{ "race", race_publish_cases },
	{ "race", race_handover_cases },
	{ "race", race_deferred_cases },
	{ "race", race_count_cases },
	{ "race", race_list_cases },
	{ "race", race_percpu_cases },
	{ "race", race_seq_cases },
	{ "race", race_memory_cases },
	{ "race", race_annotate_cases },
	{ "race", race_bit_cases },
	{ "race", race_block_cases },
	{ "race", race_array_cases },
	{ "race", race_doubt_cases },
	{ "race", race_pair_cases },
	{ "kcsan", kcsan_cases },
	{ "kcsan", kcsan_assert_cases },
	{ "kcsan", kcsan_atomic_cases },
	{ }
};

static struct ls_turns ls_how;

static void ls_begin(void)
{
	ls_how = (struct ls_turns){ .ms = 20 };
}

static int ls_option(char *word)
{
	bool serial = str_has_prefix(word, "turns=");
	unsigned int n;
	int ret;

	if (!serial && !str_has_prefix(word, "ms="))
		return -EINVAL;
	ret = kstrtouint(strchr(word, '=') + 1, 10, &n);
	if (ret)
		return ret;
	ls_how = (struct ls_turns){ .serial = serial, .turns = n, .ms = n };
	return 0;
}

static int ls_run_sides(const struct ls_case *c, unsigned int only)
{
	return ls_run_turns(&ls_how, c, ls_nr_sides(c), only);
}

static const struct ls_driver ls_driver = {
	.dir = "lockscope_races",
	.tables = ls_tables,
	.run_sides = ls_run_sides,
	.begin = ls_begin,
	.option = ls_option,
};

static int __init ls_races_init(void)
{
	return PTR_ERR_OR_ZERO(ls_driver_start(&ls_driver));
}

static void __exit ls_races_exit(void)
{
	ls_driver_stop();
	rcu_barrier();
}

module_init(ls_races_init);
module_exit(ls_races_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: seeded data races and their corrected twins");
