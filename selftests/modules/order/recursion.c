// SPDX-License-Identifier: GPL-2.0
/*
 * Circles that a recursive reader breaks. A dependency that ends in a recursive
 * reader, followed by one that starts at a reader, cannot block: the recursive
 * reader enters beside the reader that holds the lock. Each twin has a fault
 * with the same shape in which that step is not recursive.
 */
#include <linux/interrupt.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_RWLOCK(rrec_softirq_r);
static DEFINE_SPINLOCK(rrec_softirq_l);

/* In softirq, but writing: it waits for the reader. */
static __side void rrec_softirq_spin_then_write(void)
{
	spin_lock(&rrec_softirq_l);
	write_lock(&rrec_softirq_r);
	write_unlock(&rrec_softirq_r);
	spin_unlock(&rrec_softirq_l);
}

static __side void rrec_softirq_read_then_spin(void)
{
	read_lock_bh(&rrec_softirq_r);
	spin_lock_bh(&rrec_softirq_l);
	spin_unlock_bh(&rrec_softirq_l);
	read_unlock_bh(&rrec_softirq_r);
}

static DEFINE_RWLOCK(rrec_softirq_ok_r);
static DEFINE_SPINLOCK(rrec_softirq_ok_l);

static __side void rrec_softirq_ok_spin_then_read(void)
{
	spin_lock(&rrec_softirq_ok_l);
	read_lock(&rrec_softirq_ok_r);
	read_unlock(&rrec_softirq_ok_r);
	spin_unlock(&rrec_softirq_ok_l);
}

static __side void rrec_softirq_ok_read_then_spin(void)
{
	read_lock(&rrec_softirq_ok_r);
	spin_lock_bh(&rrec_softirq_ok_l);
	spin_unlock_bh(&rrec_softirq_ok_l);
	read_unlock(&rrec_softirq_ok_r);
}

/* Interrupts off in a task does not make a reader recursive. */
static DEFINE_RWLOCK(rrec_irqoff_r);
static DEFINE_SPINLOCK(rrec_irqoff_l);

static __side void rrec_irqoff_spin_then_read(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rrec_irqoff_l, flags);
	read_lock(&rrec_irqoff_r);
	read_unlock(&rrec_irqoff_r);
	spin_unlock_irqrestore(&rrec_irqoff_l, flags);
}

static __side void rrec_irqoff_read_then_spin(void)
{
	unsigned long flags;

	read_lock_irqsave(&rrec_irqoff_r, flags);
	spin_lock(&rrec_irqoff_l);
	spin_unlock(&rrec_irqoff_l);
	read_unlock_irqrestore(&rrec_irqoff_r, flags);
}

static DEFINE_RWLOCK(rrec_hardirq_ok_r);
static DEFINE_SPINLOCK(rrec_hardirq_ok_l);

static __side void rrec_hardirq_ok_spin_then_read(void)
{
	spin_lock(&rrec_hardirq_ok_l);
	read_lock(&rrec_hardirq_ok_r);
	read_unlock(&rrec_hardirq_ok_r);
	spin_unlock(&rrec_hardirq_ok_l);
}

static __side void rrec_hardirq_ok_read_then_spin(void)
{
	unsigned long flags;

	read_lock(&rrec_hardirq_ok_r);
	spin_lock_irqsave(&rrec_hardirq_ok_l, flags);
	spin_unlock_irqrestore(&rrec_hardirq_ok_l, flags);
	read_unlock(&rrec_hardirq_ok_r);
}

/* Three locks: softirq a -> r, task r -> b, task b -> a. */
static DEFINE_SPINLOCK(rrec_three_a);
static DEFINE_SPINLOCK(rrec_three_b);
static DEFINE_RWLOCK(rrec_three_r);

static __side void rrec_three_a_then_write(void)
{
	spin_lock(&rrec_three_a);
	write_lock(&rrec_three_r);
	write_unlock(&rrec_three_r);
	spin_unlock(&rrec_three_a);
}

static __side void rrec_three_read_then_b(void)
{
	read_lock_bh(&rrec_three_r);
	spin_lock(&rrec_three_b);
	spin_unlock(&rrec_three_b);
	read_unlock_bh(&rrec_three_r);
}

static __side void rrec_three_b_then_a(void)
{
	spin_lock_bh(&rrec_three_b);
	spin_lock(&rrec_three_a);
	spin_unlock(&rrec_three_a);
	spin_unlock_bh(&rrec_three_b);
}

static DEFINE_SPINLOCK(rrec_three_ok_a);
static DEFINE_SPINLOCK(rrec_three_ok_b);
static DEFINE_RWLOCK(rrec_three_ok_r);

static __side void rrec_three_ok_a_then_read(void)
{
	spin_lock(&rrec_three_ok_a);
	read_lock(&rrec_three_ok_r);
	read_unlock(&rrec_three_ok_r);
	spin_unlock(&rrec_three_ok_a);
}

static __side void rrec_three_ok_read_then_b(void)
{
	read_lock(&rrec_three_ok_r);
	spin_lock_bh(&rrec_three_ok_b);
	spin_unlock_bh(&rrec_three_ok_b);
	read_unlock(&rrec_three_ok_r);
}

static __side void rrec_three_ok_b_then_a(void)
{
	spin_lock_bh(&rrec_three_ok_b);
	spin_lock(&rrec_three_ok_a);
	spin_unlock(&rrec_three_ok_a);
	spin_unlock_bh(&rrec_three_ok_b);
}

/*
 * A softirq that reads on top of the very task that reads: the classic use of a
 * rwlock. local_bh_enable() runs the pending tasklet on this stack.
 */
static DEFINE_RWLOCK(rrec_nested_ok_r);
static bool rrec_nested_ok_ran;

static void rrec_nested_ok_softirq(struct tasklet_struct *unused)
{
	read_lock(&rrec_nested_ok_r);
	WRITE_ONCE(rrec_nested_ok_ran, true);
	read_unlock(&rrec_nested_ok_r);
}
static DECLARE_TASKLET(rrec_nested_ok_tasklet, rrec_nested_ok_softirq);

static __side void rrec_nested_ok_task(void)
{
	WRITE_ONCE(rrec_nested_ok_ran, false);
	read_lock(&rrec_nested_ok_r);
	local_bh_disable();
	tasklet_schedule(&rrec_nested_ok_tasklet);
	local_bh_enable();
	read_unlock(&rrec_nested_ok_r);
	tasklet_kill(&rrec_nested_ok_tasklet);
	ls_require(READ_ONCE(rrec_nested_ok_ran));
}

const struct ls_case order_recursion_cases[] = {
	{ "rrec_softirq", LS_FAULT, LS_CYCLE, "softirq writes under a spinlock that readers wait for",
	  "rrec_softirq_r rrec_softirq_l",
	  .side = { { rrec_softirq_spin_then_write, LS_TIMER }, { rrec_softirq_read_then_spin } } },
	{ "rrec_softirq_ok", LS_TWIN, LS_CYCLE, "softirq reads under a spinlock that readers wait for",
	  "rrec_softirq_ok_r rrec_softirq_ok_l",
	  .side = { { rrec_softirq_ok_spin_then_read, LS_TIMER },
		    { rrec_softirq_ok_read_then_spin } } },
	{ "rrec_irqoff", LS_FAULT, LS_CYCLE, "reader in a task with interrupts off is not recursive",
	  "rrec_irqoff_r rrec_irqoff_l",
	  .side = { { rrec_irqoff_spin_then_read }, { rrec_irqoff_read_then_spin } } },
	{ "rrec_hardirq_ok", LS_TWIN, LS_CYCLE, "hardirq reads under a spinlock that readers wait for",
	  "rrec_hardirq_ok_r rrec_hardirq_ok_l",
	  .side = { { rrec_hardirq_ok_spin_then_read, LS_HRTIMER },
		    { rrec_hardirq_ok_read_then_spin } } },
	{ "rrec_three", LS_FAULT, LS_CYCLE, "circle of three through a writer in softirq",
	  "rrec_three_a rrec_three_b rrec_three_r",
	  .side = { { rrec_three_a_then_write, LS_TASKLET }, { rrec_three_read_then_b },
		    { rrec_three_b_then_a } } },
	{ "rrec_three_ok", LS_TWIN, LS_CYCLE, "circle of three through a recursive reader in softirq",
	  "rrec_three_ok_a rrec_three_ok_b rrec_three_ok_r",
	  .side = { { rrec_three_ok_a_then_read, LS_TASKLET }, { rrec_three_ok_read_then_b },
		    { rrec_three_ok_b_then_a } } },
	{ "rrec_nested_ok", LS_TWIN, LS_RECURSIVE, "softirq reads on top of the task that reads",
	  "rrec_nested_ok_r",
	  .side = { { rrec_nested_ok_task } } },
	{ }
};
