// SPDX-License-Identifier: GPL-2.0
/*
 * Cases that need something done around them.
 *
 * user_*: write NAME:1, run in user mode for some ticks, write NAME:2, all by one task. The
 * fault's first side returns to user mode with the lock, its second one releases it.
 *
 * long_*: a task waits LONG_HOLD_MS, or SHORT_HOLD_MS in the twin. The limit is a parameter of
 * LockScope, between the two.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>

#include "selftest.h"

#define LONG_HOLD_MS 4000
#define SHORT_HOLD_MS 50

static DEFINE_MUTEX(user_mutex_m);

static __side void user_mutex_enters(void)
{
	mutex_lock(&user_mutex_m);
}

static __side void user_mutex_leaves(void)
{
	mutex_unlock(&user_mutex_m);
}

static DEFINE_MUTEX(user_mutex_ok_m);
LS_TAKES(user_mutex_ok_enters, user_mutex_ok_m, mutex_lock, mutex_unlock)
LS_TAKES(user_mutex_ok_leaves, user_mutex_ok_m, mutex_lock, mutex_unlock)

static DECLARE_RWSEM(user_read_r);

static __side void user_read_enters(void)
{
	down_read(&user_read_r);
}

static __side void user_read_leaves(void)
{
	up_read(&user_read_r);
}

static DECLARE_RWSEM(user_read_ok_r);
LS_TAKES(user_read_ok_enters, user_read_ok_r, down_read, up_read)
LS_TAKES(user_read_ok_leaves, user_read_ok_r, down_read, up_read)

struct ls_slow_holder {
	struct mutex *lock;
	unsigned int ms;
	struct completion held;
	struct completion gone;
};

static int ls_slow_holder_thread(void *data)
{
	struct ls_slow_holder *holder = data;

	mutex_lock(holder->lock);
	complete(&holder->held);
	msleep(holder->ms);
	mutex_unlock(holder->lock);
	kthread_complete_and_exit(&holder->gone, 0);
	return 0;
}

/* Returns once a thread has @lock; that keeps it for @ms milliseconds. */
static bool ls_hold_for(struct ls_slow_holder *holder, struct mutex *lock, unsigned int ms)
{
	holder->lock = lock;
	holder->ms = ms;
	init_completion(&holder->held);
	init_completion(&holder->gone);
	if (IS_ERR(kthread_run(ls_slow_holder_thread, holder, "lst_slow"))) {
		ls_require(false);
		return false;
	}
	wait_for_completion(&holder->held);
	return true;
}

static DEFINE_MUTEX(long_mutex_m);

static __side void long_mutex_waits(void)
{
	struct ls_slow_holder holder;

	if (!ls_hold_for(&holder, &long_mutex_m, LONG_HOLD_MS))
		return;
	mutex_lock(&long_mutex_m);
	mutex_unlock(&long_mutex_m);
	wait_for_completion(&holder.gone);
}

static DEFINE_MUTEX(long_mutex_ok_m);

static __side void long_mutex_ok_waits(void)
{
	struct ls_slow_holder holder;

	if (!ls_hold_for(&holder, &long_mutex_ok_m, SHORT_HOLD_MS))
		return;
	mutex_lock(&long_mutex_ok_m);
	mutex_unlock(&long_mutex_ok_m);
	wait_for_completion(&holder.gone);
}

const struct ls_case special_hold_cases[] = {
	{ "user_mutex", LS_FAULT, LS_HELD_USER, "user mode with a mutex",
	  "user_mutex_m",
	  .side = { { user_mutex_enters, LS_CALLER }, { user_mutex_leaves, LS_CALLER } } },
	{ "user_mutex_ok", LS_TWIN, LS_HELD_USER, "user mode after mutex_unlock",
	  "user_mutex_ok_m",
	  .side = { { user_mutex_ok_enters, LS_CALLER }, { user_mutex_ok_leaves, LS_CALLER } } },
	{ "user_read", LS_FAULT, LS_HELD_USER, "user mode as a reader of an rwsem",
	  "user_read_r",
	  .side = { { user_read_enters, LS_CALLER }, { user_read_leaves, LS_CALLER } } },
	{ "user_read_ok", LS_TWIN, LS_HELD_USER, "user mode after up_read",
	  "user_read_ok_r",
	  .side = { { user_read_ok_enters, LS_CALLER }, { user_read_ok_leaves, LS_CALLER } } },
	{ "long_mutex", LS_FAULT, LS_LONG_HOLD, "waits for a mutex for seconds",
	  "long_mutex_m", .side = { { long_mutex_waits } } },
	{ "long_mutex_ok", LS_TWIN, LS_LONG_HOLD, "waits for a mutex for milliseconds",
	  "long_mutex_ok_m", .side = { { long_mutex_ok_waits } } },
	{ }
};
