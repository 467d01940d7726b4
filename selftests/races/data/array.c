// SPDX-License-Identifier: GPL-2.0
/* Elements of one array in memory without objects, which pass from list to list. */
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "races.h"

#define NR_SLOTS 3

/* Neither as large as a cache line nor a multiple of it. */
struct array_slot {
	struct list_head list;
	unsigned long v[20];
	unsigned long late;
};

/* Free slots, and those that the second side is to work on; a lock for each. */
struct array {
	spinlock_t free_lock, work_lock;
	struct list_head free, work;
	struct array_slot slot[NR_SLOTS];
};

static int array_setup(void)
{
	struct array *a = vzalloc(sizeof(*a));
	unsigned int i;

	if (!a)
		return -ENOMEM;
	spin_lock_init(&a->free_lock);
	spin_lock_init(&a->work_lock);
	INIT_LIST_HEAD(&a->free);
	INIT_LIST_HEAD(&a->work);
	for (i = 0; i < NR_SLOTS; i++)
		list_add(&a->slot[i].list, &a->free);
	return ls_keep(0, a);
}

static void array_teardown(void)
{
	vfree(ls_kept(0));
	ls_drop(0);
}

static struct array_slot *array_get(spinlock_t *lock, struct list_head *list)
{
	struct array_slot *s;

	spin_lock(lock);
	s = list_first_entry_or_null(list, struct array_slot, list);
	if (s)
		list_del(&s->list);
	spin_unlock(lock);
	return s;
}

static void array_put(spinlock_t *lock, struct list_head *list, struct array_slot *s)
{
	spin_lock(lock);
	list_add(&s->list, list);
	spin_unlock(lock);
}

/* Writes to the slot when it is the other side's. The twin does so before. */
static __side void array_late_a(void)
{
	struct array *a = ls_kept(0);
	struct array_slot *s = array_get(&a->free_lock, &a->free);

	if (!s)
		return;
	s->v[0] = ls_value();
	array_put(&a->work_lock, &a->work, s);
	s->late = ls_value();
}

static __side void array_late_b(void)
{
	struct array *a = ls_kept(0);
	struct array_slot *s = array_get(&a->work_lock, &a->work);

	if (!s)
		return;
	s->v[10] = ls_value();
	s->late = ls_value();
	array_put(&a->free_lock, &a->free, s);
}

static __side void array_late_ok_a(void)
{
	struct array *a = ls_kept(0);
	struct array_slot *s = array_get(&a->free_lock, &a->free);

	if (!s)
		return;
	s->v[0] = ls_value();
	s->v[10] = ls_value();
	s->late = ls_value();
	array_put(&a->work_lock, &a->work, s);
}

static __side void array_late_ok_b(void)
{
	struct array *a = ls_kept(0);
	struct array_slot *s = array_get(&a->work_lock, &a->work);

	if (!s)
		return;
	s->v[0] = ls_value();
	s->v[10] = ls_value();
	s->late = ls_value();
	array_put(&a->free_lock, &a->free, s);
}

const struct ls_case race_array_cases[] = {
	{ "array_late", LS_FAULT, LS_RACE, "element of an array, written to after it was queued",
	  "severity!=note", array_setup, array_teardown,
	  { SIDE(array_late_a), SIDE(array_late_b) } },
	{ "array_late_ok", LS_TWIN, LS_RACE, "elements of an array, handed over through lists",
	  "", array_setup, array_teardown,
	  { SIDE(array_late_ok_a), SIDE(array_late_ok_b) } },
	{ }
};
