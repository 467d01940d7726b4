// SPDX-License-Identifier: GPL-2.0
/*
 * The table of cases and its debugfs files, /sys/kernel/debug/lockscope_selftest/:
 *
 *   list   one case a line: NAME fault|twin GROUP KIND PATTERN...
 *   about  one case a line: NAME, a tab and what it is about
 *   run    write words: a NAME, NAME:N for its Nth side alone, or one of
 *          GROUP/all, GROUP/faults, GROUP/twins. The write returns when
 *          everything has run.
 *   sleep  write N: tasks sleep in lock functions for N milliseconds. The write
 *          returns once they have been started.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "selftest.h"

/*
 * order: orders of locks. verdict: all other rules. special: cases that need
 * something done around them, see there; they do nothing wrong without.
 */
static const struct {
	const char *group;
	const struct ls_case *cases;
} ls_tables[] = {
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
	{ "order", order_release_cases },
	{ "order", order_failing_cases },
	{ "order", order_failing_sem_cases },
	{ "order", order_context_cases },
	{ "order", order_memory_cases },
	{ "order", order_reuse_cases },
	{ "verdict", verdict_irq_cases },
	{ "verdict", verdict_inversion_cases },
	{ "verdict", verdict_wait_cases },
	{ "verdict", verdict_sleep_cases },
	{ "verdict", verdict_user_copy_cases },
	{ "verdict", verdict_unlock_cases },
	{ "verdict", verdict_freed_cases },
	{ "verdict", verdict_life_cases },
	{ "verdict", verdict_annotate_cases },
	{ "verdict", verdict_ww_cases },
	{ "verdict", verdict_order_cases },
	{ "verdict", verdict_belief_cases },
	{ "verdict", verdict_completion_cases },
	{ "special", special_hold_cases },
};

#define for_each_case(table, c) \
	for (table = 0; table < ARRAY_SIZE(ls_tables); table++) \
		for (c = ls_tables[table].cases; c->name; c++)

static struct dentry *ls_dir;

/* No lock of our own: it would be held around every case. */
static unsigned long ls_busy;

static const char *const ls_kind_names[LS_NR_EXPECT] = {
	[LS_CYCLE] = "lock-order-cycle",
	[LS_RECURSIVE] = "recursive-lock",
	[LS_IRQ_STATE] = "inconsistent-irq-state",
	[LS_INVERSION] = "irq-inversion",
	[LS_WAIT_CONTEXT] = "invalid-wait-context",
	[LS_SLEEP_ATOMIC] = "sleep-in-atomic",
	[LS_BAD_UNLOCK] = "bad-unlock",
	[LS_DOUBLE_UNLOCK] = "double-unlock",
	[LS_HELD_FREED] = "held-lock-freed",
	[LS_HELD_INIT] = "held-lock-initialised",
	[LS_HELD_EXIT] = "held-at-exit",
	[LS_HELD_USER] = "held-at-return-to-user",
	[LS_NOT_HELD] = "nested-lock-not-held",
	[LS_LONG_HOLD] = "long-hold",
	[LS_WW_MISUSE] = "ww-misuse",
};

static const char *ls_verdict_name(const struct ls_case *c)
{
	return c->verdict == LS_FAULT ? "fault" : "twin";
}

static int ls_list_show(struct seq_file *m, void *unused)
{
	const struct ls_case *c;
	unsigned int table;

	for_each_case(table, c)
		seq_printf(m, "%s %s %s %s %s\n", c->name, ls_verdict_name(c),
			   ls_tables[table].group, ls_kind_names[c->expect], c->classes);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_list);

static int ls_about_show(struct seq_file *m, void *unused)
{
	const struct ls_case *c;
	unsigned int table;

	for_each_case(table, c)
		seq_printf(m, "%s\t%s\n", c->name, c->summary);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_about);

static unsigned int ls_nr_sides(const struct ls_case *c)
{
	unsigned int n = 0;

	while (n < LS_MAX_SIDES && c->side[n].run)
		n++;
	return n;
}

/* @only: number of the one side to run, from 1; 0 runs them all in turn. */
static int ls_run_case(const struct ls_case *c, unsigned int only)
{
	unsigned int i, nr = ls_nr_sides(c);
	char comm[32];
	int ret = 0;

	if (only > nr)
		return -ERANGE;
	if (c->setup)
		ret = c->setup();
	for (i = 0; i < nr && !ret; i++) {
		if (only && i + 1 != only)
			continue;
		snprintf(comm, sizeof(comm), "lst%u_%s", i + 1, c->name);
		ret = ls_run_in(c->side[i].where, comm, c->side[i].run);
	}
	if (c->teardown)
		c->teardown();
	if (ls_was_broken() && !ret)
		ret = -EPROTO;
	if (ret)
		pr_err("case %s failed: %d\n", c->name, ret);
	return ret;
}

static bool ls_matches(const struct ls_case *c, const char *group, const char *word)
{
	const char *slash = strchr(word, '/');

	if (!slash)
		return !strcmp(word, c->name);
	if (strncmp(word, group, slash - word) || group[slash - word])
		return false;
	if (!strcmp(slash + 1, "all"))
		return true;
	if (!strcmp(slash + 1, "faults"))
		return c->verdict == LS_FAULT;
	return !strcmp(slash + 1, "twins") && c->verdict == LS_TWIN;
}

/* Goes on after a failing case and returns the first error. */
static int ls_run_word(char *word)
{
	const struct ls_case *c;
	unsigned int table, only = 0;
	char *colon = strchr(word, ':');
	int ret = -ENOENT, first = 0;

	if (colon) {
		*colon = '\0';
		if (kstrtouint(colon + 1, 10, &only) || !only)
			return -EINVAL;
	}
	for_each_case(table, c) {
		if (!ls_matches(c, ls_tables[table].group, word))
			continue;
		ret = ls_run_case(c, only);
		if (ret && !first)
			first = ret;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return first ? first : ret;
}

static ssize_t ls_run_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char *text, *rest, *word;
	int ret = 0;

	if (len > PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (test_and_set_bit(0, &ls_busy)) {
		ret = -EBUSY;
		goto out;
	}
	rest = text;
	while (!ret && (word = strsep(&rest, " \t\n")))
		if (*word)
			ret = ls_run_word(word);
	clear_bit(0, &ls_busy);
out:
	kfree(text);
	return ret ? ret : len;
}

static const struct file_operations ls_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ls_run_write,
	.llseek = noop_llseek,
};

static ssize_t ls_sleep_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	unsigned int ms;
	int ret = kstrtouint_from_user(ubuf, len, 10, &ms);

	if (ret)
		return ret;
	if (test_and_set_bit(0, &ls_busy))
		return -EBUSY;
	ret = ls_sleepers_start(ms);
	clear_bit(0, &ls_busy);
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
	ls_dir = debugfs_create_dir("lockscope_selftest", NULL);
	if (IS_ERR(ls_dir))
		return PTR_ERR(ls_dir);
	debugfs_create_file("list", 0444, ls_dir, NULL, &ls_list_fops);
	debugfs_create_file("about", 0444, ls_dir, NULL, &ls_about_fops);
	debugfs_create_file("run", 0200, ls_dir, NULL, &ls_run_fops);
	debugfs_create_file("sleep", 0200, ls_dir, NULL, &ls_sleep_fops);
	return 0;
}

static void __exit ls_selftest_exit(void)
{
	debugfs_remove(ls_dir);
	ls_sleepers_wait();
}

module_init(ls_selftest_init);
module_exit(ls_selftest_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope: seeded locking faults and their corrected twins");
