// SPDX-License-Identifier: GPL-2.0
/*
 * Work items of one function. A task that waits for one of them waits for its run, and not for
 * what the runs of others need, also where the memory of an item becomes that of another.
 */
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "selftest.h"

#define WORK_TRIES 200

/* An item whose function needs a lock that the item names. */
struct ls_item {
	struct work_struct work;
	struct mutex *lock;
	unsigned char rest[104];	/* kmalloc-192, which little else uses */
};

/*
 * NAME: item FIRST of two runs and needs NAME_m, the other one needs another lock. Item 0 is
 * waited for under NAME_m.
 */
#define WORK_TWO(name, first)						\
static DEFINE_MUTEX(name##_m);						\
static DEFINE_MUTEX(name##_other);					\
									\
static __side void name##_run(struct work_struct *work)			\
{									\
	struct ls_item *item = container_of(work, struct ls_item, work);	\
									\
	mutex_lock(item->lock);						\
	mutex_unlock(item->lock);					\
}									\
									\
static struct ls_item name##_items[2];					\
									\
static int name##_setup(void)						\
{									\
	int i;								\
									\
	for (i = 0; i < 2; i++) {					\
		INIT_WORK(&name##_items[i].work, name##_run);		\
		name##_items[i].lock = i == (first) ? &name##_m : &name##_other;	\
	}								\
	return 0;							\
}									\
									\
static __side void name##_runs(void)					\
{									\
	int i;								\
									\
	for (i = 0; i < 2; i++) {					\
		queue_work(system_unbound_wq, &name##_items[i].work);	\
		flush_work(&name##_items[i].work);			\
	}								\
}									\
									\
static __side void name##_waits(void)					\
{									\
	mutex_lock(&name##_m);						\
	flush_work(&name##_items[0].work);				\
	mutex_unlock(&name##_m);					\
}

WORK_TWO(work_own, 0)
WORK_TWO(work_two, 1)

/*
 * An item that its function frees, and that goes on. A new item in its memory, which never
 * runs, is waited for under the lock that the old one needed.
 */
static DEFINE_MUTEX(work_freed_m);
static struct ls_item *work_freed_item;
static void *work_freed_was;
static bool work_freed_ran;

static __side struct ls_item *work_freed_new(void)
{
	return kzalloc(sizeof(struct ls_item), GFP_ATOMIC);
}

static __side void work_freed_run(struct work_struct *work)
{
	kfree(container_of(work, struct ls_item, work));
	mutex_lock(&work_freed_m);
	mutex_unlock(&work_freed_m);
	WRITE_ONCE(work_freed_ran, true);
}

static int work_freed_setup(void)
{
	work_freed_item = work_freed_new();
	if (!work_freed_item)
		return -ENOMEM;
	work_freed_was = work_freed_item;
	work_freed_ran = false;
	INIT_WORK(&work_freed_item->work, work_freed_run);
	return 0;
}

static void work_freed_teardown(void)
{
	kfree(work_freed_item);
	work_freed_item = NULL;
}

static __side void work_freed_runs(void)
{
	queue_work(system_unbound_wq, &work_freed_item->work);
	work_freed_item = NULL;
	while (!READ_ONCE(work_freed_ran))
		msleep(1);
}

static __side void work_freed_waits(void)
{
	struct ls_item *tried[WORK_TRIES];
	int i, nr = 0;

	/* Whichever of them has the address: the one at the old one, if it comes. */
	while (nr < WORK_TRIES) {
		tried[nr] = work_freed_new();
		if (!tried[nr] || tried[nr++] == work_freed_was)
			break;
	}
	for (i = 0; i + 1 < nr; i++)
		kfree(tried[i]);
	ls_require(nr);
	if (!nr)
		return;
	work_freed_item = tried[nr - 1];
	INIT_WORK(&work_freed_item->work, work_freed_run);
	mutex_lock(&work_freed_m);
	flush_work(&work_freed_item->work);
	mutex_unlock(&work_freed_m);
}

const struct ls_case order_work_cases[] = {
	{ "work_own", LS_FAULT, LS_CYCLE, "one of two items of a function, waited for with the lock that it needs",
	  "work_own_m work_own_run kind=work severity=error", work_own_setup, NULL,
	  { { work_own_runs }, { work_own_waits } } },
	{ "work_two", LS_FAULT, LS_CYCLE, "one of two items of a function, with the lock that the other one needs",
	  "work_two_m work_two_run kind=work severity!=error", work_two_setup, NULL,
	  { { work_two_runs }, { work_two_waits } } },
	{ "work_freed", LS_FAULT, LS_CYCLE, "an item in the memory of one that its function freed",
	  "work_freed_m work_freed_run kind=work severity!=error", work_freed_setup, work_freed_teardown,
	  { { work_freed_runs }, { work_freed_waits } } },
	{ }
};
