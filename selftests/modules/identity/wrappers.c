// SPDX-License-Identifier: GPL-2.0
/*
 * A driver's own mutex around the kernel's, as openafs has it: functions to initialise, acquire
 * and release any of them. Their callers are what is different about two locks.
 */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "selftest.h"

struct own_mutex {
	struct mutex mutex;
	pid_t owner;
};

/* Not __side: cases have no names in common with these. */
static noinline __attribute__((__noipa__)) void own_mutex_init(struct own_mutex *m)
{
	mutex_init(&m->mutex);
	m->owner = 0;
}

static noinline __attribute__((__noipa__)) void own_mutex_enter(struct own_mutex *m)
{
	mutex_lock(&m->mutex);
	if (m->owner)
		pr_err("owned by %d\n", m->owner);
	m->owner = current->pid;
}

static noinline __attribute__((__noipa__)) int own_mutex_try(struct own_mutex *m)
{
	if (!mutex_trylock(&m->mutex))
		return 0;
	m->owner = current->pid;
	return 1;
}

static noinline __attribute__((__noipa__)) void own_mutex_exit(struct own_mutex *m)
{
	m->owner = 0;
	mutex_unlock(&m->mutex);
}

/* Two locks of two objects, taken in both orders. */
struct wrp_cell {
	int value;
	struct own_mutex lock;
};

struct wrp_volume {
	long value[3];
	struct own_mutex lock;
};

static struct wrp_cell *wrp_cell;
static struct wrp_volume *wrp_volume;

static __side int wrp_inv_new_cell(void)
{
	wrp_cell = kzalloc(sizeof(*wrp_cell), GFP_KERNEL);
	if (!wrp_cell)
		return -ENOMEM;
	own_mutex_init(&wrp_cell->lock);
	return 0;
}

static __side int wrp_inv_new_volume(void)
{
	wrp_volume = kzalloc(sizeof(*wrp_volume), GFP_KERNEL);
	if (!wrp_volume)
		return -ENOMEM;
	own_mutex_init(&wrp_volume->lock);
	return 0;
}

static int wrp_inv_setup(void)
{
	int ret = wrp_inv_new_cell();

	return ret ? ret : wrp_inv_new_volume();
}

static void wrp_inv_teardown(void)
{
	kfree(wrp_cell);
	kfree(wrp_volume);
	wrp_cell = NULL;
	wrp_volume = NULL;
}

static __side void wrp_inv_task1(void)
{
	own_mutex_enter(&wrp_cell->lock);
	own_mutex_enter(&wrp_volume->lock);
	own_mutex_exit(&wrp_volume->lock);
	own_mutex_exit(&wrp_cell->lock);
}

static __side void wrp_inv_task2(void)
{
	own_mutex_enter(&wrp_volume->lock);
	own_mutex_enter(&wrp_cell->lock);
	own_mutex_exit(&wrp_cell->lock);
	own_mutex_exit(&wrp_volume->lock);
}

/*
 * Three locks in one order. As one class they nest in themselves in both orders of their
 * addresses.
 */
static struct wrp_ok_all {
	struct own_mutex a;
	long pad[5];
	struct own_mutex b;
	struct own_mutex c;
} *wrp_ok_all;

/* One function initialises all of them, by calls of one wrapper. */
static __side void wrp_ok_new(struct wrp_ok_all *all)
{
	own_mutex_init(&all->a);
	own_mutex_init(&all->b);
	own_mutex_init(&all->c);
}

static int wrp_inv_ok_setup(void)
{
	wrp_ok_all = kzalloc(sizeof(*wrp_ok_all), GFP_KERNEL);
	if (!wrp_ok_all)
		return -ENOMEM;
	wrp_ok_new(wrp_ok_all);
	return 0;
}

static void wrp_inv_ok_teardown(void)
{
	kfree(wrp_ok_all);
	wrp_ok_all = NULL;
}

static __side void wrp_inv_ok_task1(void)
{
	own_mutex_enter(&wrp_ok_all->a);
	own_mutex_enter(&wrp_ok_all->c);
	own_mutex_exit(&wrp_ok_all->c);
	own_mutex_exit(&wrp_ok_all->a);
}

static __side void wrp_inv_ok_task2(void)
{
	own_mutex_enter(&wrp_ok_all->c);
	own_mutex_enter(&wrp_ok_all->b);
	ls_require(!own_mutex_try(&wrp_ok_all->b));
	own_mutex_exit(&wrp_ok_all->b);
	own_mutex_exit(&wrp_ok_all->c);
}

const struct ls_case order_wrapper_cases[] = {
	{ "wrp_inv", LS_FAULT, LS_CYCLE, "two locks behind wrappers, in both orders",
	  "wrp_inv_new_cell wrp_inv_new_volume", .setup = wrp_inv_setup, .teardown = wrp_inv_teardown,
	  .side = { { wrp_inv_task1 }, { wrp_inv_task2 } } },
	{ "wrp_inv_ok", LS_TWIN, LS_RECURSIVE, "three locks behind wrappers, in one order", "",
	  .setup = wrp_inv_ok_setup, .teardown = wrp_inv_ok_teardown,
	  .side = { { wrp_inv_ok_task1 }, { wrp_inv_ok_task2 } } },
	{ }
};
