// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks whose preemption count the kernel has repaired. Where schedule() finds preemption or
 * softirqs off, it prints "BUG: scheduling while atomic" and sets the count to what it has to
 * be there. The code that had turned them off goes on, turns them on once more than off, and
 * leaves the count below zero; then all that the task does is atomic, and in interrupts on top
 * of it the count seems to be that of another level. The next schedule() repairs that as well.
 *
 * What the repairs have taken away and not yet added again is owed: until it is zero, what the
 * count shows about the task is a consequence. Code that never turns them on, a leak, owes it
 * for good; the count is right then from the task's return to user mode on.
 */
#include <linux/sched.h>

#include "core/repaired.h"
#include "core/state.h"

#define SLOTS 64

/* Written by the task itself and by interrupts on top of it. */
static struct repaired {
	struct task_struct *task;	/* NULL: free */
	int owed;
	u32 entry;			/* of the task into the kernel when it was repaired last */
} table[SLOTS];
u32 ls_nr_repaired;

/* @count, which has LS_COUNT_BORROWED set, as it was before. */
noinline unsigned long ls_count_lent(unsigned long count)
{
	const unsigned long softirq = 1ul << (SOFTIRQ_SHIFT + SOFTIRQ_BITS - 1);
	const unsigned long preempt = 1ul << (PREEMPT_SHIFT + PREEMPT_BITS - 1);

	if (count & preempt)
		count = (count + preempt) & ~PREEMPT_MASK;
	if (count & softirq)
		count = (count + softirq) & ~SOFTIRQ_MASK;
	/* This module's own part. */
	return (count & ~(unsigned long)PREEMPT_NEED_RESCHED) | PREEMPT_OFFSET;
}

static struct repaired *find(const struct task_struct *task)
{
	u32 i;

	if (likely(!ls_load(&ls_nr_repaired)))
		return NULL;
	for (i = 0; i < SLOTS; i++)
		if (READ_ONCE(table[i].task) == task)
			return &table[i];
	return NULL;
}

static struct repaired *add(void)
{
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		struct task_struct *none = NULL;

		if (!READ_ONCE(table[i].task) && ls_cmpxchg(&table[i].task, &none, current)) {
			ls_fetch_add(&ls_nr_repaired, 1);
			table[i].owed = 0;
			return &table[i];
		}
	}
	ls_lose(LS_LOSS_HELD_OVERFLOW);
	return NULL;
}

static void drop(struct repaired *r)
{
	ls_store(&r->task, NULL);
	ls_fetch_add(&ls_nr_repaired, -1);
}

/*
 * schedule() is about to take @excess away from the count of the current task, which entered
 * the kernel by @entry. True where that is the consequence of an earlier repair.
 */
bool ls_count_repaired(int excess, u32 entry)
{
	struct repaired *r = find(current);
	bool known = r;

	/* Without a debt a count below zero is right again after its repair. */
	if (!r && excess > 0)
		r = add();
	if (!r)
		return false;
	r->owed += excess;
	r->entry = entry;
	if (r->owed <= 0)
		drop(r);
	return known;
}

/*
 * Is what the count of the current task shows a consequence of a repair? @entry: its entry into
 * the kernel now, 0 where it has none.
 */
bool ls_task_repaired(u32 entry)
{
	struct repaired *r = find(current);

	/* Includes one level of this module. */
	if (ls_count_value(preempt_count()) <= 0)
		return true;
	if (!r)
		return false;
	/* In user mode since: the code that had turned preemption off has returned. */
	if (entry && r->entry && entry != r->entry) {
		drop(r);
		return false;
	}
	return true;
}

/* @task ends, or has finished what it did for others. */
void ls_repaired_forget(struct task_struct *task)
{
	struct repaired *r = find(task);

	if (unlikely(r))
		drop(r);
}

/* Only while no hook can run. */
void ls_repaired_clear(void)
{
	memset(table, 0, sizeof(table));
	ls_nr_repaired = 0;
}
