// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is seen first in another task, under other locks and on another object than when
 * it races: a report is about the two that raced.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "races.h"

struct pair_lock {
	spinlock_t lock;
};

static struct pair_lock *pair_lock_new(void)
{
	struct pair_lock *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (l)
		spin_lock_init(&l->lock);
	return l;
}

/* Slot 0: the object, 1 and 2: the locks of its writers. */
static int pair_keep(void)
{
	return ls_keep(0, kzalloc(sizeof(unsigned long), GFP_KERNEL)) ?:
	       ls_keep(1, pair_lock_new()) ?: ls_keep(2, pair_lock_new());
}

/* Others come in the place of what @first and @second have run with. */
static int pair_setup(void (*first)(void), void (*second)(void))
{
	unsigned int i;
	int ret = pair_keep();

	if (ret)
		return ret;
	first();
	second();
	for (i = 0; i < 3; i++) {
		void *old = ls_kept(i);

		ls_drop(i);
		ls_bury(old);
	}
	return pair_keep();
}

static __side void pair_later_a(void)
{
	unsigned long *p = ls_kept(0);
	struct pair_lock *l = ls_kept(1);

	spin_lock(&l->lock);
	*p = ls_value();
	spin_unlock(&l->lock);
}

static __side void pair_later_b(void)
{
	unsigned long *p = ls_kept(0);
	struct pair_lock *l = ls_kept(2);

	spin_lock(&l->lock);
	*p = ls_value();
	spin_unlock(&l->lock);
}

static __side int pair_later_setup(void)
{
	return pair_setup(pair_later_a, pair_later_b);
}

static __side void pair_later_ok_a(void)
{
	unsigned long *p = ls_kept(0);
	struct pair_lock *l = ls_kept(1);

	spin_lock(&l->lock);
	*p = ls_value();
	spin_unlock(&l->lock);
}

static __side void pair_later_ok_b(void)
{
	unsigned long *p = ls_kept(0);
	struct pair_lock *l = ls_kept(1);

	spin_lock(&l->lock);
	*p = ls_value();
	spin_unlock(&l->lock);
}

static __side int pair_later_ok_setup(void)
{
	return pair_setup(pair_later_ok_a, pair_later_ok_b);
}

const struct ls_case race_pair_cases[] = {
	{ "pair_later", LS_FAULT, LS_RACE, "seen first in another task with other locks",
	  "severity!=note", pair_later_setup, ls_free_kept,
	  { SIDE(pair_later_a), SIDE(pair_later_b) } },
	{ "pair_later_ok", LS_TWIN, LS_RACE, "one lock for both sides whenever they are seen",
	  "", pair_later_ok_setup, ls_free_kept,
	  { SIDE(pair_later_ok_a), SIDE(pair_later_ok_b) } },
	{ }
};
