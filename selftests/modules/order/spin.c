// SPDX-License-Identifier: GPL-2.0
/* Two spinlocks in both orders, in every way of taking a spinlock. */
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(abba_spin_a);
static DEFINE_SPINLOCK(abba_spin_b);

static __side void abba_spin_ab(void)
{
	spin_lock(&abba_spin_a);
	spin_lock(&abba_spin_b);
	spin_unlock(&abba_spin_b);
	spin_unlock(&abba_spin_a);
}

static __side void abba_spin_ba(void)
{
	spin_lock(&abba_spin_b);
	spin_lock(&abba_spin_a);
	spin_unlock(&abba_spin_a);
	spin_unlock(&abba_spin_b);
}

static DEFINE_SPINLOCK(abba_spin_ok_a);
static DEFINE_SPINLOCK(abba_spin_ok_b);

static __side void abba_spin_ok_ab(void)
{
	spin_lock(&abba_spin_ok_a);
	spin_lock(&abba_spin_ok_b);
	spin_unlock(&abba_spin_ok_b);
	spin_unlock(&abba_spin_ok_a);
}

/* Both locks again, one after the other: order is about holding. */
static __side void abba_spin_ok_b_then_a(void)
{
	spin_lock(&abba_spin_ok_b);
	spin_unlock(&abba_spin_ok_b);
	spin_lock(&abba_spin_ok_a);
	spin_unlock(&abba_spin_ok_a);
}

static DEFINE_SPINLOCK(abba_irqsave_a);
static DEFINE_SPINLOCK(abba_irqsave_b);

static __side void abba_irqsave_ab(void)
{
	unsigned long flags;

	spin_lock_irqsave(&abba_irqsave_a, flags);
	spin_lock(&abba_irqsave_b);
	spin_unlock(&abba_irqsave_b);
	spin_unlock_irqrestore(&abba_irqsave_a, flags);
}

static __side void abba_irqsave_ba(void)
{
	unsigned long flags;

	spin_lock_irqsave(&abba_irqsave_b, flags);
	spin_lock(&abba_irqsave_a);
	spin_unlock(&abba_irqsave_a);
	spin_unlock_irqrestore(&abba_irqsave_b, flags);
}

static DEFINE_SPINLOCK(abba_irqsave_ok_a);
static DEFINE_SPINLOCK(abba_irqsave_ok_b);

static __side void abba_irqsave_ok_save(void)
{
	unsigned long flags;

	spin_lock_irqsave(&abba_irqsave_ok_a, flags);
	spin_lock(&abba_irqsave_ok_b);
	spin_unlock(&abba_irqsave_ok_b);
	spin_unlock_irqrestore(&abba_irqsave_ok_a, flags);
}

/* The interrupt flag and the lock need not be restored by one call. */
static __side void abba_irqsave_ok_mixed(void)
{
	spin_lock_irq(&abba_irqsave_ok_b);
	spin_unlock(&abba_irqsave_ok_b);
	spin_lock(&abba_irqsave_ok_a);
	spin_unlock_irq(&abba_irqsave_ok_a);
}

static DEFINE_SPINLOCK(abba_irq_a);
static DEFINE_SPINLOCK(abba_irq_b);

static __side void abba_irq_ab(void)
{
	spin_lock_irq(&abba_irq_a);
	spin_lock(&abba_irq_b);
	spin_unlock(&abba_irq_b);
	spin_unlock_irq(&abba_irq_a);
}

static __side void abba_irq_ba(void)
{
	spin_lock_irq(&abba_irq_b);
	spin_lock(&abba_irq_a);
	spin_unlock(&abba_irq_a);
	spin_unlock_irq(&abba_irq_b);
}

static DEFINE_SPINLOCK(abba_irq_ok_a);
static DEFINE_SPINLOCK(abba_irq_ok_b);

static __side void abba_irq_ok_ab(void)
{
	spin_lock_irq(&abba_irq_ok_a);
	spin_lock(&abba_irq_ok_b);
	spin_unlock(&abba_irq_ok_b);
	spin_unlock_irq(&abba_irq_ok_a);
}

static __side void abba_irq_ok_b_alone(void)
{
	spin_lock_irq(&abba_irq_ok_b);
	spin_unlock_irq(&abba_irq_ok_b);
}

static DEFINE_SPINLOCK(abba_bh_a);
static DEFINE_SPINLOCK(abba_bh_b);

static __side void abba_bh_ab(void)
{
	spin_lock_bh(&abba_bh_a);
	spin_lock_bh(&abba_bh_b);
	spin_unlock_bh(&abba_bh_b);
	spin_unlock_bh(&abba_bh_a);
}

static __side void abba_bh_ba(void)
{
	spin_lock_bh(&abba_bh_b);
	spin_lock_bh(&abba_bh_a);
	spin_unlock_bh(&abba_bh_a);
	spin_unlock_bh(&abba_bh_b);
}

static DEFINE_SPINLOCK(abba_bh_ok_a);
static DEFINE_SPINLOCK(abba_bh_ok_b);

static __side void abba_bh_ok_ab(void)
{
	spin_lock_bh(&abba_bh_ok_a);
	spin_lock_bh(&abba_bh_ok_b);
	spin_unlock_bh(&abba_bh_ok_b);
	spin_unlock_bh(&abba_bh_ok_a);
}

static __side void abba_bh_ok_again(void)
{
	spin_lock_bh(&abba_bh_ok_b);
	spin_unlock_bh(&abba_bh_ok_b);
	spin_lock_bh(&abba_bh_ok_a);
	spin_lock(&abba_bh_ok_b);
	spin_unlock(&abba_bh_ok_b);
	spin_unlock_bh(&abba_bh_ok_a);
}

static DEFINE_RAW_SPINLOCK(abba_raw_a);
static DEFINE_RAW_SPINLOCK(abba_raw_b);

static __side void abba_raw_ab(void)
{
	raw_spin_lock(&abba_raw_a);
	raw_spin_lock_nested(&abba_raw_b, SINGLE_DEPTH_NESTING);
	raw_spin_unlock(&abba_raw_b);
	raw_spin_unlock(&abba_raw_a);
}

static __side void abba_raw_ba(void)
{
	raw_spin_lock(&abba_raw_b);
	raw_spin_lock(&abba_raw_a);
	raw_spin_unlock(&abba_raw_a);
	raw_spin_unlock(&abba_raw_b);
}

static DEFINE_RAW_SPINLOCK(abba_raw_ok_a);
static DEFINE_RAW_SPINLOCK(abba_raw_ok_b);

static __side void abba_raw_ok_ab(void)
{
	raw_spin_lock(&abba_raw_ok_a);
	raw_spin_lock_nested(&abba_raw_ok_b, SINGLE_DEPTH_NESTING);
	raw_spin_unlock(&abba_raw_ok_b);
	raw_spin_unlock(&abba_raw_ok_a);
}

static __side void abba_raw_ok_b_alone(void)
{
	raw_spin_lock(&abba_raw_ok_b);
	raw_spin_unlock(&abba_raw_ok_b);
}

const struct ls_case order_spin_cases[] = {
	{ "abba_spin", LS_FAULT, LS_CYCLE, "two spinlocks in both orders",
	  "abba_spin_a abba_spin_b",
	  .side = { { abba_spin_ab }, { abba_spin_ba } } },
	{ "abba_spin_ok", LS_TWIN, LS_CYCLE, "nested one way, one after the other the other way",
	  "abba_spin_ok_a abba_spin_ok_b",
	  .side = { { abba_spin_ok_ab }, { abba_spin_ok_b_then_a } } },
	{ "abba_irqsave", LS_FAULT, LS_CYCLE, "spin_lock_irqsave outside, both orders",
	  "abba_irqsave_a abba_irqsave_b",
	  .side = { { abba_irqsave_ab }, { abba_irqsave_ba } } },
	{ "abba_irqsave_ok", LS_TWIN, LS_CYCLE, "irqsave one way; irq flag and lock given back apart",
	  "abba_irqsave_ok_a abba_irqsave_ok_b",
	  .side = { { abba_irqsave_ok_save }, { abba_irqsave_ok_mixed } } },
	{ "abba_irq", LS_FAULT, LS_CYCLE, "spin_lock_irq outside, both orders",
	  "abba_irq_a abba_irq_b",
	  .side = { { abba_irq_ab }, { abba_irq_ba } } },
	{ "abba_irq_ok", LS_TWIN, LS_CYCLE, "spin_lock_irq, one order",
	  "abba_irq_ok_a abba_irq_ok_b",
	  .side = { { abba_irq_ok_ab }, { abba_irq_ok_b_alone } } },
	{ "abba_bh", LS_FAULT, LS_CYCLE, "spin_lock_bh in both orders",
	  "abba_bh_a abba_bh_b",
	  .side = { { abba_bh_ab }, { abba_bh_ba } } },
	{ "abba_bh_ok", LS_TWIN, LS_CYCLE, "spin_lock_bh, one order",
	  "abba_bh_ok_a abba_bh_ok_b",
	  .side = { { abba_bh_ok_ab }, { abba_bh_ok_again } } },
	{ "abba_raw", LS_FAULT, LS_CYCLE, "raw spinlocks in both orders, one side with a subclass",
	  "abba_raw_a abba_raw_b",
	  .side = { { abba_raw_ab }, { abba_raw_ba } } },
	{ "abba_raw_ok", LS_TWIN, LS_CYCLE, "raw spinlocks, one order",
	  "abba_raw_ok_a abba_raw_ok_b",
	  .side = { { abba_raw_ok_ab }, { abba_raw_ok_b_alone } } },
	{ }
};
