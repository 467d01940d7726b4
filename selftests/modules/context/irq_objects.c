// SPDX-License-Identifier: GPL-2.0
/* Objects of one type that tasks and hardirqs acquire: which of them does what. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

/* Two objects of one type: what is done to one can be done to the other. */
struct ls_irq_object {
	unsigned long serial;
	spinlock_t lock;
};

static struct ls_irq_object *irq_object_two[2];

static __side int irq_object_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		irq_object_two[i] = kzalloc(sizeof(**irq_object_two), GFP_KERNEL);
		if (!irq_object_two[i])
			return -ENOMEM;
		spin_lock_init(&irq_object_two[i]->lock);
	}
	return 0;
}

static void irq_object_teardown(void)
{
	kfree(irq_object_two[0]);
	kfree(irq_object_two[1]);
}

LS_TAKES(irq_object_hrtimer, irq_object_two[0]->lock, spin_lock, spin_unlock)
LS_TAKES(irq_object_task, irq_object_two[1]->lock, spin_lock, spin_unlock)

static struct ls_irq_object *irq_object_ok_two[2];

static __side int irq_object_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		irq_object_ok_two[i] = kzalloc(sizeof(**irq_object_ok_two), GFP_KERNEL);
		if (!irq_object_ok_two[i])
			return -ENOMEM;
		spin_lock_init(&irq_object_ok_two[i]->lock);
	}
	return 0;
}

static void irq_object_ok_teardown(void)
{
	kfree(irq_object_ok_two[0]);
	kfree(irq_object_ok_two[1]);
}

LS_TAKES(irq_object_ok_hrtimer, irq_object_ok_two[0]->lock, spin_lock, spin_unlock)
LS_TAKES(irq_object_ok_task, irq_object_ok_two[1]->lock, spin_lock_irq, spin_unlock_irq)

/*
 * Two objects that one function makes. That tasks acquire the first one as they do is long known
 * when an interrupt acquires the second one, which a task acquires later.
 */
#define KNOWN_ROUNDS 100
#define LATE_ROUNDS 4
#define LATE_MS 600

#define IRQ_OTHER(name, take, give)					\
static struct ls_irq_object *name##_two[2];				\
									\
static __side struct ls_irq_object *name##_make(void)			\
{									\
	struct ls_irq_object *object = kzalloc(sizeof(*object), GFP_KERNEL); \
									\
	if (object)							\
		spin_lock_init(&object->lock);				\
	return object;							\
}									\
									\
static __side int name##_setup(void)					\
{									\
	name##_two[0] = name##_make();					\
	name##_two[1] = name##_make();					\
	return name##_two[0] && name##_two[1] ? 0 : -ENOMEM;		\
}									\
									\
static void name##_teardown(void)					\
{									\
	kfree(name##_two[0]);						\
	kfree(name##_two[1]);						\
}									\
									\
static __side void name##_first(void)					\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < KNOWN_ROUNDS; i++) {				\
		take(&name##_two[0]->lock);				\
		give(&name##_two[0]->lock);				\
	}								\
}									\
									\
LS_TAKES(name##_hrtimer, name##_two[1]->lock, spin_lock, spin_unlock)	\
									\
static __side void name##_task(void)					\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < LATE_ROUNDS; i++) {				\
		msleep(LATE_MS);					\
		take(&name##_two[1]->lock);				\
		give(&name##_two[1]->lock);				\
	}								\
}

IRQ_OTHER(irq_other, spin_lock, spin_unlock)
IRQ_OTHER(irq_other_ok, spin_lock_irq, spin_unlock_irq)

const struct ls_case verdict_irq_object_cases[] = {
	{ "irq_object", LS_FAULT, LS_IRQ_STATE, "two objects of a type, one of them in hardirq",
	  "irq_object_setup",
	  .setup = irq_object_setup, .teardown = irq_object_teardown,
	  .side = { { irq_object_hrtimer, LS_HRTIMER }, { irq_object_task } } },
	{ "irq_object_ok", LS_TWIN, LS_IRQ_STATE, "two objects of a type, both with hardirqs off",
	  "irq_object_ok_setup",
	  .setup = irq_object_ok_setup, .teardown = irq_object_ok_teardown,
	  .side = { { irq_object_ok_hrtimer, LS_HRTIMER }, { irq_object_ok_task } } },
	{ "irq_other", LS_FAULT, LS_IRQ_STATE, "in hardirq the second of two that tasks take",
	  "irq_other_make", .setup = irq_other_setup, .teardown = irq_other_teardown,
	  .side = { { irq_other_first }, { irq_other_hrtimer, LS_HRTIMER }, { irq_other_task } } },
	{ "irq_other_ok", LS_TWIN, LS_IRQ_STATE, "tasks take both with hardirqs off",
	  "irq_other_ok_make", .setup = irq_other_ok_setup, .teardown = irq_other_ok_teardown,
	  .side = { { irq_other_ok_first }, { irq_other_ok_hrtimer, LS_HRTIMER },
		    { irq_other_ok_task } } },
	{ }
};
