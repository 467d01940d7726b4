// SPDX-License-Identifier: GPL-2.0
/* Locks and functions with the names of those of names.c. */
#include <linux/slab.h>

#include "names.h"
#include "selftest.h"

#define OTHER_MUTEX(name)			\
	static DEFINE_MUTEX(name##_lock);	\
	struct mutex *name##_other(void) { return &name##_lock; }

OTHER_MUTEX(name_files)
OTHER_MUTEX(name_files_ok)
OTHER_MUTEX(name_mid)
OTHER_MUTEX(name_mid_ok)

#define OTHER_PERCPU(name)									\
	static DEFINE_PER_CPU(spinlock_t, name##_lock) = __SPIN_LOCK_UNLOCKED(name##_lock);	\
	spinlock_t *name##_other(void) { return per_cpu_ptr(&name##_lock, 0); }

OTHER_PERCPU(name_percpu)
OTHER_PERCPU(name_percpu_ok)

#define OTHER_OBJECT(name)						\
	static __side void name##_make(struct ls_named *object)		\
	{								\
		mutex_init(&object->lock);				\
		/* No jump: the initialiser returns to here. */		\
		barrier();						\
	}								\
									\
	struct ls_named *name##_other(void)				\
	{								\
		struct ls_named *object = kmalloc(sizeof(*object), GFP_KERNEL);	\
									\
		if (object)						\
			name##_make(object);				\
		return object;						\
	}

OTHER_OBJECT(name_init)
OTHER_OBJECT(name_init_ok)

/* Of the fault as of the twin: this work takes the mutex, the one of that name does not. */
#define OTHER_WORK(name)						\
	static __side void name##_run(struct work_struct *work)		\
	{								\
		mutex_lock(&name##_m);					\
		mutex_unlock(&name##_m);				\
	}								\
	struct work_struct name##_other = __WORK_INITIALIZER(name##_other, name##_run);

OTHER_WORK(name_work)
OTHER_WORK(name_work_ok)
