// SPDX-License-Identifier: GPL-2.0
/* Objects that pass from one side to the other, and what is needed for that. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "races.h"

struct parcel {
	struct list_head list;
	unsigned long v;
};

/* The sender still writes to an object that it has put on the list, when it is another's. */
struct parcel_list {
	spinlock_t lock;
	struct list_head head;
	struct parcel *given;		/* last */
	struct parcel *taken;
};

static int own_list_setup(void)
{
	struct parcel_list *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (l) {
		spin_lock_init(&l->lock);
		INIT_LIST_HEAD(&l->head);
	}
	return ls_keep(0, l);
}

static struct parcel *own_list_new(void)
{
	struct parcel *p = kmalloc(sizeof(*p), GFP_KERNEL);

	if (p)
		p->v = ls_value();
	return p;
}

static void own_list_put(struct parcel_list *l, struct parcel *p)
{
	spin_lock(&l->lock);
	list_add_tail(&p->list, &l->head);
	l->given = p;
	spin_unlock(&l->lock);
}

static struct parcel *own_list_get(struct parcel_list *l)
{
	struct parcel *p;

	spin_lock(&l->lock);
	p = list_first_entry_or_null(&l->head, struct parcel, list);
	if (p)
		list_del(&p->list);
	spin_unlock(&l->lock);
	return p;
}

static void own_list_teardown(void)
{
	struct parcel_list *l = ls_kept(0);
	struct parcel *p;

	while ((p = own_list_get(l)))
		kfree(p);
	spin_lock(&l->lock);
	kfree(l->taken);
	spin_unlock(&l->lock);
	ls_free_kept();
}

static __side void own_list_give(void)
{
	struct parcel_list *l = ls_kept(0);
	struct parcel *last, *p = own_list_new();

	if (!p)
		return;
	spin_lock(&l->lock);
	last = l->given;
	spin_unlock(&l->lock);
	if (last)
		last->v = ls_value();
	own_list_put(l, p);
}

/* Works on it until the next one comes. */
static __side void own_list_take(void)
{
	struct parcel_list *l = ls_kept(0);
	struct parcel *last, *p = own_list_get(l);

	if (!p)
		return;
	p->v = ls_value();
	spin_lock(&l->lock);
	last = l->taken;
	l->taken = p;
	spin_unlock(&l->lock);
	if (!last)
		return;
	last->v = ls_value();
	ls_bury(last);
}

/* Once it is on the list, it is the other's. */
static __side void own_list_ok_give(void)
{
	struct parcel *p = own_list_new();

	if (!p)
		return;
	p->v = ls_value();
	own_list_put(ls_kept(0), p);
}

static __side void own_list_ok_take(void)
{
	struct parcel *p = own_list_get(ls_kept(0));

	if (!p)
		return;
	p->v = ls_value();
	kfree(p);
}

/* Both write to one buffer, as often as they like. */
struct mailbox {
	struct completion full;
	struct completion empty;
	unsigned long v;
};

static int own_done_setup(void)
{
	struct mailbox *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (m) {
		init_completion(&m->full);
		init_completion(&m->empty);
		complete(&m->empty);
	}
	return ls_keep(0, m);
}

/* The sender signals the receiver, and waits for nothing itself. */
static __side void own_done_send(void)
{
	struct mailbox *m = ls_kept(0);

	m->v = ls_value();
	complete(&m->full);
}

static __side void own_done_receive(void)
{
	struct mailbox *m = ls_kept(0);

	if (wait_for_completion_timeout(&m->full, 1))
		m->v = ls_value();
}

/* Each waits until the other is done with it. */
static __side void own_done_ok_send(void)
{
	struct mailbox *m = ls_kept(0);

	if (!wait_for_completion_timeout(&m->empty, 1))
		return;
	m->v = ls_value();
	complete(&m->full);
}

static __side void own_done_ok_receive(void)
{
	struct mailbox *m = ls_kept(0);

	if (!wait_for_completion_timeout(&m->full, 1))
		return;
	m->v = ls_value();
	complete(&m->empty);
}

/* A request to a work item: to sleep for a while is not to wait for its end. */
struct request {
	struct work_struct work;
	struct completion done;
	unsigned long v;
};

static __side void own_sleep_work(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);

	unsigned int i;

	for (i = 0; i < 4; i++) {
		r->v = ls_value();
		msleep(1);
	}
	complete(&r->done);
}

static __side void own_sleep_ask(void)
{
	struct request *r = kzalloc(sizeof(*r), GFP_KERNEL);
	unsigned int i;

	if (!r)
		return;
	INIT_WORK(&r->work, own_sleep_work);
	init_completion(&r->done);
	r->v = ls_value();
	queue_work(system_unbound_wq, &r->work);
	for (i = 0; i < 4; i++) {
		msleep(1);
		r->v = ls_value();
	}
	wait_for_completion(&r->done);
	flush_work(&r->work);
	kfree(r);
}

static __side void own_sleep_ok_work(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);

	r->v = ls_value();
	complete(&r->done);
}

static __side void own_sleep_ok_ask(void)
{
	struct request *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return;
	INIT_WORK(&r->work, own_sleep_ok_work);
	init_completion(&r->done);
	r->v = ls_value();
	queue_work(system_unbound_wq, &r->work);
	wait_for_completion(&r->done);
	r->v = ls_value();
	flush_work(&r->work);
	kfree(r);
}

/* On the waiter's stack, as is common in the kernel. */
static __side void own_stack_ok_work(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);

	r->v = ls_value();
	complete(&r->done);
}

static __side void own_stack_ok_ask(void)
{
	struct request r = { .v = ls_value() };

	INIT_WORK_ONSTACK(&r.work, own_stack_ok_work);
	init_completion(&r.done);
	queue_work(system_unbound_wq, &r.work);
	wait_for_completion(&r.done);
	ls_use(r.v);
	flush_work(&r.work);
	destroy_work_on_stack(&r.work);
}

/* A timer that is started is another's turn, and what it queues again another's. */
struct reminder {
	struct timer_list timer;
	struct work_struct work;
	struct completion done;
	unsigned int times;
	unsigned long v;
};

static void own_timer_end(struct reminder *r)
{
	timer_delete_sync(&r->timer);
	if (r->work.func)
		flush_work(&r->work);
	kfree(r);
}

static __side void own_timer_expired(struct timer_list *timer)
{
	struct reminder *r = container_of(timer, struct reminder, timer);

	r->v = ls_value();
	if (++r->times < 4)
		mod_timer(timer, jiffies + 1);
	else
		complete(&r->done);
}

static __side void own_timer_ask(void)
{
	struct reminder *r = kzalloc(sizeof(*r), GFP_KERNEL);
	unsigned int i;

	if (!r)
		return;
	timer_setup(&r->timer, own_timer_expired, 0);
	init_completion(&r->done);
	r->v = ls_value();
	mod_timer(&r->timer, jiffies + 1);
	for (i = 0; i < 4; i++) {
		msleep(1);
		r->v = ls_value();
	}
	wait_for_completion(&r->done);
	own_timer_end(r);
}

static __side void own_timer_ok_work(struct work_struct *work)
{
	struct reminder *r = container_of(work, struct reminder, work);

	r->v = ls_value();
	complete(&r->done);
}

static __side void own_timer_ok_expired(struct timer_list *timer)
{
	struct reminder *r = container_of(timer, struct reminder, timer);

	r->v = ls_value();
	queue_work(system_unbound_wq, &r->work);
}

static __side void own_timer_ok_ask(void)
{
	struct reminder *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return;
	timer_setup(&r->timer, own_timer_ok_expired, 0);
	INIT_WORK(&r->work, own_timer_ok_work);
	init_completion(&r->done);
	r->v = ls_value();
	mod_timer(&r->timer, jiffies + 1);
	wait_for_completion(&r->done);
	r->v = ls_value();
	own_timer_end(r);
}

const struct ls_case race_handover_cases[] = {
	{ "own_list", LS_FAULT, LS_RACE, "written to after it was put on the other's list",
	  "severity!=note", own_list_setup, own_list_teardown,
	  { SIDE(own_list_give), SIDE(own_list_take) } },
	{ "own_list_ok", LS_TWIN, LS_RACE, "handed over through a list",
	  "", own_list_setup, own_list_teardown,
	  { SIDE(own_list_ok_give), SIDE(own_list_ok_take) } },
	{ "own_done", LS_FAULT, LS_RACE, "handed over by a completion, but never back",
	  "severity!=note", own_done_setup, ls_free_kept,
	  { SIDE(own_done_send), SIDE(own_done_receive) } },
	{ "own_done_ok", LS_TWIN, LS_RACE, "handed over and back by completions",
	  "", own_done_setup, ls_free_kept,
	  { SIDE(own_done_ok_send), SIDE(own_done_ok_receive) } },
	{ "own_sleep", LS_FAULT, LS_RACE, "msleep in place of waiting for a work item",
	  "severity!=note side=own_sleep_work", .side = { SIDE(own_sleep_ask) } },
	{ "own_sleep_ok", LS_TWIN, LS_RACE, "waits for the completion of a work item",
	  "", .side = { SIDE(own_sleep_ok_ask) } },
	{ "own_timer", LS_FAULT, LS_RACE, "written to after its timer was started",
	  "severity!=note side=own_timer_expired", .side = { SIDE(own_timer_ask) } },
	{ "own_timer_ok", LS_TWIN, LS_RACE, "a timer is started last, and queues work last",
	  "", .side = { SIDE(own_timer_ok_ask) } },
	{ "own_stack_ok", LS_TWIN, LS_RACE, "request on the stack, waits for its completion",
	  "", .side = { SIDE(own_stack_ok_ask) } },
	{ }
};
