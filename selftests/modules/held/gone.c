// SPDX-License-Identifier: GPL-2.0
/* Locks in memory that is free. */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "features.h"
#include "selftest.h"

/*
 * Few others allocate that size, so that the memory stays as it is, but for the words in its middle
 * that the allocator uses.
 */
struct gone_object {
	spinlock_t spin;
	struct mutex lock;
	char rest[5000];
};

static struct gone_object *gone_new(void)
{
	struct gone_object *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o) {
		spin_lock_init(&o->spin);
		mutex_init(&o->lock);
	}
	return o;
}

static void gone_use(struct gone_object *o)
{
	mutex_lock(&o->lock);
	mutex_unlock(&o->lock);
}

static void gone_spin(struct gone_object *o)
{
	spin_lock(&o->spin);
	spin_unlock(&o->spin);
}

/* NAME: USE of an object, its end, NEXT, USE again. */
#define GONE(name, use, next)						\
static __side void name##_task(void)					\
{									\
	struct gone_object *o = gone_new();				\
									\
	if (!o)								\
		return;							\
	use(o);								\
	kfree(o);							\
	next;								\
}

#define GONE_AGAIN(use) do {						\
	o = gone_new();							\
	if (o)								\
		use(o);							\
	kfree(o);							\
} while (0)

#ifndef LS_HAVE_KMALLOC_NOLOCK	/* see kmod/identity/freed.c */
GONE(gone_mutex, gone_use, gone_use(o))
GONE(gone_spin, gone_spin, gone_spin(o))
#endif
GONE(gone_mutex_ok, gone_use, GONE_AGAIN(gone_use))
GONE(gone_spin_ok, gone_spin, GONE_AGAIN(gone_spin))

#define GONE_CASE(name, verdict, summary, classes)			\
	{ #name, verdict, LS_FINDING_IN_FREED, summary, classes, NULL, NULL, { { name##_task } } }

const struct ls_case verdict_gone_cases[] = {
#ifndef LS_HAVE_KMALLOC_NOLOCK
	GONE_CASE(gone_mutex, LS_FAULT, "a mutex in freed memory", "gone_new kind=mutex"),
	GONE_CASE(gone_spin, LS_FAULT, "a spinlock in freed memory", "gone_new kind=spinlock"),
#endif
	GONE_CASE(gone_mutex_ok, LS_TWIN, "a mutex in memory that was allocated again", "gone_new"),
	GONE_CASE(gone_spin_ok, LS_TWIN, "a spinlock in memory that was allocated again", "gone_new"),
	{ }
};
