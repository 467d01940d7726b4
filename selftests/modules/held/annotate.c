// SPDX-License-Identifier: GPL-2.0
/* What annotate.h lets the author of a module say, and what follows from it. */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/processor.h>
#include <linux/spinlock.h>

#include "annotate.h"
#include "selftest.h"

static DEFINE_SPINLOCK(ann_assert_s);

static __side void ann_assert_caller(void)
{
	spin_lock(&ann_assert_s);
	spin_unlock(&ann_assert_s);
	lockscope_assert_held(&ann_assert_s);
}

static DEFINE_SPINLOCK(ann_assert_ok_s);

static __side void ann_assert_ok_caller(void)
{
	spin_lock(&ann_assert_ok_s);
	lockscope_assert_held(&ann_assert_ok_s);
	spin_unlock(&ann_assert_ok_s);
}

/* The right kind of lock, but another object's. */
static struct mutex ann_which_m[2];

static int ann_which_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		mutex_init(&ann_which_m[i]);
	return 0;
}

static __side void ann_which_caller(void)
{
	mutex_lock(&ann_which_m[0]);
	lockscope_assert_held(&ann_which_m[1]);
	mutex_unlock(&ann_which_m[0]);
}

static struct mutex ann_which_ok_m[2];

static int ann_which_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		mutex_init(&ann_which_ok_m[i]);
	return 0;
}

static __side void ann_which_ok_caller(void)
{
	mutex_lock(&ann_which_ok_m[1]);
	lockscope_assert_held(&ann_which_ok_m[1]);
	mutex_unlock(&ann_which_ok_m[1]);
}

/* Many of one class in any order: allowed while the outer lock is held. */
static DEFINE_MUTEX(ann_nest_over);
static struct mutex ann_nest_m[2];

static int ann_nest_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		mutex_init(&ann_nest_m[i]);
	return 0;
}

static __side void ann_nest_both(unsigned int first)
{
	mutex_lock(&ann_nest_over);
	mutex_unlock(&ann_nest_over);
	mutex_lock(&ann_nest_m[first]);
	lockscope_nest_lock(&ann_nest_m[!first], &ann_nest_over);
	mutex_lock(&ann_nest_m[!first]);
	mutex_unlock(&ann_nest_m[!first]);
	mutex_unlock(&ann_nest_m[first]);
}

static __side void ann_nest_up(void)
{
	ann_nest_both(0);
}

static DEFINE_MUTEX(ann_nest_ok_over);
static struct mutex ann_nest_ok_m[2];

static int ann_nest_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		mutex_init(&ann_nest_ok_m[i]);
	return 0;
}

static __side void ann_nest_ok_both(unsigned int first)
{
	mutex_lock(&ann_nest_ok_over);
	mutex_lock(&ann_nest_ok_m[first]);
	lockscope_nest_lock(&ann_nest_ok_m[!first], &ann_nest_ok_over);
	mutex_lock(&ann_nest_ok_m[!first]);
	mutex_unlock(&ann_nest_ok_m[!first]);
	mutex_unlock(&ann_nest_ok_m[first]);
	mutex_unlock(&ann_nest_ok_over);
}

static __side void ann_nest_ok_up(void)
{
	ann_nest_ok_both(0);
}

static __side void ann_nest_ok_down(void)
{
	ann_nest_ok_both(1);
}

/* A lock of one's own making: a bit that is waited for. */
struct ls_bit_lock {
	atomic_t taken;
};

static inline void ls_bit_take(struct ls_bit_lock *lock)
{
	while (atomic_cmpxchg_acquire(&lock->taken, 0, 1))
		cpu_relax();
}

static inline bool ls_bit_try(struct ls_bit_lock *lock)
{
	return !atomic_cmpxchg_acquire(&lock->taken, 0, 1);
}

static inline void ls_bit_give(struct ls_bit_lock *lock)
{
	atomic_set_release(&lock->taken, 0);
}

#define take_private(lock) \
	do { \
		lockscope_acquire(lock, #lock); \
		ls_bit_take(lock); \
	} while (0)

#define give_private(lock) \
	do { \
		ls_bit_give(lock); \
		lockscope_release(lock); \
	} while (0)

static struct ls_bit_lock ann_private_a, ann_private_b;

static __side void ann_private_ab(void)
{
	take_private(&ann_private_a);
	take_private(&ann_private_b);
	give_private(&ann_private_b);
	give_private(&ann_private_a);
}

static __side void ann_private_ba(void)
{
	take_private(&ann_private_b);
	take_private(&ann_private_a);
	give_private(&ann_private_a);
	give_private(&ann_private_b);
}

static struct ls_bit_lock ann_private_ok_a, ann_private_ok_b;

static __side void ann_private_ok_ab(void)
{
	take_private(&ann_private_ok_a);
	take_private(&ann_private_ok_b);
	give_private(&ann_private_ok_b);
	give_private(&ann_private_ok_a);
}

static __side void ann_private_ok_apart(void)
{
	take_private(&ann_private_ok_b);
	give_private(&ann_private_ok_b);
	take_private(&ann_private_ok_a);
	give_private(&ann_private_ok_a);
}

/* Against a lock that needs no annotation; the twin only tries. */
static struct ls_bit_lock ann_try_p;
static DEFINE_MUTEX(ann_try_m);

static __side void ann_try_pm(void)
{
	take_private(&ann_try_p);
	mutex_lock(&ann_try_m);
	mutex_unlock(&ann_try_m);
	give_private(&ann_try_p);
}

static __side void ann_try_mp(void)
{
	mutex_lock(&ann_try_m);
	take_private(&ann_try_p);
	give_private(&ann_try_p);
	mutex_unlock(&ann_try_m);
}

static struct ls_bit_lock ann_try_ok_p;
static DEFINE_MUTEX(ann_try_ok_m);

static __side void ann_try_ok_pm(void)
{
	take_private(&ann_try_ok_p);
	mutex_lock(&ann_try_ok_m);
	mutex_unlock(&ann_try_ok_m);
	give_private(&ann_try_ok_p);
}

static __side void ann_try_ok_mp(void)
{
	mutex_lock(&ann_try_ok_m);
	if (ls_bit_try(&ann_try_ok_p)) {
		lockscope_acquire_try(&ann_try_ok_p, "&ann_try_ok_p");
		give_private(&ann_try_ok_p);
	} else {
		ls_require(false);
	}
	mutex_unlock(&ann_try_ok_m);
}

/* Two locks that play one part, now the one and now the other. */
static DEFINE_SPINLOCK(ann_class_x);
static DEFINE_SPINLOCK(ann_class_y);
static DEFINE_SPINLOCK(ann_class_l);

static int ann_class_setup(void)
{
	lockscope_set_class(&ann_class_x, "ann_class_part");
	lockscope_set_class(&ann_class_y, "ann_class_part");
	return 0;
}

LS_NESTS(ann_class_xl, ann_class_x, spin_lock, spin_unlock, ann_class_l, spin_lock, spin_unlock)
LS_NESTS(ann_class_ly, ann_class_l, spin_lock, spin_unlock, ann_class_y, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(ann_class_ok_x);
static DEFINE_SPINLOCK(ann_class_ok_y);
static DEFINE_SPINLOCK(ann_class_ok_l);

static int ann_class_ok_setup(void)
{
	lockscope_set_class(&ann_class_ok_x, "ann_class_ok_part");
	lockscope_set_class(&ann_class_ok_y, "ann_class_ok_other");
	return 0;
}

LS_NESTS(ann_class_ok_xl, ann_class_ok_x, spin_lock, spin_unlock,
	 ann_class_ok_l, spin_lock, spin_unlock)
LS_NESTS(ann_class_ok_ly, ann_class_ok_l, spin_lock, spin_unlock,
	 ann_class_ok_y, spin_lock, spin_unlock)

/* The annotation ends where it says so: what comes after is looked at. */
static DEFINE_MUTEX(ann_ignore_a);
static DEFINE_MUTEX(ann_ignore_b);
LS_NESTS(ann_ignore_ab, ann_ignore_a, mutex_lock, mutex_unlock,
	 ann_ignore_b, mutex_lock, mutex_unlock)

static __side void ann_ignore_ba(void)
{
	lockscope_ignore_begin();
	lockscope_ignore_end();
	mutex_lock(&ann_ignore_b);
	mutex_lock(&ann_ignore_a);
	mutex_unlock(&ann_ignore_a);
	mutex_unlock(&ann_ignore_b);
}

static DEFINE_MUTEX(ann_ignore_ok_a);
static DEFINE_MUTEX(ann_ignore_ok_b);
LS_NESTS(ann_ignore_ok_ab, ann_ignore_ok_a, mutex_lock, mutex_unlock,
	 ann_ignore_ok_b, mutex_lock, mutex_unlock)

static __side void ann_ignore_ok_ba(void)
{
	lockscope_ignore_begin();
	lockscope_ignore_begin();
	lockscope_ignore_end();
	mutex_lock(&ann_ignore_ok_b);
	mutex_lock(&ann_ignore_ok_a);
	mutex_unlock(&ann_ignore_ok_a);
	mutex_unlock(&ann_ignore_ok_b);
	lockscope_ignore_end();
}

/* spin_lock_init() is inlined; the annotation makes it seen. */
static spinlock_t ann_init_s;

static int ann_init_setup(void)
{
	lockscope_init_lock(&ann_init_s, "ann_init_s");
	spin_lock_init(&ann_init_s);
	return 0;
}

static __side void ann_init_caller(void)
{
	spin_lock(&ann_init_s);
	lockscope_init_lock(&ann_init_s, "ann_init_s");
	spin_lock_init(&ann_init_s);
	preempt_enable();
}

static spinlock_t ann_init_ok_s;

static int ann_init_ok_setup(void)
{
	lockscope_init_lock(&ann_init_ok_s, "ann_init_ok_s");
	spin_lock_init(&ann_init_ok_s);
	return 0;
}

static __side void ann_init_ok_caller(void)
{
	spin_lock(&ann_init_ok_s);
	spin_unlock(&ann_init_ok_s);
	lockscope_init_lock(&ann_init_ok_s, "ann_init_ok_s");
	spin_lock_init(&ann_init_ok_s);
}

const struct ls_case verdict_annotate_cases[] = {
	{ "ann_assert", LS_FAULT, LS_NOT_HELD, "assert_held after spin_unlock",
	  "ann_assert_s", .side = { { ann_assert_caller } } },
	{ "ann_assert_ok", LS_TWIN, LS_NOT_HELD, "assert_held under the spinlock",
	  "ann_assert_ok_s", .side = { { ann_assert_ok_caller } } },
	{ "ann_which", LS_FAULT, LS_NOT_HELD, "assert_held, but another object's mutex is held",
	  "ann_which_*", .setup = ann_which_setup, .side = { { ann_which_caller } } },
	{ "ann_which_ok", LS_TWIN, LS_NOT_HELD, "assert_held, this object's mutex is held",
	  "ann_which_ok_*", .setup = ann_which_ok_setup, .side = { { ann_which_ok_caller } } },
	{ "ann_nest", LS_FAULT, LS_NOT_HELD, "nest_lock, but what it nests in is not held",
	  "ann_nest_*", .setup = ann_nest_setup, .side = { { ann_nest_up } } },
	{ "ann_nest_ok", LS_TWIN, LS_NOT_HELD, "nest_lock in both orders under the lock over them",
	  "ann_nest_ok_*", .setup = ann_nest_ok_setup,
	  .side = { { ann_nest_ok_up }, { ann_nest_ok_down } } },
	{ "ann_private", LS_FAULT, LS_CYCLE, "two private locks in both orders",
	  "ann_private_a ann_private_b kind=private",
	  .side = { { ann_private_ab }, { ann_private_ba } } },
	{ "ann_private_ok", LS_TWIN, LS_CYCLE, "two private locks in one order",
	  "ann_private_ok_a ann_private_ok_b",
	  .side = { { ann_private_ok_ab }, { ann_private_ok_apart } } },
	{ "ann_try", LS_FAULT, LS_CYCLE, "private lock and a mutex in both orders",
	  "ann_try_p ann_try_m kind=private",
	  .side = { { ann_try_pm }, { ann_try_mp } } },
	{ "ann_try_ok", LS_TWIN, LS_CYCLE, "private lock tried under the mutex",
	  "ann_try_ok_p ann_try_ok_m",
	  .side = { { ann_try_ok_pm }, { ann_try_ok_mp } } },
	{ "ann_class", LS_FAULT, LS_CYCLE, "two locks of one class by set_class, a third between",
	  "ann_class_part ann_class_l", .setup = ann_class_setup,
	  .side = { { ann_class_xl }, { ann_class_ly } } },
	{ "ann_class_ok", LS_TWIN, LS_CYCLE, "two locks of two classes by set_class, a third between",
	  "ann_class_ok_part ann_class_ok_l", .setup = ann_class_ok_setup,
	  .side = { { ann_class_ok_xl }, { ann_class_ok_ly } } },
	{ "ann_ignore", LS_FAULT, LS_CYCLE, "the other order after ignore_end",
	  "ann_ignore_a ann_ignore_b", .side = { { ann_ignore_ab }, { ann_ignore_ba } } },
	{ "ann_ignore_ok", LS_TWIN, LS_CYCLE, "the other order before the last ignore_end",
	  "ann_ignore_ok_a ann_ignore_ok_b",
	  .side = { { ann_ignore_ok_ab }, { ann_ignore_ok_ba } } },
	{ "ann_init", LS_FAULT, LS_HELD_INIT, "init_lock of a held spinlock",
	  "ann_init_s", .setup = ann_init_setup, .side = { { ann_init_caller } } },
	{ "ann_init_ok", LS_TWIN, LS_HELD_INIT, "init_lock of a spinlock given back",
	  "ann_init_ok_s", .setup = ann_init_ok_setup, .side = { { ann_init_ok_caller } } },
	{ }
};
