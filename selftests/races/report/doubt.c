// SPDX-License-Identifier: GPL-2.0
/*
 * Races that something speaks against: the report demotes them, and the console says what it
 * is. Here it is wrong: the other side does reach the object.
 */
#include <linux/mutex.h>
#include <linux/slab.h>

#include "races.h"

static int doubt_setup(void)
{
	return ls_keep(0, kzalloc(sizeof(unsigned long), GFP_KERNEL));
}

static __side void doubt_apart_write(void)
{
	unsigned long *p = ls_kept(0);

	*p = ls_value();
}

static __side void doubt_apart_release(void)
{
	unsigned long *p = ls_kept(0);

	*p = ls_value();
}

static DEFINE_MUTEX(doubt_apart_ok_m);

static __side void doubt_apart_ok_write(void)
{
	unsigned long *p = ls_kept(0);

	mutex_lock(&doubt_apart_ok_m);
	*p = ls_value();
	mutex_unlock(&doubt_apart_ok_m);
}

static __side void doubt_apart_ok_release(void)
{
	unsigned long *p = ls_kept(0);

	mutex_lock(&doubt_apart_ok_m);
	*p = ls_value();
	mutex_unlock(&doubt_apart_ok_m);
}

const struct ls_case race_doubt_cases[] = {
	{ "doubt_apart", LS_FAULT, LS_RACE, "written while it is taken apart",
	  "severity!=note", doubt_setup, ls_free_kept,
	  { SIDE(doubt_apart_write), SIDE(doubt_apart_release) } },
	{ "doubt_apart_ok", LS_TWIN, LS_RACE, "written and taken apart under a mutex",
	  "", doubt_setup, ls_free_kept,
	  { SIDE(doubt_apart_ok_write), SIDE(doubt_apart_ok_release) } },
	{ }
};
