// SPDX-License-Identifier: GPL-2.0
/*
 * Mutexes of devices: a device's against another lock, a child's against its parent's, and
 * what looks like either where one class is all devices, or all buses and classes of them.
 * Each case has a bus of its own name, with one device, two below it and one below these.
 */
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "selftest.h"

enum { DEV_ROOT, DEV_CHILD, DEV_SIBLING, DEV_LEAF, DEV_NR };
static const int dev_parents[DEV_NR] = { -1, DEV_ROOT, DEV_ROOT, DEV_CHILD };

struct dev_family {
	struct bus_type bus;
	bool registered;
	struct device *of[DEV_NR];
};

static void dev_release(struct device *dev)
{
	kvfree(dev);
}

static noinline struct device *dev_new(struct dev_family *f, struct device *parent, unsigned int number)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	device_initialize(dev);
	dev->release = dev_release;
	dev->bus = &f->bus;
	dev->parent = parent;
	if (dev_set_name(dev, "%s%u", f->bus.name, number) || device_add(dev)) {
		put_device(dev);
		return NULL;
	}
	return dev;
}

static int dev_setup(struct dev_family *f)
{
	unsigned int i;
	int rc = bus_register(&f->bus);

	if (rc)
		return rc;
	f->registered = true;
	for (i = 0; i < DEV_NR; i++) {
		f->of[i] = dev_new(f, i ? f->of[dev_parents[i]] : NULL, i);
		if (!f->of[i])
			return -ENOMEM;
	}
	return 0;
}

static void dev_teardown(struct dev_family *f)
{
	int i;

	for (i = DEV_NR - 1; i >= 0; i--) {
		if (f->of[i])
			device_unregister(f->of[i]);
		f->of[i] = NULL;
	}
	if (f->registered)
		bus_unregister(&f->bus);
	f->registered = false;
}

#define DEV_FAMILY(id)						\
static struct dev_family id##_f = { .bus = { .name = #id } };	\
static int id##_setup(void) { return dev_setup(&id##_f); }	\
static void id##_teardown(void) { dev_teardown(&id##_f); }

/* A side that takes and leaves the mutex of one device of a case while it holds another's. */
#define DEV_NESTS(function, name, outer, inner)				\
LS_NESTS(function, *name##_f.of[outer], device_lock, device_unlock,	\
	 *name##_f.of[inner], device_lock, device_unlock)

/* The same of a device outside, or inside, the case's own mutex. */
#define DEV_OUTSIDE(function, name, device)				\
LS_NESTS(function, *name##_f.of[device], device_lock, device_unlock,	\
	 name##_m, mutex_lock, mutex_unlock)
#define DEV_INSIDE(function, name, device)				\
LS_NESTS(function, name##_m, mutex_lock, mutex_unlock,			\
	 *name##_f.of[device], device_lock, device_unlock)

DEV_FAMILY(dev_driver)
static DEFINE_MUTEX(dev_driver_m);
DEV_OUTSIDE(dev_driver_dm, dev_driver, DEV_CHILD)
DEV_INSIDE(dev_driver_md, dev_driver, DEV_CHILD)

DEV_FAMILY(dev_driver_ok)
static DEFINE_MUTEX(dev_driver_ok_m);
DEV_OUTSIDE(dev_driver_ok_dm, dev_driver_ok, DEV_CHILD)
DEV_OUTSIDE(dev_driver_ok_again, dev_driver_ok, DEV_SIBLING)

DEV_FAMILY(dev_tree)
DEV_NESTS(dev_tree_pc, dev_tree, DEV_ROOT, DEV_CHILD)
DEV_NESTS(dev_tree_cp, dev_tree, DEV_CHILD, DEV_ROOT)

/* Down the tree, level by level and past one. */
DEV_FAMILY(dev_tree_ok)
DEV_NESTS(dev_tree_ok_one, dev_tree_ok, DEV_ROOT, DEV_CHILD)
DEV_NESTS(dev_tree_ok_two, dev_tree_ok, DEV_CHILD, DEV_LEAF)
DEV_NESTS(dev_tree_ok_both, dev_tree_ok, DEV_ROOT, DEV_LEAF)

/* What is held outside by one, inside by the other: another device of the same kind. */
DEV_FAMILY(dev_peer)
static DEFINE_MUTEX(dev_peer_m);
DEV_OUTSIDE(dev_peer_dm, dev_peer, DEV_CHILD)
DEV_INSIDE(dev_peer_md, dev_peer, DEV_SIBLING)

/* A subsystem's lock below the parent's and above the child's. */
DEV_FAMILY(dev_peer_ok)
static DEFINE_MUTEX(dev_peer_ok_m);
DEV_OUTSIDE(dev_peer_ok_dm, dev_peer_ok, DEV_ROOT)
DEV_INSIDE(dev_peer_ok_md, dev_peer_ok, DEV_CHILD)

DEV_FAMILY(dev_pair)
DEV_NESTS(dev_pair_forth, dev_pair, DEV_CHILD, DEV_SIBLING)
DEV_NESTS(dev_pair_back, dev_pair, DEV_SIBLING, DEV_CHILD)

DEV_FAMILY(dev_pair_ok)
DEV_NESTS(dev_pair_ok_forth, dev_pair_ok, DEV_CHILD, DEV_SIBLING)
DEV_NESTS(dev_pair_ok_again, dev_pair_ok, DEV_CHILD, DEV_SIBLING)

/*
 * ID: a device that is in no tree, in MEMORY. It has the bus FIRST, or none, until its mutex
 * is held.
 */
#define DEV_LONE(id, memory, first)			\
static struct bus_type id##_bus = { .name = #id };	\
static struct device *id##_of;				\
static DEFINE_MUTEX(id##_m);				\
							\
static int id##_setup(void)				\
{							\
	id##_of = dev_lone_init(memory, first);		\
	return id##_of ? 0 : -ENOMEM;			\
}							\
							\
static void id##_teardown(void)				\
{							\
	put_device(id##_of);				\
}							\
							\
static __side void id##_dm(void)			\
{							\
	device_lock(id##_of);				\
	id##_of->bus = &id##_bus;			\
	mutex_lock(&id##_m);				\
	mutex_unlock(&id##_m);				\
	device_unlock(id##_of);				\
}

static struct device *dev_lone_init(struct device *dev, struct bus_type *bus)
{
	if (dev) {
		device_initialize(dev);
		dev->release = dev_release;
		dev->bus = bus;
	}
	return dev;
}

/* What the device is becomes known while its mutex is held. */
DEV_LONE(dev_late, kzalloc(sizeof(struct device), GFP_KERNEL), NULL)
LS_NESTS(dev_late_md, dev_late_m, mutex_lock, mutex_unlock, *dev_late_of, device_lock, device_unlock)
DEV_LONE(dev_late_ok, kzalloc(sizeof(struct device), GFP_KERNEL), NULL)
LS_NESTS(dev_late_ok_again, *dev_late_ok_of, device_lock, device_unlock, dev_late_ok_m, mutex_lock, mutex_unlock)

/* In memory that is no slab object, as are devices whose allocation was not seen. */
DEV_LONE(dev_far, vzalloc(sizeof(struct device)), &dev_far_bus)
LS_NESTS(dev_far_md, dev_far_m, mutex_lock, mutex_unlock, *dev_far_of, device_lock, device_unlock)
DEV_LONE(dev_far_ok, vzalloc(sizeof(struct device)), &dev_far_ok_bus)
LS_NESTS(dev_far_ok_again, *dev_far_ok_of, device_lock, device_unlock, dev_far_ok_m, mutex_lock, mutex_unlock)

/*
 * ID: a completion that is completed under the device's mutex, after the waiter's mutex was
 * acquired there. It is made BEFORE, or under the device's mutex: the last time that it was
 * held, or NOW, when no task can wait for both.
 */
enum dev_making { BEFORE, LAST_TIME, NOW };

#define DEV_MADE(id, when)				\
static struct dev_family id##_f = { .bus = { .name = #id } };	\
static struct completion *id##_c;			\
static DEFINE_MUTEX(id##_m);				\
							\
static noinline void id##_new(void)			\
{							\
	id##_c = kzalloc(sizeof(*id##_c), GFP_KERNEL);	\
	if (id##_c)					\
		init_completion(id##_c);		\
}							\
							\
static int id##_setup(void)				\
{							\
	if (when == BEFORE)				\
		id##_new();				\
	return when != BEFORE || id##_c ? dev_setup(&id##_f) : -ENOMEM;	\
}							\
							\
static void id##_teardown(void)				\
{							\
	dev_teardown(&id##_f);				\
	kfree(id##_c);					\
	id##_c = NULL;					\
}							\
							\
static __side void id##_dc(void)			\
{							\
	device_lock(id##_f.of[DEV_CHILD]);		\
	if (when == LAST_TIME) {			\
		id##_new();				\
		device_unlock(id##_f.of[DEV_CHILD]);	\
		device_lock(id##_f.of[DEV_CHILD]);	\
	}						\
	mutex_lock(&id##_m);				\
	mutex_unlock(&id##_m);				\
	if (when == NOW)				\
		id##_new();				\
	ls_require(id##_c);				\
	complete(id##_c);				\
	device_unlock(id##_f.of[DEV_CHILD]);		\
}							\
							\
static __side void id##_wait(void)			\
{							\
	mutex_lock(&id##_m);				\
	wait_for_completion(id##_c);			\
	mutex_unlock(&id##_m);				\
}

DEV_MADE(dev_made, BEFORE)
DEV_MADE(dev_again, LAST_TIME)
DEV_MADE(dev_made_ok, NOW)

/*
 * The driver core's mutex of a class of devices: below a device's, since one of the class is
 * made by it, and above it, as a driver that registers for devices of a class is called for each with
 * that mutex held. In the twin these are two classes.
 */
struct dev_subsystems {
	struct dev_family *family;
	struct class class[2];
	unsigned int nr;
	struct device *of[2];
};

static bool dev_subsystems_make(struct dev_subsystems *s, unsigned int i)
{
	struct device *dev = device_create(&s->class[i], NULL, 0, NULL, "%s", s->class[i].name);

	s->of[i] = IS_ERR(dev) ? NULL : dev;
	return s->of[i];
}

static int dev_subsystems_setup(struct dev_subsystems *s)
{
	int rc = dev_setup(s->family);

	for (s->nr = 0; !rc && s->nr < 2; s->nr += !rc)
		rc = class_register(&s->class[s->nr]);
	if (rc)
		return rc;
	return dev_subsystems_make(s, 1) ? 0 : -ENOMEM;
}

static void dev_subsystems_teardown(struct dev_subsystems *s)
{
	for (; s->nr; s->nr--) {
		if (s->of[s->nr - 1])
			device_unregister(s->of[s->nr - 1]);
		s->of[s->nr - 1] = NULL;
		class_unregister(&s->class[s->nr - 1]);
	}
	dev_teardown(s->family);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define DEV_HEARS(function) static __side int function(struct device *heard)
#else
#define DEV_HEARS(function) static __side int function(struct device *heard, struct class_interface *by)
#endif

/* ID: a device outside class ID_one, and inside class number @heard. */
#define DEV_SUBSYSTEMS(id, heard)							\
static struct dev_family id##_f = { .bus = { .name = #id } };			\
static struct dev_subsystems id##_s = {						\
	.family = &id##_f, .class = { { .name = #id "_one" }, { .name = #id "_two" } },	\
};											\
											\
static int id##_setup(void)								\
{											\
	return dev_subsystems_setup(&id##_s);						\
}											\
											\
static void id##_teardown(void)							\
{											\
	dev_subsystems_teardown(&id##_s);						\
}											\
											\
static __side void id##_dc(void)							\
{											\
	device_lock(id##_f.of[DEV_CHILD]);						\
	ls_require(dev_subsystems_make(&id##_s, 0));					\
	device_unlock(id##_f.of[DEV_CHILD]);						\
}											\
											\
DEV_HEARS(id##_hear)									\
{											\
	device_lock(id##_f.of[DEV_CHILD]);						\
	device_unlock(id##_f.of[DEV_CHILD]);						\
	return 0;									\
}											\
											\
static struct class_interface id##_interface = {					\
	.class = &id##_s.class[heard], .add_dev = id##_hear,			\
};											\
											\
static __side void id##_cd(void)							\
{											\
	ls_require(!class_interface_register(&id##_interface));			\
	class_interface_unregister(&id##_interface);					\
}

DEV_SUBSYSTEMS(dev_subsys, 0)
DEV_SUBSYSTEMS(dev_subsys_ok, 1)

#define DEV_CASE(name, verdict, kind, summary, classes, ...)			\
	{ #name, verdict, kind, summary, classes,				\
	  .setup = name##_setup, .teardown = name##_teardown, .side = { __VA_ARGS__ } }

const struct ls_case verdict_devices_cases[] = {
	DEV_CASE(dev_driver, LS_FAULT, LS_CYCLE, "a device's mutex and a driver's in both orders",
		 "dev_driver_m dev_driver severity=error", { dev_driver_dm }, { dev_driver_md }),
	DEV_CASE(dev_driver_ok, LS_TWIN, LS_CYCLE, "a driver's mutex after the device's, twice",
		 "dev_driver_ok_m", { dev_driver_ok_dm }, { dev_driver_ok_again }),
	DEV_CASE(dev_tree, LS_FAULT, LS_CYCLE, "a parent before its child, and after it",
		 "dev_tree severity=error", { dev_tree_pc }, { dev_tree_cp }),
	DEV_CASE(dev_tree_ok, LS_TWIN, LS_CYCLE, "devices down the tree",
		 "dev_tree_ok", { dev_tree_ok_one }, { dev_tree_ok_two }, { dev_tree_ok_both }),
	DEV_CASE(dev_peer, LS_FAULT, LS_CYCLE, "two devices of one kind, on either side of a mutex",
		 "dev_peer_m dev_peer severity=warning", { dev_peer_dm }, { dev_peer_md }),
	DEV_CASE(dev_peer_ok, LS_TWIN, LS_CYCLE, "a mutex after the parent's, before the child's",
		 "dev_peer_ok_m", { dev_peer_ok_dm }, { dev_peer_ok_md }),
	DEV_CASE(dev_pair, LS_FAULT, LS_RECURSIVE, "two children of one device in both orders",
		 "dev_pair severity=error", { dev_pair_forth }, { dev_pair_back }),
	DEV_CASE(dev_pair_ok, LS_TWIN, LS_RECURSIVE, "two children of one device in one order",
		 "dev_pair_ok", { dev_pair_ok_forth }, { dev_pair_ok_again }),
	DEV_CASE(dev_late, LS_FAULT, LS_CYCLE, "a device that gets its bus while its mutex is held",
		 "dev_late_m dev_late severity=error", { dev_late_dm }, { dev_late_md }),
	DEV_CASE(dev_late_ok, LS_TWIN, LS_CYCLE, "the same, in one order",
		 "dev_late_ok_m", { dev_late_ok_dm }, { dev_late_ok_again }),
	DEV_CASE(dev_far, LS_FAULT, LS_CYCLE, "a device in no slab object",
		 "dev_far_m dev_far severity=error", { dev_far_dm }, { dev_far_md }),
	DEV_CASE(dev_far_ok, LS_TWIN, LS_CYCLE, "the same, in one order",
		 "dev_far_ok_m", { dev_far_ok_dm }, { dev_far_ok_again }),
	DEV_CASE(dev_made, LS_FAULT, LS_CYCLE, "a completion that a device's mutex is needed for",
		 "dev_made_m dev_made kind=completion", { dev_made_dc }, { dev_made_wait }),
	DEV_CASE(dev_again, LS_FAULT, LS_CYCLE, "a completion that was made the last time the mutex was held",
		 "dev_again_m dev_again kind=completion", { dev_again_dc }, { dev_again_wait }),
	DEV_CASE(dev_made_ok, LS_TWIN, LS_CYCLE, "a completion that is made under the device's mutex",
		 "dev_made_ok_m", { dev_made_ok_dc }, { dev_made_ok_wait }),
	DEV_CASE(dev_subsys, LS_FAULT, LS_CYCLE, "a device against the mutex of a class of devices",
		 "dev_subsys_one dev_subsys severity=error", { dev_subsys_dc }, { dev_subsys_cd }),
	DEV_CASE(dev_subsys_ok, LS_TWIN, LS_CYCLE, "a device outside one class of devices and inside another",
		 "dev_subsys_ok_one", { dev_subsys_ok_dc }, { dev_subsys_ok_cd }),
	{ }
};
