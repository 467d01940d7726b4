// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that a side acquires twice under a gate. One side acquires A under the gate, and B when
 * it has released the gate. The other one acquires both under the gate, in the other order. If it
 * acquired A before within the same hold of the gate it never meets the first side.
 */
#include <linux/delay.h>
#include <linux/mutex.h>

#include "selftest.h"

/* A under @gate, then B without it. */
static void passed_leave(struct mutex *gate, struct mutex *a, struct mutex *b)
{
	mutex_lock(gate);
	mutex_lock(a);
	mutex_unlock(gate);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void passed_nest(struct mutex *gate, struct mutex *a, struct mutex *b, bool before)
{
	mutex_lock(gate);
	if (before) {
		mutex_lock(a);
		mutex_unlock(a);
	}
	mutex_lock(b);
	mutex_lock(a);
	mutex_unlock(a);
	mutex_unlock(b);
	mutex_unlock(gate);
}

static DEFINE_MUTEX(passed_never_gate);
static DEFINE_MUTEX(passed_never_a);
static DEFINE_MUTEX(passed_never_b);

static __side void passed_never_ab(void)
{
	passed_leave(&passed_never_gate, &passed_never_a, &passed_never_b);
}

static __side void passed_never_ba(void)
{
	passed_nest(&passed_never_gate, &passed_never_a, &passed_never_b, false);
}

/* However often, also when the module does not look at each acquisition any more. */
#define PASSED_ROUNDS 10000

static DEFINE_MUTEX(passed_always_gate);
static DEFINE_MUTEX(passed_always_a);
static DEFINE_MUTEX(passed_always_b);

static __side void passed_always_ab(void)
{
	unsigned int i;

	for (i = 0; i < PASSED_ROUNDS; i++)
		passed_leave(&passed_always_gate, &passed_always_a, &passed_always_b);
}

static __side void passed_always_ba(void)
{
	unsigned int i;

	for (i = 0; i < PASSED_ROUNDS; i++)
		passed_nest(&passed_always_gate, &passed_always_a, &passed_always_b, true);
}

/* The dependencies of the cycle are looked for once a second. */
static __side void passed_always_pause(void)
{
	msleep(4000);
}

/* Once it does not, after more rounds than the module looks at of itself. */
static DEFINE_MUTEX(passed_later_gate);
static DEFINE_MUTEX(passed_later_a);
static DEFINE_MUTEX(passed_later_b);

static __side void passed_later_ab(void)
{
	passed_leave(&passed_later_gate, &passed_later_a, &passed_later_b);
}

static __side void passed_later_ba(void)
{
	unsigned int i;

	for (i = 0; i < PASSED_ROUNDS; i++)
		passed_nest(&passed_later_gate, &passed_later_a, &passed_later_b, true);
	msleep(4000);
}

static __side void passed_later_ba_once(void)
{
	passed_nest(&passed_later_gate, &passed_later_a, &passed_later_b, false);
}

static DEFINE_MUTEX(passed_first_gate);
static DEFINE_MUTEX(passed_first_a);
static DEFINE_MUTEX(passed_first_b);

static __side void passed_first_ba(void)
{
	unsigned int i;

	for (i = 0; i < PASSED_ROUNDS; i++)
		passed_nest(&passed_first_gate, &passed_first_a, &passed_first_b, true);
}

/* The first time it is not known any more what A was acquired under. */
static __side void passed_first_ab(void)
{
	passed_leave(&passed_first_gate, &passed_first_a, &passed_first_b);
	msleep(4000);
	passed_leave(&passed_first_gate, &passed_first_a, &passed_first_b);
	msleep(4000);
}

static __side void passed_first_ba_once(void)
{
	passed_nest(&passed_first_gate, &passed_first_a, &passed_first_b, false);
}

static DEFINE_MUTEX(passed_ways_gate);
static DEFINE_MUTEX(passed_ways_a);
static DEFINE_MUTEX(passed_ways_b);
static DEFINE_MUTEX(passed_ways_c);

static __side void passed_ways_ab(void)
{
	mutex_lock(&passed_ways_gate);
	mutex_lock(&passed_ways_a);
	mutex_lock(&passed_ways_c);
	mutex_unlock(&passed_ways_gate);
	mutex_lock(&passed_ways_b);
	mutex_unlock(&passed_ways_b);
	mutex_unlock(&passed_ways_c);
	mutex_unlock(&passed_ways_a);
}

/* B and A under the gate, where @before, if any, was free. */
static void passed_ways_nest(struct mutex *before)
{
	mutex_lock(&passed_ways_gate);
	if (before) {
		mutex_lock(before);
		mutex_unlock(before);
	}
	mutex_lock(&passed_ways_b);
	mutex_lock(&passed_ways_a);
	mutex_unlock(&passed_ways_a);
	mutex_unlock(&passed_ways_b);
	mutex_unlock(&passed_ways_gate);
}

/* It is another lock each time, until there is none. */
static __side void passed_ways_ba(void)
{
	passed_ways_nest(&passed_ways_a);
	passed_ways_nest(&passed_ways_c);
}

static __side void passed_ways_ba_once(void)
{
	passed_ways_nest(NULL);
}

const struct ls_case order_passed_cases[] = {
	{ "passed_never", LS_FAULT, LS_CYCLE, "a gate around one side, and around half of the other",
	  "passed_never_a passed_never_b severity=error",
	  .side = { { passed_never_ab }, { passed_never_ba } } },
	{ "passed_always", LS_FAULT, LS_CYCLE, "the same, but the lock was free within the hold of the gate",
	  "passed_always_a passed_always_b severity=warning",
	  .side = { { passed_always_ab }, { passed_always_ba }, { passed_always_pause },
		    { passed_always_ba }, { passed_always_ab } } },
	{ "passed_later", LS_FAULT, LS_CYCLE, "the lock was free within the hold of the gate, but once",
	  "passed_later_a passed_later_b severity=error",
	  .side = { { passed_later_ab }, { passed_later_ba }, { passed_later_ba_once } } },
	{ "passed_first", LS_FAULT, LS_CYCLE, "the same, with the side that passes first",
	  "passed_first_a passed_first_b severity=error",
	  .side = { { passed_first_ba }, { passed_first_ab }, { passed_first_ba_once } } },
	{ "passed_ways", LS_FAULT, LS_CYCLE, "one of two locks was free within the hold of the gate, but once",
	  "passed_ways_a passed_ways_b severity=error",
	  .side = { { passed_ways_ab }, { passed_ways_ba }, { passed_ways_ba_once } } },
	{ }
};
