/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases of two objects that have the same lock: the lock of the first one is taken outside
 * another lock, that of the second one inside. Where both are of one class, that is a cycle.
 */
#ifndef LS_ROLES_H
#define LS_ROLES_H

#include "selftest.h"

/* NAME: the lock of the first object outside NAME_l, that of the second one inside. */
#define ROLE_SIDES(name, take, give, lock, take_l, give_l)	\
static __side void name##_ol(void)				\
{								\
	take(lock(name##_of[0]));				\
	take_l(&name##_l);					\
	give_l(&name##_l);					\
	give(lock(name##_of[0]));				\
}								\
								\
static __side void name##_lo(void)				\
{								\
	take_l(&name##_l);					\
	take(lock(name##_of[1]));				\
	give(lock(name##_of[1]));				\
	give_l(&name##_l);					\
}

/* NAME_of: a pair of objects, of types FIRST and SECOND. */
#define ROLE_PAIR(name, object, make, unmake, first, second)	\
static object *name##_of[2];					\
								\
static int name##_setup(void)					\
{								\
	name##_of[0] = make(first);				\
	name##_of[1] = make(second);				\
	return name##_of[0] && name##_of[1] ? 0 : -ENOMEM;	\
}								\
								\
static void name##_teardown(void)				\
{								\
	int i;							\
								\
	for (i = 0; i < 2; i++) {				\
		if (name##_of[i])				\
			unmake(name##_of[i]);			\
		name##_of[i] = NULL;				\
	}							\
}

#define ROLE_CASE(name, verdict, summary, classes)			\
	{ #name, verdict, LS_CYCLE, summary, classes,			\
	  .setup = name##_setup, .teardown = name##_teardown,		\
	  .side = { { name##_ol }, { name##_lo } } }

#endif /* LS_ROLES_H */
