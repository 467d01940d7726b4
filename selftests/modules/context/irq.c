// SPDX-License-Identifier: GPL-2.0
/*
 * One lock, taken in an interrupt and held elsewhere while that interrupt could
 * come. A high-resolution timer is the hardirq; a timer or tasklet the softirq.
 */
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(irq_hard_l);
LS_TAKES(irq_hard_hrtimer, irq_hard_l, spin_lock, spin_unlock)
LS_TAKES(irq_hard_task, irq_hard_l, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(irq_hard_ok_l);
LS_TAKES(irq_hard_ok_hrtimer, irq_hard_ok_l, spin_lock, spin_unlock)
LS_TAKES(irq_hard_ok_task, irq_hard_ok_l, spin_lock_irq, spin_unlock_irq)

static DEFINE_SPINLOCK(irq_soft_l);
LS_TAKES(irq_soft_timer, irq_soft_l, spin_lock, spin_unlock)
LS_TAKES(irq_soft_task, irq_soft_l, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(irq_soft_ok_l);
LS_TAKES(irq_soft_ok_timer, irq_soft_ok_l, spin_lock, spin_unlock)
LS_TAKES(irq_soft_ok_task, irq_soft_ok_l, spin_lock_bh, spin_unlock_bh)

/* What keeps softirqs off does not keep hardirqs off. */
static DEFINE_SPINLOCK(irq_bh_only_l);
LS_TAKES(irq_bh_only_hrtimer, irq_bh_only_l, spin_lock, spin_unlock)
LS_TAKES(irq_bh_only_task, irq_bh_only_l, spin_lock_bh, spin_unlock_bh)

static DEFINE_SPINLOCK(irq_bh_only_ok_l);
LS_TAKES(irq_bh_only_ok_hrtimer, irq_bh_only_ok_l, spin_lock, spin_unlock)
LS_TAKES(irq_bh_only_ok_task, irq_bh_only_ok_l, spin_lock_irq, spin_unlock_irq)

/* A hardirq may come while a softirq runs. */
static DEFINE_SPINLOCK(irq_in_softirq_l);
LS_TAKES(irq_in_softirq_hrtimer, irq_in_softirq_l, spin_lock, spin_unlock)
LS_TAKES(irq_in_softirq_timer, irq_in_softirq_l, spin_lock, spin_unlock)

static DEFINE_SPINLOCK(irq_in_softirq_ok_l);
LS_TAKES(irq_in_softirq_ok_hrtimer, irq_in_softirq_ok_l, spin_lock, spin_unlock)
LS_TAKES(irq_in_softirq_ok_timer, irq_in_softirq_ok_l, spin_lock_irq, spin_unlock_irq)

/* The softirq reads: that meets a writer, but enters beside a reader. */
static DEFINE_RWLOCK(irq_writer_r);
LS_TAKES(irq_writer_tasklet, irq_writer_r, read_lock, read_unlock)
LS_TAKES(irq_writer_task, irq_writer_r, write_lock, write_unlock)

static DEFINE_RWLOCK(irq_writer_ok_r);
LS_TAKES(irq_writer_ok_tasklet, irq_writer_ok_r, read_lock, read_unlock)
LS_TAKES(irq_writer_ok_task, irq_writer_ok_r, read_lock, read_unlock)
LS_TAKES(irq_writer_ok_task_writes, irq_writer_ok_r, write_lock_bh, write_unlock_bh)

/* The hardirq writes: that waits for any reader. */
static DEFINE_RWLOCK(irq_reader_r);
LS_TAKES(irq_reader_hrtimer, irq_reader_r, write_lock, write_unlock)
LS_TAKES(irq_reader_task, irq_reader_r, read_lock, read_unlock)

static DEFINE_RWLOCK(irq_reader_ok_r);
LS_TAKES(irq_reader_ok_hrtimer, irq_reader_ok_r, write_lock, write_unlock)
LS_TAKES(irq_reader_ok_task, irq_reader_ok_r, read_lock_irq, read_unlock_irq)

/* Interrupts are off when it is acquired, and on before it is released. */
static DEFINE_SPINLOCK(irq_release_l);
LS_TAKES(irq_release_hrtimer, irq_release_l, spin_lock, spin_unlock)

static __side void irq_release_task(void)
{
	spin_lock_irq(&irq_release_l);
	local_irq_enable();
	spin_unlock(&irq_release_l);
}

static DEFINE_SPINLOCK(irq_release_ok_l);
LS_TAKES(irq_release_ok_hrtimer, irq_release_ok_l, spin_lock, spin_unlock)

static __side void irq_release_ok_task(void)
{
	spin_lock_irq(&irq_release_ok_l);
	spin_unlock(&irq_release_ok_l);
	local_irq_enable();
}

/* The classic way there: an inner unlock_irq that knows nothing of the outer. */
static DEFINE_SPINLOCK(irq_inner_outer);
static DEFINE_SPINLOCK(irq_inner_l);
LS_TAKES(irq_inner_hrtimer, irq_inner_outer, spin_lock, spin_unlock)

static __side void irq_inner_task(void)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_inner_outer, flags);
	spin_lock_irq(&irq_inner_l);
	spin_unlock_irq(&irq_inner_l);
	spin_unlock_irqrestore(&irq_inner_outer, flags);
}

static DEFINE_SPINLOCK(irq_inner_ok_outer);
static DEFINE_SPINLOCK(irq_inner_ok_l);
LS_TAKES(irq_inner_ok_hrtimer, irq_inner_ok_outer, spin_lock, spin_unlock)

static __side void irq_inner_ok_task(void)
{
	unsigned long flags, inner;

	spin_lock_irqsave(&irq_inner_ok_outer, flags);
	spin_lock_irqsave(&irq_inner_ok_l, inner);
	spin_unlock_irqrestore(&irq_inner_ok_l, inner);
	spin_unlock_irqrestore(&irq_inner_ok_outer, flags);
}

/* The same with softirqs. */
static DEFINE_SPINLOCK(irq_bh_release_l);
LS_TAKES(irq_bh_release_timer, irq_bh_release_l, spin_lock, spin_unlock)

static __side void irq_bh_release_task(void)
{
	spin_lock_bh(&irq_bh_release_l);
	local_bh_enable();
	spin_unlock(&irq_bh_release_l);
}

static DEFINE_SPINLOCK(irq_bh_release_ok_l);
LS_TAKES(irq_bh_release_ok_timer, irq_bh_release_ok_l, spin_lock, spin_unlock)

static __side void irq_bh_release_ok_task(void)
{
	spin_lock_bh(&irq_bh_release_ok_l);
	spin_unlock(&irq_bh_release_ok_l);
	local_bh_enable();
}

static DEFINE_RAW_SPINLOCK(irq_raw_l);
LS_TAKES(irq_raw_tasklet, irq_raw_l, raw_spin_lock, raw_spin_unlock)
LS_TAKES(irq_raw_task, irq_raw_l, raw_spin_lock, raw_spin_unlock)

static DEFINE_RAW_SPINLOCK(irq_raw_ok_l);
LS_TAKES(irq_raw_ok_tasklet, irq_raw_ok_l, raw_spin_lock, raw_spin_unlock)

static __side void irq_raw_ok_task(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&irq_raw_ok_l, flags);
	raw_spin_unlock_irqrestore(&irq_raw_ok_l, flags);
}

/* Trying cannot hang the interrupt; having it may hang one that waits. */
static DEFINE_SPINLOCK(irq_try_l);
LS_TAKES(irq_try_hrtimer, irq_try_l, spin_lock, spin_unlock)

static __side void irq_try_task(void)
{
	if (spin_trylock(&irq_try_l))
		spin_unlock(&irq_try_l);
	else
		ls_require(false);
}

static DEFINE_SPINLOCK(irq_try_ok_l);

static __side void irq_try_ok_hrtimer(void)
{
	if (spin_trylock(&irq_try_ok_l))
		spin_unlock(&irq_try_ok_l);
	else
		ls_require(false);
}

LS_TAKES(irq_try_ok_task, irq_try_ok_l, spin_lock, spin_unlock)

/* No interrupt has this number, so no line is disabled; the annotation alone counts. */
#define NO_LINE 0x7ffffffeu

static DEFINE_SPINLOCK(irq_line_l);
LS_TAKES(irq_line_hrtimer, irq_line_l, spin_lock, spin_unlock)

static __side void irq_line_task(void)
{
	disable_irq_nosync(NO_LINE);
	spin_lock(&irq_line_l);
	spin_unlock(&irq_line_l);
}

static DEFINE_SPINLOCK(irq_line_ok_l);

static __side void irq_line_ok_task(void)
{
	disable_irq_nosync_lockdep(NO_LINE);
	spin_lock(&irq_line_ok_l);
	spin_unlock(&irq_line_ok_l);
}

/* Last: scripts/annotations takes a macro without a semicolon for part of the next function. */
LS_TAKES(irq_line_ok_hrtimer, irq_line_ok_l, spin_lock, spin_unlock)

const struct ls_case verdict_irq_cases[] = {
	{ "irq_hard", LS_FAULT, LS_IRQ_STATE, "taken in hardirq, and with hardirqs on", "irq_hard_l",
	  .side = { { irq_hard_hrtimer, LS_HRTIMER }, { irq_hard_task } } },
	{ "irq_hard_ok", LS_TWIN, LS_IRQ_STATE, "taken in hardirq, else with hardirqs off",
	  "irq_hard_ok_l",
	  .side = { { irq_hard_ok_hrtimer, LS_HRTIMER }, { irq_hard_ok_task } } },
	{ "irq_soft", LS_FAULT, LS_IRQ_STATE, "taken in softirq, and with softirqs on", "irq_soft_l",
	  .side = { { irq_soft_timer, LS_TIMER }, { irq_soft_task } } },
	{ "irq_soft_ok", LS_TWIN, LS_IRQ_STATE, "taken in softirq, else with softirqs off",
	  "irq_soft_ok_l",
	  .side = { { irq_soft_ok_timer, LS_TIMER }, { irq_soft_ok_task } } },
	{ "irq_bh_only", LS_FAULT, LS_IRQ_STATE, "taken in hardirq, and with softirqs off only",
	  "irq_bh_only_l",
	  .side = { { irq_bh_only_hrtimer, LS_HRTIMER }, { irq_bh_only_task } } },
	{ "irq_bh_only_ok", LS_TWIN, LS_IRQ_STATE, "taken in hardirq, else with hardirqs off",
	  "irq_bh_only_ok_l",
	  .side = { { irq_bh_only_ok_hrtimer, LS_HRTIMER }, { irq_bh_only_ok_task } } },
	{ "irq_in_softirq", LS_FAULT, LS_IRQ_STATE, "hardirq on top of a softirq that has it",
	  "irq_in_softirq_l",
	  .side = { { irq_in_softirq_timer, LS_TIMER }, { irq_in_softirq_hrtimer, LS_HRTIMER } } },
	{ "irq_in_softirq_ok", LS_TWIN, LS_IRQ_STATE, "softirq takes it with hardirqs off",
	  "irq_in_softirq_ok_l",
	  .side = { { irq_in_softirq_ok_timer, LS_TIMER },
		    { irq_in_softirq_ok_hrtimer, LS_HRTIMER } } },
	{ "irq_writer", LS_FAULT, LS_IRQ_STATE, "softirq reads on top of a writer", "irq_writer_r",
	  .side = { { irq_writer_task }, { irq_writer_tasklet, LS_TASKLET } } },
	{ "irq_writer_ok", LS_TWIN, LS_IRQ_STATE, "softirq reads on top of a reader",
	  "irq_writer_ok_r",
	  .side = { { irq_writer_ok_task }, { irq_writer_ok_task_writes },
		    { irq_writer_ok_tasklet, LS_TASKLET } } },
	{ "irq_reader", LS_FAULT, LS_IRQ_STATE, "hardirq writes on top of a reader", "irq_reader_r",
	  .side = { { irq_reader_hrtimer, LS_HRTIMER }, { irq_reader_task } } },
	{ "irq_reader_ok", LS_TWIN, LS_IRQ_STATE, "hardirq writes, others read with hardirqs off",
	  "irq_reader_ok_r",
	  .side = { { irq_reader_ok_hrtimer, LS_HRTIMER }, { irq_reader_ok_task } } },
	{ "irq_release", LS_FAULT, LS_IRQ_STATE, "hardirqs on before it is given back",
	  "irq_release_l",
	  .side = { { irq_release_hrtimer, LS_HRTIMER }, { irq_release_task } } },
	{ "irq_release_ok", LS_TWIN, LS_IRQ_STATE, "hardirqs on after it is given back",
	  "irq_release_ok_l",
	  .side = { { irq_release_ok_hrtimer, LS_HRTIMER }, { irq_release_ok_task } } },
	{ "irq_inner", LS_FAULT, LS_IRQ_STATE, "an inner spin_unlock_irq turns hardirqs on",
	  "irq_inner_outer",
	  .side = { { irq_inner_task }, { irq_inner_hrtimer, LS_HRTIMER } } },
	{ "irq_inner_ok", LS_TWIN, LS_IRQ_STATE, "an inner spin_unlock_irqrestore leaves them off",
	  "irq_inner_ok_outer",
	  .side = { { irq_inner_ok_task }, { irq_inner_ok_hrtimer, LS_HRTIMER } } },
	{ "irq_bh_release", LS_FAULT, LS_IRQ_STATE, "softirqs on before it is given back",
	  "irq_bh_release_l",
	  .side = { { irq_bh_release_timer, LS_TIMER }, { irq_bh_release_task } } },
	{ "irq_bh_release_ok", LS_TWIN, LS_IRQ_STATE, "softirqs on after it is given back",
	  "irq_bh_release_ok_l",
	  .side = { { irq_bh_release_ok_timer, LS_TIMER }, { irq_bh_release_ok_task } } },
	{ "irq_raw", LS_FAULT, LS_IRQ_STATE, "raw spinlock of a tasklet, and with softirqs on",
	  "irq_raw_l",
	  .side = { { irq_raw_tasklet, LS_TASKLET }, { irq_raw_task } } },
	{ "irq_raw_ok", LS_TWIN, LS_IRQ_STATE, "raw spinlock of a tasklet, else with all off",
	  "irq_raw_ok_l",
	  .side = { { irq_raw_ok_tasklet, LS_TASKLET }, { irq_raw_ok_task } } },
	{ "irq_try", LS_FAULT, LS_IRQ_STATE, "got by trying, hardirq waits for it", "irq_try_l",
	  .side = { { irq_try_hrtimer, LS_HRTIMER }, { irq_try_task } } },
	{ "irq_try_ok", LS_TWIN, LS_IRQ_STATE, "hardirq only tries", "irq_try_ok_l",
	  .side = { { irq_try_ok_hrtimer, LS_HRTIMER }, { irq_try_ok_task } } },
	{ "irq_line", LS_FAULT, LS_IRQ_STATE, "the line of one interrupt disabled", "irq_line_l",
	  .side = { { irq_line_hrtimer, LS_HRTIMER }, { irq_line_task } } },
	{ "irq_line_ok", LS_TWIN, LS_IRQ_STATE, "the same, and lockdep believes its author", "irq_line_ok_l",
	  .side = { { irq_line_ok_hrtimer, LS_HRTIMER }, { irq_line_ok_task } } },
	{ }
};
