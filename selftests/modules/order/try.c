// SPDX-License-Identifier: GPL-2.0
/*
 * Trylocks. Trying never waits, so it adds no dependency on what is held; once
 * it has succeeded, what is waited for next depends on it like on any lock.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_MUTEX(try_mutex_a);
static DEFINE_MUTEX(try_mutex_b);

static __side void try_mutex_try_a_then_b(void)
{
	if (!mutex_trylock(&try_mutex_a)) {
		ls_require(false);
		return;
	}
	mutex_lock(&try_mutex_b);
	mutex_unlock(&try_mutex_b);
	mutex_unlock(&try_mutex_a);
}

static __side void try_mutex_b_then_a(void)
{
	mutex_lock(&try_mutex_b);
	mutex_lock(&try_mutex_a);
	mutex_unlock(&try_mutex_a);
	mutex_unlock(&try_mutex_b);
}

static DEFINE_MUTEX(try_mutex_ok_a);
static DEFINE_MUTEX(try_mutex_ok_b);

static __side void try_mutex_ok_a_then_try_b(void)
{
	mutex_lock(&try_mutex_ok_a);
	if (mutex_trylock(&try_mutex_ok_b))
		mutex_unlock(&try_mutex_ok_b);
	else
		ls_require(false);
	mutex_unlock(&try_mutex_ok_a);
}

static __side void try_mutex_ok_b_then_a(void)
{
	mutex_lock(&try_mutex_ok_b);
	mutex_lock(&try_mutex_ok_a);
	mutex_unlock(&try_mutex_ok_a);
	mutex_unlock(&try_mutex_ok_b);
}

static DEFINE_SPINLOCK(try_spin_a);
static DEFINE_SPINLOCK(try_spin_b);

static __side void try_spin_try_a_then_b(void)
{
	if (!spin_trylock_bh(&try_spin_a)) {
		ls_require(false);
		return;
	}
	spin_lock(&try_spin_b);
	spin_unlock(&try_spin_b);
	spin_unlock_bh(&try_spin_a);
}

static __side void try_spin_b_then_a(void)
{
	spin_lock(&try_spin_b);
	spin_lock(&try_spin_a);
	spin_unlock(&try_spin_a);
	spin_unlock(&try_spin_b);
}

static DEFINE_SPINLOCK(try_spin_ok_a);
static DEFINE_SPINLOCK(try_spin_ok_b);

static __side void try_spin_ok_a_then_try_b(void)
{
	spin_lock(&try_spin_ok_a);
	if (spin_trylock(&try_spin_ok_b))
		spin_unlock(&try_spin_ok_b);
	else
		ls_require(false);
	spin_unlock(&try_spin_ok_a);
}

static __side void try_spin_ok_b_then_a(void)
{
	spin_lock(&try_spin_ok_b);
	spin_lock(&try_spin_ok_a);
	spin_unlock(&try_spin_ok_a);
	spin_unlock(&try_spin_ok_b);
}

static DECLARE_RWSEM(try_rwsem_w);
static struct semaphore try_rwsem_s = __SEMAPHORE_INITIALIZER(try_rwsem_s, 1);

static __side void try_rwsem_try_write_then_down(void)
{
	if (!down_write_trylock(&try_rwsem_w)) {
		ls_require(false);
		return;
	}
	down(&try_rwsem_s);
	up(&try_rwsem_s);
	up_write(&try_rwsem_w);
}

static __side void try_rwsem_try_down_then_read(void)
{
	/* Zero is success here, unlike with every other trylock. */
	if (down_trylock(&try_rwsem_s)) {
		ls_require(false);
		return;
	}
	down_read(&try_rwsem_w);
	up_read(&try_rwsem_w);
	up(&try_rwsem_s);
}

static DECLARE_RWSEM(try_rwsem_ok_w);
static struct semaphore try_rwsem_ok_s = __SEMAPHORE_INITIALIZER(try_rwsem_ok_s, 1);

static __side void try_rwsem_ok_write_then_try_down(void)
{
	down_write(&try_rwsem_ok_w);
	if (!down_trylock(&try_rwsem_ok_s))
		up(&try_rwsem_ok_s);
	else
		ls_require(false);
	up_write(&try_rwsem_ok_w);
}

static __side void try_rwsem_ok_down_then_try_read(void)
{
	down(&try_rwsem_ok_s);
	if (down_read_trylock(&try_rwsem_ok_w))
		up_read(&try_rwsem_ok_w);
	else
		ls_require(false);
	up(&try_rwsem_ok_s);
}

/* Trying fails, and the fallback waits: the fault is in the fallback. */
static DEFINE_MUTEX(try_failed_a);
static DEFINE_MUTEX(try_failed_b);

static void try_failed_take(void)
{
	mutex_lock(&try_failed_a);
}

static void try_failed_give(void)
{
	mutex_unlock(&try_failed_a);
}

static __side void try_failed_fallback(void)
{
	struct ls_holder *holder = ls_hold(try_failed_take, try_failed_give);

	ls_require(!mutex_trylock(&try_failed_a));
	ls_unhold(holder);
	mutex_lock(&try_failed_a);
	mutex_lock(&try_failed_b);
	mutex_unlock(&try_failed_b);
	mutex_unlock(&try_failed_a);
}

static __side void try_failed_b_then_a(void)
{
	mutex_lock(&try_failed_b);
	mutex_lock(&try_failed_a);
	mutex_unlock(&try_failed_a);
	mutex_unlock(&try_failed_b);
}

/* Trying fails, and the code does without the lock: nothing is held. */
static DEFINE_MUTEX(try_failed_ok_a);
static DEFINE_SPINLOCK(try_failed_ok_l);
static DECLARE_RWSEM(try_failed_ok_w);
static struct semaphore try_failed_ok_s = __SEMAPHORE_INITIALIZER(try_failed_ok_s, 1);
static DEFINE_MUTEX(try_failed_ok_b);

static void try_failed_ok_take(void)
{
	mutex_lock(&try_failed_ok_a);
	down_read(&try_failed_ok_w);
	down(&try_failed_ok_s);
}

static void try_failed_ok_give(void)
{
	up(&try_failed_ok_s);
	up_read(&try_failed_ok_w);
	mutex_unlock(&try_failed_ok_a);
}

static __side void try_failed_ok_without(void)
{
	struct ls_holder *holder = ls_hold(try_failed_ok_take, try_failed_ok_give);

	ls_require(!mutex_trylock(&try_failed_ok_a));
	ls_require(!down_write_trylock(&try_failed_ok_w));
	ls_require(down_trylock(&try_failed_ok_s));
	mutex_lock(&try_failed_ok_b);
	mutex_unlock(&try_failed_ok_b);
	ls_unhold(holder);

	/* A spinlock cannot be left to a sleeping holder; hold it ourselves. */
	spin_lock(&try_failed_ok_l);
	ls_require(!spin_trylock(&try_failed_ok_l));
	spin_unlock(&try_failed_ok_l);
	mutex_lock(&try_failed_ok_b);
	mutex_unlock(&try_failed_ok_b);
}

static __side void try_failed_ok_b_then_all(void)
{
	mutex_lock(&try_failed_ok_b);
	mutex_lock(&try_failed_ok_a);
	down_write(&try_failed_ok_w);
	down(&try_failed_ok_s);
	spin_lock(&try_failed_ok_l);
	spin_unlock(&try_failed_ok_l);
	up(&try_failed_ok_s);
	up_write(&try_failed_ok_w);
	mutex_unlock(&try_failed_ok_a);
	mutex_unlock(&try_failed_ok_b);
}

const struct ls_case order_try_cases[] = {
	{ "try_mutex", LS_FAULT, LS_CYCLE, "a mutex got by trying, then waiting for another",
	  "try_mutex_a try_mutex_b",
	  .side = { { try_mutex_try_a_then_b }, { try_mutex_b_then_a } } },
	{ "try_mutex_ok", LS_TWIN, LS_CYCLE, "one side only tries its second mutex",
	  "try_mutex_ok_a try_mutex_ok_b",
	  .side = { { try_mutex_ok_a_then_try_b }, { try_mutex_ok_b_then_a } } },
	{ "try_spin", LS_FAULT, LS_CYCLE, "a spinlock got by trying, then waiting for another",
	  "try_spin_a try_spin_b",
	  .side = { { try_spin_try_a_then_b }, { try_spin_b_then_a } } },
	{ "try_spin_ok", LS_TWIN, LS_CYCLE, "one side only tries its second spinlock",
	  "try_spin_ok_a try_spin_ok_b",
	  .side = { { try_spin_ok_a_then_try_b }, { try_spin_ok_b_then_a } } },
	{ "try_rwsem", LS_FAULT, LS_CYCLE, "rwsem and semaphore got by trying, each waits for the other",
	  "try_rwsem_w try_rwsem_s",
	  .side = { { try_rwsem_try_write_then_down }, { try_rwsem_try_down_then_read } } },
	{ "try_rwsem_ok", LS_TWIN, LS_CYCLE, "rwsem and semaphore, both sides try the second",
	  "try_rwsem_ok_w try_rwsem_ok_s",
	  .side = { { try_rwsem_ok_write_then_try_down }, { try_rwsem_ok_down_then_try_read } } },
	{ "try_failed", LS_FAULT, LS_CYCLE, "trying fails and the fallback waits",
	  "try_failed_a try_failed_b",
	  .side = { { try_failed_fallback }, { try_failed_b_then_a } } },
	{ "try_failed_ok", LS_TWIN, LS_CYCLE, "trying fails and the code does without",
	  "try_failed_ok_b",
	  .side = { { try_failed_ok_without }, { try_failed_ok_b_then_all } } },
	{ }
};
