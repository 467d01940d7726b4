// SPDX-License-Identifier: GPL-2.0
/*
 * Gate locks: a lock that both sides hold exclusively around the pair keeps
 * them apart, whatever the order inside. It has to be the same instance, held
 * exclusively by at least one side, taken before the first of the pair and
 * still held at the second.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_MUTEX(gate_side_g);
static DEFINE_SPINLOCK(gate_side_a);
static DEFINE_SPINLOCK(gate_side_b);

static __side void gate_side_gated_ab(void)
{
	mutex_lock(&gate_side_g);
	spin_lock(&gate_side_a);
	spin_lock(&gate_side_b);
	spin_unlock(&gate_side_b);
	spin_unlock(&gate_side_a);
	mutex_unlock(&gate_side_g);
}

static __side void gate_side_bare_ba(void)
{
	spin_lock(&gate_side_b);
	spin_lock(&gate_side_a);
	spin_unlock(&gate_side_a);
	spin_unlock(&gate_side_b);
}

static DEFINE_MUTEX(gate_side_ok_g);
static DEFINE_SPINLOCK(gate_side_ok_a);
static DEFINE_SPINLOCK(gate_side_ok_b);

static __side void gate_side_ok_ab(void)
{
	mutex_lock(&gate_side_ok_g);
	spin_lock(&gate_side_ok_a);
	spin_lock(&gate_side_ok_b);
	spin_unlock(&gate_side_ok_b);
	spin_unlock(&gate_side_ok_a);
	mutex_unlock(&gate_side_ok_g);
}

static __side void gate_side_ok_ba(void)
{
	mutex_lock(&gate_side_ok_g);
	spin_lock(&gate_side_ok_b);
	spin_lock(&gate_side_ok_a);
	spin_unlock(&gate_side_ok_a);
	spin_unlock(&gate_side_ok_b);
	mutex_unlock(&gate_side_ok_g);
}

/* Both sides hold the gate, but only for reading: they meet behind it. */
static DECLARE_RWSEM(gate_shared_g);
static DEFINE_MUTEX(gate_shared_a);
static DEFINE_MUTEX(gate_shared_b);

static __side void gate_shared_ab(void)
{
	down_read(&gate_shared_g);
	mutex_lock(&gate_shared_a);
	mutex_lock(&gate_shared_b);
	mutex_unlock(&gate_shared_b);
	mutex_unlock(&gate_shared_a);
	up_read(&gate_shared_g);
}

static __side void gate_shared_ba(void)
{
	down_read(&gate_shared_g);
	mutex_lock(&gate_shared_b);
	mutex_lock(&gate_shared_a);
	mutex_unlock(&gate_shared_a);
	mutex_unlock(&gate_shared_b);
	up_read(&gate_shared_g);
}

/* One of the two writes: reader and writer never meet. */
static DECLARE_RWSEM(gate_shared_ok_g);
static DEFINE_MUTEX(gate_shared_ok_a);
static DEFINE_MUTEX(gate_shared_ok_b);

static __side void gate_shared_ok_reader_ab(void)
{
	down_read(&gate_shared_ok_g);
	mutex_lock(&gate_shared_ok_a);
	mutex_lock(&gate_shared_ok_b);
	mutex_unlock(&gate_shared_ok_b);
	mutex_unlock(&gate_shared_ok_a);
	up_read(&gate_shared_ok_g);
}

static __side void gate_shared_ok_writer_ba(void)
{
	down_write(&gate_shared_ok_g);
	mutex_lock(&gate_shared_ok_b);
	mutex_lock(&gate_shared_ok_a);
	mutex_unlock(&gate_shared_ok_a);
	mutex_unlock(&gate_shared_ok_b);
	up_write(&gate_shared_ok_g);
}

/* Each side has a gate of the same class, but another instance of it. */
static struct mutex *gate_instance_gates[2];
static DEFINE_MUTEX(gate_instance_a);
static DEFINE_MUTEX(gate_instance_b);

static __side struct mutex *gate_instance_new(void)
{
	struct mutex *gate = kmalloc(sizeof(*gate), GFP_KERNEL);

	if (gate)
		mutex_init(gate);
	return gate;
}

static int gate_instance_setup(void)
{
	gate_instance_gates[0] = gate_instance_new();
	gate_instance_gates[1] = gate_instance_new();
	return gate_instance_gates[0] && gate_instance_gates[1] ? 0 : -ENOMEM;
}

static void gate_instance_teardown(void)
{
	kfree(gate_instance_gates[0]);
	kfree(gate_instance_gates[1]);
}

static __side void gate_instance_first_ab(void)
{
	mutex_lock(gate_instance_gates[0]);
	mutex_lock(&gate_instance_a);
	mutex_lock(&gate_instance_b);
	mutex_unlock(&gate_instance_b);
	mutex_unlock(&gate_instance_a);
	mutex_unlock(gate_instance_gates[0]);
}

static __side void gate_instance_second_ba(void)
{
	mutex_lock(gate_instance_gates[1]);
	mutex_lock(&gate_instance_b);
	mutex_lock(&gate_instance_a);
	mutex_unlock(&gate_instance_a);
	mutex_unlock(&gate_instance_b);
	mutex_unlock(gate_instance_gates[1]);
}

static struct mutex *gate_instance_ok_gate;
static DEFINE_MUTEX(gate_instance_ok_a);
static DEFINE_MUTEX(gate_instance_ok_b);

static __side int gate_instance_ok_setup(void)
{
	gate_instance_ok_gate = kmalloc(sizeof(*gate_instance_ok_gate), GFP_KERNEL);
	if (!gate_instance_ok_gate)
		return -ENOMEM;
	mutex_init(gate_instance_ok_gate);
	return 0;
}

static void gate_instance_ok_teardown(void)
{
	kfree(gate_instance_ok_gate);
}

static __side void gate_instance_ok_ab(void)
{
	mutex_lock(gate_instance_ok_gate);
	mutex_lock(&gate_instance_ok_a);
	mutex_lock(&gate_instance_ok_b);
	mutex_unlock(&gate_instance_ok_b);
	mutex_unlock(&gate_instance_ok_a);
	mutex_unlock(gate_instance_ok_gate);
}

static __side void gate_instance_ok_ba(void)
{
	mutex_lock(gate_instance_ok_gate);
	mutex_lock(&gate_instance_ok_b);
	mutex_lock(&gate_instance_ok_a);
	mutex_unlock(&gate_instance_ok_a);
	mutex_unlock(&gate_instance_ok_b);
	mutex_unlock(gate_instance_ok_gate);
}

/* The gate is left before the second lock is waited for. */
static DEFINE_MUTEX(gate_dropped_g);
static DEFINE_MUTEX(gate_dropped_a);
static DEFINE_MUTEX(gate_dropped_b);

static __side void gate_dropped_ab(void)
{
	mutex_lock(&gate_dropped_g);
	mutex_lock(&gate_dropped_a);
	mutex_unlock(&gate_dropped_g);
	mutex_lock(&gate_dropped_b);
	mutex_unlock(&gate_dropped_b);
	mutex_unlock(&gate_dropped_a);
}

static __side void gate_dropped_ba(void)
{
	mutex_lock(&gate_dropped_g);
	mutex_lock(&gate_dropped_b);
	mutex_unlock(&gate_dropped_g);
	mutex_lock(&gate_dropped_a);
	mutex_unlock(&gate_dropped_a);
	mutex_unlock(&gate_dropped_b);
}

/* Left early as well, but only once the pair is complete. */
static DEFINE_MUTEX(gate_dropped_ok_g);
static DEFINE_MUTEX(gate_dropped_ok_a);
static DEFINE_MUTEX(gate_dropped_ok_b);

static __side void gate_dropped_ok_ab(void)
{
	mutex_lock(&gate_dropped_ok_g);
	mutex_lock(&gate_dropped_ok_a);
	mutex_lock(&gate_dropped_ok_b);
	mutex_unlock(&gate_dropped_ok_g);
	mutex_unlock(&gate_dropped_ok_b);
	mutex_unlock(&gate_dropped_ok_a);
}

static __side void gate_dropped_ok_ba(void)
{
	mutex_lock(&gate_dropped_ok_g);
	mutex_lock(&gate_dropped_ok_b);
	mutex_lock(&gate_dropped_ok_a);
	mutex_unlock(&gate_dropped_ok_g);
	mutex_unlock(&gate_dropped_ok_a);
	mutex_unlock(&gate_dropped_ok_b);
}

/* The gate is taken between the two: it guards nothing, it joins the circle. */
static DEFINE_MUTEX(gate_late_g);
static DEFINE_MUTEX(gate_late_a);
static DEFINE_MUTEX(gate_late_b);

static __side void gate_late_agb(void)
{
	mutex_lock(&gate_late_a);
	mutex_lock(&gate_late_g);
	mutex_lock(&gate_late_b);
	mutex_unlock(&gate_late_b);
	mutex_unlock(&gate_late_g);
	mutex_unlock(&gate_late_a);
}

static __side void gate_late_bga(void)
{
	mutex_lock(&gate_late_b);
	mutex_lock(&gate_late_g);
	mutex_lock(&gate_late_a);
	mutex_unlock(&gate_late_a);
	mutex_unlock(&gate_late_g);
	mutex_unlock(&gate_late_b);
}

const struct ls_case order_gate_cases[] = {
	{ "gate_side", LS_FAULT, LS_CYCLE, "a gate lock that only one side takes",
	  "gate_side_a gate_side_b",
	  .side = { { gate_side_gated_ab }, { gate_side_bare_ba } } },
	{ "gate_side_ok", LS_TWIN, LS_CYCLE, "both orders behind one gate lock",
	  "gate_side_ok_a gate_side_ok_b",
	  .side = { { gate_side_ok_ab }, { gate_side_ok_ba } } },
	{ "gate_shared", LS_FAULT, LS_CYCLE, "a gate that both sides hold for reading",
	  "gate_shared_a gate_shared_b",
	  .side = { { gate_shared_ab }, { gate_shared_ba } } },
	{ "gate_shared_ok", LS_TWIN, LS_CYCLE, "a gate read by one side and written by the other",
	  "gate_shared_ok_a gate_shared_ok_b",
	  .side = { { gate_shared_ok_reader_ab }, { gate_shared_ok_writer_ba } } },
	{ "gate_instance", LS_FAULT, LS_CYCLE, "gates of one class, but an instance for each side",
	  "gate_instance_a gate_instance_b",
	  .setup = gate_instance_setup, .teardown = gate_instance_teardown,
	  .side = { { gate_instance_first_ab }, { gate_instance_second_ba } } },
	{ "gate_instance_ok", LS_TWIN, LS_CYCLE, "one gate in an object for both sides",
	  "gate_instance_ok_a gate_instance_ok_b",
	  .setup = gate_instance_ok_setup, .teardown = gate_instance_ok_teardown,
	  .side = { { gate_instance_ok_ab }, { gate_instance_ok_ba } } },
	{ "gate_dropped", LS_FAULT, LS_CYCLE, "a gate left before the second lock",
	  "gate_dropped_a gate_dropped_b",
	  .side = { { gate_dropped_ab }, { gate_dropped_ba } } },
	{ "gate_dropped_ok", LS_TWIN, LS_CYCLE, "a gate left first, but after the second lock",
	  "gate_dropped_ok_a gate_dropped_ok_b",
	  .side = { { gate_dropped_ok_ab }, { gate_dropped_ok_ba } } },
	{ "gate_late", LS_FAULT, LS_CYCLE, "a gate taken between the two locks",
	  "gate_late_*",
	  .side = { { gate_late_agb }, { gate_late_bga } } },
	{ }
};
