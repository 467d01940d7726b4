/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks whose preempt_count() is not what their code believes. Any context, preemption off. */
#ifndef LOCKSCOPE_REPAIRED_H
#define LOCKSCOPE_REPAIRED_H

#include <linux/preempt.h>
#include <linux/types.h>

struct task_struct;

extern u32 ls_nr_repaired;

/*
 * Preemption or softirqs were enabled more often than disabled: the lower fields of the count
 * have borrowed from those above, which belong to interrupts. Nobody nests half as deep.
 */
#define LS_COUNT_BORROWED ((1ul << (PREEMPT_SHIFT + PREEMPT_BITS - 1)) |	\
			   (1ul << (SOFTIRQ_SHIFT + SOFTIRQ_BITS - 1)))
/* What the fast paths leave alone: interrupts, and a count that is wrong. */
#define LS_COUNT_UNUSUAL (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET | LS_COUNT_BORROWED)

unsigned long ls_count_lent(unsigned long count);
bool ls_count_repaired(int excess, u32 entry);
bool ls_task_repaired(u32 entry);
void ls_repaired_forget(struct task_struct *task);
void ls_repaired_clear(void);

/* preempt_count() @count without what its lower fields borrowed. */
static __always_inline unsigned long ls_count_mend(unsigned long count)
{
	return unlikely(count & LS_COUNT_BORROWED) ? ls_count_lent(count) : count;
}

/* How much preempt_count() @count is above zero; below it after too many enables. */
static inline int ls_count_value(unsigned long count)
{
	/* The highest bit is not part of it. */
	return (int)((u32)count << 1) >> 1;
}

#endif /* LOCKSCOPE_REPAIRED_H */
