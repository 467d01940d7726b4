// SPDX-License-Identifier: GPL-2.0
/*
 * What the drivers of seeded cases have in common: the debugfs files list, about
 * and run, see driver.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "driver.h"

static const struct ls_driver *driver;
static struct dentry *ls_dir;

/* No lock of our own: it would be held around every case. */
static unsigned long ls_busy;

/* Cases that need more processors than there are do not exist. */
static bool ls_possible(const struct ls_case *c)
{
	return c->cpus != LS_CPUS_TWO || num_online_cpus() > 1;
}

#define for_each_case(table, c) \
	for (table = driver->tables; table->group; table++) \
		for (c = table->cases; c->name; c++) \
			if (ls_possible(c))

static const char *ls_verdict_name(const struct ls_case *c)
{
	return c->verdict == LS_FAULT ? "fault" : "twin";
}

void ls_driver_print(struct seq_file *m, const char *(*mark)(const struct ls_case *c))
{
	const struct ls_table *table;
	const struct ls_case *c;
	const char *more;
	unsigned int i;

	for_each_case(table, c) {
		more = mark ? mark(c) : "";
		if (!more)
			continue;
		seq_printf(m, "%s %s %s %s", c->name, ls_verdict_name(c), table->group,
			   ls_finding_name(c->expect));
		for (i = 0; i < LS_MAX_SIDES && c->side[i].name; i++)
			seq_printf(m, " side=%s", c->side[i].name);
		seq_printf(m, "%s%s%s\n", c->classes[0] ? " " : "", c->classes, more);
	}
}

static int ls_list_show(struct seq_file *m, void *unused)
{
	ls_driver_print(m, NULL);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_list);

static int ls_about_show(struct seq_file *m, void *unused)
{
	const struct ls_table *table;
	const struct ls_case *c;

	for_each_case(table, c)
		seq_printf(m, "%s\t%s\n", c->name, c->summary);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_about);

unsigned int ls_nr_sides(const struct ls_case *c)
{
	unsigned int n = 0;

	while (n < LS_MAX_SIDES && c->side[n].run)
		n++;
	return n;
}

static int ls_run_case(const struct ls_case *c, unsigned int only)
{
	int ret = 0;

	if (only > ls_nr_sides(c))
		return -ERANGE;
	if (c->setup)
		ret = c->setup();
	if (!ret)
		ret = driver->run_sides(c, only);
	if (c->teardown)
		c->teardown();
	if (ls_was_broken() && !ret)
		ret = -EPROTO;
	if (ret)
		pr_err("case %s failed: %d\n", c->name, ret);
	return ret;
}

bool ls_claim(void)
{
	return !test_and_set_bit(0, &ls_busy);
}

void ls_disclaim(void)
{
	clear_bit(0, &ls_busy);
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
	const struct ls_table *table;
	const struct ls_case *c;
	unsigned int only = 0;
	char *colon = strchr(word, ':');
	int ret = -ENOENT, first = 0;

	if (driver->option && strchr(word, '='))
		return driver->option(word);
	if (colon) {
		*colon = '\0';
		if (kstrtouint(colon + 1, 10, &only) || !only)
			return -EINVAL;
	}
	for_each_case(table, c) {
		if (!ls_matches(c, table->group, word))
			continue;
		if (driver->refuse && driver->refuse(c)) {
			if (!strchr(word, '/'))
				return -EINVAL;
			continue;
		}
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
	if (!ls_claim()) {
		ret = -EBUSY;
		goto out;
	}
	rest = text;
	if (driver->begin)
		driver->begin();
	while (!ret && (word = strsep(&rest, " \t\n")))
		if (*word)
			ret = ls_run_word(word);
	ls_disclaim();
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

struct dentry *ls_driver_start(const struct ls_driver *d)
{
	driver = d;
	ls_dir = debugfs_create_dir(d->dir, NULL);
	if (IS_ERR(ls_dir))
		return ls_dir;
	debugfs_create_file("list", 0444, ls_dir, NULL, &ls_list_fops);
	debugfs_create_file("about", 0444, ls_dir, NULL, &ls_about_fops);
	debugfs_create_file("run", 0200, ls_dir, NULL, &ls_run_fops);
	return ls_dir;
}

void ls_driver_stop(void)
{
	debugfs_remove(ls_dir);
}
