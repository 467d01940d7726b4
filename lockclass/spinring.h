/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs that spin for each other: each holds a lock that the one before it waits for, so none of
 * them goes on. Read from the held-lock stacks of all CPUs, without a lock, by the CPU that was
 * the last one to wait: it closes the ring.
 *
 * An entry below others was acquired. One on top may only be waited for: its CPU has noted it
 * then. As the lock is held by the next CPU, exclusively or against a writer, a noted one cannot
 * have been acquired meanwhile. Stacks change while they are read: a ring counts when it was found
 * again and again, unchanged.
 */
#ifndef LOCKSCOPE_SPINRING_H
#define LOCKSCOPE_SPINRING_H

#include "held.h"
#include "port.h"

#define LS_SPIN_CPUS 8		/* of a ring; longer ones are not searched */

/* What there is to read. Any context. */
struct ls_spin_view {
	/* Stack @level of @cpu, NULL: the CPU has none. */
	const struct ls_ctx *(*stack)(ls_u32 cpu, ls_u32 level);
	/* The lock that it noted last to have to spin for, with another one held; 0: none. */
	ls_u64 (*noted)(ls_u32 cpu, ls_u32 level);
	/* Is the lock of a held-lock word of a kind that spins? */
	bool (*spins)(ls_u32 val);
	ls_u32 nr_cpus;
};

/* One CPU of a ring. */
struct ls_spinner {
	ls_u32 cpu;
	ls_u32 level;		/* of the context that spins */
	struct ls_held waits;	/* the lock that it spins for */
	struct ls_held holds;	/* the lock that the CPU before it in the ring spins for */
};

/*
 * The ring that @cpu, whose context of @level is about to spin for the lock on top of its stack,
 * has closed: the number of CPUs, the first of which is @cpu; 0: there is none. @ring has room for
 * LS_SPIN_CPUS. What one CPU alone waits for is no ring.
 */
ls_u32 ls_spin_ring(const struct ls_spin_view *view, ls_u32 cpu, ls_u32 level, struct ls_spinner *ring);

/* Is it the same one still? */
bool ls_spin_ring_stands(const struct ls_spin_view *view, const struct ls_spinner *ring, ls_u32 nr);

/*
 * Lock number @i of those that the CPU of @s holds, its interrupts' behind those of its task,
 * without the one that it waits for; false: there are no more.
 */
bool ls_spinner_held(const struct ls_spin_view *view, const struct ls_spinner *s, ls_u32 i,
		     struct ls_held *out);

#endif /* LOCKSCOPE_SPINRING_H */
