// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of ww_mutexes. In a wait-die class a context that requests a lock of an older
 * context, holding another, gets -EDEADLK at once: a holder thread with an older context makes
 * that happen for certain. It has to release all it holds before it requests any.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/ww_mutex.h>

#include "selftest.h"

/* The holder's context: begun before that of the side, so it is older. */
static struct ww_acquire_ctx ww_older;

static void ww_hold(struct ww_mutex *lock, struct ww_class *class)
{
	ww_acquire_init(&ww_older, class);
	ls_require(!ww_mutex_lock(lock, &ww_older));
}

static void ww_leave(struct ww_mutex *lock)
{
	ww_mutex_unlock(lock);
	ww_acquire_fini(&ww_older);
}

static DEFINE_WD_CLASS(ww_on_class);
static struct ww_mutex ww_on_x, ww_on_y, ww_on_z;

static int ww_on_setup(void)
{
	ww_mutex_init(&ww_on_x, &ww_on_class);
	ww_mutex_init(&ww_on_y, &ww_on_class);
	ww_mutex_init(&ww_on_z, &ww_on_class);
	return 0;
}

static void ww_on_take(void)
{
	ww_hold(&ww_on_y, &ww_on_class);
}

static void ww_on_give(void)
{
	ww_leave(&ww_on_y);
}

/* After -EDEADLK it keeps its locks and requests another one. */
static __side void ww_on_task(void)
{
	struct ls_holder *holder = ls_hold(ww_on_take, ww_on_give);
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_on_class);
	ls_require(!ww_mutex_lock(&ww_on_x, &ctx));
	ls_require(ww_mutex_lock(&ww_on_y, &ctx) == -EDEADLK);
	ls_require(!ww_mutex_lock(&ww_on_z, &ctx));
	ww_mutex_unlock(&ww_on_z);
	ww_mutex_unlock(&ww_on_x);
	ww_acquire_fini(&ctx);
	ls_unhold(holder);
}

static DEFINE_WD_CLASS(ww_on_ok_class);
static struct ww_mutex ww_on_ok_x, ww_on_ok_y, ww_on_ok_z;

static int ww_on_ok_setup(void)
{
	ww_mutex_init(&ww_on_ok_x, &ww_on_ok_class);
	ww_mutex_init(&ww_on_ok_y, &ww_on_ok_class);
	ww_mutex_init(&ww_on_ok_z, &ww_on_ok_class);
	return 0;
}

static void ww_on_ok_take(void)
{
	ww_hold(&ww_on_ok_y, &ww_on_ok_class);
}

static void ww_on_ok_give(void)
{
	ww_leave(&ww_on_ok_y);
}

static __side void ww_on_ok_task(void)
{
	struct ls_holder *holder = ls_hold(ww_on_ok_take, ww_on_ok_give);
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_on_ok_class);
	ls_require(!ww_mutex_lock(&ww_on_ok_x, &ctx));
	ls_require(ww_mutex_lock(&ww_on_ok_y, &ctx) == -EDEADLK);
	ww_mutex_unlock(&ww_on_ok_x);
	ls_unhold(holder);
	ww_mutex_lock_slow(&ww_on_ok_y, &ctx);
	ls_require(!ww_mutex_lock(&ww_on_ok_z, &ctx));
	ls_require(!ww_mutex_lock(&ww_on_ok_x, &ctx));
	ww_mutex_unlock(&ww_on_ok_x);
	ww_mutex_unlock(&ww_on_ok_z);
	ww_mutex_unlock(&ww_on_ok_y);
	ww_acquire_fini(&ctx);
}

/* It goes for the lock it lost, as it should, but with the other still in hand. */
static DEFINE_WD_CLASS(ww_slow_class);
static struct ww_mutex ww_slow_x, ww_slow_y;

static int ww_slow_setup(void)
{
	ww_mutex_init(&ww_slow_x, &ww_slow_class);
	ww_mutex_init(&ww_slow_y, &ww_slow_class);
	return 0;
}

static void ww_slow_take(void)
{
	ww_hold(&ww_slow_y, &ww_slow_class);
}

static void ww_slow_give(void)
{
	ww_leave(&ww_slow_y);
}

static __side void ww_slow_task(void)
{
	struct ls_holder *holder = ls_hold(ww_slow_take, ww_slow_give);
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_slow_class);
	ls_require(!ww_mutex_lock(&ww_slow_x, &ctx));
	ls_require(ww_mutex_lock_interruptible(&ww_slow_y, &ctx) == -EDEADLK);
	ls_unhold(holder);
	ls_require(!ww_mutex_lock_slow_interruptible(&ww_slow_y, &ctx));
	ww_mutex_unlock(&ww_slow_y);
	ww_mutex_unlock(&ww_slow_x);
	ww_acquire_fini(&ctx);
}

static DEFINE_WD_CLASS(ww_slow_ok_class);
static struct ww_mutex ww_slow_ok_x, ww_slow_ok_y;

static int ww_slow_ok_setup(void)
{
	ww_mutex_init(&ww_slow_ok_x, &ww_slow_ok_class);
	ww_mutex_init(&ww_slow_ok_y, &ww_slow_ok_class);
	return 0;
}

static void ww_slow_ok_take(void)
{
	ww_hold(&ww_slow_ok_y, &ww_slow_ok_class);
}

static void ww_slow_ok_give(void)
{
	ww_leave(&ww_slow_ok_y);
}

static __side void ww_slow_ok_task(void)
{
	struct ls_holder *holder = ls_hold(ww_slow_ok_take, ww_slow_ok_give);
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_slow_ok_class);
	ls_require(!ww_mutex_lock(&ww_slow_ok_x, &ctx));
	ls_require(ww_mutex_lock_interruptible(&ww_slow_ok_y, &ctx) == -EDEADLK);
	ls_unhold(holder);
	ww_mutex_unlock(&ww_slow_ok_x);
	ls_require(!ww_mutex_lock_slow_interruptible(&ww_slow_ok_y, &ctx));
	ww_mutex_unlock(&ww_slow_ok_y);
	ww_acquire_fini(&ctx);
}

/* A context belongs to the task that began it. */
static DEFINE_WW_CLASS(ww_borrow_class);
static struct ww_mutex ww_borrow_x;
static struct ww_acquire_ctx ww_borrow_ctx;

static int ww_borrow_setup(void)
{
	ww_mutex_init(&ww_borrow_x, &ww_borrow_class);
	return 0;
}

static void ww_borrow_begin(void)
{
	ww_acquire_init(&ww_borrow_ctx, &ww_borrow_class);
}

static void ww_borrow_end(void)
{
	ww_acquire_fini(&ww_borrow_ctx);
}

static __side void ww_borrow_task(void)
{
	struct ls_holder *holder = ls_hold(ww_borrow_begin, ww_borrow_end);

	ls_require(!ww_mutex_lock(&ww_borrow_x, &ww_borrow_ctx));
	ww_mutex_unlock(&ww_borrow_x);
	ls_unhold(holder);
}

static DEFINE_WW_CLASS(ww_borrow_ok_class);
static struct ww_mutex ww_borrow_ok_x;
static struct ww_acquire_ctx ww_borrow_ok_ctx;

static int ww_borrow_ok_setup(void)
{
	ww_mutex_init(&ww_borrow_ok_x, &ww_borrow_ok_class);
	return 0;
}

static void ww_borrow_ok_begin(void)
{
	ww_acquire_init(&ww_borrow_ok_ctx, &ww_borrow_ok_class);
}

static void ww_borrow_ok_end(void)
{
	ww_acquire_fini(&ww_borrow_ok_ctx);
}

static __side void ww_borrow_ok_task(void)
{
	struct ls_holder *holder = ls_hold(ww_borrow_ok_begin, ww_borrow_ok_end);
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_borrow_ok_class);
	ls_require(!ww_mutex_lock(&ww_borrow_ok_x, &ctx));
	ww_mutex_unlock(&ww_borrow_ok_x);
	ww_acquire_fini(&ctx);
	ls_unhold(holder);
}

/*
 * Without the context it cannot be made to back off. That both are of one class only shows in
 * objects: the binary does not have it for static ones.
 */
static DEFINE_WW_CLASS(ww_without_class);
static struct ww_mutex *ww_without_x, *ww_without_y;

static noinline struct ww_mutex *ww_without_new(struct ww_class *class)
{
	struct ww_mutex *ww = kmalloc(sizeof(*ww), GFP_KERNEL);

	if (ww)
		ww_mutex_init(ww, class);
	return ww;
}

static int ww_without_setup(void)
{
	ww_without_x = ww_without_new(&ww_without_class);
	ww_without_y = ww_without_new(&ww_without_class);
	return ww_without_x && ww_without_y ? 0 : -ENOMEM;
}

static void ww_without_teardown(void)
{
	kfree(ww_without_x);
	kfree(ww_without_y);
}

static __side void ww_without_task(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_without_class);
	ls_require(!ww_mutex_lock(ww_without_x, &ctx));
	ls_require(!ww_mutex_lock(ww_without_y, NULL));
	ww_mutex_unlock(ww_without_y);
	ww_mutex_unlock(ww_without_x);
	ww_acquire_fini(&ctx);
}

static DEFINE_WW_CLASS(ww_without_ok_class);
static struct ww_mutex *ww_without_ok_x, *ww_without_ok_y;

static int ww_without_ok_setup(void)
{
	ww_without_ok_x = ww_without_new(&ww_without_ok_class);
	ww_without_ok_y = ww_without_new(&ww_without_ok_class);
	return ww_without_ok_x && ww_without_ok_y ? 0 : -ENOMEM;
}

static void ww_without_ok_teardown(void)
{
	kfree(ww_without_ok_x);
	kfree(ww_without_ok_y);
}

static __side void ww_without_ok_task(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &ww_without_ok_class);
	ls_require(!ww_mutex_lock(ww_without_ok_x, &ctx));
	ls_require(!ww_mutex_lock(ww_without_ok_y, &ctx));
	ww_mutex_unlock(ww_without_ok_y);
	ww_mutex_unlock(ww_without_ok_x);
	ww_acquire_fini(&ctx);
}

const struct ls_case verdict_ww_cases[] = {
	{ "ww_on", LS_FAULT, LS_WW_MISUSE, "takes another one after -EDEADLK",
	  "ww_on_*", .setup = ww_on_setup, .side = { { ww_on_task } } },
	{ "ww_on_ok", LS_TWIN, LS_WW_MISUSE, "gives back all it has after -EDEADLK",
	  "ww_on_ok_*", .setup = ww_on_ok_setup, .side = { { ww_on_ok_task } } },
	{ "ww_slow", LS_FAULT, LS_WW_MISUSE, "ww_mutex_lock_slow with another one in hand",
	  "ww_slow_*", .setup = ww_slow_setup, .side = { { ww_slow_task } } },
	{ "ww_slow_ok", LS_TWIN, LS_WW_MISUSE, "ww_mutex_lock_slow with nothing in hand",
	  "ww_slow_ok_*", .setup = ww_slow_ok_setup, .side = { { ww_slow_ok_task } } },
	{ "ww_borrow", LS_FAULT, LS_WW_MISUSE, "with another task's context",
	  "ww_borrow_*", .setup = ww_borrow_setup, .side = { { ww_borrow_task } } },
	{ "ww_borrow_ok", LS_TWIN, LS_WW_MISUSE, "with its own context",
	  "ww_borrow_ok_*", .setup = ww_borrow_ok_setup, .side = { { ww_borrow_ok_task } } },
	{ "ww_without", LS_FAULT, LS_WW_MISUSE, "the second one without the context",
	  "ww_without_*", .setup = ww_without_setup, .teardown = ww_without_teardown,
	  .side = { { ww_without_task } } },
	{ "ww_without_ok", LS_TWIN, LS_WW_MISUSE, "the second one with the context",
	  "ww_without_ok_*", .setup = ww_without_ok_setup, .teardown = ww_without_ok_teardown,
	  .side = { { ww_without_ok_task } } },
	{ }
};
