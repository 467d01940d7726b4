/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of lock primitives: hooks, coverage lists and documentation are generated from it.
 *
 *   X(function, kind, group, value bits, offset, flags)
 *
 * group:
 *   ACQUIRE  the first argument is the lock; on entry it counts as acquired
 *   SPIN     the same, and the task is not preempted from then on
 *   RELEASE  on entry the lock counts as released, whatever its kind
 *   RESULT   acquired only if the return value says so
 *   FALLIBLE the same, and waits for it: may have a gate on entry
 *   WW       the same, and checked on entry as well
 *   WAIT     waits for something that is not acquired: checked on entry and return
 *   SPECIAL  rare or odd: goes through a switch (special.c)
 *   SLEEP    a place that may sleep: checked only in atomic context
 *   QUEUE    of wait queues, hooked with waitqueues=1 only (waitqueues.c)
 * value bits: how it is acquired (LS_VAL_*), without class and level. RELEASE: whether
 *   it was held as a reader.
 * offset: added to the first argument, where a lock shares its address with the
 *   spinlock inside it and needs one of its own.
 * flags: LS_P_*.
 *
 * A primitive that only calls another one in this table would be seen twice. Such pairs differ
 * between kernels with inlining, so LS_P_WRAPS entries are hooked only where the body does not
 * call the primitive of the same kind.
 */
#ifndef LOCKSCOPE_PRIMITIVES_H
#define LOCKSCOPE_PRIMITIVES_H

#define LS_P_ZERO 1	/* RESULT, FALLIBLE: acquired when it returns 0 (else: when not 0) */
#define LS_P_BOOL 2	/* RESULT, FALLIBLE: only the low 8 bits of the value count */
#define LS_P_WRAPS 4
#define LS_P_VOID 8	/* WAIT, RESULT of WORK: returns only when it is done */

#define LS_SH (LS_SHARED << LS_VAL_READ_SHIFT)
#define LS_IRQ LS_VAL_IRQ_OFF
#define LS_BH LS_VAL_BH_OFF

#define LS_SOCK_OFF offsetof(struct sock, sk_lock.owned)
#define LS_SEM_OFF offsetof(struct semaphore, count)
#define LS_RTM_OFF 8
#define LS_WQ_OFF offsetof(struct wait_queue_head, head)
/*
 * Added to the address of a timer or work item for waits for the end of its run, see
 * handover.h, and for an item's "lock": their addresses are even, and no lock has an odd one.
 */
#define LS_ENDED 1

/* Offset of the address that hooks use for a lock of @kind from its start. */
#define LS_KIND_OFFSET(kind)					\
	((kind) == LS_KIND_RT_MUTEX ? LS_RTM_OFF :		\
	 (kind) == LS_KIND_SEMAPHORE ? LS_SEM_OFF :		\
	 (kind) == LS_KIND_SOCKET ? LS_SOCK_OFF :		\
	 (kind) == LS_KIND_WAITQUEUE ? LS_WQ_OFF : 0)

#define LS_PRIMITIVES(X)								\
	X(_raw_spin_lock,		SPINLOCK, SPIN,    0,			0, 0)	\
	X(_raw_spin_lock_irqsave,	SPINLOCK, SPIN,    LS_IRQ,		0, 0)	\
	X(_raw_spin_lock_irq,		SPINLOCK, SPIN,    LS_IRQ,		0, 0)	\
	X(_raw_spin_lock_irq_disable,	SPINLOCK, SPIN,    LS_IRQ,		0, 0)	\
	X(_raw_spin_lock_bh,		SPINLOCK, SPIN,    LS_BH,		0, 0)	\
	X(_raw_spin_trylock,		SPINLOCK, RESULT,  LS_VAL_TRY,		0, 0)	\
	X(_raw_spin_trylock_bh,		SPINLOCK, RESULT,  LS_VAL_TRY,		0, 0)	\
	X(_raw_spin_unlock,		SPINLOCK, RELEASE, 0,			0, 0)	\
	X(_raw_spin_unlock_irqrestore,	SPINLOCK, RELEASE, 0,			0, 0)	\
	X(_raw_spin_unlock_irq,		SPINLOCK, RELEASE, 0,			0, 0)	\
	X(_raw_spin_unlock_irq_enable,	SPINLOCK, RELEASE, 0,			0, 0)	\
	X(_raw_spin_unlock_bh,		SPINLOCK, RELEASE, 0,			0, 0)	\
	X(_raw_read_lock,		RWLOCK,	  SPIN,    LS_SH,		0, 0)	\
	X(_raw_read_lock_irqsave,	RWLOCK,	  SPIN,    LS_SH | LS_IRQ,	0, 0)	\
	X(_raw_read_lock_irq,		RWLOCK,	  SPIN,    LS_SH | LS_IRQ,	0, 0)	\
	X(_raw_read_lock_bh,		RWLOCK,	  SPIN,    LS_SH | LS_BH,	0, 0)	\
	X(_raw_read_trylock,		RWLOCK,	  RESULT,  LS_SH | LS_VAL_TRY,	0, 0)	\
	X(_raw_write_lock,		RWLOCK,	  SPIN,    0,			0, 0)	\
	X(_raw_write_lock_irqsave,	RWLOCK,	  SPIN,    LS_IRQ,		0, 0)	\
	X(_raw_write_lock_irq,		RWLOCK,	  SPIN,    LS_IRQ,		0, 0)	\
	X(_raw_write_lock_bh,		RWLOCK,	  SPIN,    LS_BH,		0, 0)	\
	X(_raw_write_lock_nested,	RWLOCK,	  SPIN,    0,			0, LS_P_WRAPS)	\
	X(_raw_write_trylock,		RWLOCK,	  RESULT,  LS_VAL_TRY,		0, 0)	\
	X(_raw_read_unlock,		RWLOCK,	  RELEASE, LS_SH,		0, 0)	\
	X(_raw_read_unlock_irqrestore,	RWLOCK,	  RELEASE, LS_SH,		0, 0)	\
	X(_raw_read_unlock_irq,		RWLOCK,	  RELEASE, LS_SH,		0, 0)	\
	X(_raw_read_unlock_bh,		RWLOCK,	  RELEASE, LS_SH,		0, 0)	\
	X(_raw_write_unlock,		RWLOCK,	  RELEASE, 0,			0, 0)	\
	X(_raw_write_unlock_irqrestore,	RWLOCK,	  RELEASE, 0,			0, 0)	\
	X(_raw_write_unlock_irq,	RWLOCK,	  RELEASE, 0,			0, 0)	\
	X(_raw_write_unlock_bh,		RWLOCK,	  RELEASE, 0,			0, 0)	\
	X(mutex_lock,			MUTEX,	  ACQUIRE, 0,			0, 0)	\
	X(mutex_lock_io,		MUTEX,	  ACQUIRE, 0,			0, LS_P_WRAPS)	\
	X(mutex_lock_interruptible,	MUTEX,	  FALLIBLE, 0,			0, LS_P_ZERO)	\
	X(mutex_lock_killable,		MUTEX,	  FALLIBLE, 0,			0, LS_P_ZERO)	\
	X(mutex_trylock,		MUTEX,	  RESULT,  LS_VAL_TRY,		0, 0)	\
	X(mutex_unlock,			MUTEX,	  RELEASE, 0,			0, 0)	\
	X(down_read,			RWSEM,	  ACQUIRE, LS_SH,		0, 0)	\
	X(down_read_interruptible,	RWSEM,	  FALLIBLE, LS_SH,		0, LS_P_ZERO)	\
	X(down_read_killable,		RWSEM,	  FALLIBLE, LS_SH,		0, LS_P_ZERO)	\
	X(down_read_trylock,		RWSEM,	  RESULT,  LS_SH | LS_VAL_TRY,	0, 0)	\
	X(down_write,			RWSEM,	  ACQUIRE, 0,			0, 0)	\
	X(down_write_killable,		RWSEM,	  FALLIBLE, 0,			0, LS_P_ZERO)	\
	X(down_write_trylock,		RWSEM,	  RESULT,  LS_VAL_TRY,		0, 0)	\
	X(up_read,			RWSEM,	  RELEASE, LS_SH,		0, 0)	\
	X(up_write,			RWSEM,	  RELEASE, 0,			0, 0)	\
	X(downgrade_write,		RWSEM,	  SPECIAL, LS_OP_DOWNGRADE,	0, 0)	\
	X(down,				SEMAPHORE, SPECIAL, LS_OP_ACQUIRE,	LS_SEM_OFF, 0)	\
	X(down_interruptible,		SEMAPHORE, FALLIBLE, 0,			LS_SEM_OFF, LS_P_ZERO)	\
	X(down_killable,		SEMAPHORE, FALLIBLE, 0,			LS_SEM_OFF, LS_P_ZERO)	\
	X(down_timeout,			SEMAPHORE, FALLIBLE, 0,			LS_SEM_OFF, LS_P_ZERO)	\
	X(down_trylock,			SEMAPHORE, RESULT, LS_VAL_TRY,		LS_SEM_OFF, LS_P_ZERO)	\
	X(up,				SEMAPHORE, SPECIAL, LS_OP_RELEASE,	LS_SEM_OFF, 0)	\
	X(rt_mutex_lock,		RT_MUTEX, SPECIAL, LS_OP_ACQUIRE,	LS_RTM_OFF, 0)	\
	X(rt_mutex_lock_interruptible,	RT_MUTEX, FALLIBLE, 0,			LS_RTM_OFF, LS_P_ZERO)	\
	X(rt_mutex_lock_killable,	RT_MUTEX, FALLIBLE, 0,			LS_RTM_OFF, LS_P_ZERO)	\
	X(rt_mutex_trylock,		RT_MUTEX, RESULT,  LS_VAL_TRY,		LS_RTM_OFF, 0)	\
	X(rt_mutex_unlock,		RT_MUTEX, SPECIAL, LS_OP_RELEASE,	LS_RTM_OFF, 0)	\
	X(ww_mutex_lock,		WW_MUTEX, WW,      0,			0, LS_P_ZERO)	\
	X(ww_mutex_lock_interruptible,	WW_MUTEX, WW,      0,			0, LS_P_ZERO)	\
	X(ww_mutex_trylock,		WW_MUTEX, RESULT,  LS_VAL_TRY,		0, LS_P_WRAPS)	\
	X(ww_mutex_unlock,		WW_MUTEX, SPECIAL, LS_OP_WW_UNLOCK,	0, 0)	\
	X(lock_sock_nested,		SOCKET,	  SPECIAL, LS_OP_ACQUIRE,	LS_SOCK_OFF, 0)	\
	X(__lock_sock_fast,		SOCKET,	  FALLIBLE, 0,			LS_SOCK_OFF, LS_P_BOOL)	\
	X(release_sock,			SOCKET,	  SPECIAL, LS_OP_RELEASE,	LS_SOCK_OFF, 0)	\
	X(percpu_down_write,		PERCPU_RWSEM, SPECIAL, LS_OP_ACQUIRE,	0, 0)	\
	X(percpu_up_write,		PERCPU_RWSEM, SPECIAL, LS_OP_RELEASE,	0, 0)	\
	X(__mutex_init,			MUTEX,	  SPECIAL, LS_OP_INIT,		0, 0)	\
	X(mutex_init_generic,		MUTEX,	  SPECIAL, LS_OP_INIT_UNNAMED,	0, 0)	\
	X(__init_rwsem,			RWSEM,	  SPECIAL, LS_OP_INIT,		0, 0)	\
	X(__init_waitqueue_head,	SPINLOCK, SPECIAL, LS_OP_INIT_QUEUE,	0, 0)	\
	X(__init_swait_queue_head,	SPINLOCK, SPECIAL, LS_OP_INIT,		0, 0)	\
	X(__rt_mutex_init,		RT_MUTEX, SPECIAL, LS_OP_INIT,		LS_RTM_OFF, 0)	\
	X(__percpu_init_rwsem,		PERCPU_RWSEM, SPECIAL, LS_OP_INIT,	0, 0)	\
	X(kmem_cache_destroy,		NONE,	  SPECIAL, LS_OP_CACHE_GONE,	0, 0)	\
	X(vfree,			NONE,	  SPECIAL, LS_OP_VFREE,		0, 0)	\
	X(ops_init,			NONE,	  SPECIAL, LS_OP_ALLOC_NET,	0, 0)	\
	X(crypto_create_tfm_node,	NONE,	  SPECIAL, LS_OP_ALLOC_ALG,	0, 0)	\
	X(__crypto_alloc_tfm,		NONE,	  SPECIAL, LS_OP_ALLOC_ALG,	0, 0)	\
	X(__crypto_alloc_tfmgfp,	NONE,	  SPECIAL, LS_OP_ALLOC_ALG,	0, 0)	\
	X(inode_init_always,		NONE,	  SPECIAL, LS_OP_REBORN,	0, 0)	\
	X(inode_init_always_gfp,	NONE,	  SPECIAL, LS_OP_REBORN,	0, 0)	\
	X(unlock_new_inode,		NONE,	  SPECIAL, LS_OP_PUBLISHED,	0, 0)	\
	X(flush_work,			WORK,	  SPECIAL, LS_OP_WAIT_WORK,	0, 0)	\
	X(flush_delayed_work,		WORK,	  SPECIAL, LS_OP_WAIT_WORK,	0, 0)	\
	X(cancel_work_sync,		WORK,	  SPECIAL, LS_OP_WAIT_WORK,	0, 0)	\
	X(cancel_delayed_work_sync,	WORK,	  SPECIAL, LS_OP_WAIT_WORK,	0, 0)	\
	X(__flush_work,			WORK,	  RESULT,  0,			LS_ENDED, LS_P_VOID)	\
	X(timer_delete_sync,		WORK,	  RESULT,  0,			LS_ENDED, LS_P_VOID)	\
	X(del_timer_sync,		WORK,	  RESULT,  0,			LS_ENDED, LS_P_VOID)	\
	X(hrtimer_cancel,		WORK,	  RESULT,  0,			LS_ENDED, LS_P_VOID)	\
	X(wait_for_completion,		COMPLETION, WAIT,  0,			0, LS_P_VOID)	\
	X(wait_for_completion_io,	COMPLETION, WAIT,  0,			0, LS_P_VOID)	\
	X(wait_for_completion_interruptible, COMPLETION, WAIT, 0,		0, LS_P_ZERO)	\
	X(wait_for_completion_killable,	COMPLETION, WAIT,  0,			0, LS_P_ZERO)	\
	X(wait_for_completion_state,	COMPLETION, WAIT,  0,			0, LS_P_ZERO)	\
	X(wait_for_completion_timeout,	COMPLETION, WAIT,  LS_VAL_TRY,		0, 0)		\
	X(wait_for_completion_io_timeout, COMPLETION, WAIT, LS_VAL_TRY,		0, 0)		\
	X(wait_for_completion_interruptible_timeout, COMPLETION, WAIT, LS_VAL_TRY, 0, 0)	\
	X(wait_for_completion_killable_timeout, COMPLETION, WAIT, LS_VAL_TRY,	0, 0)		\
	X(try_wait_for_completion,	COMPLETION, RESULT, LS_VAL_TRY,		0, LS_P_BOOL)	\
	X(complete,			COMPLETION, SPECIAL, LS_OP_COMPLETE,	0, 0)	\
	X(complete_all,			COMPLETION, SPECIAL, LS_OP_COMPLETE,	0, 0)	\
	X(prepare_to_wait,		WAITQUEUE, QUEUE,  LS_OP_QUEUE,		0, 0)	\
	X(prepare_to_wait_exclusive,	WAITQUEUE, QUEUE,  LS_OP_QUEUE,		0, 0)	\
	X(prepare_to_wait_event,	WAITQUEUE, QUEUE,  LS_OP_QUEUE,		0, 0)	\
	X(finish_wait,			WAITQUEUE, QUEUE,  LS_OP_UNQUEUE,	0, 0)	\
	X(schedule,			WAITQUEUE, QUEUE,  LS_OP_SLEEP_ON,	0, 0)	\
	X(io_schedule,			WAITQUEUE, QUEUE,  LS_OP_SLEEP_ON,	0, 0)	\
	X(schedule_timeout,		WAITQUEUE, QUEUE,  LS_OP_SLEEP_FOR,	0, 0)	\
	X(io_schedule_timeout,		WAITQUEUE, QUEUE,  LS_OP_SLEEP_FOR,	0, 0)	\
	X(__wake_up,			WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__wake_up_sync,		WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__wake_up_sync_key,		WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__wake_up_locked,		WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__wake_up_locked_key,		WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__wake_up_locked_key_bookmark, WAITQUEUE, QUEUE, LS_OP_WAKE,		0, 0)	\
	X(__wake_up_locked_sync_key,	WAITQUEUE, QUEUE,  LS_OP_WAKE,		0, 0)	\
	X(__schedule_bug,		NONE,	  SPECIAL, LS_OP_SCHEDULE_BUG,	0, 0)	\
	X(update_process_times,		NONE,	  SPECIAL, LS_OP_TICK,		0, 0)	\
	X(__cond_resched,		NONE,	  SLEEP,   LS_OP_SLEEP,		0, 0)

/*
 * A task that freezes a file system takes the per-CPU rwsems of its super block, returns to
 * user space, and leaves them to the task that thaws it. What it does in between is not done
 * under them: within these functions they are waited for and not acquired.
 */
#define LS_FREEZERS(X)									\
	X(freeze_super)									\
	X(sb_wait_write)								\
	X(thaw_super)									\
	X(thaw_super_locked)								\
	X(sb_freeze_unlock)								\
	X(do_thaw_all_callback)

/* Operation of a SPECIAL hook; stored in place of the value bits. */
enum ls_special_op {
	LS_OP_ACQUIRE = 0,
	LS_OP_RELEASE = 1 << 20,
	LS_OP_DOWNGRADE = 2 << 20,
	LS_OP_INIT = 3 << 20,
	LS_OP_CACHE_GONE = 4 << 20,
	LS_OP_VFREE = 5 << 20,
	LS_OP_WAIT_WORK = 6 << 20,
	LS_OP_TICK = 7 << 20,
	LS_OP_SLEEP = 8 << 20,
	LS_OP_WW_UNLOCK = 9 << 20,
	LS_OP_COMPLETE = 10 << 20,
	LS_OP_INIT_QUEUE = 11 << 20,
	LS_OP_INIT_UNNAMED = 12 << 20,
	LS_OP_SCHEDULE_BUG = 13 << 20,
	LS_OP_ALLOC_NET = 14 << 20,
	LS_OP_REBORN = 15 << 20,	/* the second argument is the object */
	LS_OP_PUBLISHED = 16 << 20,
	LS_OP_ALLOC_ALG = 17 << 20,
	LS_OP_MASK = 31 << 20,
};

/* Operation of a QUEUE hook, in the same place. */
enum ls_queue_op {
	LS_OP_QUEUE = 0,
	LS_OP_UNQUEUE = 1 << 20,
	LS_OP_SLEEP_ON = 2 << 20,
	LS_OP_SLEEP_FOR = 3 << 20,	/* the first argument is the timeout, in jiffies */
	LS_OP_WAKE = 4 << 20,
};

enum ls_group {
	LS_G_ACQUIRE, LS_G_SPIN, LS_G_RELEASE, LS_G_RESULT, LS_G_FALLIBLE, LS_G_WW, LS_G_WAIT,
	LS_G_SPECIAL, LS_G_SLEEP, LS_G_QUEUE,
	LS_NR_GROUPS
};

/*
 * A primitive in one word for the hooks: value bits as in LS_VAL_*, the offset in place of the
 * class, kind and flags in spare bits.
 */
#define LS_DESC_OFFSET 0xfffu
#define LS_DESC_VAL (LS_VAL_READ_MASK | LS_VAL_TRY | LS_VAL_IRQ_OFF | LS_VAL_BH_OFF | LS_VAL_CTX)
#define LS_DESC_FLAG_SHIFT 12
#define LS_DESC_ZERO (LS_P_ZERO << LS_DESC_FLAG_SHIFT)
#define LS_DESC_BOOL (LS_P_BOOL << LS_DESC_FLAG_SHIFT)
#define LS_DESC_VOID (LS_P_VOID << LS_DESC_FLAG_SHIFT)
#define LS_DESC_SLEEPS (16u << LS_DESC_FLAG_SHIFT)	/* sleeps to wait for a lock */
#define LS_DESC_KIND_SHIFT 28
#ifndef __cplusplus
_Static_assert(LS_NR_KINDS <= 1u << (32 - LS_DESC_KIND_SHIFT), "a kind has what is above the shift");
_Static_assert((LS_P_ZERO | LS_P_BOOL | LS_P_WRAPS | LS_P_VOID) << LS_DESC_FLAG_SHIFT < LS_DESC_SLEEPS &&
	       LS_DESC_SLEEPS << 1 <= (LS_DESC_VAL & -LS_DESC_VAL) && LS_DESC_OFFSET < 1u << LS_DESC_FLAG_SHIFT,
	       "offset, flags and value bits share no bit");
_Static_assert(LS_DESC_VAL < 1u << LS_DESC_KIND_SHIFT && LS_OP_MASK < 1u << LS_DESC_KIND_SHIFT,
	       "the kind stands above all of them");
#endif
#define LS_DESC(kind, bits, offset, flags)						\
	((u32)LS_KIND_##kind << LS_DESC_KIND_SHIFT | (u32)(bits) | (u32)(offset) |	\
	 (u32)(flags) << LS_DESC_FLAG_SHIFT |						\
	 ((LS_SLEEPING_KINDS >> LS_KIND_##kind & 1) && !((bits) & LS_VAL_TRY) ? LS_DESC_SLEEPS : 0))

#endif /* LOCKSCOPE_PRIMITIVES_H */
