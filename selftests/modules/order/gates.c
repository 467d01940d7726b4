// SPDX-License-Identifier: GPL-2.0
/*
 * Gate locks of which there are several: a side that comes again behind another
 * instance of the gate's class takes the same classes in the same order.
 */
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "selftest.h"

#define GATE_OBJECTS 3

struct gate_object {
	struct mutex a;
	struct mutex b;
	long padding[5];	/* a size of its own: no class in common with the gates */
};

static __side int gate_new(struct mutex **gates, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		gates[i] = kmalloc(sizeof(**gates), GFP_KERNEL);
		if (!gates[i])
			return -ENOMEM;
		mutex_init(gates[i]);
	}
	return 0;
}

static void gate_free(struct mutex **gates, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		kfree(gates[i]);
}

static void gate_take(struct mutex *gate, struct mutex *lock)
{
	mutex_lock(gate);
	mutex_lock(lock);
	mutex_unlock(lock);
	mutex_unlock(gate);
}

static void gate_nest(struct mutex *gate, struct mutex *outer, struct mutex *inner)
{
	mutex_lock(gate);
	mutex_lock(outer);
	mutex_lock(inner);
	mutex_unlock(inner);
	mutex_unlock(outer);
	mutex_unlock(gate);
}

/*
 * Both orders behind one gate, then one of them behind another instance of its class,
 * behind which each of the locks alone is nothing new.
 */
static struct mutex *gate_other_gates[2];
static DEFINE_MUTEX(gate_other_a);
static DEFINE_MUTEX(gate_other_b);

static int gate_other_setup(void)
{
	return gate_new(gate_other_gates, 2);
}

static void gate_other_teardown(void)
{
	gate_free(gate_other_gates, 2);
}

static __side void gate_other_ab(void)
{
	gate_nest(gate_other_gates[0], &gate_other_a, &gate_other_b);
}

static __side void gate_other_ba(void)
{
	gate_nest(gate_other_gates[0], &gate_other_b, &gate_other_a);
}

static __side void gate_other_alone(void)
{
	gate_take(gate_other_gates[1], &gate_other_a);
	gate_take(gate_other_gates[1], &gate_other_b);
}

static __side void gate_other_ba_again(void)
{
	gate_nest(gate_other_gates[1], &gate_other_b, &gate_other_a);
}

static struct mutex *gate_other_ok_gates[2];
static DEFINE_MUTEX(gate_other_ok_a);
static DEFINE_MUTEX(gate_other_ok_b);

static int gate_other_ok_setup(void)
{
	return gate_new(gate_other_ok_gates, 2);
}

static void gate_other_ok_teardown(void)
{
	gate_free(gate_other_ok_gates, 2);
}

static __side void gate_other_ok_ab(void)
{
	gate_nest(gate_other_ok_gates[0], &gate_other_ok_a, &gate_other_ok_b);
}

static __side void gate_other_ok_ba(void)
{
	gate_nest(gate_other_ok_gates[0], &gate_other_ok_b, &gate_other_ok_a);
}

/* The other gate is only ever around one lock. */
static __side void gate_other_ok_alone(void)
{
	gate_take(gate_other_ok_gates[1], &gate_other_ok_a);
	gate_take(gate_other_ok_gates[1], &gate_other_ok_b);
}

/* The same after the orders have long been usual: the other gate comes once, at the end. */
#define GATE_LATER_ROUNDS 50000

static struct mutex *gate_later_gates[2];
static DEFINE_MUTEX(gate_later_a);
static DEFINE_MUTEX(gate_later_b);

static int gate_later_setup(void)
{
	return gate_new(gate_later_gates, 2);
}

static void gate_later_teardown(void)
{
	gate_free(gate_later_gates, 2);
}

static __side void gate_later_ab(void)
{
	gate_nest(gate_later_gates[0], &gate_later_a, &gate_later_b);
}

static __side void gate_later_ba(void)
{
	unsigned int i;

	for (i = 0; i < GATE_LATER_ROUNDS; i++)
		gate_nest(gate_later_gates[0], &gate_later_b, &gate_later_a);
}

static __side void gate_later_ba_once(void)
{
	gate_nest(gate_later_gates[1], &gate_later_b, &gate_later_a);
}

static __side void gate_later_pause(void)
{
	msleep(4000);
}

static struct mutex *gate_later_ok_gates[1];
static DEFINE_MUTEX(gate_later_ok_a);
static DEFINE_MUTEX(gate_later_ok_b);

static int gate_later_ok_setup(void)
{
	return gate_new(gate_later_ok_gates, 1);
}

static void gate_later_ok_teardown(void)
{
	gate_free(gate_later_ok_gates, 1);
}

static __side void gate_later_ok_ab(void)
{
	gate_nest(gate_later_ok_gates[0], &gate_later_ok_a, &gate_later_ok_b);
}

static __side void gate_later_ok_ba(void)
{
	unsigned int i;

	for (i = 0; i < GATE_LATER_ROUNDS; i++)
		gate_nest(gate_later_ok_gates[0], &gate_later_ok_b, &gate_later_ok_a);
}

static __side void gate_later_ok_ba_once(void)
{
	gate_nest(gate_later_ok_gates[0], &gate_later_ok_b, &gate_later_ok_a);
}

/* A gate for each object, until one object is locked behind that of another one. */
static struct mutex *gate_each_gates[GATE_OBJECTS];
static struct gate_object *gate_each_objects[GATE_OBJECTS];

static __side int gate_each_new(struct gate_object **objects)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++) {
		objects[i] = kmalloc(sizeof(**objects), GFP_KERNEL);
		if (!objects[i])
			return -ENOMEM;
		mutex_init(&objects[i]->a);
		mutex_init(&objects[i]->b);
	}
	return 0;
}

static void gate_each_free(struct gate_object **objects)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++)
		kfree(objects[i]);
}

static int gate_each_setup(void)
{
	return gate_new(gate_each_gates, GATE_OBJECTS) ?: gate_each_new(gate_each_objects);
}

static void gate_each_teardown(void)
{
	gate_free(gate_each_gates, GATE_OBJECTS);
	gate_each_free(gate_each_objects);
}

static __side void gate_each_ab(void)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++)
		gate_nest(gate_each_gates[i], &gate_each_objects[i]->a, &gate_each_objects[i]->b);
}

static __side void gate_each_ba(void)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++)
		gate_nest(gate_each_gates[i], &gate_each_objects[i]->b, &gate_each_objects[i]->a);
}

static __side void gate_each_alone(void)
{
	gate_take(gate_each_gates[0], &gate_each_objects[1]->a);
	gate_take(gate_each_gates[0], &gate_each_objects[1]->b);
}

static __side void gate_each_ba_crossed(void)
{
	gate_nest(gate_each_gates[0], &gate_each_objects[1]->b, &gate_each_objects[1]->a);
}

static struct mutex *gate_each_ok_gates[GATE_OBJECTS];
static struct gate_object *gate_each_ok_objects[GATE_OBJECTS];

static __side int gate_each_ok_new(struct gate_object **objects)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++) {
		objects[i] = kmalloc(sizeof(**objects), GFP_KERNEL);
		if (!objects[i])
			return -ENOMEM;
		mutex_init(&objects[i]->a);
		mutex_init(&objects[i]->b);
	}
	return 0;
}

static int gate_each_ok_setup(void)
{
	return gate_new(gate_each_ok_gates, GATE_OBJECTS) ?:
	       gate_each_ok_new(gate_each_ok_objects);
}

static void gate_each_ok_teardown(void)
{
	gate_free(gate_each_ok_gates, GATE_OBJECTS);
	gate_each_free(gate_each_ok_objects);
}

static __side void gate_each_ok_ab(void)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++)
		gate_nest(gate_each_ok_gates[i], &gate_each_ok_objects[i]->a,
			  &gate_each_ok_objects[i]->b);
}

static __side void gate_each_ok_alone(void)
{
	gate_take(gate_each_ok_gates[0], &gate_each_ok_objects[1]->a);
	gate_take(gate_each_ok_gates[0], &gate_each_ok_objects[1]->b);
}

static __side void gate_each_ok_ba(void)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++)
		gate_nest(gate_each_ok_gates[i], &gate_each_ok_objects[i]->b,
			  &gate_each_ok_objects[i]->a);
}

/*
 * An object is locked behind a gate, and once without. That dependency is known by then, from
 * another object that has no gate.
 */
static struct gate_object *gate_gone_objects[GATE_OBJECTS];
static DEFINE_MUTEX(gate_gone_gate);
static DEFINE_MUTEX(gate_gone_b);

static __side int gate_gone_new(struct gate_object **objects)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++) {
		objects[i] = kmalloc(sizeof(**objects), GFP_KERNEL);
		if (!objects[i])
			return -ENOMEM;
		mutex_init(&objects[i]->a);
	}
	return 0;
}

static int gate_gone_setup(void)
{
	return gate_gone_new(gate_gone_objects);
}

static void gate_gone_teardown(void)
{
	gate_each_free(gate_gone_objects);
}

static __side void gate_gone_ab(void)
{
	gate_nest(&gate_gone_gate, &gate_gone_objects[1]->a, &gate_gone_b);
	gate_take(&gate_gone_objects[0]->a, &gate_gone_b);
}

static __side void gate_gone_ba(void)
{
	gate_nest(&gate_gone_gate, &gate_gone_b, &gate_gone_objects[1]->a);
	/* The dependencies of the cycle are looked for once a second. */
	msleep(4000);
}

static __side void gate_gone_ab_alone(void)
{
	gate_take(&gate_gone_objects[1]->a, &gate_gone_b);
}

static struct gate_object *gate_gone_ok_objects[GATE_OBJECTS];
static DEFINE_MUTEX(gate_gone_ok_gate);
static DEFINE_MUTEX(gate_gone_ok_b);

static __side int gate_gone_ok_new(struct gate_object **objects)
{
	unsigned int i;

	for (i = 0; i < GATE_OBJECTS; i++) {
		objects[i] = kmalloc(sizeof(**objects), GFP_KERNEL);
		if (!objects[i])
			return -ENOMEM;
		mutex_init(&objects[i]->a);
	}
	return 0;
}

static int gate_gone_ok_setup(void)
{
	return gate_gone_ok_new(gate_gone_ok_objects);
}

static void gate_gone_ok_teardown(void)
{
	gate_each_free(gate_gone_ok_objects);
}

static __side void gate_gone_ok_ab(void)
{
	gate_nest(&gate_gone_ok_gate, &gate_gone_ok_objects[1]->a, &gate_gone_ok_b);
	gate_nest(&gate_gone_ok_gate, &gate_gone_ok_objects[0]->a, &gate_gone_ok_b);
}

static __side void gate_gone_ok_ba(void)
{
	gate_nest(&gate_gone_ok_gate, &gate_gone_ok_b, &gate_gone_ok_objects[1]->a);
	msleep(4000);
}

static __side void gate_gone_ok_ab_again(void)
{
	gate_nest(&gate_gone_ok_gate, &gate_gone_ok_objects[1]->a, &gate_gone_ok_b);
}

const struct ls_case order_gates_cases[] = {
	{ "gate_other", LS_FAULT, LS_CYCLE, "one gate for both orders, then another instance for one",
	  "gate_other_a gate_other_b",
	  .setup = gate_other_setup, .teardown = gate_other_teardown,
	  .side = { { gate_other_ab }, { gate_other_ba }, { gate_other_alone },
		    { gate_other_ba_again } } },
	{ "gate_other_ok", LS_TWIN, LS_CYCLE, "one gate for both orders, another instance around each lock alone",
	  "gate_other_ok_a gate_other_ok_b",
	  .setup = gate_other_ok_setup, .teardown = gate_other_ok_teardown,
	  .side = { { gate_other_ok_ab }, { gate_other_ok_ba }, { gate_other_ok_alone },
		    { gate_other_ok_ba } } },
	{ "gate_later", LS_FAULT, LS_CYCLE, "another instance of the gate, once and late",
	  "gate_later_a gate_later_b",
	  .setup = gate_later_setup, .teardown = gate_later_teardown,
	  .side = { { gate_later_ab }, { gate_later_ba }, { gate_later_pause },
		    { gate_later_ba_once } } },
	{ "gate_later_ok", LS_TWIN, LS_CYCLE, "one gate, however often",
	  "gate_later_ok_a gate_later_ok_b",
	  .setup = gate_later_ok_setup, .teardown = gate_later_ok_teardown,
	  .side = { { gate_later_ok_ab }, { gate_later_ok_ba }, { gate_later_ok_ba_once } } },
	{ "gate_each", LS_FAULT, LS_CYCLE, "a gate for each object, once that of another object",
	  "gate_each_new",
	  .setup = gate_each_setup, .teardown = gate_each_teardown,
	  .side = { { gate_each_ab }, { gate_each_ba }, { gate_each_alone },
		    { gate_each_ba_crossed } } },
	{ "gate_each_ok", LS_TWIN, LS_CYCLE, "a gate for each object, always its own",
	  "gate_each_ok_new",
	  .setup = gate_each_ok_setup, .teardown = gate_each_ok_teardown,
	  .side = { { gate_each_ok_ab }, { gate_each_ok_ba }, { gate_each_ok_alone },
		    { gate_each_ok_ba } } },
	{ "gate_gone", LS_FAULT, LS_CYCLE, "a gate around one of two objects, and once not",
	  "gate_gone_new gate_gone_b",
	  .setup = gate_gone_setup, .teardown = gate_gone_teardown,
	  .side = { { gate_gone_ab }, { gate_gone_ba }, { gate_gone_ab_alone } } },
	{ "gate_gone_ok", LS_TWIN, LS_CYCLE, "a gate around two objects, always",
	  "gate_gone_ok_new gate_gone_ok_b",
	  .setup = gate_gone_ok_setup, .teardown = gate_gone_ok_teardown,
	  .side = { { gate_gone_ok_ab }, { gate_gone_ok_ba }, { gate_gone_ok_ab_again } } },
	{ }
};
