// SPDX-License-Identifier: GPL-2.0
/* Making things known to others: flags, pointers, first-time initialisation. */
#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "races.h"

struct item {
	unsigned long v;
	struct rcu_head rcu;
};

static struct item *new_item(gfp_t gfp)
{
	struct item *p = kmalloc(sizeof(*p), gfp);

	if (p)
		p->v = ls_value();
	return p;
}

/* What is left over once no side runs any more: not an access like theirs. */
#define LEFTOVER(name, pointer) \
	static void name(void) \
	{ \
		kfree((void __force *)xchg(&(pointer), NULL)); \
	}

/* Double-checked locking; another context drops the table again. */
static struct item *pub_dcl_p;
static DEFINE_MUTEX(pub_dcl_m);
LEFTOVER(pub_dcl_teardown, pub_dcl_p)

static __side void pub_dcl_drop(void)
{
	struct item *old;

	mutex_lock(&pub_dcl_m);
	old = pub_dcl_p;
	pub_dcl_p = NULL;
	mutex_unlock(&pub_dcl_m);
	if (old)
		kfree_rcu(old, rcu);
}

static __side void pub_dcl_get(void)
{
	struct item *p;

	if (pub_dcl_p)
		return;
	mutex_lock(&pub_dcl_m);
	if (!pub_dcl_p) {
		p = new_item(GFP_KERNEL);
		pub_dcl_p = p;
	}
	mutex_unlock(&pub_dcl_m);
}

static struct item *pub_dcl_ok_p;
static DEFINE_MUTEX(pub_dcl_ok_m);
LEFTOVER(pub_dcl_ok_teardown, pub_dcl_ok_p)

static __side void pub_dcl_ok_drop(void)
{
	struct item *old;

	mutex_lock(&pub_dcl_ok_m);
	old = pub_dcl_ok_p;
	WRITE_ONCE(pub_dcl_ok_p, NULL);
	mutex_unlock(&pub_dcl_ok_m);
	if (old)
		kfree_rcu(old, rcu);
}

static __side void pub_dcl_ok_get(void)
{
	struct item *p;

	rcu_read_lock();
	p = smp_load_acquire(&pub_dcl_ok_p);
	if (p)
		ls_use(p->v);
	rcu_read_unlock();
	if (p)
		return;
	mutex_lock(&pub_dcl_ok_m);
	if (!pub_dcl_ok_p) {
		p = new_item(GFP_KERNEL);
		smp_store_release(&pub_dcl_ok_p, p);
	}
	mutex_unlock(&pub_dcl_ok_m);
}

/* Created by the first user: two of them may think they are the first. */
static unsigned long pub_lazy_v __shared;

static __side void pub_lazy_a(void)
{
	if (!(pub_lazy_v & 1))
		pub_lazy_v = ls_value();
}

static __side void pub_lazy_b(void)
{
	if (pub_lazy_v & 1)
		pub_lazy_v = ls_value();
}

static unsigned long pub_lazy_ok_v __shared;
static DEFINE_SPINLOCK(pub_lazy_ok_s);

static __side void pub_lazy_ok_a(void)
{
	spin_lock(&pub_lazy_ok_s);
	if (!(pub_lazy_ok_v & 1))
		pub_lazy_ok_v = ls_value();
	spin_unlock(&pub_lazy_ok_s);
}

static __side void pub_lazy_ok_b(void)
{
	spin_lock(&pub_lazy_ok_s);
	if (pub_lazy_ok_v & 1)
		pub_lazy_ok_v = ls_value();
	spin_unlock(&pub_lazy_ok_s);
}

/* Polling a flag without marking it. */
static bool pub_flag_v __shared;

static __side void pub_flag_set(void)
{
	pub_flag_v = !(ls_value() & 7);
}

static __side void pub_flag_poll(void)
{
	unsigned int i;

	for (i = 0; i < 10 && !pub_flag_v; i++)
		barrier();
}

static bool pub_flag_ok_v __shared;

static __side void pub_flag_ok_set(void)
{
	WRITE_ONCE(pub_flag_ok_v, !(ls_value() & 7));
}

static __side void pub_flag_ok_poll(void)
{
	unsigned int i;

	for (i = 0; i < 10 && !READ_ONCE(pub_flag_ok_v); i++)
		cpu_relax();
}

/* First known, then filled in. The object stays, for all to see. */
static struct item *pub_early_p;

static int pub_early_setup(void)
{
	return ls_keep(0, kzalloc(sizeof(struct item), GFP_KERNEL));
}

static void pub_early_teardown(void)
{
	WRITE_ONCE(pub_early_p, NULL);
	ls_free_kept();
}

static __side void pub_early_fill(void)
{
	struct item *p = ls_kept(0);

	smp_store_release(&pub_early_p, p);
	p->v = ls_value();
}

static __side void pub_early_read(void)
{
	struct item *p = smp_load_acquire(&pub_early_p);

	if (p)
		ls_use(p->v);
}

/* First filled in, then known, and a new one each time. */
static struct item *pub_early_ok_p;

static void pub_early_ok_teardown(void)
{
	kfree(xchg(&pub_early_ok_p, NULL));
	ls_free_kept();
}

static __side void pub_early_ok_fill(void)
{
	struct item *p;

	if (READ_ONCE(pub_early_ok_p))
		return;
	p = new_item(GFP_KERNEL);
	smp_store_release(&pub_early_ok_p, p);
}

static __side void pub_early_ok_read(void)
{
	struct item *p = smp_load_acquire(&pub_early_ok_p);

	if (!p)
		return;
	ls_use(p->v);
	WRITE_ONCE(pub_early_ok_p, NULL);
	ls_bury(p);
}

/* A plain pointer: what it leads to may not be there yet. */
static struct item *pub_ptr_p;
LEFTOVER(pub_ptr_teardown, pub_ptr_p)

static __side void pub_ptr_replace(void)
{
	struct item *p = new_item(GFP_KERNEL), *old = pub_ptr_p;

	if (!p)
		return;
	pub_ptr_p = p;
	if (old)
		kfree_rcu(old, rcu);
}

static __side void pub_ptr_read(void)
{
	struct item *p;

	rcu_read_lock();
	p = pub_ptr_p;
	if (p)
		ls_use((unsigned long)p);
	rcu_read_unlock();
}

static struct item __rcu *pub_ptr_ok_p;
static DEFINE_MUTEX(pub_ptr_ok_m);
LEFTOVER(pub_ptr_ok_teardown, pub_ptr_ok_p)

static __side void pub_ptr_ok_replace(void)
{
	struct item *p = new_item(GFP_KERNEL), *old;

	if (!p)
		return;
	mutex_lock(&pub_ptr_ok_m);
	old = rcu_dereference_protected(pub_ptr_ok_p, 1);
	rcu_assign_pointer(pub_ptr_ok_p, p);
	mutex_unlock(&pub_ptr_ok_m);
	if (old)
		kfree_rcu(old, rcu);
}

static __side void pub_ptr_ok_read(void)
{
	struct item *p;

	rcu_read_lock();
	p = rcu_dereference(pub_ptr_ok_p);
	if (p)
		ls_use(p->v);
	rcu_read_unlock();
}

/* What RCU readers look at is changed where it is, and not copied. */
static struct item __rcu *pub_inplace_p;
static DEFINE_SPINLOCK(pub_inplace_s);

static int pub_inplace_setup(void)
{
	int ret = ls_keep(0, kzalloc(sizeof(struct item), GFP_KERNEL));

	rcu_assign_pointer(pub_inplace_p, ls_kept(0));
	return ret;
}

static void pub_inplace_teardown(void)
{
	rcu_assign_pointer(pub_inplace_p, NULL);
	synchronize_rcu();
	ls_free_kept();
}

static __side void pub_inplace_write(void)
{
	struct item *p;

	spin_lock(&pub_inplace_s);
	p = rcu_dereference_protected(pub_inplace_p, 1);
	p->v = ls_value();
	spin_unlock(&pub_inplace_s);
}

static __side void pub_inplace_read(void)
{
	struct item *p;

	rcu_read_lock();
	p = rcu_dereference(pub_inplace_p);
	ls_use(p->v);
	rcu_read_unlock();
}

static struct item __rcu *pub_inplace_ok_p;
static DEFINE_SPINLOCK(pub_inplace_ok_s);

LEFTOVER(pub_inplace_ok_teardown, pub_inplace_ok_p)

static __side void pub_inplace_ok_write(void)
{
	struct item *p = new_item(GFP_KERNEL), *old;

	if (!p)
		return;
	spin_lock(&pub_inplace_ok_s);
	old = rcu_dereference_protected(pub_inplace_ok_p, 1);
	rcu_assign_pointer(pub_inplace_ok_p, p);
	spin_unlock(&pub_inplace_ok_s);
	if (old)
		kfree_rcu(old, rcu);
}

static __side void pub_inplace_ok_read(void)
{
	struct item *p;

	rcu_read_lock();
	p = rcu_dereference(pub_inplace_ok_p);
	if (p)
		ls_use(p->v);
	rcu_read_unlock();
}

/* A condition that is waited for: it is looked at without the lock, and again when woken. */
static unsigned long pub_wait_v __shared = 1;
static DEFINE_SPINLOCK(pub_wait_s);
static DECLARE_WAIT_QUEUE_HEAD(pub_wait_queue);

static __side void pub_wait_wake(void)
{
	spin_lock(&pub_wait_s);
	pub_wait_v = ls_value() | 1;
	spin_unlock(&pub_wait_s);
	wake_up(&pub_wait_queue);
}

static __side void pub_wait_wait(void)
{
	wait_event_timeout(pub_wait_queue, !(pub_wait_v & 1), 1);
}

static unsigned long pub_wait_ok_v __shared = 1;
static DEFINE_SPINLOCK(pub_wait_ok_s);
static DECLARE_WAIT_QUEUE_HEAD(pub_wait_ok_queue);

static __side void pub_wait_ok_wake(void)
{
	spin_lock(&pub_wait_ok_s);
	WRITE_ONCE(pub_wait_ok_v, ls_value() | 1);
	spin_unlock(&pub_wait_ok_s);
	wake_up(&pub_wait_ok_queue);
}

static __side void pub_wait_ok_wait(void)
{
	wait_event_timeout(pub_wait_ok_queue, !(READ_ONCE(pub_wait_ok_v) & 1), 1);
}

const struct ls_case race_publish_cases[] = {
	{ "pub_dcl", LS_FAULT, LS_RACE, "double-checked locking, the first check is not marked",
	  "severity!=note variable=pub_dcl_p", .teardown = pub_dcl_teardown,
	  .side = { SIDE(pub_dcl_drop), SIDE(pub_dcl_get) } },
	{ "pub_dcl_ok", LS_TWIN, LS_RACE, "double-checked locking with acquire and release",
	  "", .teardown = pub_dcl_ok_teardown,
	  .side = { SIDE(pub_dcl_ok_drop), SIDE(pub_dcl_ok_get) } },
	{ "pub_lazy", LS_FAULT, LS_RACE, "initialised at first use without any lock",
	  "severity!=note variable=pub_lazy_v", .side = { SIDE(pub_lazy_a), SIDE(pub_lazy_b) } },
	{ "pub_lazy_ok", LS_TWIN, LS_RACE, "initialised at first use under a spinlock",
	  "", .side = { SIDE(pub_lazy_ok_a), SIDE(pub_lazy_ok_b) } },
	{ "pub_flag", LS_FAULT, LS_RACE, "flag set and polled, neither marked",
	  "severity!=note variable=pub_flag_v",
	  .side = { SIDE(pub_flag_set), SIDE(pub_flag_poll) } },
	{ "pub_flag_ok", LS_TWIN, LS_RACE, "flag set and polled, both marked",
	  "", .side = { SIDE(pub_flag_ok_set), SIDE(pub_flag_ok_poll) } },
	{ "pub_early", LS_FAULT, LS_RACE, "object published before it is filled in",
	  "severity!=note", pub_early_setup, pub_early_teardown,
	  { SIDE(pub_early_fill), SIDE(pub_early_read) } },
	{ "pub_early_ok", LS_TWIN, LS_RACE, "object filled in, then published, then only read",
	  "", NULL, pub_early_ok_teardown, { SIDE(pub_early_ok_fill), SIDE(pub_early_ok_read) } },
	{ "pub_ptr", LS_FAULT, LS_RACE, "object published by a plain pointer, read by a plain one",
	  "severity!=note variable=pub_ptr_p", .teardown = pub_ptr_teardown,
	  .side = { SIDE(pub_ptr_replace), SIDE(pub_ptr_read) } },
	{ "pub_ptr_ok", LS_TWIN, LS_RACE, "object published by rcu_assign_pointer",
	  "", .teardown = pub_ptr_ok_teardown,
	  .side = { SIDE(pub_ptr_ok_replace), SIDE(pub_ptr_ok_read) } },
	{ "pub_inplace", LS_FAULT, LS_RACE, "object of RCU readers changed in place under a lock",
	  "severity!=note", pub_inplace_setup, pub_inplace_teardown,
	  { SIDE(pub_inplace_write), SIDE(pub_inplace_read) } },
	{ "pub_inplace_ok", LS_TWIN, LS_RACE, "object of RCU readers replaced by a changed copy",
	  "", NULL, pub_inplace_ok_teardown,
	  { SIDE(pub_inplace_ok_write), SIDE(pub_inplace_ok_read) } },
	{ "pub_wait", LS_FAULT, LS_RACE, "waited for, neither side marked",
	  "severity=note variable=pub_wait_v", .side = { SIDE(pub_wait_wake), SIDE(pub_wait_wait) } },
	{ "pub_wait_ok", LS_TWIN, LS_RACE, "waited for, both sides marked",
	  "", .side = { SIDE(pub_wait_ok_wake), SIDE(pub_wait_ok_wait) } },
	{ }
};
