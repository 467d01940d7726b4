/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For authors of kernel modules: annotations of what LockScope cannot observe.
 *
 * Including this file is enough: there is no symbol to link and no dependency in either
 * direction. Each annotation is a call of an empty function in your own module, which
 * LockScope hooks when it is loaded. Otherwise the cost is the call and a nop.
 *
 * Names and reasons are string literals. Any context unless stated otherwise.
 */
#ifndef LOCKSCOPE_ANNOTATE_H
#define LOCKSCOPE_ANNOTATE_H

#include <linux/compiler.h>

enum lockscope_op {
	LOCKSCOPE_OP_ACQUIRE = 1,
	LOCKSCOPE_OP_ACQUIRE_READ,
	LOCKSCOPE_OP_ACQUIRE_TRY,
	LOCKSCOPE_OP_RELEASE,
	LOCKSCOPE_OP_CLASS,
	LOCKSCOPE_OP_INIT,
	LOCKSCOPE_OP_ASSERT_HELD,
	LOCKSCOPE_OP_NEST,
	LOCKSCOPE_OP_IGNORE,
	LOCKSCOPE_OP_REUSE,
	LOCKSCOPE_OP_BENIGN,
	LOCKSCOPE_OP_ACQUIRE_MEMBER,
	LOCKSCOPE_OP_RELEASE_MEMBER,
};

/*
 * Hooked by name, so the compiler must not clone it for the arguments of one file. The barrier
 * keeps the call and its arguments.
 */
#if __has_attribute(__noipa__)
#define __lockscope_annotation noinline __attribute__((__noipa__))
#else
#define __lockscope_annotation noinline
#endif

static __lockscope_annotation __maybe_unused void
lockscope_annotation(unsigned long op, const volatile void *p, unsigned long n, const char *text)
{
	asm volatile("" : : "r" (op), "r" (p), "r" (n), "r" (text) : "memory");
}

/*
 * A lock of a private type at address @p, called @name. _acquire: the caller waits until it
 * has the lock; _acquire_read: as one of several readers, which may wait for a writer;
 * _acquire_try: acquired without waiting. Call them where the lock is acquired, and _release
 * where it is released, by the same context.
 */
#define lockscope_acquire(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE, p, 0, name)
#define lockscope_acquire_read(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_READ, p, 0, name)
#define lockscope_acquire_try(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_TRY, p, 0, name)
#define lockscope_release(p) lockscope_annotation(LOCKSCOPE_OP_RELEASE, p, 0, 0)

/*
 * The same for one of many locks in a table, such as a bit in each element: all of them share
 * @name, and an unlocked one needs no memory. @try: acquired without waiting. Between the two
 * calls no other context holds a lock at @p.
 */
#define lockscope_acquire_member(p, try, name) \
	lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_MEMBER, p, try, name)
#define lockscope_release_member(p) lockscope_annotation(LOCKSCOPE_OP_RELEASE_MEMBER, p, 0, 0)

/* Put the lock (of any type) into class @name, until its memory is freed. */
#define lockscope_set_class(lock, name) lockscope_annotation(LOCKSCOPE_OP_CLASS, lock, 0, name)

/* The same, directly before the lock is initialised. Reports a fault if the caller holds it. */
#define lockscope_init_lock(lock, name) lockscope_annotation(LOCKSCOPE_OP_INIT, lock, 0, name)

/* Reports a fault unless the caller holds @lock. */
#define lockscope_assert_held(lock) lockscope_annotation(LOCKSCOPE_OP_ASSERT_HELD, lock, 0, 0)

/*
 * Directly before @lock is acquired: locks of its class may be acquired in any number and
 * order, because the caller holds @nest. Reports a fault if it does not.
 */
#define lockscope_nest_lock(lock, nest) \
	lockscope_annotation(LOCKSCOPE_OP_NEST, lock, (unsigned long)(nest), 0)

/* Ignore the locks of the calling context between begin and end. They nest. */
#define lockscope_ignore_begin() lockscope_annotation(LOCKSCOPE_OP_IGNORE, 0, 1, 0)
#define lockscope_ignore_end() lockscope_annotation(LOCKSCOPE_OP_IGNORE, 0, 0, 0)

/*
 * [@p, @p + @n) is reused [Eraser 3.3]: reports a fault if the caller holds a lock in it, and
 * drops names that were given to locks in it.
 */
#define lockscope_reuse(p, n) lockscope_annotation(LOCKSCOPE_OP_REUSE, p, n, 0)

/*
 * Races on [@p, @p + @n) are benign, for @reason [Eraser 3.3]: they are not reported, until
 * the module is unloaded.
 */
#define lockscope_benign(p, n, reason) lockscope_annotation(LOCKSCOPE_OP_BENIGN, p, n, reason)

#endif /* LOCKSCOPE_ANNOTATE_H */
