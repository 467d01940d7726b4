// SPDX-License-Identifier: GPL-2.0
/* Running the sides of a case in loops, see loops.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "driver.h"
#include "loops.h"

/* Pauses are a thousand times as long as what a side does, or faults would meet unaided. */
#define PAUSE_MIN_US 5000
#define PAUSE_MAX_US 60000
#define MAX_DELAY_US 100

struct ls_loop {
	struct list_head list;
	const struct ls_side *side;
	atomic_long_t *rounds;
	struct completion done;
	int ret;
};

/* Only the writer that has claimed the driver uses these; threads read ls_over. */
static unsigned int ls_ms;
static bool ls_over;

static const struct ls_case *ls_last;
static atomic_long_t ls_rounds[LS_MAX_SIDES];

void ls_loops_begin(void)
{
	ls_ms = 0;
}

int ls_loops_option(char *word)
{
	unsigned int ms;
	int ret;

	if (!str_has_prefix(word, "loops="))
		return -EINVAL;
	ret = kstrtouint(strchr(word, '=') + 1, 10, &ms);
	if (ret)
		return ret;
	ls_ms = ms;
	return 0;
}

bool ls_loops_wanted(void)
{
	return ls_ms;
}

bool ls_loops_refuse(const struct ls_case *c)
{
	return ls_ms && !ls_loops_mark(c);
}

static void ls_loop_pause(void)
{
	unsigned int us = PAUSE_MIN_US + get_random_u32() % (PAUSE_MAX_US - PAUSE_MIN_US);

	usleep_range(us, us);
	/* Timers of several sides that expire in one interrupt would let these begin together. */
	udelay(get_random_u32() % MAX_DELAY_US);
}

static int ls_loop_thread(void *data)
{
	struct ls_loop *loop = data;
	const struct ls_side *side = loop->side;

	while (!loop->ret) {
		ls_loop_pause();
		if (READ_ONCE(ls_over))
			break;
		if (side->where == LS_THREAD)
			side->run();
		else
			loop->ret = ls_run_in(side->where, current->comm, side->run);
		atomic_long_inc(loop->rounds);
	}
	/* From the kernel's own text: that of this module may be gone by then. */
	kthread_complete_and_exit(&loop->done, 0);
	return 0;
}

static bool ls_in_interrupt(enum ls_where where)
{
	return where == LS_TASKLET || where == LS_TIMER || where == LS_HRTIMER;
}

static int ls_loop_start(struct list_head *loops, const struct ls_case *c, unsigned int i, int cpu)
{
	struct ls_loop *loop = kzalloc(sizeof(*loop), GFP_KERNEL);
	struct task_struct *task;

	if (!loop)
		return -ENOMEM;
	loop->side = &c->side[i];
	loop->rounds = &ls_rounds[i];
	init_completion(&loop->done);
	task = kthread_create(ls_loop_thread, loop, "lst%u_%s", i + 1, c->name);
	if (IS_ERR(task)) {
		kfree(loop);
		return PTR_ERR(task);
	}
	kthread_bind(task, cpu);
	list_add_tail(&loop->list, loops);
	wake_up_process(task);
	return 0;
}

/*
 * An interrupt comes on the processor of its loop, and only there on top of a task. Tasks have a
 * processor each: one that wakes up on another's would preempt it where it may sleep, between
 * its locks more often than elsewhere.
 */
static int ls_loop_start_side(struct list_head *loops, const struct ls_case *c, unsigned int i)
{
	unsigned int at = 0;
	int cpu, ret = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (!ls_in_interrupt(c->side[i].where) && at++ != i % num_online_cpus())
			continue;
		ret = ls_loop_start(loops, c, i, cpu);
		if (ret)
			break;
	}
	cpus_read_unlock();
	return ret;
}

/* The threads use locks of the case and this module's text: not even a signal leaves them. */
static int ls_loops_end(struct list_head *loops)
{
	struct ls_loop *loop, *next;
	int ret = 0;

	WRITE_ONCE(ls_over, true);
	list_for_each_entry_safe(loop, next, loops, list) {
		wait_for_completion(&loop->done);
		if (!ret)
			ret = loop->ret;
		kfree(loop);
	}
	return ret;
}

int ls_loops_run(const struct ls_case *c, unsigned int nr_sides, unsigned int only)
{
	unsigned long left = msecs_to_jiffies(ls_ms);
	int ret = 0, ended;
	unsigned int i;
	LIST_HEAD(loops);

	WRITE_ONCE(ls_last, c);
	for (i = 0; i < LS_MAX_SIDES; i++)
		atomic_long_set(&ls_rounds[i], 0);
	WRITE_ONCE(ls_over, false);
	/* What has to be so when sides run one by one, such as a trylock that succeeds. */
	ls_forgive(true);
	for (i = 0; i < nr_sides && !ret; i++)
		if (!only || i + 1 == only)
			ret = ls_loop_start_side(&loops, c, i);
	while (!ret && left && !fatal_signal_pending(current))
		left = schedule_timeout_killable(left);
	ended = ls_loops_end(&loops);
	ls_forgive(false);
	return ret ? ret : ended;
}

static int ls_loops_show(struct seq_file *m, void *unused)
{
	ls_driver_print(m, ls_loops_mark);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_loops);

static int ls_rounds_show(struct seq_file *m, void *unused)
{
	const struct ls_case *c = READ_ONCE(ls_last);
	unsigned int i;

	for (i = 0; c && i < ls_nr_sides(c); i++)
		seq_printf(m, "%s %u %ld\n", c->name, i + 1, atomic_long_read(&ls_rounds[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ls_rounds);

void ls_loops_start(struct dentry *dir)
{
	debugfs_create_file("loops", 0444, dir, NULL, &ls_loops_fops);
	debugfs_create_file("rounds", 0444, dir, NULL, &ls_rounds_fops);
}
