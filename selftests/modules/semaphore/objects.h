/* SPDX-License-Identifier: GPL-2.0 */
/* Objects with a semaphore, of one allocation site. */
#ifndef LS_SEMAPHORE_OBJECTS_H
#define LS_SEMAPHORE_OBJECTS_H

#include <linux/semaphore.h>
#include <linux/slab.h>

#include "selftest.h"

/* NAME_all: @nr objects of struct @type, whose semaphore is its member "lock". For a case's setup. */
#define LS_SEMAPHORES(name, type, nr)						\
static struct type *name##_all[nr];						\
										\
static __side struct type *name##_new(void)					\
{										\
	struct type *object = kzalloc(sizeof(*object), GFP_KERNEL);		\
										\
	if (object)								\
		sema_init(&object->lock, 1);					\
	return object;								\
}										\
										\
static int name##_setup(void)							\
{										\
	unsigned int i;								\
										\
	for (i = 0; i < nr; i++) {						\
		name##_all[i] = name##_new();					\
		if (!name##_all[i])						\
			return -ENOMEM;						\
	}									\
	return 0;								\
}										\
										\
static void name##_teardown(void)						\
{										\
	unsigned int i;								\
										\
	for (i = 0; i < nr; i++) {						\
		kfree(name##_all[i]);						\
		name##_all[i] = NULL;						\
	}									\
}

#endif /* LS_SEMAPHORE_OBJECTS_H */
