/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a lock's own memory says: is it held, by whom? Second opinion for faults
 * that our stacks suggest: a lock that we believe held, or not held, may have
 * changed hands where no hook could see it.
 */
#ifndef LOCKSCOPE_LOCKWORD_H
#define LOCKSCOPE_LOCKWORD_H

#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/rwlock.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "core/state.h"

enum ls_word {
	LS_WORD_UNKNOWN,	/* this kind does not tell */
	LS_WORD_FREE,
	LS_WORD_HELD,		/* by somebody */
	LS_WORD_MINE,		/* by the current task */
	LS_WORD_OTHER,		/* by another task */
};

/* Low bits of an owner word are flags. */
#define LS_OWNER_FLAGS 7ul
#define LS_RWSEM_WRITER 1ul
#define LS_RWSEM_READERS 8	/* shift of their number */

static inline enum ls_word ls_owner_word(unsigned long owner)
{
	owner &= ~LS_OWNER_FLAGS;
	return !owner ? LS_WORD_FREE : owner == (unsigned long)current ? LS_WORD_MINE : LS_WORD_OTHER;
}

/* @lock as hooks see it (LS_*_OFF added), @read: as its readers see it. Any context. */
static inline enum ls_word ls_lock_word(u64 lock, u32 kind, bool read)
{
	unsigned long word = 0, owner = 0;
	u32 half = 0;

	switch (kind) {
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
		if (get_kernel_nofault(owner, (unsigned long *)(lock + offsetof(struct mutex, owner))))
			return LS_WORD_UNKNOWN;
		return ls_owner_word(owner);
	case LS_KIND_RT_MUTEX:
		if (get_kernel_nofault(owner, (unsigned long *)(lock - LS_RTM_OFF +
								offsetof(struct rt_mutex, rtmutex.owner))))
			return LS_WORD_UNKNOWN;
		return ls_owner_word(owner);
	case LS_KIND_RWSEM:
		if (get_kernel_nofault(word, (unsigned long *)(lock + offsetof(struct rw_semaphore, count))) ||
		    get_kernel_nofault(owner, (unsigned long *)(lock + offsetof(struct rw_semaphore, owner))))
			return LS_WORD_UNKNOWN;
		if (read)
			return (long)word >> LS_RWSEM_READERS > 0 ? LS_WORD_HELD : LS_WORD_FREE;
		return word & LS_RWSEM_WRITER ? ls_owner_word(owner) : LS_WORD_FREE;
	default:
		return LS_WORD_UNKNOWN;
	}
}

/* Does the current context hold @h for all that its memory says? */
static inline bool ls_still_held(const struct ls_held *h)
{
	u32 kind = ls_kind_of(h->val);

	switch (ls_lock_word(h->lock, kind, h->val & LS_VAL_READ_MASK)) {
	case LS_WORD_FREE:
	case LS_WORD_OTHER:
		return false;
	case LS_WORD_UNKNOWN:
		/* Anybody may release a semaphore; a lock that cannot be read is gone. */
		return kind != LS_KIND_SEMAPHORE && !(LS_SPINNING_KINDS >> kind & 1);
	default:
		return true;
	}
}

#endif /* LOCKSCOPE_LOCKWORD_H */
