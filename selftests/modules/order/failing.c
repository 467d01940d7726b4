// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions that can fail: interruptible and killable mutexes. When they
 * fail nothing is held; when they succeed they order like any other.
 *
 * In each twin a holder thread keeps the lock, a signal is pending, and the
 * attempt returns -EINTR. The opposite order on the second side turns a lock
 * that was wrongly taken for held into a circle.
 */
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/sched/signal.h>
#include <linux/ww_mutex.h>

#include "selftest.h"

static DEFINE_MUTEX(intr_mutex_a);
static DEFINE_MUTEX(intr_mutex_b);

static __side void intr_mutex_ab(void)
{
	ls_require(!mutex_lock_interruptible(&intr_mutex_a));
	mutex_lock(&intr_mutex_b);
	mutex_unlock(&intr_mutex_b);
	mutex_unlock(&intr_mutex_a);
}

static __side void intr_mutex_ba(void)
{
	mutex_lock(&intr_mutex_b);
	ls_require(!mutex_lock_interruptible(&intr_mutex_a));
	mutex_unlock(&intr_mutex_a);
	mutex_unlock(&intr_mutex_b);
}

static DEFINE_MUTEX(intr_mutex_ok_a);
static DEFINE_MUTEX(intr_mutex_ok_b);

static void intr_mutex_ok_take(void)
{
	mutex_lock(&intr_mutex_ok_a);
}

static void intr_mutex_ok_give(void)
{
	mutex_unlock(&intr_mutex_ok_a);
}

static __side void intr_mutex_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(intr_mutex_ok_take, intr_mutex_ok_give);

	ls_raise(SIGUSR1);
	ls_require(mutex_lock_interruptible(&intr_mutex_ok_a) == -EINTR);
	ls_lower(SIGUSR1);
	mutex_lock(&intr_mutex_ok_b);
	mutex_unlock(&intr_mutex_ok_b);
	ls_unhold(holder);
}

static __side void intr_mutex_ok_ba(void)
{
	mutex_lock(&intr_mutex_ok_b);
	mutex_lock(&intr_mutex_ok_a);
	mutex_unlock(&intr_mutex_ok_a);
	mutex_unlock(&intr_mutex_ok_b);
}

static DEFINE_MUTEX(kill_mutex_a);
static DEFINE_MUTEX(kill_mutex_b);

static __side void kill_mutex_ab(void)
{
	ls_require(!mutex_lock_killable(&kill_mutex_a));
	mutex_lock(&kill_mutex_b);
	mutex_unlock(&kill_mutex_b);
	mutex_unlock(&kill_mutex_a);
}

static __side void kill_mutex_ba(void)
{
	mutex_lock(&kill_mutex_b);
	ls_require(!mutex_lock_killable(&kill_mutex_a));
	mutex_unlock(&kill_mutex_a);
	mutex_unlock(&kill_mutex_b);
}

static DEFINE_MUTEX(kill_mutex_ok_a);
static DEFINE_MUTEX(kill_mutex_ok_b);

static void kill_mutex_ok_take(void)
{
	mutex_lock(&kill_mutex_ok_a);
}

static void kill_mutex_ok_give(void)
{
	mutex_unlock(&kill_mutex_ok_a);
}

static __side void kill_mutex_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(kill_mutex_ok_take, kill_mutex_ok_give);

	ls_raise(SIGKILL);
	ls_require(mutex_lock_killable(&kill_mutex_ok_a) == -EINTR);
	ls_lower(SIGKILL);
	mutex_lock(&kill_mutex_ok_b);
	mutex_unlock(&kill_mutex_ok_b);
	ls_unhold(holder);
}

static __side void kill_mutex_ok_ba(void)
{
	mutex_lock(&kill_mutex_ok_b);
	mutex_lock(&kill_mutex_ok_a);
	mutex_unlock(&kill_mutex_ok_a);
	mutex_unlock(&kill_mutex_ok_b);
}

static DEFINE_RT_MUTEX(intr_rtmutex_r);
static DEFINE_MUTEX(intr_rtmutex_m);

static __side void intr_rtmutex_rm(void)
{
	ls_require(!rt_mutex_lock_interruptible(&intr_rtmutex_r));
	mutex_lock(&intr_rtmutex_m);
	mutex_unlock(&intr_rtmutex_m);
	rt_mutex_unlock(&intr_rtmutex_r);
}

static __side void intr_rtmutex_mr(void)
{
	mutex_lock(&intr_rtmutex_m);
	ls_require(!rt_mutex_lock_killable(&intr_rtmutex_r));
	rt_mutex_unlock(&intr_rtmutex_r);
	mutex_unlock(&intr_rtmutex_m);
}

static DEFINE_RT_MUTEX(intr_rtmutex_ok_r);
static DEFINE_MUTEX(intr_rtmutex_ok_m);

static void intr_rtmutex_ok_take(void)
{
	rt_mutex_lock(&intr_rtmutex_ok_r);
}

static void intr_rtmutex_ok_give(void)
{
	rt_mutex_unlock(&intr_rtmutex_ok_r);
}

static __side void intr_rtmutex_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(intr_rtmutex_ok_take, intr_rtmutex_ok_give);

	ls_raise(SIGUSR1);
	ls_require(rt_mutex_lock_interruptible(&intr_rtmutex_ok_r) == -EINTR);
	ls_lower(SIGUSR1);
	mutex_lock(&intr_rtmutex_ok_m);
	mutex_unlock(&intr_rtmutex_ok_m);
	ls_unhold(holder);
}

static __side void intr_rtmutex_ok_mr(void)
{
	mutex_lock(&intr_rtmutex_ok_m);
	rt_mutex_lock(&intr_rtmutex_ok_r);
	rt_mutex_unlock(&intr_rtmutex_ok_r);
	mutex_unlock(&intr_rtmutex_ok_m);
}

static DEFINE_WW_CLASS(intr_ww_class);
static struct ww_mutex intr_ww_w;
static DEFINE_MUTEX(intr_ww_m);

static int intr_ww_setup(void)
{
	ww_mutex_init(&intr_ww_w, &intr_ww_class);
	return 0;
}

static __side void intr_ww_wm(void)
{
	ls_require(!ww_mutex_lock_interruptible(&intr_ww_w, NULL));
	mutex_lock(&intr_ww_m);
	mutex_unlock(&intr_ww_m);
	ww_mutex_unlock(&intr_ww_w);
}

static __side void intr_ww_mw(void)
{
	mutex_lock(&intr_ww_m);
	ls_require(!ww_mutex_lock_interruptible(&intr_ww_w, NULL));
	ww_mutex_unlock(&intr_ww_w);
	mutex_unlock(&intr_ww_m);
}

/* The attempt on the lock it already has returns -EALREADY and adds nothing. */
static DEFINE_WW_CLASS(intr_ww_ok_class);
static struct ww_mutex intr_ww_ok_w;
static DEFINE_MUTEX(intr_ww_ok_m);

static int intr_ww_ok_setup(void)
{
	ww_mutex_init(&intr_ww_ok_w, &intr_ww_ok_class);
	return 0;
}

static __side void intr_ww_ok_already(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &intr_ww_ok_class);
	ls_require(!ww_mutex_lock(&intr_ww_ok_w, &ctx));
	ls_require(ww_mutex_lock_interruptible(&intr_ww_ok_w, &ctx) == -EALREADY);
	ww_mutex_unlock(&intr_ww_ok_w);
	ww_acquire_fini(&ctx);
	mutex_lock(&intr_ww_ok_m);
	mutex_unlock(&intr_ww_ok_m);
}

static __side void intr_ww_ok_mw(void)
{
	mutex_lock(&intr_ww_ok_m);
	ls_require(!ww_mutex_lock(&intr_ww_ok_w, NULL));
	ww_mutex_unlock(&intr_ww_ok_w);
	mutex_unlock(&intr_ww_ok_m);
}

const struct ls_case order_failing_cases[] = {
	{ "intr_mutex", LS_FAULT, LS_CYCLE, "mutex_lock_interruptible succeeds",
	  "intr_mutex_a intr_mutex_b",
	  .side = { { intr_mutex_ab }, { intr_mutex_ba } } },
	{ "intr_mutex_ok", LS_TWIN, LS_CYCLE, "mutex_lock_interruptible is interrupted: not held",
	  "intr_mutex_ok_a intr_mutex_ok_b",
	  .side = { { intr_mutex_ok_fails }, { intr_mutex_ok_ba } } },
	{ "kill_mutex", LS_FAULT, LS_CYCLE, "mutex_lock_killable succeeds",
	  "kill_mutex_a kill_mutex_b",
	  .side = { { kill_mutex_ab }, { kill_mutex_ba } } },
	{ "kill_mutex_ok", LS_TWIN, LS_CYCLE, "mutex_lock_killable is killed: not held",
	  "kill_mutex_ok_a kill_mutex_ok_b",
	  .side = { { kill_mutex_ok_fails }, { kill_mutex_ok_ba } } },
	{ "intr_rtmutex", LS_FAULT, LS_CYCLE, "rt_mutex_lock_interruptible and _killable succeed",
	  "intr_rtmutex_r intr_rtmutex_m",
	  .side = { { intr_rtmutex_rm }, { intr_rtmutex_mr } } },
	{ "intr_rtmutex_ok", LS_TWIN, LS_CYCLE, "rt_mutex_lock_interruptible is interrupted: not held",
	  "intr_rtmutex_ok_r intr_rtmutex_ok_m",
	  .side = { { intr_rtmutex_ok_fails }, { intr_rtmutex_ok_mr } } },
	{ "intr_ww", LS_FAULT, LS_CYCLE, "ww_mutex_lock_interruptible succeeds",
	  "intr_ww_w intr_ww_m",
	  .setup = intr_ww_setup,
	  .side = { { intr_ww_wm }, { intr_ww_mw } } },
	{ "intr_ww_ok", LS_TWIN, LS_CYCLE, "a ww_mutex taken again by its context: held once",
	  "intr_ww_ok_w intr_ww_ok_m",
	  .setup = intr_ww_ok_setup,
	  .side = { { intr_ww_ok_already }, { intr_ww_ok_mw } } },
	{ }
};
