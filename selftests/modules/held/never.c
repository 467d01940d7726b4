// SPDX-License-Identifier: GPL-2.0
/* Locks without an initialisation: they work by luck, until a task has to wait. */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "selftest.h"

struct never_object {
	struct mutex lock;
	spinlock_t spin;
	struct rw_semaphore rwsem;
	struct semaphore sem;
};

/* NAME: an object of cleared memory, of which MAKE initialises a lock that TAKE and GIVE use. */
#define NEVER(name, make, take, give)					\
static struct never_object *name##_of;					\
									\
static int name##_setup(void)						\
{									\
	struct never_object *o = kzalloc(sizeof(*o), GFP_KERNEL);	\
									\
	name##_of = o;							\
	if (!o)								\
		return -ENOMEM;						\
	make;								\
	return 0;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	kfree(name##_of);						\
	name##_of = NULL;						\
}									\
									\
static __side void name##_task(void)					\
{									\
	struct never_object *o = name##_of;				\
									\
	take;								\
	give;								\
}

#define NEVER_CLEARED(o) do { mutex_init(&(o)->lock); memset(o, 0, sizeof(*(o))); } while (0)
#define NEVER_MADE(o) do { memset(o, 0, sizeof(*(o))); mutex_init(&(o)->lock); } while (0)

NEVER(never_mutex, do { } while (0), mutex_lock(&o->lock), mutex_unlock(&o->lock))
NEVER(never_mutex_ok, mutex_init(&o->lock), mutex_lock(&o->lock), mutex_unlock(&o->lock))
NEVER(never_kept, NEVER_CLEARED(o), mutex_lock(&o->lock), mutex_unlock(&o->lock))
NEVER(never_kept_ok, NEVER_MADE(o), mutex_lock(&o->lock), mutex_unlock(&o->lock))
NEVER(never_rwsem, do { } while (0), down_read(&o->rwsem), up_read(&o->rwsem))
NEVER(never_rwsem_ok, init_rwsem(&o->rwsem), down_read(&o->rwsem), up_read(&o->rwsem))
/* Its release would crash. */
#define NEVER_UP(sem) do { INIT_LIST_HEAD(&(sem)->wait_list); up(sem); } while (0)
NEVER(never_sem, o->sem.count = 1, down(&o->sem), NEVER_UP(&o->sem))
NEVER(never_sem_ok, sema_init(&o->sem, 1), down(&o->sem), up(&o->sem))
/* Cleared memory is a free spinlock. */
NEVER(never_spin_ok, do { } while (0), spin_lock(&o->spin), spin_unlock(&o->spin))

#define NEVER_CASE(name, verdict, summary, classes)			\
	{ #name, verdict, LS_FINDING_NOT_INIT, summary, classes, name##_setup, name##_teardown,	\
	  { { name##_task } } }

const struct ls_case verdict_never_cases[] = {
	NEVER_CASE(never_mutex, LS_FAULT, "a mutex in cleared memory", "never_mutex_setup kind=mutex"),
	NEVER_CASE(never_mutex_ok, LS_TWIN, "a mutex that was initialised", "never_mutex_ok_setup"),
	NEVER_CASE(never_kept, LS_FAULT, "a mutex that was cleared after its initialisation",
		   "never_kept_setup kind=mutex"),
	NEVER_CASE(never_kept_ok, LS_TWIN, "a mutex that was cleared before", "never_kept_ok_setup"),
	NEVER_CASE(never_rwsem, LS_FAULT, "an rwsem in cleared memory", "never_rwsem_setup kind=rwsem"),
	NEVER_CASE(never_rwsem_ok, LS_TWIN, "an rwsem that was initialised", "never_rwsem_ok_setup"),
	NEVER_CASE(never_sem, LS_FAULT, "a semaphore of which only the count was set",
		   "never_sem_setup kind=semaphore"),
	NEVER_CASE(never_sem_ok, LS_TWIN, "a semaphore that was initialised", "never_sem_ok_setup"),
	NEVER_CASE(never_spin_ok, LS_TWIN, "a spinlock in cleared memory", "never_spin_ok_setup"),
	{ }
};
