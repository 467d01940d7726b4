// SPDX-License-Identifier: GPL-2.0
/*
 * Reader-writer spinlocks. They are fair: a reader in a task waits behind a
 * waiting writer, so it blocks like anyone else. A reader in an interrupt goes
 * ahead of waiting writers, so only a writer that holds the lock blocks it.
 */
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_RWLOCK(rw_write_r);
static DEFINE_SPINLOCK(rw_write_l);

static __side void rw_write_write_then_spin(void)
{
	write_lock(&rw_write_r);
	spin_lock(&rw_write_l);
	spin_unlock(&rw_write_l);
	write_unlock(&rw_write_r);
}

static __side void rw_write_spin_then_write(void)
{
	spin_lock(&rw_write_l);
	write_lock(&rw_write_r);
	write_unlock(&rw_write_r);
	spin_unlock(&rw_write_l);
}

static DEFINE_RWLOCK(rw_write_ok_r);
static DEFINE_SPINLOCK(rw_write_ok_l);

static __side void rw_write_ok_write_then_spin(void)
{
	write_lock(&rw_write_ok_r);
	spin_lock(&rw_write_ok_l);
	spin_unlock(&rw_write_ok_l);
	write_unlock(&rw_write_ok_r);
}

static __side void rw_write_ok_read_then_spin(void)
{
	read_lock(&rw_write_ok_r);
	spin_lock(&rw_write_ok_l);
	spin_unlock(&rw_write_ok_l);
	read_unlock(&rw_write_ok_r);
}

/* Reader holds and waits for the spinlock; the spinlock's owner wants to write. */
static DEFINE_RWLOCK(rw_mixed_r);
static DEFINE_SPINLOCK(rw_mixed_l);

static __side void rw_mixed_read_then_spin(void)
{
	read_lock(&rw_mixed_r);
	spin_lock(&rw_mixed_l);
	spin_unlock(&rw_mixed_l);
	read_unlock(&rw_mixed_r);
}

static __side void rw_mixed_spin_then_write(void)
{
	unsigned long flags;

	spin_lock(&rw_mixed_l);
	write_lock_irqsave(&rw_mixed_r, flags);
	write_unlock_irqrestore(&rw_mixed_r, flags);
	spin_unlock(&rw_mixed_l);
}

static DEFINE_RWLOCK(rw_mixed_ok_r);
static DEFINE_SPINLOCK(rw_mixed_ok_l);

static __side void rw_mixed_ok_read_then_spin(void)
{
	read_lock_irq(&rw_mixed_ok_r);
	spin_lock(&rw_mixed_ok_l);
	spin_unlock(&rw_mixed_ok_l);
	read_unlock_irq(&rw_mixed_ok_r);
}

static __side void rw_mixed_ok_apart(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rw_mixed_ok_l, flags);
	spin_unlock(&rw_mixed_ok_l);
	write_lock(&rw_mixed_ok_r);
	write_unlock_irqrestore(&rw_mixed_ok_r, flags);
}

/* Only readers, in tasks: a writer waiting on each lock closes the circle. */
static DEFINE_RWLOCK(rw_readers_a);
static DEFINE_RWLOCK(rw_readers_b);

static __side void rw_readers_ab(void)
{
	read_lock(&rw_readers_a);
	read_lock(&rw_readers_b);
	read_unlock(&rw_readers_b);
	read_unlock(&rw_readers_a);
}

static __side void rw_readers_ba(void)
{
	read_lock(&rw_readers_b);
	read_lock(&rw_readers_a);
	read_unlock(&rw_readers_a);
	read_unlock(&rw_readers_b);
}

/* The same, but the second order is taken in softirq: a reader does not wait there. */
static DEFINE_RWLOCK(rw_readers_ok_a);
static DEFINE_RWLOCK(rw_readers_ok_b);

static __side void rw_readers_ok_task_ab(void)
{
	read_lock(&rw_readers_ok_a);
	read_lock(&rw_readers_ok_b);
	read_unlock(&rw_readers_ok_b);
	read_unlock(&rw_readers_ok_a);
}

static __side void rw_readers_ok_softirq_ba(void)
{
	read_lock(&rw_readers_ok_b);
	read_lock(&rw_readers_ok_a);
	read_unlock(&rw_readers_ok_a);
	read_unlock(&rw_readers_ok_b);
}

/* One thread reads the same lock twice; a writer in between stops the second. */
static DEFINE_RWLOCK(rw_again_r);

static __side void rw_again_inner(void)
{
	read_lock(&rw_again_r);
	read_unlock(&rw_again_r);
}

static __side void rw_again_outer(void)
{
	read_lock(&rw_again_r);
	rw_again_inner();
	read_unlock(&rw_again_r);
}

/* The inner reader only tries. */
static DEFINE_RWLOCK(rw_again_ok_r);

static __side void rw_again_ok_inner(void)
{
	if (read_trylock(&rw_again_ok_r))
		read_unlock(&rw_again_ok_r);
	else
		ls_require(false);
}

static __side void rw_again_ok_outer(void)
{
	read_lock(&rw_again_ok_r);
	rw_again_ok_inner();
	read_unlock(&rw_again_ok_r);
}

/* A reader waits for a writer that waits, and here each writer only tries. */
static DECLARE_RWSEM(rwsem_tried_s);

static __side void rwsem_tried_writer(void)
{
	if (down_write_trylock(&rwsem_tried_s))
		up_write(&rwsem_tried_s);
}

static __side void rwsem_tried_inner(void)
{
	down_read(&rwsem_tried_s);
	up_read(&rwsem_tried_s);
}

static __side void rwsem_tried_outer(void)
{
	down_read(&rwsem_tried_s);
	rwsem_tried_inner();
	up_read(&rwsem_tried_s);
}

static DECLARE_RWSEM(rwsem_again_s);

static __side void rwsem_again_inner(void)
{
	down_read(&rwsem_again_s);
	up_read(&rwsem_again_s);
}

static __side void rwsem_again_outer(void)
{
	down_read(&rwsem_again_s);
	rwsem_again_inner();
	up_read(&rwsem_again_s);
}

static DECLARE_RWSEM(rwsem_again_ok_s);

static __side void rwsem_again_ok_inner(void)
{
	down_read(&rwsem_again_ok_s);
	up_read(&rwsem_again_ok_s);
}

static __side void rwsem_again_ok_outer(void)
{
	down_read(&rwsem_again_ok_s);
	up_read(&rwsem_again_ok_s);
	rwsem_again_ok_inner();
}

const struct ls_case order_rw_cases[] = {
	{ "rw_write", LS_FAULT, LS_CYCLE, "rwlock held for writing against a spinlock",
	  "rw_write_r rw_write_l",
	  .side = { { rw_write_write_then_spin }, { rw_write_spin_then_write } } },
	{ "rw_write_ok", LS_TWIN, LS_CYCLE, "rwlock before the spinlock, writing and reading",
	  "rw_write_ok_r rw_write_ok_l",
	  .side = { { rw_write_ok_write_then_spin }, { rw_write_ok_read_then_spin } } },
	{ "rw_mixed", LS_FAULT, LS_CYCLE, "reader waits for a spinlock whose owner wants to write",
	  "rw_mixed_r rw_mixed_l",
	  .side = { { rw_mixed_read_then_spin }, { rw_mixed_spin_then_write } } },
	{ "rw_mixed_ok", LS_TWIN, LS_CYCLE, "the spinlock given back before writing",
	  "rw_mixed_ok_r rw_mixed_ok_l",
	  .side = { { rw_mixed_ok_read_then_spin }, { rw_mixed_ok_apart } } },
	{ "rw_readers", LS_FAULT, LS_CYCLE, "two rwlocks read in both orders, in tasks",
	  "rw_readers_a rw_readers_b",
	  .side = { { rw_readers_ab }, { rw_readers_ba } } },
	{ "rw_readers_ok", LS_TWIN, LS_CYCLE, "two rwlocks read in both orders, one of them in softirq",
	  "rw_readers_ok_a rw_readers_ok_b",
	  .side = { { rw_readers_ok_task_ab }, { rw_readers_ok_softirq_ba, LS_TIMER } } },
	{ "rw_again", LS_FAULT, LS_RECURSIVE, "a task reads the same rwlock twice",
	  "rw_again_r",
	  .side = { { rw_again_outer } } },
	{ "rw_again_ok", LS_TWIN, LS_RECURSIVE, "the second reader only tries",
	  "rw_again_ok_r",
	  .side = { { rw_again_ok_outer } } },
	{ "rwsem_again", LS_FAULT, LS_RECURSIVE, "a task reads the same rwsem twice",
	  "rwsem_again_s",
	  .side = { { rwsem_again_outer } } },
	{ "rwsem_tried", LS_FAULT, LS_RECURSIVE, "a task reads the same rwsem twice, whose writers only try",
	  "rwsem_tried_s severity=note",
	  .side = { { rwsem_tried_writer }, { rwsem_tried_outer } } },
	{ "rwsem_again_ok", LS_TWIN, LS_RECURSIVE, "a task reads the same rwsem twice, one after the other",
	  "rwsem_again_ok_s",
	  .side = { { rwsem_again_ok_outer } } },
	{ }
};
