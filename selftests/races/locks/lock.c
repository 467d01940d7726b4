// SPDX-License-Identifier: GPL-2.0
/* No lock, the wrong one, or one on one side only. */
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>

#include "races.h"

static int lk_none_v __shared;

static __side void lk_none_a(void)
{
	lk_none_v = ls_value();
}

static __side void lk_none_b(void)
{
	lk_none_v = ls_value();
}

static int lk_none_ok_v __shared;
static DEFINE_SPINLOCK(lk_none_ok_s);

static __side void lk_none_ok_a(void)
{
	spin_lock(&lk_none_ok_s);
	lk_none_ok_v = ls_value();
	spin_unlock(&lk_none_ok_s);
}

static __side void lk_none_ok_b(void)
{
	spin_lock(&lk_none_ok_s);
	lk_none_ok_v = ls_value();
	spin_unlock(&lk_none_ok_s);
}

/* Two locks, one for each side. */
static long lk_wrong_v __shared;
static DEFINE_SPINLOCK(lk_wrong_s1);
static DEFINE_SPINLOCK(lk_wrong_s2);

static __side void lk_wrong_a(void)
{
	spin_lock(&lk_wrong_s1);
	lk_wrong_v = ls_value();
	spin_unlock(&lk_wrong_s1);
}

static __side void lk_wrong_b(void)
{
	spin_lock(&lk_wrong_s2);
	lk_wrong_v = ls_value();
	spin_unlock(&lk_wrong_s2);
}

/* One of the two is taken by both; the other one on one side only does no harm. */
static long lk_wrong_ok_v __shared;
static DEFINE_SPINLOCK(lk_wrong_ok_s1);
static DEFINE_SPINLOCK(lk_wrong_ok_s2);

static __side void lk_wrong_ok_a(void)
{
	spin_lock(&lk_wrong_ok_s1);
	lk_wrong_ok_v = ls_value();
	spin_unlock(&lk_wrong_ok_s1);
}

static __side void lk_wrong_ok_b(void)
{
	spin_lock(&lk_wrong_ok_s1);
	spin_lock(&lk_wrong_ok_s2);
	lk_wrong_ok_v = ls_value();
	spin_unlock(&lk_wrong_ok_s2);
	spin_unlock(&lk_wrong_ok_s1);
}

/* A spinlock does not exclude the holder of a mutex. */
static unsigned int lk_kinds_v __shared;
static DEFINE_SPINLOCK(lk_kinds_s);
static DEFINE_MUTEX(lk_kinds_m);

static __side void lk_kinds_a(void)
{
	mutex_lock(&lk_kinds_m);
	lk_kinds_v = ls_value();
	mutex_unlock(&lk_kinds_m);
}

static __side void lk_kinds_b(void)
{
	spin_lock(&lk_kinds_s);
	lk_kinds_v = ls_value();
	spin_unlock(&lk_kinds_s);
}

static unsigned int lk_kinds_ok_v __shared;
static DEFINE_SPINLOCK(lk_kinds_ok_s);
static DEFINE_MUTEX(lk_kinds_ok_m);

static __side void lk_kinds_ok_a(void)
{
	mutex_lock(&lk_kinds_ok_m);
	lk_kinds_ok_v = ls_value();
	mutex_unlock(&lk_kinds_ok_m);
}

static __side void lk_kinds_ok_b(void)
{
	mutex_lock(&lk_kinds_ok_m);
	spin_lock(&lk_kinds_ok_s);
	lk_kinds_ok_v = ls_value();
	spin_unlock(&lk_kinds_ok_s);
	mutex_unlock(&lk_kinds_ok_m);
}

/* One side goes without. */
static bool lk_oneside_v __shared;
static DEFINE_MUTEX(lk_oneside_m);

static __side void lk_oneside_a(void)
{
	mutex_lock(&lk_oneside_m);
	lk_oneside_v = ls_value() & 1;
	mutex_unlock(&lk_oneside_m);
}

static __side void lk_oneside_b(void)
{
	lk_oneside_v = ls_value() & 1;
}

static bool lk_oneside_ok_v __shared;
static DEFINE_MUTEX(lk_oneside_ok_m);

static __side void lk_oneside_ok_a(void)
{
	mutex_lock(&lk_oneside_ok_m);
	lk_oneside_ok_v = ls_value() & 1;
	mutex_unlock(&lk_oneside_ok_m);
}

static __side void lk_oneside_ok_b(void)
{
	mutex_lock(&lk_oneside_ok_m);
	lk_oneside_ok_v = ls_value() & 1;
	mutex_unlock(&lk_oneside_ok_m);
}

/* It only reads, so it takes no lock. */
static unsigned long lk_reader_v __shared;
static DEFINE_SPINLOCK(lk_reader_s);

static __side void lk_reader_a(void)
{
	spin_lock(&lk_reader_s);
	lk_reader_v = ls_value();
	spin_unlock(&lk_reader_s);
}

static __side void lk_reader_b(void)
{
	ls_use(lk_reader_v);
}

static unsigned long lk_reader_ok_v __shared;
static DEFINE_SPINLOCK(lk_reader_ok_s);

static __side void lk_reader_ok_a(void)
{
	spin_lock(&lk_reader_ok_s);
	lk_reader_ok_v = ls_value();
	spin_unlock(&lk_reader_ok_s);
}

static __side void lk_reader_ok_b(void)
{
	spin_lock(&lk_reader_ok_s);
	ls_use(lk_reader_ok_v);
	spin_unlock(&lk_reader_ok_s);
}

/* Semaphores and rt_mutexes guard as well as any lock. */
static short lk_sem_v __shared;
static struct semaphore lk_sem_s = __SEMAPHORE_INITIALIZER(lk_sem_s, 1);

static __side void lk_sem_a(void)
{
	down(&lk_sem_s);
	lk_sem_v = ls_value();
	up(&lk_sem_s);
}

static __side void lk_sem_b(void)
{
	lk_sem_v = ls_value();
}

static short lk_sem_ok_v __shared;
static struct semaphore lk_sem_ok_s = __SEMAPHORE_INITIALIZER(lk_sem_ok_s, 1);

static __side void lk_sem_ok_a(void)
{
	down(&lk_sem_ok_s);
	lk_sem_ok_v = ls_value();
	up(&lk_sem_ok_s);
}

static __side void lk_sem_ok_b(void)
{
	if (down_interruptible(&lk_sem_ok_s))
		return;
	lk_sem_ok_v = ls_value();
	up(&lk_sem_ok_s);
}

static u16 lk_rtmutex_v __shared;
static DEFINE_RT_MUTEX(lk_rtmutex_m);

static __side void lk_rtmutex_a(void)
{
	rt_mutex_lock(&lk_rtmutex_m);
	lk_rtmutex_v = ls_value();
	rt_mutex_unlock(&lk_rtmutex_m);
}

static __side void lk_rtmutex_b(void)
{
	ls_use(lk_rtmutex_v);
}

static u16 lk_rtmutex_ok_v __shared;
static DEFINE_RT_MUTEX(lk_rtmutex_ok_m);

static __side void lk_rtmutex_ok_a(void)
{
	rt_mutex_lock(&lk_rtmutex_ok_m);
	lk_rtmutex_ok_v = ls_value();
	rt_mutex_unlock(&lk_rtmutex_ok_m);
}

static __side void lk_rtmutex_ok_b(void)
{
	rt_mutex_lock(&lk_rtmutex_ok_m);
	ls_use(lk_rtmutex_ok_v);
	rt_mutex_unlock(&lk_rtmutex_ok_m);
}

const struct ls_case race_lock_cases[] = {
	{ "lk_none", LS_FAULT, LS_RACE, "two writers without any lock",
	  "severity!=note variable=lk_none_v", .side = { SIDE(lk_none_a), SIDE(lk_none_b) } },
	{ "lk_none_ok", LS_TWIN, LS_RACE, "two writers under a spinlock",
	  "", .side = { SIDE(lk_none_ok_a), SIDE(lk_none_ok_b) } },
	{ "lk_wrong", LS_FAULT, LS_RACE, "each writer under a spinlock of its own",
	  "severity!=note variable=lk_wrong_v", .side = { SIDE(lk_wrong_a), SIDE(lk_wrong_b) } },
	{ "lk_wrong_ok", LS_TWIN, LS_RACE, "two writers under one spinlock, one under another too",
	  "", .side = { SIDE(lk_wrong_ok_a), SIDE(lk_wrong_ok_b) } },
	{ "lk_kinds", LS_FAULT, LS_RACE, "one writer under a mutex, the other under a spinlock",
	  "severity!=note variable=lk_kinds_v", .side = { SIDE(lk_kinds_a), SIDE(lk_kinds_b) } },
	{ "lk_kinds_ok", LS_TWIN, LS_RACE, "both under the mutex, one under the spinlock too",
	  "", .side = { SIDE(lk_kinds_ok_a), SIDE(lk_kinds_ok_b) } },
	{ "lk_oneside", LS_FAULT, LS_RACE, "one writer under a mutex, the other without",
	  "severity!=note variable=lk_oneside_v",
	  .side = { SIDE(lk_oneside_a), SIDE(lk_oneside_b) } },
	{ "lk_oneside_ok", LS_TWIN, LS_RACE, "both writers under the mutex",
	  "", .side = { SIDE(lk_oneside_ok_a), SIDE(lk_oneside_ok_b) } },
	{ "lk_reader", LS_FAULT, LS_RACE, "written under a spinlock, read without",
	  "severity!=note variable=lk_reader_v",
	  .side = { SIDE(lk_reader_a), SIDE(lk_reader_b) } },
	{ "lk_reader_ok", LS_TWIN, LS_RACE, "written and read under the spinlock",
	  "", .side = { SIDE(lk_reader_ok_a), SIDE(lk_reader_ok_b) } },
	{ "lk_sem", LS_FAULT, LS_RACE, "one writer under a semaphore, the other without",
	  "severity!=note variable=lk_sem_v", .side = { SIDE(lk_sem_a), SIDE(lk_sem_b) } },
	{ "lk_sem_ok", LS_TWIN, LS_RACE, "both writers under the semaphore",
	  "", .side = { SIDE(lk_sem_ok_a), SIDE(lk_sem_ok_b) } },
	{ "lk_rtmutex", LS_FAULT, LS_RACE, "written under an rt_mutex, read without",
	  "severity!=note variable=lk_rtmutex_v",
	  .side = { SIDE(lk_rtmutex_a), SIDE(lk_rtmutex_b) } },
	{ "lk_rtmutex_ok", LS_TWIN, LS_RACE, "written and read under the rt_mutex",
	  "", .side = { SIDE(lk_rtmutex_ok_a), SIDE(lk_rtmutex_ok_b) } },
	{ }
};
