// SPDX-License-Identifier: GPL-2.0
/*
 * Releases that are no stack: in another order than taken, by another task, or
 * in another mode than taken. What is held afterwards decides what is ordered.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>

#include "selftest.h"

/* a is left before b; b is still held when c is taken. */
static DEFINE_SPINLOCK(unorder_a);
static DEFINE_SPINLOCK(unorder_b);
static DEFINE_SPINLOCK(unorder_c);

static __side void unorder_leave_a_take_c(void)
{
	spin_lock(&unorder_a);
	spin_lock(&unorder_b);
	spin_unlock(&unorder_a);
	spin_lock(&unorder_c);
	spin_unlock(&unorder_b);
	spin_unlock(&unorder_c);
}

static __side void unorder_c_then_b(void)
{
	spin_lock(&unorder_c);
	spin_lock(&unorder_b);
	spin_unlock(&unorder_c);
	spin_unlock(&unorder_b);
}

/*
 * b is tried, so nothing orders a before b. If the release of a were taken for one of b, there
 * would be a -> c here and c -> a on the other side.
 */
static DEFINE_SPINLOCK(unorder_ok_a);
static DEFINE_SPINLOCK(unorder_ok_b);
static DEFINE_SPINLOCK(unorder_ok_c);

static __side void unorder_ok_leave_a_take_c(void)
{
	spin_lock(&unorder_ok_a);
	if (!spin_trylock(&unorder_ok_b)) {
		spin_unlock(&unorder_ok_a);
		ls_require(false);
		return;
	}
	spin_unlock(&unorder_ok_a);
	spin_lock(&unorder_ok_c);
	spin_unlock(&unorder_ok_b);
	spin_unlock(&unorder_ok_c);
}

static __side void unorder_ok_c_then_a(void)
{
	spin_lock(&unorder_ok_c);
	spin_lock(&unorder_ok_a);
	spin_unlock(&unorder_ok_c);
	spin_unlock(&unorder_ok_a);
}

/*
 * A semaphore released by another task. Most rounds stay in one task, as with a lock that is
 * handed over now and then.
 */
#define HANDOVER_ROUNDS 16
static struct semaphore handover_s = __SEMAPHORE_INITIALIZER(handover_s, 1);
static DEFINE_MUTEX(handover_m);

static __side void handover_up(void)
{
	up(&handover_s);
}

static __side void handover_down_then_mutex(void)
{
	unsigned int i;

	for (i = 0; i < HANDOVER_ROUNDS; i++) {
		down(&handover_s);
		mutex_lock(&handover_m);
		mutex_unlock(&handover_m);
		up(&handover_s);
	}
	down(&handover_s);
	ls_require(!ls_run_in(LS_THREAD, "lst_handover", handover_up));
}

/* It was released meanwhile, so this is a new acquisition, under the mutex. */
static __side void handover_mutex_then_down(void)
{
	down(&handover_s);
	ls_require(!ls_run_in(LS_THREAD, "lst_handover", handover_up));
	mutex_lock(&handover_m);
	down(&handover_s);
	up(&handover_s);
	mutex_unlock(&handover_m);
}

static struct semaphore handover_ok_s = __SEMAPHORE_INITIALIZER(handover_ok_s, 1);
static DEFINE_MUTEX(handover_ok_m);

static __side void handover_ok_up(void)
{
	up(&handover_ok_s);
}

/* Another task has released it: it is not held when the mutex is acquired. */
static __side void handover_ok_given_back(void)
{
	unsigned int i;

	for (i = 0; i < HANDOVER_ROUNDS; i++) {
		down(&handover_ok_s);
		up(&handover_ok_s);
	}
	down(&handover_ok_s);
	ls_require(!ls_run_in(LS_THREAD, "lst_handover", handover_ok_up));
	mutex_lock(&handover_ok_m);
	mutex_unlock(&handover_ok_m);
}

static __side void handover_ok_mutex_then_down(void)
{
	mutex_lock(&handover_ok_m);
	down(&handover_ok_s);
	up(&handover_ok_s);
	mutex_unlock(&handover_ok_m);
}

/*
 * A semaphore that counts events: the waiter never releases, the releaser never waits. It is
 * no lock, and nothing after a wait is inside a critical section.
 */
static struct semaphore signal_ok_events = __SEMAPHORE_INITIALIZER(signal_ok_events, 0);
static DEFINE_MUTEX(signal_ok_m);

static __side void signal_ok_produce(void)
{
	up(&signal_ok_events);
}

static __side void signal_ok_consume_many(void)
{
	unsigned int i;

	for (i = 0; i < HANDOVER_ROUNDS; i++) {
		ls_require(!ls_run_in(LS_THREAD, "lst_producer", signal_ok_produce));
		down(&signal_ok_events);
	}
}

static __side void signal_ok_wait_then_mutex(void)
{
	ls_require(!ls_run_in(LS_THREAD, "lst_producer", signal_ok_produce));
	down(&signal_ok_events);
	mutex_lock(&signal_ok_m);
	mutex_unlock(&signal_ok_m);
}

static __side void signal_ok_mutex_then_wait(void)
{
	ls_require(!ls_run_in(LS_THREAD, "lst_producer", signal_ok_produce));
	mutex_lock(&signal_ok_m);
	down(&signal_ok_events);
	mutex_unlock(&signal_ok_m);
}

static DECLARE_RWSEM(downgrade_s);
static DEFINE_MUTEX(downgrade_m);

static __side void downgrade_then_mutex(void)
{
	down_write(&downgrade_s);
	downgrade_write(&downgrade_s);
	mutex_lock(&downgrade_m);
	mutex_unlock(&downgrade_m);
	up_read(&downgrade_s);
}

static __side void downgrade_mutex_then_write(void)
{
	mutex_lock(&downgrade_m);
	down_write(&downgrade_s);
	up_write(&downgrade_s);
	mutex_unlock(&downgrade_m);
}

/* Acquired for writing, released as a reader: released all the same. */
static DECLARE_RWSEM(downgrade_ok_s);
static DEFINE_MUTEX(downgrade_ok_m);

static __side void downgrade_ok_given_back(void)
{
	down_write(&downgrade_ok_s);
	downgrade_write(&downgrade_ok_s);
	up_read(&downgrade_ok_s);
	mutex_lock(&downgrade_ok_m);
	mutex_unlock(&downgrade_ok_m);
}

static __side void downgrade_ok_mutex_then_write(void)
{
	mutex_lock(&downgrade_ok_m);
	down_write(&downgrade_ok_s);
	up_write(&downgrade_ok_s);
	mutex_unlock(&downgrade_ok_m);
}

const struct ls_case order_release_cases[] = {
	{ "unorder", LS_FAULT, LS_CYCLE, "out-of-order release, then a real circle",
	  "unorder_b unorder_c",
	  .side = { { unorder_leave_a_take_c }, { unorder_c_then_b } } },
	{ "unorder_ok", LS_TWIN, LS_CYCLE, "out-of-order release: the outer lock is no longer held",
	  "unorder_ok_a unorder_ok_c",
	  .side = { { unorder_ok_leave_a_take_c }, { unorder_ok_c_then_a } } },
	{ "handover", LS_FAULT, LS_CYCLE, "semaphore given back by another task, then a real circle",
	  "handover_s handover_m severity=warning",
	  .side = { { handover_down_then_mutex }, { handover_mutex_then_down } } },
	{ "handover_ok", LS_TWIN, LS_CYCLE, "semaphore given back by another task is not held",
	  "handover_ok_s handover_ok_m",
	  .side = { { handover_ok_given_back }, { handover_ok_mutex_then_down } } },
	{ "signal_ok", LS_TWIN, LS_CYCLE, "semaphore that counts events is no lock",
	  "signal_ok_events signal_ok_m",
	  .side = { { signal_ok_consume_many }, { signal_ok_wait_then_mutex },
		    { signal_ok_mutex_then_wait } } },
	{ "downgrade", LS_FAULT, LS_CYCLE, "downgraded rwsem against a mutex",
	  "downgrade_s downgrade_m",
	  .side = { { downgrade_then_mutex }, { downgrade_mutex_then_write } } },
	{ "downgrade_ok", LS_TWIN, LS_CYCLE, "downgraded rwsem given back as a reader",
	  "downgrade_ok_s downgrade_ok_m",
	  .side = { { downgrade_ok_given_back }, { downgrade_ok_mutex_then_write } } },
	{ }
};
