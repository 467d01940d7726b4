/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock word: is the lock held, and by which task? Used to confirm faults that the
 * held-lock stacks suggest: a lock may have been acquired or released where no hook runs.
 */
#ifndef LOCKSCOPE_LOCKWORD_H
#define LOCKSCOPE_LOCKWORD_H

#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwlock.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "core/state.h"

enum ls_word {
	LS_WORD_UNKNOWN,	/* not known for this kind */
	LS_WORD_FREE,
	LS_WORD_HELD,		/* by any task */
	LS_WORD_MINE,		/* by the current task */
	LS_WORD_OTHER,		/* by another task */
};

/* The word that names the owner of @lock, flags and all. False when it has none, or cannot be read. */
static inline bool ls_owner_word(u64 lock, u32 kind, unsigned long *owner)
{
	u64 at;

	switch ((enum ls_kind)kind) {
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
		at = lock + offsetof(struct mutex, owner);
		break;
	case LS_KIND_RT_MUTEX:
		at = lock - LS_RTM_OFF + offsetof(struct rt_mutex, rtmutex.owner);
		break;
	case LS_KIND_RWSEM:
		at = lock + offsetof(struct rw_semaphore, owner);
		break;
	case LS_KIND_NONE:
	case LS_KIND_SPINLOCK:
	case LS_KIND_RWLOCK:
	case LS_KIND_SEMAPHORE:
	case LS_KIND_SOCKET:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		return false;
	}
	return !get_kernel_nofault(*owner, (unsigned long *)at);
}

static inline enum ls_word ls_owner_is(unsigned long owner)
{
	owner &= ~LS_OWNER_FLAGS;
	return !owner ? LS_WORD_FREE : owner == (unsigned long)current ? LS_WORD_MINE : LS_WORD_OTHER;
}

/* @lock as hooks see it (LS_*_OFF added), @read: as its readers see it. Any context. */
static inline enum ls_word ls_lock_word(u64 lock, u32 kind, bool read)
{
	unsigned long word = 0, owner = 0;
	u32 half = 0;

	switch ((enum ls_kind)kind) {
	case LS_KIND_SPINLOCK:
		if (get_kernel_nofault(half, (u32 *)lock))
			return LS_WORD_UNKNOWN;
		return half ? LS_WORD_HELD : LS_WORD_FREE;
	case LS_KIND_RWLOCK:
		if (get_kernel_nofault(half, (u32 *)lock))
			return LS_WORD_UNKNOWN;
		if (read)
			return half >> _QR_SHIFT ? LS_WORD_HELD : LS_WORD_FREE;
		return (half & _QW_LOCKED) == _QW_LOCKED ? LS_WORD_HELD : LS_WORD_FREE;
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
	case LS_KIND_RT_MUTEX:
		return ls_owner_word(lock, kind, &owner) ? ls_owner_is(owner) : LS_WORD_UNKNOWN;
	case LS_KIND_RWSEM:
		if (get_kernel_nofault(word, (unsigned long *)(lock + offsetof(struct rw_semaphore, count))) ||
		    !ls_owner_word(lock, kind, &owner))
			return LS_WORD_UNKNOWN;
		if (read)
			return (long)word >> LS_RWSEM_READERS > 0 ? LS_WORD_HELD : LS_WORD_FREE;
		return word & LS_RWSEM_WRITER ? ls_owner_is(owner) : LS_WORD_FREE;
	case LS_KIND_SOCKET:
		/* sk_lock.owned: the address that hooks use. */
		if (get_kernel_nofault(half, (u32 *)lock))
			return LS_WORD_UNKNOWN;
		return half ? LS_WORD_HELD : LS_WORD_FREE;
	case LS_KIND_NONE:
	case LS_KIND_SEMAPHORE:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		break;
	}
	return LS_WORD_UNKNOWN;
}

/*
 * Does the lock at @lock, of @kind, lie in memory that was cleared and never initialised? Its
 * list of waiters points nowhere then: the first task that has to wait crashes. Of other kinds
 * cleared memory is a free lock. Any context.
 */
static inline bool ls_never_initialised(u64 lock, u32 kind)
{
	unsigned long word;
	u64 at;

	switch ((enum ls_kind)kind) {
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
		at = lock + offsetof(struct mutex, wait_list.next);
		break;
	case LS_KIND_RWSEM:
		at = lock + offsetof(struct rw_semaphore, wait_list.next);
		break;
	case LS_KIND_SEMAPHORE:
		at = lock - LS_SEM_OFF + offsetof(struct semaphore, wait_list.next);
		break;
	case LS_KIND_NONE:
	case LS_KIND_SPINLOCK:
	case LS_KIND_RWLOCK:
	case LS_KIND_RT_MUTEX:
	case LS_KIND_SOCKET:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		return false;
	}
	return !get_kernel_nofault(word, (unsigned long *)at) && !word;
}

/* Is @h still held by the current context, according to its lock word? */
static inline bool ls_still_held(const struct ls_held *h)
{
	u32 kind = ls_kind_of(h->val);

	switch (ls_lock_word(h->lock, kind, h->val & LS_VAL_READ_MASK)) {
	case LS_WORD_FREE:
	case LS_WORD_OTHER:
		return false;
	case LS_WORD_UNKNOWN:
		/* Any context may release a semaphore; a lock that cannot be read is gone. */
		return kind != LS_KIND_SEMAPHORE && !(LS_SPINNING_KINDS >> kind & 1);
	case LS_WORD_HELD:
	case LS_WORD_MINE:
		break;
	}
	return true;
}

#endif /* LOCKSCOPE_LOCKWORD_H */
