// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of interrupts, and what they lead to: while a lock of an interrupt is
 * held, some other lock is waited for whose holder that very interrupt may stop.
 * All sides that take the first lock do so with the interrupt off.
 */
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(inv_one_a);
static DEFINE_SPINLOCK(inv_one_b);
LS_TAKES(inv_one_hrtimer, inv_one_a, spin_lock, spin_unlock)
LS_NESTS(inv_one_ab, inv_one_a, spin_lock_irq, spin_unlock_irq, inv_one_b, spin_lock, spin_unlock)
LS_TAKES(inv_one_b_alone, inv_one_b, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(inv_one_ok_a);
static DEFINE_SPINLOCK(inv_one_ok_b);
LS_TAKES(inv_one_ok_hrtimer, inv_one_ok_a, spin_lock, spin_unlock)
LS_NESTS(inv_one_ok_ab, inv_one_ok_a, spin_lock_irq, spin_unlock_irq,
	 inv_one_ok_b, spin_lock, spin_unlock)
LS_TAKES(inv_one_ok_b_alone, inv_one_ok_b, spin_lock_irq, spin_unlock_irq)

static DEFINE_SPINLOCK(inv_two_a);
static DEFINE_SPINLOCK(inv_two_b);
static DEFINE_SPINLOCK(inv_two_c);
LS_TAKES(inv_two_timer, inv_two_a, spin_lock, spin_unlock)
LS_NESTS(inv_two_ab, inv_two_a, spin_lock_bh, spin_unlock_bh, inv_two_b, spin_lock, spin_unlock)
LS_NESTS(inv_two_bc, inv_two_b, spin_lock_bh, spin_unlock_bh, inv_two_c, spin_lock, spin_unlock)
LS_TAKES(inv_two_c_alone, inv_two_c, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(inv_two_ok_a);
static DEFINE_SPINLOCK(inv_two_ok_b);
static DEFINE_SPINLOCK(inv_two_ok_c);
LS_TAKES(inv_two_ok_timer, inv_two_ok_a, spin_lock, spin_unlock)
LS_NESTS(inv_two_ok_ab, inv_two_ok_a, spin_lock_bh, spin_unlock_bh,
	 inv_two_ok_b, spin_lock, spin_unlock)
LS_NESTS(inv_two_ok_bc, inv_two_ok_b, spin_lock_bh, spin_unlock_bh,
	 inv_two_ok_c, spin_lock, spin_unlock)
LS_TAKES(inv_two_ok_c_alone, inv_two_ok_c, spin_lock_bh, spin_unlock_bh)

/* The last step is known first, the interrupt last. */
static DEFINE_SPINLOCK(inv_three_a);
static DEFINE_SPINLOCK(inv_three_b);
static DEFINE_SPINLOCK(inv_three_c);
static DEFINE_SPINLOCK(inv_three_d);
LS_TAKES(inv_three_d_alone, inv_three_d, spin_lock, spin_unlock)
LS_NESTS(inv_three_cd, inv_three_c, spin_lock_irq, spin_unlock_irq,
	 inv_three_d, spin_lock, spin_unlock)
LS_NESTS(inv_three_bc, inv_three_b, spin_lock_irq, spin_unlock_irq,
	 inv_three_c, spin_lock, spin_unlock)
LS_NESTS(inv_three_ab, inv_three_a, spin_lock_irq, spin_unlock_irq,
	 inv_three_b, spin_lock, spin_unlock)
LS_TAKES(inv_three_hrtimer, inv_three_a, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(inv_three_ok_a);
static DEFINE_SPINLOCK(inv_three_ok_b);
static DEFINE_SPINLOCK(inv_three_ok_c);
static DEFINE_SPINLOCK(inv_three_ok_d);
LS_TAKES(inv_three_ok_d_alone, inv_three_ok_d, spin_lock_irq, spin_unlock_irq)
LS_NESTS(inv_three_ok_cd, inv_three_ok_c, spin_lock_irq, spin_unlock_irq,
	 inv_three_ok_d, spin_lock, spin_unlock)
LS_NESTS(inv_three_ok_bc, inv_three_ok_b, spin_lock_irq, spin_unlock_irq,
	 inv_three_ok_c, spin_lock, spin_unlock)
LS_NESTS(inv_three_ok_ab, inv_three_ok_a, spin_lock_irq, spin_unlock_irq,
	 inv_three_ok_b, spin_lock, spin_unlock)
LS_TAKES(inv_three_ok_hrtimer, inv_three_ok_a, spin_lock, spin_unlock)

/* The interrupt reads: it waits for a writer, but enters beside a reader. */
static DEFINE_RWLOCK(inv_writer_r);
static DEFINE_SPINLOCK(inv_writer_b);
LS_TAKES(inv_writer_hrtimer, inv_writer_r, read_lock, read_unlock)
LS_NESTS(inv_writer_rb, inv_writer_r, write_lock_irq, write_unlock_irq,
	 inv_writer_b, spin_lock, spin_unlock)
LS_TAKES(inv_writer_b_alone, inv_writer_b, spin_lock, spin_unlock)

static DEFINE_RWLOCK(inv_writer_ok_r);
static DEFINE_SPINLOCK(inv_writer_ok_b);
LS_TAKES(inv_writer_ok_hrtimer, inv_writer_ok_r, read_lock, read_unlock)
LS_NESTS(inv_writer_ok_rb, inv_writer_ok_r, read_lock_irq, read_unlock_irq,
	 inv_writer_ok_b, spin_lock, spin_unlock)
LS_TAKES(inv_writer_ok_b_alone, inv_writer_ok_b, spin_lock, spin_unlock)

static DEFINE_RWLOCK(inv_bh_writer_r);
static DEFINE_SPINLOCK(inv_bh_writer_b);
LS_TAKES(inv_bh_writer_tasklet, inv_bh_writer_r, read_lock, read_unlock)
LS_NESTS(inv_bh_writer_rb, inv_bh_writer_r, write_lock_bh, write_unlock_bh,
	 inv_bh_writer_b, spin_lock, spin_unlock)
LS_TAKES(inv_bh_writer_b_alone, inv_bh_writer_b, spin_lock, spin_unlock)

static DEFINE_RWLOCK(inv_bh_writer_ok_r);
static DEFINE_SPINLOCK(inv_bh_writer_ok_b);
LS_TAKES(inv_bh_writer_ok_tasklet, inv_bh_writer_ok_r, read_lock, read_unlock)
LS_NESTS(inv_bh_writer_ok_rb, inv_bh_writer_ok_r, read_lock_bh, read_unlock_bh,
	 inv_bh_writer_ok_b, spin_lock, spin_unlock)
LS_TAKES(inv_bh_writer_ok_b_alone, inv_bh_writer_ok_b, spin_lock, spin_unlock)

/* Reading in a task is no way past a writer that waits for the stopped reader. */
static DEFINE_SPINLOCK(inv_reader_a);
static DEFINE_RWLOCK(inv_reader_r);
LS_TAKES(inv_reader_hrtimer, inv_reader_a, spin_lock, spin_unlock)
LS_NESTS(inv_reader_ar, inv_reader_a, spin_lock_irq, spin_unlock_irq,
	 inv_reader_r, read_lock, read_unlock)
LS_TAKES(inv_reader_r_alone, inv_reader_r, read_lock, read_unlock)

static DEFINE_SPINLOCK(inv_reader_ok_a);
static DEFINE_RWLOCK(inv_reader_ok_r);
LS_TAKES(inv_reader_ok_hrtimer, inv_reader_ok_a, spin_lock, spin_unlock)
LS_NESTS(inv_reader_ok_ar, inv_reader_ok_a, spin_lock_irq, spin_unlock_irq,
	 inv_reader_ok_r, read_lock, read_unlock)
LS_TAKES(inv_reader_ok_r_alone, inv_reader_ok_r, read_lock_irq, read_unlock_irq)

/* Only when the second lock is released does it show that hardirqs are on. */
static DEFINE_SPINLOCK(inv_release_a);
static DEFINE_SPINLOCK(inv_release_b);
LS_TAKES(inv_release_hrtimer, inv_release_a, spin_lock, spin_unlock)
LS_NESTS(inv_release_ab, inv_release_a, spin_lock_irq, spin_unlock_irq,
	 inv_release_b, spin_lock, spin_unlock)

static __side void inv_release_b_alone(void)
{
	spin_lock_irq(&inv_release_b);
	local_irq_enable();
	spin_unlock(&inv_release_b);
}

static DEFINE_SPINLOCK(inv_release_ok_a);
static DEFINE_SPINLOCK(inv_release_ok_b);
LS_TAKES(inv_release_ok_hrtimer, inv_release_ok_a, spin_lock, spin_unlock)
LS_NESTS(inv_release_ok_ab, inv_release_ok_a, spin_lock_irq, spin_unlock_irq,
	 inv_release_ok_b, spin_lock, spin_unlock)

static __side void inv_release_ok_b_alone(void)
{
	spin_lock_irq(&inv_release_ok_b);
	spin_unlock(&inv_release_ok_b);
	local_irq_enable();
}

/* The interrupted holder is a softirq, the interrupt a hardirq. */
static DEFINE_SPINLOCK(inv_mixed_a);
static DEFINE_SPINLOCK(inv_mixed_b);
LS_TAKES(inv_mixed_hrtimer, inv_mixed_a, spin_lock, spin_unlock)
LS_NESTS(inv_mixed_ab, inv_mixed_a, spin_lock_irq, spin_unlock_irq,
	 inv_mixed_b, spin_lock, spin_unlock)
LS_TAKES(inv_mixed_timer, inv_mixed_b, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(inv_mixed_ok_a);
static DEFINE_SPINLOCK(inv_mixed_ok_b);
LS_TAKES(inv_mixed_ok_hrtimer, inv_mixed_ok_a, spin_lock, spin_unlock)
LS_NESTS(inv_mixed_ok_ab, inv_mixed_ok_a, spin_lock_irq, spin_unlock_irq,
	 inv_mixed_ok_b, spin_lock, spin_unlock)
LS_TAKES(inv_mixed_ok_timer, inv_mixed_ok_b, spin_lock_irq, spin_unlock_irq)

/*
 * Mutexes outside. They are held with interrupts on, but never waited for under the lock of
 * the interrupt.
 */
static DEFINE_MUTEX(inv_mutex_m);
static DEFINE_MUTEX(inv_mutex_n);
static DEFINE_SPINLOCK(inv_mutex_a);
static DEFINE_SPINLOCK(inv_mutex_b);
LS_TAKES(inv_mutex_hrtimer, inv_mutex_a, spin_lock, spin_unlock)

static __side void inv_mutex_mab(void)
{
	mutex_lock(&inv_mutex_m);
	spin_lock_irq(&inv_mutex_a);
	spin_lock(&inv_mutex_b);
	spin_unlock(&inv_mutex_b);
	spin_unlock_irq(&inv_mutex_a);
	mutex_unlock(&inv_mutex_m);
}

LS_NESTS(inv_mutex_nb, inv_mutex_n, mutex_lock, mutex_unlock, inv_mutex_b, spin_lock, spin_unlock)

static DEFINE_MUTEX(inv_mutex_ok_m);
static DEFINE_MUTEX(inv_mutex_ok_n);
static DEFINE_SPINLOCK(inv_mutex_ok_a);
static DEFINE_SPINLOCK(inv_mutex_ok_b);
LS_TAKES(inv_mutex_ok_hrtimer, inv_mutex_ok_a, spin_lock, spin_unlock)

static __side void inv_mutex_ok_mab(void)
{
	mutex_lock(&inv_mutex_ok_m);
	spin_lock_irq(&inv_mutex_ok_a);
	spin_lock(&inv_mutex_ok_b);
	spin_unlock(&inv_mutex_ok_b);
	spin_unlock_irq(&inv_mutex_ok_a);
	mutex_unlock(&inv_mutex_ok_m);
}

LS_NESTS(inv_mutex_ok_nb, inv_mutex_ok_n, mutex_lock, mutex_unlock,
	 inv_mutex_ok_b, spin_lock_irq, spin_unlock_irq)

/*
 * One mutex around both: a task interrupted with b has the mutex, so no task waits for b with
 * a held.
 */
static DEFINE_MUTEX(inv_gate_m);
static DEFINE_SPINLOCK(inv_gate_a);
static DEFINE_SPINLOCK(inv_gate_b);
LS_TAKES(inv_gate_hrtimer, inv_gate_a, spin_lock, spin_unlock)

static __side void inv_gate_mab(void)
{
	mutex_lock(&inv_gate_m);
	spin_lock_irq(&inv_gate_a);
	spin_lock(&inv_gate_b);
	spin_unlock(&inv_gate_b);
	spin_unlock_irq(&inv_gate_a);
	mutex_unlock(&inv_gate_m);
}

LS_TAKES(inv_gate_b_alone, inv_gate_b, spin_lock, spin_unlock)

static DEFINE_MUTEX(inv_gate_ok_m);
static DEFINE_SPINLOCK(inv_gate_ok_a);
static DEFINE_SPINLOCK(inv_gate_ok_b);
LS_TAKES(inv_gate_ok_hrtimer, inv_gate_ok_a, spin_lock, spin_unlock)

static __side void inv_gate_ok_mab(void)
{
	mutex_lock(&inv_gate_ok_m);
	spin_lock_irq(&inv_gate_ok_a);
	spin_lock(&inv_gate_ok_b);
	spin_unlock(&inv_gate_ok_b);
	spin_unlock_irq(&inv_gate_ok_a);
	mutex_unlock(&inv_gate_ok_m);
}

LS_NESTS(inv_gate_ok_mb, inv_gate_ok_m, mutex_lock, mutex_unlock,
	 inv_gate_ok_b, spin_lock, spin_unlock)

const struct ls_case verdict_inversion_cases[] = {
	{ "inv_one", LS_FAULT, LS_INVERSION, "a lock of a hardirq leads to an unsafe one",
	  "inv_one_a inv_one_b",
	  .side = { { inv_one_hrtimer, LS_HRTIMER }, { inv_one_ab }, { inv_one_b_alone } } },
	{ "inv_one_ok", LS_TWIN, LS_INVERSION, "a lock of a hardirq leads to a safe one",
	  "inv_one_ok_a inv_one_ok_b",
	  .side = { { inv_one_ok_hrtimer, LS_HRTIMER }, { inv_one_ok_ab },
		    { inv_one_ok_b_alone } } },
	{ "inv_two", LS_FAULT, LS_INVERSION, "softirq, two steps", "inv_two_a inv_two_b inv_two_c",
	  .side = { { inv_two_timer, LS_TIMER }, { inv_two_ab }, { inv_two_bc },
		    { inv_two_c_alone } } },
	{ "inv_two_ok", LS_TWIN, LS_INVERSION, "softirq, two steps, all of them safe",
	  "inv_two_ok_a inv_two_ok_b inv_two_ok_c",
	  .side = { { inv_two_ok_timer, LS_TIMER }, { inv_two_ok_ab }, { inv_two_ok_bc },
		    { inv_two_ok_c_alone } } },
	{ "inv_three", LS_FAULT, LS_INVERSION, "hardirq, three steps, learned backwards",
	  "inv_three_a inv_three_b inv_three_c inv_three_d",
	  .side = { { inv_three_d_alone }, { inv_three_cd }, { inv_three_bc }, { inv_three_ab },
		    { inv_three_hrtimer, LS_HRTIMER } } },
	{ "inv_three_ok", LS_TWIN, LS_INVERSION, "hardirq, three steps, all of them safe",
	  "inv_three_ok_a inv_three_ok_b inv_three_ok_c inv_three_ok_d",
	  .side = { { inv_three_ok_d_alone }, { inv_three_ok_cd }, { inv_three_ok_bc },
		    { inv_three_ok_ab }, { inv_three_ok_hrtimer, LS_HRTIMER } } },
	{ "inv_writer", LS_FAULT, LS_INVERSION, "hardirq reads what a writer has",
	  "inv_writer_r inv_writer_b",
	  .side = { { inv_writer_hrtimer, LS_HRTIMER }, { inv_writer_rb },
		    { inv_writer_b_alone } } },
	{ "inv_writer_ok", LS_TWIN, LS_INVERSION, "hardirq reads what a reader has",
	  "inv_writer_ok_r inv_writer_ok_b",
	  .side = { { inv_writer_ok_hrtimer, LS_HRTIMER }, { inv_writer_ok_rb },
		    { inv_writer_ok_b_alone } } },
	{ "inv_bh_writer", LS_FAULT, LS_INVERSION, "softirq reads what a writer has",
	  "inv_bh_writer_r inv_bh_writer_b",
	  .side = { { inv_bh_writer_b_alone }, { inv_bh_writer_rb },
		    { inv_bh_writer_tasklet, LS_TASKLET } } },
	{ "inv_bh_writer_ok", LS_TWIN, LS_INVERSION, "softirq reads what a reader has",
	  "inv_bh_writer_ok_r inv_bh_writer_ok_b",
	  .side = { { inv_bh_writer_ok_b_alone }, { inv_bh_writer_ok_rb },
		    { inv_bh_writer_ok_tasklet, LS_TASKLET } } },
	{ "inv_reader", LS_FAULT, LS_INVERSION, "leads to a reader in a task, who may wait",
	  "inv_reader_a inv_reader_r",
	  .side = { { inv_reader_hrtimer, LS_HRTIMER }, { inv_reader_ar },
		    { inv_reader_r_alone } } },
	{ "inv_reader_ok", LS_TWIN, LS_INVERSION, "leads to readers with hardirqs off",
	  "inv_reader_ok_a inv_reader_ok_r",
	  .side = { { inv_reader_ok_hrtimer, LS_HRTIMER }, { inv_reader_ok_ar },
		    { inv_reader_ok_r_alone } } },
	{ "inv_release", LS_FAULT, LS_INVERSION, "unsafe because of how it is given back",
	  "inv_release_a inv_release_b",
	  .side = { { inv_release_hrtimer, LS_HRTIMER }, { inv_release_ab },
		    { inv_release_b_alone } } },
	{ "inv_release_ok", LS_TWIN, LS_INVERSION, "given back with hardirqs off",
	  "inv_release_ok_a inv_release_ok_b",
	  .side = { { inv_release_ok_hrtimer, LS_HRTIMER }, { inv_release_ok_ab },
		    { inv_release_ok_b_alone } } },
	{ "inv_mixed", LS_FAULT, LS_INVERSION, "a lock of a hardirq leads to one of a softirq",
	  "inv_mixed_a inv_mixed_b",
	  .side = { { inv_mixed_hrtimer, LS_HRTIMER }, { inv_mixed_ab },
		    { inv_mixed_timer, LS_TIMER } } },
	{ "inv_mixed_ok", LS_TWIN, LS_INVERSION, "the softirq turns hardirqs off",
	  "inv_mixed_ok_a inv_mixed_ok_b",
	  .side = { { inv_mixed_ok_hrtimer, LS_HRTIMER }, { inv_mixed_ok_ab },
		    { inv_mixed_ok_timer, LS_TIMER } } },
	{ "inv_mutex", LS_FAULT, LS_INVERSION, "under two mutexes",
	  "inv_mutex_a inv_mutex_b",
	  .side = { { inv_mutex_hrtimer, LS_HRTIMER }, { inv_mutex_mab }, { inv_mutex_nb } } },
	{ "inv_mutex_ok", LS_TWIN, LS_INVERSION, "under two mutexes, both locks with hardirqs off",
	  "inv_mutex_ok_a inv_mutex_ok_b",
	  .side = { { inv_mutex_ok_hrtimer, LS_HRTIMER }, { inv_mutex_ok_mab },
		    { inv_mutex_ok_nb } } },
	{ "inv_gate", LS_FAULT, LS_INVERSION, "one side alone under a mutex",
	  "inv_gate_a inv_gate_b",
	  .side = { { inv_gate_hrtimer, LS_HRTIMER }, { inv_gate_mab }, { inv_gate_b_alone } } },
	{ "inv_gate_ok", LS_TWIN, LS_INVERSION, "both sides under one mutex exclude each other",
	  "inv_gate_ok_a inv_gate_ok_b",
	  .side = { { inv_gate_ok_hrtimer, LS_HRTIMER }, { inv_gate_ok_mab },
		    { inv_gate_ok_mb } } },
	{ }
};
