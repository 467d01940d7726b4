/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one table of kinds of findings.
 *
 *   X(symbol, value, enumerator, name, shown, severity, about, title, splat, head, words)
 *
 * value: part of the ABI, of log and stores; rows are in its order.
 * enumerator: of enum class FindingKind, in the report.
 * name: in reports, suppressions and tracepoints; part of identifiers of findings.
 * shown: what shows it, LS_BY_*.
 * severity: before filters; of what accesses show, the most it can be.
 * about: what is wrong, without a full stop.
 * title: SIGHT: all but the function at its end, in braces what fault_title() fills in.
 *   Others: how it begins.
 * splat: SIGHT: the function splat_...() of kmod/out/console/fault.c that prints it; lock
 *   will do for most. Others: own, order.c or race.c of the same folder.
 * head, words: what is printed: the headline, or the part of it that is always the same;
 *   what follows "COMM/PID ".
 */
#ifndef LOCKSCOPE_FINDING_KINDS_H
#define LOCKSCOPE_FINDING_KINDS_H

enum ls_shown {
	LS_BY_SIGHT = 0,	/* one observation alone */
	LS_BY_CYCLE,		/* dependencies that close a cycle */
	LS_BY_PAIR,		/* nestings of one class in itself */
	LS_BY_TASKS,		/* an observation of each task, in the order in which they wait */
	LS_BY_ACCESSES,		/* memory accesses */
};

/* Kinds that observations show: enum ls_finding_kind of one, and of LS_REC_FINDING. */
#define LS_SIGHT_FINDINGS(X)								\
	X(ORDER_CYCLE, 1, LockOrderCycle, "lock-order-cycle", CYCLE, Error,		\
	  "contexts can wait for each other, as each holds a lock that the next one waits for", \
	  "lock order", own, "WARNING: possible circular locking dependency detected",	\
	  "is trying to acquire lock:")							\
	X(RECURSIVE, 2, RecursiveLock, "recursive-lock", PAIR, Error,			\
	  "a context can wait for itself, or two locks of one class are taken in both orders", \
	  "recursive lock", own, "WARNING: possible recursive locking detected",	\
	  "is trying to acquire lock:")							\
	/* cycle through LS_CLASS_HARDIRQ or _SOFTIRQ */				\
	X(IRQ_INVERSION, 3, IrqInversion, "irq-inversion", CYCLE, Error,		\
	  "a lock that an interrupt takes leads to one that is held while it can come",	\
	  "irq inversion", own, "lock order detected", "is trying to acquire:")		\
	/* the same with one lock alone */						\
	X(IRQ_STATE, 4, InconsistentIrqState, "inconsistent-irq-state", CYCLE, Error,	\
	  "an interrupt takes a lock that is held while it can come",			\
	  "irq safety", own, "WARNING: inconsistent lock state", "takes:")		\
	X(WAIT_CONTEXT, 5, InvalidWaitContext, "invalid-wait-context", SIGHT, Error,	\
	  "a sleeping lock is taken under a spinning one",				\
	  "invalid wait context: {kind and lock} taken {where}",			\
	  lock, "[ BUG: Invalid wait context ]", "is trying to lock:")			\
	X(SLEEP_ATOMIC, 6, SleepInAtomic, "sleep-in-atomic", SIGHT, Error,		\
	  "code that may sleep runs with preemption or interrupts off, or in an interrupt", \
	  "sleep in atomic context: {sleeper}{where}",					\
	  sleep, "BUG: sleeping function called from invalid context", "is trying to lock:") \
	X(BAD_UNLOCK, 7, BadUnlock, "bad-unlock", SIGHT, Error,				\
	  "a lock is released by a context that does not hold it, while another one does", \
	  "bad unlock of {lock} by one who does not hold it",				\
	  unlock, "WARNING: bad unlock balance detected!", "but another task holds it!") \
	X(DOUBLE_UNLOCK, 8, DoubleUnlock, "double-unlock", SIGHT, Error,		\
	  "a lock is released that no context holds",					\
	  "double unlock of {lock}", unlock, "WARNING: bad unlock balance detected!",	\
	  "but there are no more locks to release!")					\
	X(HELD_FREED, 9, HeldLockFreed, "held-lock-freed", SIGHT, Error,		\
	  "the memory of a held lock is freed",						\
	  "lock {lock} freed while held",						\
	  freed, "WARNING: held lock freed!", "is freeing memory of")			\
	X(HELD_INIT, 10, HeldLockInitialised, "held-lock-initialised", SIGHT, Error,	\
	  "a held lock is initialised anew",						\
	  "lock {lock} initialised while held",						\
	  held, "WARNING: held lock freed!", "is initialising a lock that it holds:")	\
	X(HELD_EXIT, 11, HeldAtExit, "held-at-exit", SIGHT, Error,			\
	  "a task ends with locks held",						\
	  "task exits holding {lock}", exit, "WARNING:", "still has locks held!")	\
	X(HELD_USER, 12, HeldAtReturnToUser, "held-at-return-to-user", SIGHT, Error,	\
	  "user code runs with locks of the kernel held",				\
	  "return to user mode holding {lock}",						\
	  user, "WARNING: lock held when returning to user space!",			\
	  "is leaving the kernel with locks still held!")				\
	X(NOT_HELD, 13, NestedLockNotHeld, "nested-lock-not-held", SIGHT, Error,	\
	  "the lock that has to be held here is not",					\
	  "lock {lock} not held where it has to be",					\
	  not_held, "WARNING: Nested lock was not taken", "relies on a lock at:")	\
	X(LONG_HOLD, 14, LongHold, "long-hold", SIGHT, Warning,				\
	  "a task waits for a lock longer than the bound",				\
	  "long hold: {lock} waited for {seconds}",					\
	  long_hold, "blocked for more than", "waits for:")				\
	X(WW, 15, WwMisuse, "ww-misuse", SIGHT, Error,					\
	  "a rule of ww_mutex is broken", "ww_mutex misuse: {lock}",			\
	  ww, "WARNING: ww_mutex rules broken in", "is trying to lock:")		\
	/*										\
	 * Tasks wait for each other: the lock of each observation is what its task waits \
	 * for, @new_mask marks what the one before it waits for. Edges as of a cycle.	\
	 */										\
	X(DEADLOCK, 16, Deadlock, "deadlock", TASKS, Error,				\
	  "tasks wait for each other at this moment, and will for ever",		\
	  "deadlock", own, "WARNING: deadlock detected in", "waits for what")		\
	/* of the kinds that have to be: cleared memory is a free spinlock */		\
	X(NOT_INIT, 17, LockNotInitialised, "lock-not-initialised", SIGHT, Error,	\
	  "a lock is taken that was never initialised, and crashes the first task that waits", \
	  "lock {lock} never initialised",						\
	  lock, "INFO: trying to register non-static key.", "is trying to lock:")	\
	X(AT_END, 18, AtomicAtEnd, "atomic-at-end", SIGHT, Error,			\
	  "a work item, a timer or a softirq handler returns with preemption, softirqs or interrupts off, or in an RCU read side", \
	  "atomic at its end: {left}",							\
	  at_end, "WARNING: atomic context left by", "ran it last.")			\
	/* the topmost held entry is where the memory was freed, as if it was held there */ \
	X(IN_FREED, 19, LockInFreedMemory, "lock-in-freed-memory", SIGHT, Error,	\
	  "a lock is taken whose memory is free",					\
	  "{kind and lock} taken in freed memory",					\
	  in_freed, "WARNING: lock in freed memory taken in", "is trying to lock:")

/* Those that accesses show: the first by LS_REC_RACE, the others by the report alone. */
#define LS_ACCESS_FINDINGS(X)								\
	X(RACE, 64, DataRace, "data-race", ACCESSES, Error,				\
	  "two accesses to one variable, one of them a write, that no lock keeps apart", \
	  "data race", own, "BUG: KCSAN: data-race in", "")				\
	X(GUARD_VIOLATION, 65, GuardViolation, "guard-violation", ACCESSES, Warning,	\
	  "an access without the lock that others to the same member hold",		\
	  "guard violation", own, "WARNING: guard violation", "")			\
	X(EMPTY_SECTION, 128, EmptyCriticalSection, "empty-critical-section", ACCESSES, Note, \
	  "a lock is taken, and nothing is touched with it held",			\
	  "empty critical section", own, "INFO: empty critical section", "")

#define LS_FINDINGS(X) LS_SIGHT_FINDINGS(X) LS_ACCESS_FINDINGS(X)

enum ls_finding_kind {
#define LS_ROW(symbol, value, ...) LS_FINDING_##symbol = value,
	LS_SIGHT_FINDINGS(LS_ROW)
	LS_NR_FINDINGS,
	LS_ACCESS_FINDINGS(LS_ROW)
#undef LS_ROW
};

/*
 * What shows a finding of @kind. A kind of a later module is of one observation: cycles get no
 * new kinds.
 */
static inline enum ls_shown ls_finding_shown(unsigned int kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, ...) case value: return LS_BY_##shown;
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return LS_BY_SIGHT;
}

static inline const char *ls_finding_name(unsigned int kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, ...) case value: return name;
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return "unknown";
}

/* Its headline on the console, or what is always the same of it. */
static inline const char *ls_finding_head(unsigned int kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, splat, head, words) \
	case value:								\
		return head;
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return "";
}

/* What follows the task in it. */
static inline const char *ls_finding_words(unsigned int kind)
{
	switch (kind) {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, splat, head, words) \
	case value:								\
		return words;
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
	}
	return "";
}

#endif /* LOCKSCOPE_FINDING_KINDS_H */
