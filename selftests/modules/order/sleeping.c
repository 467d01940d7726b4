// SPDX-License-Identifier: GPL-2.0
/* Sleeping locks of every kind against a mutex, in both orders. */
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>

#include "selftest.h"

static DEFINE_MUTEX(abba_mutex_a);
static DEFINE_MUTEX(abba_mutex_b);

static __side void abba_mutex_ab(void)
{
	mutex_lock(&abba_mutex_a);
	mutex_lock(&abba_mutex_b);
	mutex_unlock(&abba_mutex_b);
	mutex_unlock(&abba_mutex_a);
}

static __side void abba_mutex_ba(void)
{
	mutex_lock(&abba_mutex_b);
	mutex_lock(&abba_mutex_a);
	mutex_unlock(&abba_mutex_a);
	mutex_unlock(&abba_mutex_b);
}

static DEFINE_MUTEX(abba_mutex_ok_a);
static DEFINE_MUTEX(abba_mutex_ok_b);

static __side void abba_mutex_ok_ab(void)
{
	mutex_lock(&abba_mutex_ok_a);
	mutex_lock(&abba_mutex_ok_b);
	mutex_unlock(&abba_mutex_ok_b);
	mutex_unlock(&abba_mutex_ok_a);
}

static __side void abba_mutex_ok_b_then_a(void)
{
	mutex_lock(&abba_mutex_ok_b);
	mutex_unlock(&abba_mutex_ok_b);
	mutex_lock(&abba_mutex_ok_a);
	mutex_unlock(&abba_mutex_ok_a);
}

static DECLARE_RWSEM(abba_rwsem_s);
static DEFINE_MUTEX(abba_rwsem_m);

static __side void abba_rwsem_write_then_mutex(void)
{
	down_write(&abba_rwsem_s);
	mutex_lock(&abba_rwsem_m);
	mutex_unlock(&abba_rwsem_m);
	up_write(&abba_rwsem_s);
}

static __side void abba_rwsem_mutex_then_write(void)
{
	mutex_lock(&abba_rwsem_m);
	down_write(&abba_rwsem_s);
	up_write(&abba_rwsem_s);
	mutex_unlock(&abba_rwsem_m);
}

static DECLARE_RWSEM(abba_rwsem_ok_s);
static DEFINE_MUTEX(abba_rwsem_ok_m);

static __side void abba_rwsem_ok_write_then_mutex(void)
{
	down_write(&abba_rwsem_ok_s);
	mutex_lock(&abba_rwsem_ok_m);
	mutex_unlock(&abba_rwsem_ok_m);
	up_write(&abba_rwsem_ok_s);
}

static __side void abba_rwsem_ok_read_then_mutex(void)
{
	down_read(&abba_rwsem_ok_s);
	mutex_lock(&abba_rwsem_ok_m);
	mutex_unlock(&abba_rwsem_ok_m);
	up_read(&abba_rwsem_ok_s);
}

/*
 * Readers on both sides: a writer that arrives between them makes the second
 * reader wait for it, and so for the first reader.
 */
static DECLARE_RWSEM(abba_readers_s);
static DEFINE_MUTEX(abba_readers_m);

static __side void abba_readers_read_then_mutex(void)
{
	down_read(&abba_readers_s);
	mutex_lock(&abba_readers_m);
	mutex_unlock(&abba_readers_m);
	up_read(&abba_readers_s);
}

static __side void abba_readers_mutex_then_read(void)
{
	mutex_lock(&abba_readers_m);
	down_read(&abba_readers_s);
	up_read(&abba_readers_s);
	mutex_unlock(&abba_readers_m);
}

static DECLARE_RWSEM(abba_readers_ok_s);
static DEFINE_MUTEX(abba_readers_ok_m);

static __side void abba_readers_ok_read_then_mutex(void)
{
	down_read(&abba_readers_ok_s);
	mutex_lock(&abba_readers_ok_m);
	mutex_unlock(&abba_readers_ok_m);
	up_read(&abba_readers_ok_s);
}

/* The mutex is released before the reader enters. */
static __side void abba_readers_ok_mutex_then_read(void)
{
	mutex_lock(&abba_readers_ok_m);
	mutex_unlock(&abba_readers_ok_m);
	down_read(&abba_readers_ok_s);
	up_read(&abba_readers_ok_s);
}

static struct semaphore abba_sem_s = __SEMAPHORE_INITIALIZER(abba_sem_s, 1);
static DEFINE_MUTEX(abba_sem_m);

static __side void abba_sem_down_then_mutex(void)
{
	down(&abba_sem_s);
	mutex_lock(&abba_sem_m);
	mutex_unlock(&abba_sem_m);
	up(&abba_sem_s);
}

static __side void abba_sem_mutex_then_down(void)
{
	mutex_lock(&abba_sem_m);
	down(&abba_sem_s);
	up(&abba_sem_s);
	mutex_unlock(&abba_sem_m);
}

static struct semaphore abba_sem_ok_s = __SEMAPHORE_INITIALIZER(abba_sem_ok_s, 1);
static DEFINE_MUTEX(abba_sem_ok_m);

static __side void abba_sem_ok_down_then_mutex(void)
{
	down(&abba_sem_ok_s);
	mutex_lock(&abba_sem_ok_m);
	mutex_unlock(&abba_sem_ok_m);
	up(&abba_sem_ok_s);
}

static __side void abba_sem_ok_apart(void)
{
	mutex_lock(&abba_sem_ok_m);
	mutex_unlock(&abba_sem_ok_m);
	down(&abba_sem_ok_s);
	up(&abba_sem_ok_s);
}

static DEFINE_RT_MUTEX(abba_rtmutex_r);
static DEFINE_MUTEX(abba_rtmutex_m);

static __side void abba_rtmutex_rt_then_mutex(void)
{
	rt_mutex_lock(&abba_rtmutex_r);
	mutex_lock(&abba_rtmutex_m);
	mutex_unlock(&abba_rtmutex_m);
	rt_mutex_unlock(&abba_rtmutex_r);
}

static __side void abba_rtmutex_mutex_then_rt(void)
{
	mutex_lock(&abba_rtmutex_m);
	rt_mutex_lock(&abba_rtmutex_r);
	rt_mutex_unlock(&abba_rtmutex_r);
	mutex_unlock(&abba_rtmutex_m);
}

static DEFINE_RT_MUTEX(abba_rtmutex_ok_r);
static DEFINE_MUTEX(abba_rtmutex_ok_m);

static __side void abba_rtmutex_ok_rt_then_mutex(void)
{
	rt_mutex_lock(&abba_rtmutex_ok_r);
	mutex_lock(&abba_rtmutex_ok_m);
	mutex_unlock(&abba_rtmutex_ok_m);
	rt_mutex_unlock(&abba_rtmutex_ok_r);
}

static __side void abba_rtmutex_ok_apart(void)
{
	mutex_lock(&abba_rtmutex_ok_m);
	mutex_unlock(&abba_rtmutex_ok_m);
	rt_mutex_lock(&abba_rtmutex_ok_r);
	rt_mutex_unlock(&abba_rtmutex_ok_r);
}

/*
 * The write side only: readers of a per-CPU rwsem are inlined into their
 * callers and never pass a function that could be hooked.
 */
DEFINE_STATIC_PERCPU_RWSEM(abba_percpu_rwsem_p);
static DEFINE_MUTEX(abba_percpu_rwsem_m);

static __side void abba_percpu_rwsem_write_then_mutex(void)
{
	percpu_down_write(&abba_percpu_rwsem_p);
	mutex_lock(&abba_percpu_rwsem_m);
	mutex_unlock(&abba_percpu_rwsem_m);
	percpu_up_write(&abba_percpu_rwsem_p);
}

static __side void abba_percpu_rwsem_mutex_then_write(void)
{
	mutex_lock(&abba_percpu_rwsem_m);
	percpu_down_write(&abba_percpu_rwsem_p);
	percpu_up_write(&abba_percpu_rwsem_p);
	mutex_unlock(&abba_percpu_rwsem_m);
}

DEFINE_STATIC_PERCPU_RWSEM(abba_percpu_rwsem_ok_p);
static DEFINE_MUTEX(abba_percpu_rwsem_ok_m);

static __side void abba_percpu_rwsem_ok_write_then_mutex(void)
{
	percpu_down_write(&abba_percpu_rwsem_ok_p);
	mutex_lock(&abba_percpu_rwsem_ok_m);
	mutex_unlock(&abba_percpu_rwsem_ok_m);
	percpu_up_write(&abba_percpu_rwsem_ok_p);
}

static __side void abba_percpu_rwsem_ok_apart(void)
{
	mutex_lock(&abba_percpu_rwsem_ok_m);
	mutex_unlock(&abba_percpu_rwsem_ok_m);
	percpu_down_write(&abba_percpu_rwsem_ok_p);
	percpu_up_write(&abba_percpu_rwsem_ok_p);
}

const struct ls_case order_sleeping_cases[] = {
	{ "abba_mutex", LS_FAULT, LS_CYCLE, "two mutexes in both orders",
	  "abba_mutex_a abba_mutex_b",
	  .side = { { abba_mutex_ab }, { abba_mutex_ba } } },
	{ "abba_mutex_ok", LS_TWIN, LS_CYCLE, "two mutexes, nested one way only",
	  "abba_mutex_ok_a abba_mutex_ok_b",
	  .side = { { abba_mutex_ok_ab }, { abba_mutex_ok_b_then_a } } },
	{ "abba_rwsem", LS_FAULT, LS_CYCLE, "rwsem held for writing against a mutex",
	  "abba_rwsem_s abba_rwsem_m",
	  .side = { { abba_rwsem_write_then_mutex }, { abba_rwsem_mutex_then_write } } },
	{ "abba_rwsem_ok", LS_TWIN, LS_CYCLE, "rwsem before the mutex, writing and reading",
	  "abba_rwsem_ok_s abba_rwsem_ok_m",
	  .side = { { abba_rwsem_ok_write_then_mutex }, { abba_rwsem_ok_read_then_mutex } } },
	{ "abba_readers", LS_FAULT, LS_CYCLE, "rwsem readers against a mutex: a writer in between blocks both",
	  "abba_readers_s abba_readers_m",
	  .side = { { abba_readers_read_then_mutex }, { abba_readers_mutex_then_read } } },
	{ "abba_readers_ok", LS_TWIN, LS_CYCLE, "rwsem readers, the mutex given back before",
	  "abba_readers_ok_s abba_readers_ok_m",
	  .side = { { abba_readers_ok_read_then_mutex }, { abba_readers_ok_mutex_then_read } } },
	{ "abba_sem", LS_FAULT, LS_CYCLE, "semaphore used as a mutex against a mutex",
	  "abba_sem_s abba_sem_m",
	  .side = { { abba_sem_down_then_mutex }, { abba_sem_mutex_then_down } } },
	{ "abba_sem_ok", LS_TWIN, LS_CYCLE, "semaphore used as a mutex, one order",
	  "abba_sem_ok_s abba_sem_ok_m",
	  .side = { { abba_sem_ok_down_then_mutex }, { abba_sem_ok_apart } } },
	{ "abba_rtmutex", LS_FAULT, LS_CYCLE, "rt_mutex against a mutex",
	  "abba_rtmutex_r abba_rtmutex_m",
	  .side = { { abba_rtmutex_rt_then_mutex }, { abba_rtmutex_mutex_then_rt } } },
	{ "abba_rtmutex_ok", LS_TWIN, LS_CYCLE, "rt_mutex before the mutex, one order",
	  "abba_rtmutex_ok_r abba_rtmutex_ok_m",
	  .side = { { abba_rtmutex_ok_rt_then_mutex }, { abba_rtmutex_ok_apart } } },
	{ "abba_percpu_rwsem", LS_FAULT, LS_CYCLE, "per-CPU rwsem held for writing against a mutex",
	  "abba_percpu_rwsem_p abba_percpu_rwsem_m",
	  .side = { { abba_percpu_rwsem_write_then_mutex },
		    { abba_percpu_rwsem_mutex_then_write } } },
	{ "abba_percpu_rwsem_ok", LS_TWIN, LS_CYCLE, "per-CPU rwsem before the mutex, one order",
	  "abba_percpu_rwsem_ok_p abba_percpu_rwsem_ok_m",
	  .side = { { abba_percpu_rwsem_ok_write_then_mutex },
		    { abba_percpu_rwsem_ok_apart } } },
	{ }
};
