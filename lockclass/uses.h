/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the use of a class in interrupts, or with interrupts on, new? A class in both states is a
 * deadlock only where one instance was in both (states.h). So each instance of such a class is
 * reported, and of a class at an end of an inversion. Slow paths of hooks, any context.
 */
#ifndef LOCKSCOPE_USES_H
#define LOCKSCOPE_USES_H

#include "abi.h"
#include "classes.h"
#include "edges.h"
#include "hash.h"
#include "port.h"
#include "seen.h"

#define LS_USES_REPORTED 96	/* instances of one class, each in each of its states */
#define LS_USES_LOOKS 4096	/* acquisitions of one class that are compared */

/* LS_USE_* of both states of one kind of interrupt? */
LS_INLINE bool ls_uses_clash(ls_u32 usage)
{
	return (usage & LS_USE_IN_ANY_HARDIRQ && usage & LS_USE_ON_ANY_HARDIRQ) ||
	       (usage & LS_USE_IN_ANY_SOFTIRQ && usage & LS_USE_ON_ANY_SOFTIRQ);
}

/* Has @c instances that an interrupt may wait for? A static lock is a class of its own. */
LS_INLINE bool ls_uses_differ(const struct ls_class *c)
{
	return c->origin != LS_ORIGIN_STATIC && LS_SPINNING_KINDS >> c->kind & 1;
}

/* Are instances of @c compared? */
LS_INLINE bool ls_uses_compares(const struct ls_class *c)
{
	return (ls_load(&c->marks) & LS_CLASS_USES || ls_uses_clash(ls_load(&c->usage))) &&
	       ls_uses_differ(c) && ls_load(&c->uses) < LS_USES_REPORTED;
}

/* @c is at an end of an inversion: is it to be LS_CLASS_USES? Once. */
LS_INLINE bool ls_uses_want(const struct ls_class *c)
{
	return ls_uses_differ(c) && !(ls_load(&c->marks) & LS_CLASS_USES) && !ls_load(&c->use_looks);
}

LS_INLINE ls_u64 ls_use_key(ls_u64 lock, ls_u32 use)
{
	return ls_mix(ls_mix(lock) + use) | 1;
}

/* Is @use of instance @lock of class @c, with @gates held, not reported yet? */
LS_INLINE bool ls_use_is_new(const struct ls_class *c, const struct ls_seen *seen, ls_u64 lock,
			     ls_u32 use, ls_u32 gates)
{
	return use & ~ls_load(&c->usage) ||
	       (use & LS_USE_ON_ANY_HARDIRQ && ~(ls_load(&c->absent[0]) | gates)) ||
	       (use & LS_USE_ON_ANY_SOFTIRQ && ~(ls_load(&c->absent[1]) | gates)) ||
	       (use & LS_USE_IN_ANY_HARDIRQ && ~(ls_load(&c->absent_in[0]) | gates)) ||
	       (use & LS_USE_IN_ANY_SOFTIRQ && ~(ls_load(&c->absent_in[1]) | gates)) ||
	       (use && ls_uses_compares(c) && !ls_seen_has(seen, ls_use_key(lock, use)));
}

/* @use of @lock is reported, see ls_use_is_new(). */
LS_INLINE void ls_use_mark(struct ls_class *c, struct ls_seen *seen, ls_u64 lock, ls_u32 use,
			   ls_u32 gates)
{
	ls_u64 key = ls_use_key(lock, use);

	ls_fetch_or(&c->usage, use);
	if (use & LS_USE_ON_ANY_HARDIRQ)
		ls_fetch_or(&c->absent[0], ~gates);
	if (use & LS_USE_ON_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent[1], ~gates);
	if (use & LS_USE_IN_ANY_HARDIRQ)
		ls_fetch_or(&c->absent_in[0], ~gates);
	if (use & LS_USE_IN_ANY_SOFTIRQ)
		ls_fetch_or(&c->absent_in[1], ~gates);
	if (use && ls_uses_compares(c) && !ls_seen_has(seen, key)) {
		ls_fetch_add(&c->uses, 1);
		ls_seen_add(seen, key);
	}
}

/* An acquisition of class @c, LS_CLASS_USES, was compared. The last one ends that. */
LS_INLINE void ls_uses_looked(struct ls_class *c)
{
	if (ls_fetch_add(&c->use_looks, 1) >= LS_USES_LOOKS ||
	    ls_load(&c->uses) >= LS_USES_REPORTED)
		ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_USES);
}

#endif /* LOCKSCOPE_USES_H */
