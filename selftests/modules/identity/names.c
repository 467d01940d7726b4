// SPDX-License-Identifier: GPL-2.0
/*
 * Locks and functions of one name in one module: static ones of two files, and local
 * ones of two functions. They are no more one lock than others are.
 */
#include <linux/slab.h>

#include "names.h"
#include "selftest.h"

/* NAME_OUTER_INNER: takes INNER while it holds OUTER. */
#define PAIR(function, kind, outer, inner)	\
	static __side void function(void)	\
	{					\
		kind##_lock(outer);		\
		kind##_lock(inner);		\
		kind##_unlock(inner);		\
		kind##_unlock(outer);		\
	}

static DEFINE_MUTEX(name_files_lock);
PAIR(name_files_ab, mutex, &name_files_lock, name_files_other())
PAIR(name_files_ba, mutex, name_files_other(), &name_files_lock)

static DEFINE_MUTEX(name_files_ok_lock);
PAIR(name_files_ok_ab, mutex, &name_files_ok_lock, name_files_ok_other())
PAIR(name_files_ok_again, mutex, &name_files_ok_lock, name_files_ok_other())

/* A third lock in between; the twin's first and last are two locks. */
static DEFINE_MUTEX(name_mid_lock);
static DEFINE_MUTEX(name_mid_m);
PAIR(name_mid_am, mutex, &name_mid_lock, &name_mid_m)
PAIR(name_mid_mb, mutex, &name_mid_m, name_mid_other())
PAIR(name_mid_ba, mutex, name_mid_other(), &name_mid_lock)

static DEFINE_MUTEX(name_mid_ok_lock);
static DEFINE_MUTEX(name_mid_ok_m);
PAIR(name_mid_ok_am, mutex, &name_mid_ok_lock, &name_mid_ok_m)
PAIR(name_mid_ok_mb, mutex, &name_mid_ok_m, name_mid_ok_other())

/* The compiler numbers local ones, in another way in every build. */
#define LOCAL(function, name)			\
	static __side spinlock_t *function(void) \
	{					\
		static DEFINE_SPINLOCK(name);	\
						\
		return &name;			\
	}

LOCAL(name_local_one, name_local_lock)
LOCAL(name_local_two, name_local_lock)
PAIR(name_local_ab, spin, name_local_one(), name_local_two())
PAIR(name_local_ba, spin, name_local_two(), name_local_one())

LOCAL(name_local_ok_one, name_local_ok_lock)
LOCAL(name_local_ok_two, name_local_ok_lock)
static DEFINE_SPINLOCK(name_local_ok_m);
PAIR(name_local_ok_am, spin, name_local_ok_one(), &name_local_ok_m)
PAIR(name_local_ok_mb, spin, &name_local_ok_m, name_local_ok_two())

#define MINE(name) per_cpu_ptr(&name##_lock, 0)

static DEFINE_PER_CPU(spinlock_t, name_percpu_lock) = __SPIN_LOCK_UNLOCKED(name_percpu_lock);
PAIR(name_percpu_ab, spin, MINE(name_percpu), name_percpu_other())
PAIR(name_percpu_ba, spin, name_percpu_other(), MINE(name_percpu))

static DEFINE_PER_CPU(spinlock_t, name_percpu_ok_lock) = __SPIN_LOCK_UNLOCKED(name_percpu_ok_lock);
static DEFINE_SPINLOCK(name_percpu_ok_m);
PAIR(name_percpu_ok_am, spin, MINE(name_percpu_ok), &name_percpu_ok_m)
PAIR(name_percpu_ok_mb, spin, &name_percpu_ok_m, name_percpu_ok_other())

/* Initialised by functions of one name, with the same words. */
#define OBJECTS(name)							\
	static struct ls_named *name##_a, *name##_b;			\
									\
	static __side void name##_make(struct ls_named *object)		\
	{								\
		mutex_init(&object->lock);				\
		/* No jump: the initialiser returns to here. */		\
		barrier();						\
	}								\
									\
	static int name##_setup(void)					\
	{								\
		name##_a = kmalloc(sizeof(*name##_a), GFP_KERNEL);	\
		name##_b = name##_other();				\
		if (!name##_a || !name##_b)				\
			return -ENOMEM;					\
		name##_make(name##_a);					\
		return 0;						\
	}								\
									\
	static void name##_teardown(void)				\
	{								\
		kfree(name##_a);					\
		kfree(name##_b);					\
		name##_a = name##_b = NULL;				\
	}

OBJECTS(name_init)
PAIR(name_init_ab, mutex, &name_init_a->lock, &name_init_b->lock)
PAIR(name_init_ba, mutex, &name_init_b->lock, &name_init_a->lock)

OBJECTS(name_init_ok)
static DEFINE_MUTEX(name_init_ok_m);
PAIR(name_init_ok_am, mutex, &name_init_ok_a->lock, &name_init_ok_m)
PAIR(name_init_ok_mb, mutex, &name_init_ok_m, &name_init_ok_b->lock)

/* Waits for a work under the mutex: the fault for the one that takes it. */
#define WORKS(name, waited)						\
	DEFINE_MUTEX(name##_m);						\
	static int name##_runs;						\
									\
	static __side void name##_run(struct work_struct *work)		\
	{								\
		name##_runs++;						\
	}								\
	static DECLARE_WORK(name##_mine, name##_run);			\
									\
	static __side void name##_flushes(void)				\
	{								\
		schedule_work(&waited);					\
		/* Nothing can hang: it has run already. */		\
		flush_work(&waited);					\
		mutex_lock(&name##_m);					\
		flush_work(&waited);					\
		mutex_unlock(&name##_m);				\
	}								\
									\
	static __side void name##_both(void)				\
	{								\
		schedule_work(&name##_mine);				\
		flush_work(&name##_mine);				\
		schedule_work(&name##_other);				\
		flush_work(&name##_other);				\
	}

WORKS(name_work, name_work_other)
WORKS(name_work_ok, name_work_ok_mine)

const struct ls_case order_names_cases[] = {
	{ "name_files", LS_FAULT, LS_CYCLE, "static locks of one name in two files, in both orders",
	  "name_files_lock#1 name_files_lock#2",
	  .side = { { name_files_ab }, { name_files_ba } } },
	{ "name_files_ok", LS_TWIN, LS_RECURSIVE, "in one order", "",
	  .side = { { name_files_ok_ab }, { name_files_ok_again } } },
	{ "name_mid", LS_FAULT, LS_CYCLE, "two static locks of one name and a third in a ring",
	  "name_mid_lock#1 name_mid_lock#2 name_mid_m",
	  .side = { { name_mid_am }, { name_mid_mb }, { name_mid_ba } } },
	{ "name_mid_ok", LS_TWIN, LS_CYCLE, "a ring that is open between the two of one name", "",
	  .side = { { name_mid_ok_am }, { name_mid_ok_mb } } },
	{ "name_local", LS_FAULT, LS_CYCLE, "local static locks of one name, in both orders",
	  "name_local_lock#1 name_local_lock#2",
	  .side = { { name_local_ab }, { name_local_ba } } },
	{ "name_local_ok", LS_TWIN, LS_CYCLE, "a ring that is open between the two of one name", "",
	  .side = { { name_local_ok_am }, { name_local_ok_mb } } },
	{ "name_percpu", LS_FAULT, LS_CYCLE, "per-CPU locks of one name in two files, in both orders",
	  "name_percpu_lock#1 name_percpu_lock#2",
	  .side = { { name_percpu_ab }, { name_percpu_ba } } },
	{ "name_percpu_ok", LS_TWIN, LS_CYCLE, "a ring that is open between the two of one name", "",
	  .side = { { name_percpu_ok_am }, { name_percpu_ok_mb } } },
	{ "name_init", LS_FAULT, LS_CYCLE, "initialised by functions of one name, in both orders",
	  "name_init_make#1 name_init_make#2", name_init_setup, name_init_teardown,
	  .side = { { name_init_ab }, { name_init_ba } } },
	{ "name_init_ok", LS_TWIN, LS_CYCLE, "a ring that is open between the two of one name", "",
	  name_init_ok_setup, name_init_ok_teardown,
	  .side = { { name_init_ok_am }, { name_init_ok_mb } } },
	{ "name_work", LS_FAULT, LS_CYCLE, "waits under a mutex for a work that takes it, not its namesake",
	  "name_work_m name_work_run#2",
	  .side = { { name_work_both }, { name_work_flushes } } },
	{ "name_work_ok", LS_TWIN, LS_CYCLE, "waits for the namesake, which takes nothing", "",
	  .side = { { name_work_ok_both }, { name_work_ok_flushes } } },
	{ }
};
