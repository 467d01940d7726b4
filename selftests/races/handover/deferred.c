// SPDX-License-Identifier: GPL-2.0
/* What is put off to delayed work and timers, and what it takes to have it back. */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "races.h"

#define TIMES 2

struct job {
	struct delayed_work work;
	struct timer_list timer;
	struct completion done;
	unsigned int times;
	unsigned long v;
};

static struct job *new_job(void)
{
	struct job *j = kzalloc(sizeof(*j), GFP_KERNEL);

	if (j)
		init_completion(&j->done);
	return j;
}

/* Queued again and again, and written to meanwhile. */
static __side void put_delayed_work(struct work_struct *work)
{
	struct job *j = container_of(work, struct job, work.work);

	j->v = ls_value();
}

static __side void put_delayed_ask(void)
{
	struct job *j = new_job();
	unsigned int i;

	if (!j)
		return;
	INIT_DELAYED_WORK(&j->work, put_delayed_work);
	for (i = 0; i < TIMES; i++) {
		j->v = ls_value();
		queue_delayed_work(system_unbound_wq, &j->work, 1);
		msleep(1);
		j->v = ls_value();
	}
	cancel_delayed_work_sync(&j->work);
	kfree(j);
}

/* Once it is queued it is the work's, until that has been waited for. */
static __side void put_delayed_ok_work(struct work_struct *work)
{
	struct job *j = container_of(work, struct job, work.work);

	j->v = ls_value();
}

static __side void put_delayed_ok_ask(void)
{
	struct job *j = new_job();
	unsigned int i;

	if (!j)
		return;
	INIT_DELAYED_WORK(&j->work, put_delayed_ok_work);
	for (i = 0; i < TIMES; i++) {
		j->v = ls_value();
		queue_delayed_work(system_unbound_wq, &j->work, 1);
		/* By then it has run, now and then: idle or not, it is waited for. */
		msleep(10 * (i % 2));
		flush_delayed_work(&j->work);
	}
	cancel_delayed_work_sync(&j->work);
	j->v = ls_value();
	kfree(j);
}

/* A timer that starts itself again. timer_delete() does not wait for its function. */
static __side void put_timer_expired(struct timer_list *timer)
{
	struct job *j = container_of(timer, struct job, timer);

	j->v = ls_value();
	if (++j->times < TIMES)
		mod_timer(timer, jiffies + 1);
	else
		complete(&j->done);
}

static __side void put_timer_ask(void)
{
	struct job *j = new_job();

	if (!j)
		return;
	timer_setup(&j->timer, put_timer_expired, 0);
	j->v = ls_value();
	mod_timer(&j->timer, jiffies + 1);
	msleep(2);
	while (!try_wait_for_completion(&j->done)) {
		if (timer_delete(&j->timer)) {
			j->v = ls_value();
			mod_timer(&j->timer, jiffies + 1);
		}
		msleep(10);
	}
	timer_delete_sync(&j->timer);
	kfree(j);
}

static __side void put_timer_ok_expired(struct timer_list *timer)
{
	struct job *j = container_of(timer, struct job, timer);

	j->v = ls_value();
	mod_timer(timer, jiffies + 1);
}

static __side void put_timer_ok_ask(void)
{
	struct job *j = new_job();
	unsigned int i;

	if (!j)
		return;
	timer_setup(&j->timer, put_timer_ok_expired, 0);
	for (i = 0; i < TIMES; i++) {
		j->v = ls_value();
		mod_timer(&j->timer, jiffies + 1);
		msleep(3 * i);
		timer_delete_sync(&j->timer);
	}
	j->v = ls_value();
	kfree(j);
}

/* A timer that goes from one processor to the next, and is looked at under a lock meanwhile. */
struct tour {
	struct timer_list timer;
	spinlock_t lock;
	unsigned int times;
	unsigned long v;
};

static struct tour *new_tour(void (*expired)(struct timer_list *timer))
{
	struct tour *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (t) {
		spin_lock_init(&t->lock);
		timer_setup(&t->timer, expired, TIMER_PINNED);
	}
	return t;
}

static void tour_go_on(struct tour *t)
{
	unsigned int next = cpumask_next(smp_processor_id(), cpu_online_mask);

	t->timer.expires = jiffies + 1;
	add_timer_on(&t->timer, next < nr_cpu_ids ? next : cpumask_first(cpu_online_mask));
}

static __side void put_tour_expired(struct timer_list *timer)
{
	struct tour *t = container_of(timer, struct tour, timer);

	spin_lock(&t->lock);
	ls_use(t->v);
	spin_unlock(&t->lock);
	if (++t->times < TIMES)
		tour_go_on(t);
}

static __side void put_tour_ask(void)
{
	struct tour *t = new_tour(put_tour_expired);

	if (!t)
		return;
	t->v = ls_value();
	mod_timer(&t->timer, jiffies + 1);
	msleep(20);
	spin_lock_bh(&t->lock);
	ls_use(t->v);
	spin_unlock_bh(&t->lock);
	t->v = ls_value();
	timer_delete_sync(&t->timer);
	kfree(t);
}

static __side void put_tour_ok_expired(struct timer_list *timer)
{
	struct tour *t = container_of(timer, struct tour, timer);

	spin_lock(&t->lock);
	ls_use(t->v);
	spin_unlock(&t->lock);
	if (++t->times < TIMES)
		tour_go_on(t);
}

/* It has run on every processor, and all of that is over. */
static __side void put_tour_ok_ask(void)
{
	struct tour *t = new_tour(put_tour_ok_expired);

	if (!t)
		return;
	t->v = ls_value();
	mod_timer(&t->timer, jiffies + 1);
	msleep(20);
	spin_lock_bh(&t->lock);
	ls_use(t->v);
	spin_unlock_bh(&t->lock);
	timer_delete_sync(&t->timer);
	t->v = ls_value();
	kfree(t);
}

const struct ls_case race_deferred_cases[] = {
	{ "put_delayed", LS_FAULT, LS_RACE, "written to while delayed work may run",
	  "severity!=note side=put_delayed_work", .side = { SIDE(put_delayed_ask) } },
	{ "put_delayed_ok", LS_TWIN, LS_RACE, "delayed work, flushed before it is written to",
	  "", .side = { SIDE(put_delayed_ok_ask) } },
	{ "put_timer", LS_FAULT, LS_RACE, "timer_delete in place of timer_delete_sync",
	  "severity!=note side=put_timer_expired", .side = { SIDE(put_timer_ask) } },
	{ "put_timer_ok", LS_TWIN, LS_RACE, "a timer, deleted and waited for",
	  "", .side = { SIDE(put_timer_ok_ask) } },
	{ "put_tour", LS_FAULT, LS_RACE, "a timer of several processors, written to before it is deleted",
	  "severity!=note side=put_tour_expired", .side = { SIDE(put_tour_ask) } },
	{ "put_tour_ok", LS_TWIN, LS_RACE, "a timer of several processors, deleted and waited for",
	  "", .side = { SIDE(put_tour_ok_ask) } },
	{ }
};
