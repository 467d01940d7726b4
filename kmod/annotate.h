/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For authors of kernel modules: what LockScope cannot see by itself.
 *
 * Include this file, nothing else is needed: no symbol to link, no dependency in
 * either direction. Each annotation is a call of an empty function in your own
 * module; LockScope, when it is loaded, hooks that function. When it is not, you
 * pay for the call and a nop.
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
 * Found by its name and hooked: no copies of it under other names, made for the
 * arguments that a file happens to use. The barrier keeps calls and arguments.
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
 * A lock of your own making at address @p, called @name. _acquire: the caller
 * waits until it has it, _acquire_read: as one of several readers who may wait
 * for a writer, _acquire_try: taken without waiting. Call them where the lock is
 * taken, _release where it is given back, by the same context.
 */
#define lockscope_acquire(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE, p, 0, name)
#define lockscope_acquire_read(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_READ, p, 0, name)
#define lockscope_acquire_try(p, name) lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_TRY, p, 0, name)
#define lockscope_release(p) lockscope_annotation(LOCKSCOPE_OP_RELEASE, p, 0, 0)

/*
 * The same of one of many locks in a table, such as a bit in each element: @name is of
 * all of them, and nothing is kept of one that nobody has. @try: taken without
 * waiting. Between the two nobody else has a lock at @p.
 */
#define lockscope_acquire_member(p, try, name) \
	lockscope_annotation(LOCKSCOPE_OP_ACQUIRE_MEMBER, p, try, name)
#define lockscope_release_member(p) lockscope_annotation(LOCKSCOPE_OP_RELEASE_MEMBER, p, 0, 0)

/* From now on the lock (of any type) is of class @name, until its memory is freed. */
#define lockscope_set_class(lock, name) lockscope_annotation(LOCKSCOPE_OP_CLASS, lock, 0, name)

/* The same directly before the lock is initialised: a fault if the caller holds it. */
#define lockscope_init_lock(lock, name) lockscope_annotation(LOCKSCOPE_OP_INIT, lock, 0, name)

/* A fault unless the caller holds @lock. */
#define lockscope_assert_held(lock) lockscope_annotation(LOCKSCOPE_OP_ASSERT_HELD, lock, 0, 0)

/*
 * Directly before @lock is taken: any number of its class may be taken in any
 * order, because the caller holds @nest. A fault unless it does.
 */
#define lockscope_nest_lock(lock, nest) \
	lockscope_annotation(LOCKSCOPE_OP_NEST, lock, (unsigned long)(nest), 0)

/* What the calling context does in between is not looked at. They nest. */
#define lockscope_ignore_begin() lockscope_annotation(LOCKSCOPE_OP_IGNORE, 0, 1, 0)
#define lockscope_ignore_end() lockscope_annotation(LOCKSCOPE_OP_IGNORE, 0, 0, 0)

/*
 * [@p, @p + @n) begins a new life [Eraser 3.3]: a fault if the caller holds a lock in
 * it, and names given to locks in it are forgotten.
 */
#define lockscope_reuse(p, n) lockscope_annotation(LOCKSCOPE_OP_REUSE, p, n, 0)

/*
 * Races on [@p, @p + @n) do no harm, for @reason [Eraser 3.3]: they are not
 * reported, until the module goes.
 */
#define lockscope_benign(p, n, reason) lockscope_annotation(LOCKSCOPE_OP_BENIGN, p, n, reason)

#endif /* LOCKSCOPE_ANNOTATE_H */
