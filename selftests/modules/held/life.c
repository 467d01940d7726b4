// SPDX-License-Identifier: GPL-2.0
/*
 * Locks held where their life, or the life of the task, ends or starts again. After a thread
 * that ended with a lock its case's teardown sets the lock word.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "selftest.h"

/* Initialised while held: from then on it is free, and its owner does not know. */
static struct mutex reinit_mutex_m;

static __side void reinit_mutex_task(void)
{
	mutex_init(&reinit_mutex_m);
	mutex_lock(&reinit_mutex_m);
	mutex_init(&reinit_mutex_m);
}

static struct mutex reinit_mutex_ok_m;

static __side void reinit_mutex_ok_task(void)
{
	mutex_init(&reinit_mutex_ok_m);
	mutex_lock(&reinit_mutex_ok_m);
	mutex_unlock(&reinit_mutex_ok_m);
	mutex_init(&reinit_mutex_ok_m);
}

static DECLARE_RWSEM(reinit_read_r);

static __side void reinit_read_task(void)
{
	down_read(&reinit_read_r);
	init_rwsem(&reinit_read_r);
}

static DECLARE_RWSEM(reinit_read_ok_r);

static __side void reinit_read_ok_task(void)
{
	down_read(&reinit_read_ok_r);
	up_read(&reinit_read_ok_r);
	init_rwsem(&reinit_read_ok_r);
}

static DECLARE_RWSEM(reinit_write_w);

static __side void reinit_write_task(void)
{
	down_write(&reinit_write_w);
	init_rwsem(&reinit_write_w);
}

static DECLARE_RWSEM(reinit_write_ok_w);

static __side void reinit_write_ok_task(void)
{
	init_rwsem(&reinit_write_ok_w);
	down_write(&reinit_write_ok_w);
	up_write(&reinit_write_ok_w);
}

static DEFINE_RT_MUTEX(reinit_rtmutex_r);

static __side void reinit_rtmutex_task(void)
{
	rt_mutex_lock(&reinit_rtmutex_r);
	rt_mutex_init(&reinit_rtmutex_r);
}

static DEFINE_RT_MUTEX(reinit_rtmutex_ok_r);

static __side void reinit_rtmutex_ok_task(void)
{
	rt_mutex_lock(&reinit_rtmutex_ok_r);
	rt_mutex_unlock(&reinit_rtmutex_ok_r);
	rt_mutex_init(&reinit_rtmutex_ok_r);
}

/* The spinlock in a wait queue's head; preemption is put right on its own. */
static DECLARE_WAIT_QUEUE_HEAD(reinit_queue_q);

static __side void reinit_queue_task(void)
{
	spin_lock(&reinit_queue_q.lock);
	init_waitqueue_head(&reinit_queue_q);
	preempt_enable();
}

static DECLARE_WAIT_QUEUE_HEAD(reinit_queue_ok_q);

static __side void reinit_queue_ok_task(void)
{
	spin_lock(&reinit_queue_ok_q.lock);
	spin_unlock(&reinit_queue_ok_q.lock);
	init_waitqueue_head(&reinit_queue_ok_q);
}

static DEFINE_MUTEX(exit_mutex_m);

static __side void exit_mutex_thread(void)
{
	mutex_lock(&exit_mutex_m);
}

static void exit_mutex_teardown(void)
{
	atomic_long_set(&exit_mutex_m.owner, 0);
}

static DEFINE_MUTEX(exit_mutex_ok_m);
LS_TAKES(exit_mutex_ok_thread, exit_mutex_ok_m, mutex_lock, mutex_unlock)

static DECLARE_RWSEM(exit_read_r);

static __side void exit_read_thread(void)
{
	down_read(&exit_read_r);
}

static void exit_read_teardown(void)
{
	atomic_long_set(&exit_read_r.count, 0);
	atomic_long_set(&exit_read_r.owner, 0);
}

static DECLARE_RWSEM(exit_read_ok_r);
LS_TAKES(exit_read_ok_thread, exit_read_ok_r, down_read, up_read)

static DECLARE_RWSEM(exit_write_w);

static __side void exit_write_thread(void)
{
	ls_require(!down_write_killable(&exit_write_w));
}

static void exit_write_teardown(void)
{
	atomic_long_set(&exit_write_w.count, 0);
	atomic_long_set(&exit_write_w.owner, 0);
}

static DECLARE_RWSEM(exit_write_ok_w);

static __side void exit_write_ok_thread(void)
{
	ls_require(!down_write_killable(&exit_write_ok_w));
	up_write(&exit_write_ok_w);
}

static DEFINE_RT_MUTEX(exit_rtmutex_r);

static __side void exit_rtmutex_thread(void)
{
	ls_require(rt_mutex_trylock(&exit_rtmutex_r));
}

static void exit_rtmutex_teardown(void)
{
	exit_rtmutex_r.rtmutex.owner = NULL;
}

static DEFINE_RT_MUTEX(exit_rtmutex_ok_r);

static __side void exit_rtmutex_ok_thread(void)
{
	ls_require(rt_mutex_trylock(&exit_rtmutex_ok_r));
	rt_mutex_unlock(&exit_rtmutex_ok_r);
}

/* It ends with two, taken one in the other. */
static DEFINE_MUTEX(exit_two_m);
static DECLARE_RWSEM(exit_two_w);

static __side void exit_two_thread(void)
{
	mutex_lock(&exit_two_m);
	down_write(&exit_two_w);
}

static void exit_two_teardown(void)
{
	atomic_long_set(&exit_two_m.owner, 0);
	atomic_long_set(&exit_two_w.count, 0);
	atomic_long_set(&exit_two_w.owner, 0);
}

static DEFINE_MUTEX(exit_two_ok_m);
static DECLARE_RWSEM(exit_two_ok_w);

static __side void exit_two_ok_thread(void)
{
	mutex_lock(&exit_two_ok_m);
	down_write(&exit_two_ok_w);
	mutex_unlock(&exit_two_ok_m);
	up_write(&exit_two_ok_w);
}

const struct ls_case verdict_life_cases[] = {
	{ "reinit_mutex", LS_FAULT, LS_HELD_INIT, "mutex_init of a held mutex",
	  "reinit_mutex_m", .side = { { reinit_mutex_task } } },
	{ "reinit_mutex_ok", LS_TWIN, LS_HELD_INIT, "mutex_init of a mutex given back",
	  "reinit_mutex_ok_m", .side = { { reinit_mutex_ok_task } } },
	{ "reinit_read", LS_FAULT, LS_HELD_INIT, "init_rwsem by a reader",
	  "reinit_read_r", .side = { { reinit_read_task } } },
	{ "reinit_read_ok", LS_TWIN, LS_HELD_INIT, "init_rwsem after up_read",
	  "reinit_read_ok_r", .side = { { reinit_read_ok_task } } },
	{ "reinit_write", LS_FAULT, LS_HELD_INIT, "init_rwsem by the writer",
	  "reinit_write_w", .side = { { reinit_write_task } } },
	{ "reinit_write_ok", LS_TWIN, LS_HELD_INIT, "init_rwsem before down_write",
	  "reinit_write_ok_w", .side = { { reinit_write_ok_task } } },
	{ "reinit_rtmutex", LS_FAULT, LS_HELD_INIT, "rt_mutex_init of a held rt_mutex",
	  "reinit_rtmutex_r", .side = { { reinit_rtmutex_task } } },
	{ "reinit_rtmutex_ok", LS_TWIN, LS_HELD_INIT, "rt_mutex_init after rt_mutex_unlock",
	  "reinit_rtmutex_ok_r", .side = { { reinit_rtmutex_ok_task } } },
	{ "reinit_queue", LS_FAULT, LS_HELD_INIT, "init_waitqueue_head with its spinlock held",
	  "reinit_queue_q", .side = { { reinit_queue_task } } },
	{ "reinit_queue_ok", LS_TWIN, LS_HELD_INIT, "init_waitqueue_head after spin_unlock",
	  "reinit_queue_ok_q", .side = { { reinit_queue_ok_task } } },
	{ "exit_mutex", LS_FAULT, LS_HELD_EXIT, "a thread ends with a mutex",
	  "exit_mutex_m", .teardown = exit_mutex_teardown,
	  .side = { { exit_mutex_thread, LS_ENDING } } },
	{ "exit_mutex_ok", LS_TWIN, LS_HELD_EXIT, "a thread ends after mutex_unlock",
	  "exit_mutex_ok_m", .side = { { exit_mutex_ok_thread, LS_ENDING } } },
	{ "exit_read", LS_FAULT, LS_HELD_EXIT, "a thread ends as a reader",
	  "exit_read_r", .teardown = exit_read_teardown,
	  .side = { { exit_read_thread, LS_ENDING } } },
	{ "exit_read_ok", LS_TWIN, LS_HELD_EXIT, "a thread ends after up_read",
	  "exit_read_ok_r", .side = { { exit_read_ok_thread, LS_ENDING } } },
	{ "exit_write", LS_FAULT, LS_HELD_EXIT, "a thread ends as a writer",
	  "exit_write_w", .teardown = exit_write_teardown,
	  .side = { { exit_write_thread, LS_ENDING } } },
	{ "exit_write_ok", LS_TWIN, LS_HELD_EXIT, "a thread ends after up_write",
	  "exit_write_ok_w", .side = { { exit_write_ok_thread, LS_ENDING } } },
	{ "exit_rtmutex", LS_FAULT, LS_HELD_EXIT, "a thread ends with an rt_mutex got by trying",
	  "exit_rtmutex_r", .teardown = exit_rtmutex_teardown,
	  .side = { { exit_rtmutex_thread, LS_ENDING } } },
	{ "exit_rtmutex_ok", LS_TWIN, LS_HELD_EXIT, "a thread ends after rt_mutex_unlock",
	  "exit_rtmutex_ok_r", .side = { { exit_rtmutex_ok_thread, LS_ENDING } } },
	{ "exit_two", LS_FAULT, LS_HELD_EXIT, "a thread ends with a mutex and a writer in it",
	  "exit_two_w", .teardown = exit_two_teardown,
	  .side = { { exit_two_thread, LS_ENDING } } },
	{ "exit_two_ok", LS_TWIN, LS_HELD_EXIT, "a thread ends after giving back both",
	  "exit_two_ok_w", .side = { { exit_two_ok_thread, LS_ENDING } } },
	{ }
};
