/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one table of lock kinds.
 *
 *   X(symbol, value, name, wait)
 *
 * value: part of the ABI, of log and stores; rows are in its order.
 * name: in reports, on the console, in tracepoints; part of identifiers of findings.
 * wait: SLEEPS or SPINS, as a task does until it has the lock; AWAITED: waited for and
 *   completed, never held; OTHER: neither of these.
 */
#ifndef LOCKSCOPE_LOCK_KINDS_H
#define LOCKSCOPE_LOCK_KINDS_H

#define LS_LOCK_KINDS(X)								\
	X(NONE,		0,  "lock",		OTHER)					\
	X(SPINLOCK,	1,  "spinlock",		SPINS)					\
	X(RWLOCK,	2,  "rwlock",		SPINS)					\
	X(MUTEX,	3,  "mutex",		SLEEPS)					\
	X(RWSEM,	4,  "rwsem",		SLEEPS)					\
	X(SEMAPHORE,	5,  "semaphore",	SLEEPS)					\
	X(RT_MUTEX,	6,  "rt_mutex",		SLEEPS)					\
	X(WW_MUTEX,	7,  "ww_mutex",		SLEEPS)					\
	X(SOCKET,	8,  "socket",		SLEEPS)					\
	X(PERCPU_RWSEM,	9,  "percpu-rwsem",	SLEEPS)					\
	/* a lock of the author's own making, annotated */				\
	X(PRIVATE,	10, "private",		OTHER)					\
	/* runs of a work function: flushing the item waits for it */			\
	X(WORK,		11, "work",		OTHER)					\
	/* waited for with LS_VAL_WAIT, see LS_SIGHT_COMPLETE; waking completes a queue */ \
	X(COMPLETION,	12, "completion",	AWAITED)				\
	X(WAITQUEUE,	13, "waitqueue",	AWAITED)

enum ls_kind {
#define LS_ROW(symbol, value, name, wait) LS_KIND_##symbol = value,
	LS_LOCK_KINDS(LS_ROW)
#undef LS_ROW
	LS_NR_KINDS
};

/* Sets of kinds, a bit each. */
enum ls_kind_wait { LS_KIND_WAIT_OTHER, LS_KIND_WAIT_SLEEPS, LS_KIND_WAIT_SPINS, LS_KIND_WAIT_AWAITED };
#define LS_IF_SLEEPS(symbol, value, name, wait) | (unsigned int)(LS_KIND_WAIT_##wait == LS_KIND_WAIT_SLEEPS) << value
#define LS_IF_SPINS(symbol, value, name, wait) | (unsigned int)(LS_KIND_WAIT_##wait == LS_KIND_WAIT_SPINS) << value
#define LS_IF_AWAITED(symbol, value, name, wait) | (unsigned int)(LS_KIND_WAIT_##wait == LS_KIND_WAIT_AWAITED) << value
#define LS_SLEEPING_KINDS (0u LS_LOCK_KINDS(LS_IF_SLEEPS))
#define LS_SPINNING_KINDS (0u LS_LOCK_KINDS(LS_IF_SPINS))
#define LS_AWAITED_KINDS (0u LS_LOCK_KINDS(LS_IF_AWAITED))
/* What may guard data; work items count by themselves. */
#define LS_GUARDING_KINDS (LS_SLEEPING_KINDS | LS_SPINNING_KINDS | 1u << LS_KIND_PRIVATE)

/* An owner's word in a lock of the kernel: low bits are flags. */
#define LS_OWNER_FLAGS 7ul
#define LS_OWNER_READER 1ul	/* of an rwsem: a reader's, which may have released it since */
/* The count of an rwsem. */
#define LS_RWSEM_WRITER 1ul
#define LS_RWSEM_READERS 8	/* shift of their number */

#endif /* LOCKSCOPE_LOCK_KINDS_H */
