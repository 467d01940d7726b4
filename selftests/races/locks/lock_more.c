// SPDX-License-Identifier: GPL-2.0
/* Locks that are there, but not for as long as they are needed, or not at all. */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "races.h"

/* Released too early. */
static int lk_early_v __shared;
static DEFINE_SPINLOCK(lk_early_s);

static __side void lk_early_a(void)
{
	spin_lock(&lk_early_s);
	lk_early_v = ls_value();
	spin_unlock(&lk_early_s);
}

static __side void lk_early_b(void)
{
	int v;

	spin_lock(&lk_early_s);
	v = lk_early_v;
	spin_unlock(&lk_early_s);
	lk_early_v = v ^ ls_value();
}

static int lk_early_ok_v __shared;
static DEFINE_SPINLOCK(lk_early_ok_s);

static __side void lk_early_ok_a(void)
{
	spin_lock(&lk_early_ok_s);
	lk_early_ok_v = ls_value();
	spin_unlock(&lk_early_ok_s);
}

static __side void lk_early_ok_b(void)
{
	spin_lock(&lk_early_ok_s);
	lk_early_ok_v ^= ls_value();
	spin_unlock(&lk_early_ok_s);
}

/* Taken too late. */
static int lk_late_v __shared;
static DEFINE_MUTEX(lk_late_m);

static __side void lk_late_a(void)
{
	mutex_lock(&lk_late_m);
	lk_late_v = ls_value();
	mutex_unlock(&lk_late_m);
}

static __side void lk_late_b(void)
{
	int v = lk_late_v;

	mutex_lock(&lk_late_m);
	lk_late_v = v ^ ls_value();
	mutex_unlock(&lk_late_m);
}

static int lk_late_ok_v __shared;
static DEFINE_MUTEX(lk_late_ok_m);

static __side void lk_late_ok_a(void)
{
	mutex_lock(&lk_late_ok_m);
	lk_late_ok_v = ls_value();
	mutex_unlock(&lk_late_ok_m);
}

static __side void lk_late_ok_b(void)
{
	int v;

	mutex_lock(&lk_late_ok_m);
	v = lk_late_ok_v;
	lk_late_ok_v = v ^ ls_value();
	mutex_unlock(&lk_late_ok_m);
}

/* The result of trylock is ignored. Another task has the mutex meanwhile, so that it does fail. */
static long lk_try_v __shared;
static DEFINE_MUTEX(lk_try_m);

static __side void lk_try_take(void)
{
	mutex_lock(&lk_try_m);
}

static __side void lk_try_give(void)
{
	mutex_unlock(&lk_try_m);
}

static __side void lk_try_a(void)
{
	mutex_lock(&lk_try_m);
	lk_try_v = ls_value();
	mutex_unlock(&lk_try_m);
}

static __side void lk_try_b(void)
{
	struct ls_holder *holder = ls_hold(lk_try_take, lk_try_give);
	bool taken = mutex_trylock(&lk_try_m);

	lk_try_v = ls_value();
	if (taken)
		mutex_unlock(&lk_try_m);
	ls_unhold(holder);
}

static long lk_try_ok_v __shared;
static DEFINE_MUTEX(lk_try_ok_m);

static __side void lk_try_ok_take(void)
{
	mutex_lock(&lk_try_ok_m);
}

static __side void lk_try_ok_give(void)
{
	mutex_unlock(&lk_try_ok_m);
}

static __side void lk_try_ok_a(void)
{
	mutex_lock(&lk_try_ok_m);
	lk_try_ok_v = ls_value();
	mutex_unlock(&lk_try_ok_m);
}

static __side void lk_try_ok_set(void)
{
	if (!mutex_trylock(&lk_try_ok_m))
		return;
	lk_try_ok_v = ls_value();
	mutex_unlock(&lk_try_ok_m);
}

static __side void lk_try_ok_b(void)
{
	struct ls_holder *holder = ls_hold(lk_try_ok_take, lk_try_ok_give);

	lk_try_ok_set();
	ls_unhold(holder);
	lk_try_ok_set();
}

/* Readers have one of two locks; a writer needs both, and here has only one. */
static unsigned long lk_both_v __shared;
static DEFINE_SPINLOCK(lk_both_s1);
static DEFINE_SPINLOCK(lk_both_s2);

static __side void lk_both_write(void)
{
	spin_lock(&lk_both_s1);
	lk_both_v = ls_value();
	spin_unlock(&lk_both_s1);
}

static __side void lk_both_read2(void)
{
	spin_lock(&lk_both_s2);
	ls_use(lk_both_v);
	spin_unlock(&lk_both_s2);
}

static __side void lk_both_read1(void)
{
	spin_lock(&lk_both_s1);
	ls_use(lk_both_v);
	spin_unlock(&lk_both_s1);
}

static unsigned long lk_both_ok_v __shared;
static DEFINE_SPINLOCK(lk_both_ok_s1);
static DEFINE_SPINLOCK(lk_both_ok_s2);

static __side void lk_both_ok_write(void)
{
	spin_lock(&lk_both_ok_s1);
	spin_lock(&lk_both_ok_s2);
	lk_both_ok_v = ls_value();
	spin_unlock(&lk_both_ok_s2);
	spin_unlock(&lk_both_ok_s1);
}

static __side void lk_both_ok_read2(void)
{
	spin_lock(&lk_both_ok_s2);
	ls_use(lk_both_ok_v);
	spin_unlock(&lk_both_ok_s2);
}

static __side void lk_both_ok_read1(void)
{
	spin_lock(&lk_both_ok_s1);
	ls_use(lk_both_ok_v);
	spin_unlock(&lk_both_ok_s1);
}

/* Only one of the places that write it forgets the lock, and not every time. */
static int lk_branch_v __shared;
static atomic_t lk_branch_calls;
static DEFINE_SPINLOCK(lk_branch_s);

static __side void lk_branch_a(void)
{
	spin_lock(&lk_branch_s);
	lk_branch_v = ls_value();
	spin_unlock(&lk_branch_s);
}

static __side void lk_branch_b(void)
{
	if (atomic_inc_return(&lk_branch_calls) & 1) {
		lk_branch_v = ls_value();
		return;
	}
	spin_lock(&lk_branch_s);
	lk_branch_v = ls_value();
	spin_unlock(&lk_branch_s);
}

static int lk_branch_ok_v __shared;
static atomic_t lk_branch_ok_calls;
static DEFINE_SPINLOCK(lk_branch_ok_s);

static __side void lk_branch_ok_a(void)
{
	spin_lock(&lk_branch_ok_s);
	lk_branch_ok_v = ls_value();
	spin_unlock(&lk_branch_ok_s);
}

static __side void lk_branch_ok_b(void)
{
	spin_lock(&lk_branch_ok_s);
	if (atomic_inc_return(&lk_branch_ok_calls) & 1)
		lk_branch_ok_v = 0;
	else
		lk_branch_ok_v = ls_value();
	spin_unlock(&lk_branch_ok_s);
}

const struct ls_case race_lock_more_cases[] = {
	{ "lk_early", LS_FAULT, LS_RACE, "written after the spinlock was given back",
	  "severity!=note variable=lk_early_v", .side = { SIDE(lk_early_a), SIDE(lk_early_b) } },
	{ "lk_early_ok", LS_TWIN, LS_RACE, "written before the spinlock is given back",
	  "", .side = { SIDE(lk_early_ok_a), SIDE(lk_early_ok_b) } },
	{ "lk_late", LS_FAULT, LS_RACE, "read before the mutex is taken, written under it",
	  "severity!=note variable=lk_late_v", .side = { SIDE(lk_late_a), SIDE(lk_late_b) } },
	{ "lk_late_ok", LS_TWIN, LS_RACE, "read and written under the mutex",
	  "", .side = { SIDE(lk_late_ok_a), SIDE(lk_late_ok_b) } },
	{ "lk_try", LS_FAULT, LS_RACE, "written though mutex_trylock failed",
	  "severity!=note variable=lk_try_v", .side = { SIDE(lk_try_a), SIDE(lk_try_b) } },
	{ "lk_try_ok", LS_TWIN, LS_RACE, "written only if mutex_trylock got the mutex",
	  "", .side = { SIDE(lk_try_ok_a), SIDE(lk_try_ok_b) } },
	{ "lk_both", LS_FAULT, LS_RACE, "readers under one of two locks, the writer under one only",
	  "severity!=note variable=lk_both_v",
	  .side = { SIDE(lk_both_write), SIDE(lk_both_read2), { lk_both_read1 } } },
	{ "lk_both_ok", LS_TWIN, LS_RACE, "readers under one of two locks, the writer under both",
	  "", .side = { SIDE(lk_both_ok_write), SIDE(lk_both_ok_read2), { lk_both_ok_read1 } } },
	{ "lk_branch", LS_FAULT, LS_RACE, "one branch of a writer goes without the lock",
	  "severity!=note variable=lk_branch_v",
	  .side = { SIDE(lk_branch_a), SIDE(lk_branch_b) } },
	{ "lk_branch_ok", LS_TWIN, LS_RACE, "both branches of the writer under the lock",
	  "", .side = { SIDE(lk_branch_ok_a), SIDE(lk_branch_ok_b) } },
	{ }
};
