// SPDX-License-Identifier: GPL-2.0
/*
 * Locks in objects of two types. The sides use different instances: what makes
 * the circle is the order of the types.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

struct ls_owner {
	unsigned long id;
	spinlock_t lock;
};

struct ls_item {
	unsigned long id[3];
	spinlock_t lock;
};

static void ls_owner_ctor(void *object)
{
	struct ls_owner *owner = object;

	spin_lock_init(&owner->lock);
}

static void ls_item_ctor(void *object)
{
	struct ls_item *item = object;

	spin_lock_init(&item->lock);
}

struct ls_household {
	struct kmem_cache *owners, *items;
	struct ls_owner *owner[2];
	struct ls_item *item[2];
};

/* A cache with a constructor is never merged with another. */
static int ls_household_set_up(struct ls_household *h, const char *owners, const char *items)
{
	unsigned int i;

	h->owners = kmem_cache_create(owners, sizeof(struct ls_owner), 0, 0, ls_owner_ctor);
	h->items = kmem_cache_create(items, sizeof(struct ls_item), 0, 0, ls_item_ctor);
	if (!h->owners || !h->items)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		h->owner[i] = kmem_cache_alloc(h->owners, GFP_KERNEL);
		h->item[i] = kmem_cache_alloc(h->items, GFP_KERNEL);
		if (!h->owner[i] || !h->item[i])
			return -ENOMEM;
	}
	return 0;
}

static void ls_household_tear_down(struct ls_household *h)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (h->owner[i])
			kmem_cache_free(h->owners, h->owner[i]);
		if (h->item[i])
			kmem_cache_free(h->items, h->item[i]);
	}
	kmem_cache_destroy(h->owners);
	kmem_cache_destroy(h->items);
	memset(h, 0, sizeof(*h));
}

static struct ls_household obj_types_h;

static int obj_types_setup(void)
{
	return ls_household_set_up(&obj_types_h, "obj_types_owner", "obj_types_item");
}

static void obj_types_teardown(void)
{
	ls_household_tear_down(&obj_types_h);
}

static __side void obj_types_owner_then_item(void)
{
	spin_lock(&obj_types_h.owner[0]->lock);
	spin_lock(&obj_types_h.item[0]->lock);
	spin_unlock(&obj_types_h.item[0]->lock);
	spin_unlock(&obj_types_h.owner[0]->lock);
}

static __side void obj_types_item_then_owner(void)
{
	spin_lock(&obj_types_h.item[1]->lock);
	spin_lock(&obj_types_h.owner[1]->lock);
	spin_unlock(&obj_types_h.owner[1]->lock);
	spin_unlock(&obj_types_h.item[1]->lock);
}

static struct ls_household obj_types_ok_h;

static int obj_types_ok_setup(void)
{
	return ls_household_set_up(&obj_types_ok_h, "obj_types_ok_owner", "obj_types_ok_item");
}

static void obj_types_ok_teardown(void)
{
	ls_household_tear_down(&obj_types_ok_h);
}

static __side void obj_types_ok_owner_then_item(void)
{
	spin_lock(&obj_types_ok_h.owner[0]->lock);
	spin_lock(&obj_types_ok_h.item[0]->lock);
	spin_unlock(&obj_types_ok_h.item[0]->lock);
	spin_unlock(&obj_types_ok_h.owner[0]->lock);
}

static __side void obj_types_ok_item_apart(void)
{
	spin_lock(&obj_types_ok_h.item[1]->lock);
	spin_unlock(&obj_types_ok_h.item[1]->lock);
	spin_lock(&obj_types_ok_h.owner[1]->lock);
	spin_lock(&obj_types_ok_h.item[0]->lock);
	spin_unlock(&obj_types_ok_h.item[0]->lock);
	spin_unlock(&obj_types_ok_h.owner[1]->lock);
}

/* One object is locked in an interrupt, another with interrupts on. */
static struct ls_household obj_apart_h;

static int obj_apart_setup(void)
{
	return ls_household_set_up(&obj_apart_h, "obj_apart_owner", "obj_apart_item");
}

static void obj_apart_teardown(void)
{
	ls_household_tear_down(&obj_apart_h);
}

static __side void obj_apart_hrtimer(void)
{
	spin_lock(&obj_apart_h.item[0]->lock);
	spin_unlock(&obj_apart_h.item[0]->lock);
}

static __side void obj_apart_task(void)
{
	spin_lock(&obj_apart_h.item[1]->lock);
	spin_unlock(&obj_apart_h.item[1]->lock);
}

/* The same, then the one that the interrupt locks, below another lock, which is observed. */
static struct ls_household obj_both_h;

static int obj_both_setup(void)
{
	return ls_household_set_up(&obj_both_h, "obj_both_owner", "obj_both_item");
}

static void obj_both_teardown(void)
{
	ls_household_tear_down(&obj_both_h);
}

static __side void obj_both_hrtimer(void)
{
	spin_lock(&obj_both_h.item[0]->lock);
	spin_unlock(&obj_both_h.item[0]->lock);
}

static __side void obj_both_task(void)
{
	spin_lock(&obj_both_h.item[1]->lock);
	spin_unlock(&obj_both_h.item[1]->lock);
	spin_lock(&obj_both_h.owner[0]->lock);
	spin_lock(&obj_both_h.item[0]->lock);
	spin_unlock(&obj_both_h.item[0]->lock);
	spin_unlock(&obj_both_h.owner[0]->lock);
}

/* The same two meet in both orders, but not the first time. */
static struct ls_household obj_late_h;

static int obj_late_setup(void)
{
	return ls_household_set_up(&obj_late_h, "obj_late_owner", "obj_late_item");
}

static void obj_late_teardown(void)
{
	ls_household_tear_down(&obj_late_h);
}

static __side void obj_late_owner_then_item(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		spin_lock(&obj_late_h.owner[i]->lock);
		spin_lock(&obj_late_h.item[i]->lock);
		spin_unlock(&obj_late_h.item[i]->lock);
		spin_unlock(&obj_late_h.owner[i]->lock);
	}
}

static __side void obj_late_item_then_owner(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		spin_lock(&obj_late_h.item[i]->lock);
		spin_lock(&obj_late_h.owner[1]->lock);
		spin_unlock(&obj_late_h.owner[1]->lock);
		spin_unlock(&obj_late_h.item[i]->lock);
	}
}

/* A list walked hand over hand: each node is taken before the last is left. */
#define WALK_NODES 8

struct ls_station {
	struct ls_station *next, *prev;
	struct mutex lock;
};

static void ls_walk_link(struct ls_station *station)
{
	unsigned int i;

	for (i = 0; i < WALK_NODES; i++) {
		station[i].next = i + 1 < WALK_NODES ? &station[i + 1] : NULL;
		station[i].prev = i ? &station[i - 1] : NULL;
	}
}

static struct ls_station *obj_walk_stations;

static __side int obj_walk_setup(void)
{
	unsigned int i;

	obj_walk_stations = kcalloc(WALK_NODES, sizeof(*obj_walk_stations), GFP_KERNEL);
	if (!obj_walk_stations)
		return -ENOMEM;
	ls_walk_link(obj_walk_stations);
	for (i = 0; i < WALK_NODES; i++)
		mutex_init(&obj_walk_stations[i].lock);
	return 0;
}

static void obj_walk_teardown(void)
{
	kfree(obj_walk_stations);
}

static __side void obj_walk_forwards(void)
{
	struct ls_station *here = &obj_walk_stations[0], *next;

	mutex_lock(&here->lock);
	for (; (next = here->next); here = next) {
		mutex_lock(&next->lock);
		mutex_unlock(&here->lock);
	}
	mutex_unlock(&here->lock);
}

static __side void obj_walk_backwards(void)
{
	struct ls_station *here = &obj_walk_stations[WALK_NODES - 1], *prev;

	mutex_lock(&here->lock);
	for (; (prev = here->prev); here = prev) {
		mutex_lock(&prev->lock);
		mutex_unlock(&here->lock);
	}
	mutex_unlock(&here->lock);
}

static struct ls_station *obj_walk_ok_stations;

static __side int obj_walk_ok_setup(void)
{
	unsigned int i;

	obj_walk_ok_stations = kcalloc(WALK_NODES, sizeof(*obj_walk_ok_stations), GFP_KERNEL);
	if (!obj_walk_ok_stations)
		return -ENOMEM;
	ls_walk_link(obj_walk_ok_stations);
	for (i = 0; i < WALK_NODES; i++)
		mutex_init(&obj_walk_ok_stations[i].lock);
	return 0;
}

static void obj_walk_ok_teardown(void)
{
	kfree(obj_walk_ok_stations);
}

static __side void obj_walk_ok_forwards(void)
{
	struct ls_station *here = &obj_walk_ok_stations[0], *next;

	mutex_lock(&here->lock);
	for (; (next = here->next); here = next) {
		mutex_lock(&next->lock);
		mutex_unlock(&here->lock);
	}
	mutex_unlock(&here->lock);
}

/* Backwards each node is left before the one before it is taken. */
static __side void obj_walk_ok_backwards(void)
{
	struct ls_station *here;

	for (here = &obj_walk_ok_stations[WALK_NODES - 1]; here; here = here->prev) {
		mutex_lock(&here->lock);
		mutex_unlock(&here->lock);
	}
}

const struct ls_case order_types_cases[] = {
	{ "obj_types", LS_FAULT, LS_CYCLE, "objects of two types in both orders, never the same two",
	  "obj_types_owner obj_types_item severity=warning",
	  .setup = obj_types_setup, .teardown = obj_types_teardown,
	  .side = { { obj_types_owner_then_item }, { obj_types_item_then_owner } } },
	{ "obj_types_ok", LS_TWIN, LS_CYCLE, "objects of two types in one order",
	  "obj_types_ok_owner obj_types_ok_item",
	  .setup = obj_types_ok_setup, .teardown = obj_types_ok_teardown,
	  .side = { { obj_types_ok_owner_then_item }, { obj_types_ok_item_apart } } },
	{ "obj_late", LS_FAULT, LS_CYCLE, "objects of two types in both orders, the same two in the end",
	  "obj_late_owner obj_late_item severity=error",
	  .setup = obj_late_setup, .teardown = obj_late_teardown,
	  .side = { { obj_late_owner_then_item }, { obj_late_item_then_owner } } },
	{ "obj_apart", LS_FAULT, LS_IRQ_STATE, "an object in an interrupt, another with interrupts on",
	  "obj_apart_item severity=warning",
	  .setup = obj_apart_setup, .teardown = obj_apart_teardown,
	  .side = { { obj_apart_hrtimer, LS_HRTIMER }, { obj_apart_task } } },
	{ "obj_both", LS_FAULT, LS_IRQ_STATE, "an object in an interrupt and with interrupts on",
	  "obj_both_item severity=error",
	  .setup = obj_both_setup, .teardown = obj_both_teardown,
	  .side = { { obj_both_hrtimer, LS_HRTIMER }, { obj_both_task } } },
	{ "obj_walk", LS_FAULT, LS_RECURSIVE, "a list walked hand over hand in both directions",
	  "obj_walk_setup",
	  .setup = obj_walk_setup, .teardown = obj_walk_teardown,
	  .side = { { obj_walk_forwards }, { obj_walk_backwards } } },
	{ "obj_walk_ok", LS_TWIN, LS_RECURSIVE, "a list walked hand over hand in one direction",
	  "obj_walk_ok_setup",
	  .setup = obj_walk_ok_setup, .teardown = obj_walk_ok_teardown,
	  .side = { { obj_walk_ok_forwards }, { obj_walk_ok_backwards } } },
	{ }
};
