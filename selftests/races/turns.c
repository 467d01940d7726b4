// SPDX-License-Identifier: GPL-2.0
/*
 * Running the sides of a case in turns or all at once.
 *
 * What orders the sides of a case must be the case's own doing. They are started and waited
 * for with completions of their own, always by the runner: no side ever waits for what another
 * one completed.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include "races.h"
#include "turns.h"

/* A side runs so many times in a row. In turns it does not meet itself. */
#define ROUNDS_SERIAL 2
#define ROUNDS_PARALLEL 4
#define MIN_BURSTS 4

struct ls_turner {
	const struct ls_side *side;
	const struct ls_turns *how;
	char comm[32];
	bool end;
	atomic_t *behind;	/* sides that have not run MIN_BURSTS yet */
	unsigned long until;	/* jiffies */
	int ret;
	struct completion go;
	struct completion done;
};

static int burst(struct ls_turner *t, unsigned int rounds)
{
	unsigned int i;

	if (t->side->where != LS_THREAD)
		return ls_run_rounds(t->side->where, t->comm, t->side->run, rounds);
	for (i = 0; i < rounds; i++)
		t->side->run();
	return 0;
}

static int turn(struct ls_turner *t)
{
	unsigned int bursts = 0;
	int ret;

	if (t->how->serial)
		return burst(t, ROUNDS_SERIAL);
	/* None ends before the slowest has begun: timers take their time. */
	do {
		ret = burst(t, ROUNDS_PARALLEL);
		usleep_range(50, 150);
		if (++bursts == MIN_BURSTS || (ret && bursts < MIN_BURSTS))
			atomic_dec(t->behind);
	} while (!ret && (atomic_read(t->behind) > 0 || time_before(jiffies, t->until)));
	return ret;
}

static int turner_thread(void *data)
{
	struct ls_turner *t = data;

	for (;;) {
		wait_for_completion(&t->go);
		if (t->end)
			break;
		t->ret = turn(t);
		complete(&t->done);
	}
	/* From the kernel's own text: this module's may be gone by then. */
	kthread_complete_and_exit(&t->done, 0);
	return 0;
}

static unsigned int processor(const struct ls_case *c, bool serial, unsigned int i)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);

	if (c->cpus == LS_CPUS_SAME || (serial && c->cpus != LS_CPUS_TWO))
		return cpu;
	for (i %= num_online_cpus(); i; i--)
		cpu = cpumask_next(cpu, cpu_online_mask);
	return cpu;
}

static int turner_start(struct ls_turner *t, unsigned int cpu)
{
	struct task_struct *task = kthread_create(turner_thread, t, "%s", t->comm);

	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

static void turner_go(struct ls_turner *t)
{
	t->until = jiffies + msecs_to_jiffies(t->how->ms);
	complete(&t->go);
}

static int turner_wait(struct ls_turner *t)
{
	wait_for_completion(&t->done);
	return t->ret;
}

static void turner_end(struct ls_turner *t)
{
	t->end = true;
	complete(&t->go);
	wait_for_completion(&t->done);
}

static int run_serial(struct ls_turner *turners, unsigned int nr)
{
	unsigned int i, n;
	int ret = 0;

	for (n = 0; n < turners->how->turns && !ret; n++)
		for (i = 0; i < nr && !ret; i++) {
			turner_go(&turners[i]);
			ret = turner_wait(&turners[i]);
		}
	return ret;
}

static int run_parallel(struct ls_turner *turners, unsigned int nr)
{
	atomic_t behind = ATOMIC_INIT(nr);
	unsigned int i;
	int ret, first = 0;

	for (i = 0; i < nr; i++)
		turners[i].behind = &behind;

	for (i = 0; i < nr; i++)
		turner_go(&turners[i]);
	for (i = 0; i < nr; i++) {
		ret = turner_wait(&turners[i]);
		first = first ?: ret;
	}
	return first;
}

int ls_run_turns(const struct ls_turns *how, const struct ls_case *c, unsigned int nr_sides,
		 unsigned int only)
{
	struct ls_turner *turners = kcalloc(nr_sides, sizeof(*turners), GFP_KERNEL);
	unsigned int i, nr = 0;
	int ret = 0;

	if (!turners)
		return -ENOMEM;
	for (i = 0; i < nr_sides && !ret; i++) {
		struct ls_turner *t = &turners[nr];

		if (only && i + 1 != only)
			continue;
		t->side = &c->side[i];
		t->how = how;
		snprintf(t->comm, sizeof(t->comm), "lsr%u_%s", i + 1, c->name);
		init_completion(&t->go);
		init_completion(&t->done);
		ret = turner_start(t, processor(c, how->serial, i));
		if (!ret)
			nr++;
	}
	if (!ret)
		ret = how->serial ? run_serial(turners, nr) : run_parallel(turners, nr);
	for (i = 0; i < nr; i++)
		turner_end(&turners[i]);
	kfree(turners);
	return ret;
}

unsigned long ls_value(void)
{
	static atomic_long_t value;

	return atomic_long_inc_return(&value);
}

void ls_use(unsigned long value)
{
	OPTIMIZER_HIDE_VAR(value);
}

/* The runner is not instrumented, and these are no functions that are hooked. */
static atomic_t apart;

void ls_apart_begin(void)
{
	preempt_disable();
	while (atomic_cmpxchg(&apart, 0, 1))
		cpu_relax();
}

void ls_apart_end(void)
{
	atomic_set_release(&apart, 0);
	preempt_enable();
}

static void *kept[LS_NR_KEPT];

int ls_keep(unsigned int slot, void *p)
{
	if (!p)
		return -ENOMEM;
	kept[slot] = p;
	return 0;
}

void *ls_kept(unsigned int slot)
{
	return kept[slot];
}

void ls_drop(unsigned int slot)
{
	kept[slot] = NULL;
}

static struct llist_head buried = LLIST_HEAD_INIT(buried);

/* The first word of a buried object is its link; its old value is never read. */
void ls_bury(void *p)
{
	llist_add(p, &buried);
}

void ls_free_kept(void)
{
	struct llist_node *node, *next;
	unsigned int i;

	for (i = 0; i < LS_NR_KEPT; i++) {
		kfree(kept[i]);
		kept[i] = NULL;
	}
	llist_for_each_safe(node, next, llist_del_all(&buried))
		kfree(node);
}
