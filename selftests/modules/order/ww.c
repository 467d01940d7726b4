// SPDX-License-Identifier: GPL-2.0
/*
 * Wound/wait mutexes. Those of one class may nest in any order under one
 * acquire context, because the loser backs off; without a context, and against
 * other locks, they are plain mutexes.
 */
#include <linux/mutex.h>
#include <linux/ww_mutex.h>

#include "selftest.h"

static DEFINE_WW_CLASS(abba_ww_class);
static struct ww_mutex abba_ww_w;
static DEFINE_MUTEX(abba_ww_m);

static int abba_ww_setup(void)
{
	ww_mutex_init(&abba_ww_w, &abba_ww_class);
	return 0;
}

static __side void abba_ww_ww_then_mutex(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &abba_ww_class);
	ls_require(ww_mutex_lock(&abba_ww_w, &ctx) == 0);
	ww_acquire_done(&ctx);
	mutex_lock(&abba_ww_m);
	mutex_unlock(&abba_ww_m);
	ww_mutex_unlock(&abba_ww_w);
	ww_acquire_fini(&ctx);
}

static __side void abba_ww_mutex_then_ww(void)
{
	struct ww_acquire_ctx ctx;

	mutex_lock(&abba_ww_m);
	ww_acquire_init(&ctx, &abba_ww_class);
	ls_require(ww_mutex_lock(&abba_ww_w, &ctx) == 0);
	ww_acquire_done(&ctx);
	ww_mutex_unlock(&abba_ww_w);
	ww_acquire_fini(&ctx);
	mutex_unlock(&abba_ww_m);
}

static DEFINE_WW_CLASS(abba_ww_ok_class);
static struct ww_mutex abba_ww_ok_x, abba_ww_ok_y;

static int abba_ww_ok_setup(void)
{
	ww_mutex_init(&abba_ww_ok_x, &abba_ww_ok_class);
	ww_mutex_init(&abba_ww_ok_y, &abba_ww_ok_class);
	return 0;
}

static __side void abba_ww_ok_take_both(struct ww_mutex *first, struct ww_mutex *second)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &abba_ww_ok_class);
	ls_require(ww_mutex_lock(first, &ctx) == 0);
	ls_require(ww_mutex_lock(second, &ctx) == 0);
	ww_acquire_done(&ctx);
	ww_mutex_unlock(second);
	ww_mutex_unlock(first);
	ww_acquire_fini(&ctx);
}

static __side void abba_ww_ok_xy(void)
{
	abba_ww_ok_take_both(&abba_ww_ok_x, &abba_ww_ok_y);
}

static __side void abba_ww_ok_yx(void)
{
	abba_ww_ok_take_both(&abba_ww_ok_y, &abba_ww_ok_x);
}

static DEFINE_WW_CLASS(ww_noctx_class);
static struct ww_mutex ww_noctx_x, ww_noctx_y;

static int ww_noctx_setup(void)
{
	ww_mutex_init(&ww_noctx_x, &ww_noctx_class);
	ww_mutex_init(&ww_noctx_y, &ww_noctx_class);
	return 0;
}

static __side void ww_noctx_take_both(struct ww_mutex *first, struct ww_mutex *second)
{
	ls_require(ww_mutex_lock(first, NULL) == 0);
	ls_require(ww_mutex_lock(second, NULL) == 0);
	ww_mutex_unlock(second);
	ww_mutex_unlock(first);
}

static __side void ww_noctx_xy(void)
{
	ww_noctx_take_both(&ww_noctx_x, &ww_noctx_y);
}

static __side void ww_noctx_yx(void)
{
	ww_noctx_take_both(&ww_noctx_y, &ww_noctx_x);
}

static DEFINE_WW_CLASS(ww_noctx_ok_class);
static struct ww_mutex ww_noctx_ok_x, ww_noctx_ok_y;

static int ww_noctx_ok_setup(void)
{
	ww_mutex_init(&ww_noctx_ok_x, &ww_noctx_ok_class);
	ww_mutex_init(&ww_noctx_ok_y, &ww_noctx_ok_class);
	return 0;
}

static __side void ww_noctx_ok_blocking(void)
{
	ls_require(ww_mutex_lock(&ww_noctx_ok_x, NULL) == 0);
	ls_require(ww_mutex_lock(&ww_noctx_ok_y, NULL) == 0);
	ww_mutex_unlock(&ww_noctx_ok_y);
	ww_mutex_unlock(&ww_noctx_ok_x);
}

/* The other way round only by trying. */
static __side void ww_noctx_ok_trying(void)
{
	ls_require(ww_mutex_lock(&ww_noctx_ok_y, NULL) == 0);
	if (ww_mutex_trylock(&ww_noctx_ok_x, NULL))
		ww_mutex_unlock(&ww_noctx_ok_x);
	else
		ls_require(false);
	ww_mutex_unlock(&ww_noctx_ok_y);
}

const struct ls_case order_ww_cases[] = {
	{ "abba_ww", LS_FAULT, LS_CYCLE, "ww_mutex under a context against a mutex",
	  "abba_ww_w abba_ww_m",
	  .setup = abba_ww_setup,
	  .side = { { abba_ww_ww_then_mutex }, { abba_ww_mutex_then_ww } } },
	{ "abba_ww_ok", LS_TWIN, LS_CYCLE, "two ww_mutexes of a class in any order under a context",
	  "abba_ww_ok_x abba_ww_ok_y",
	  .setup = abba_ww_ok_setup,
	  .side = { { abba_ww_ok_xy }, { abba_ww_ok_yx } } },
	{ "ww_noctx", LS_FAULT, LS_CYCLE, "two ww_mutexes of a class in both orders, no context",
	  "ww_noctx_x ww_noctx_y",
	  .setup = ww_noctx_setup,
	  .side = { { ww_noctx_xy }, { ww_noctx_yx } } },
	{ "ww_noctx_ok", LS_TWIN, LS_CYCLE, "no context, but the other order only by trying",
	  "ww_noctx_ok_x ww_noctx_ok_y",
	  .setup = ww_noctx_ok_setup,
	  .side = { { ww_noctx_ok_blocking }, { ww_noctx_ok_trying } } },
	{ }
};
