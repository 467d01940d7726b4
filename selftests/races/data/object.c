// SPDX-License-Identifier: GPL-2.0
/* Locks inside objects: which object's? */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "races.h"

/* Two objects of one type, each with a lock for itself. */
struct obj_other {
	spinlock_t lock;
	unsigned long v;
};

static struct obj_other *obj_other_new(void)
{
	struct obj_other *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return o;
}

static int obj_other_setup(void)
{
	return ls_keep(0, obj_other_new()) ?: ls_keep(1, obj_other_new());
}

static __side void obj_other_a(void)
{
	struct obj_other *o = ls_kept(0);

	spin_lock(&o->lock);
	o->v = ls_value();
	spin_unlock(&o->lock);
}

static __side void obj_other_b(void)
{
	struct obj_other *o = ls_kept(0), *other = ls_kept(1);

	spin_lock(&other->lock);
	o->v = ls_value();
	spin_unlock(&other->lock);
}

struct obj_other_ok {
	spinlock_t lock;
	unsigned long v;
};

static struct obj_other_ok *obj_other_ok_new(void)
{
	struct obj_other_ok *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return o;
}

static int obj_other_ok_setup(void)
{
	return ls_keep(0, obj_other_ok_new()) ?: ls_keep(1, obj_other_ok_new());
}

static __side void obj_other_ok_set(struct obj_other_ok *o)
{
	spin_lock(&o->lock);
	o->v = ls_value();
	spin_unlock(&o->lock);
}

static __side void obj_other_ok_a(void)
{
	obj_other_ok_set(ls_kept(0));
	obj_other_ok_set(ls_kept(1));
}

static __side void obj_other_ok_b(void)
{
	obj_other_ok_set(ls_kept(1));
	obj_other_ok_set(ls_kept(0));
}

/* A lock for each slot of an array, and an index that is off by one. */
#define NR_SLOTS 4

static struct mutex obj_array_m[NR_SLOTS];
static int obj_array_v[NR_SLOTS] __shared;

static int obj_array_setup(void)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		mutex_init(&obj_array_m[i]);
	return 0;
}

static __side void obj_array_a(void)
{
	mutex_lock(&obj_array_m[1]);
	obj_array_v[1] = ls_value();
	mutex_unlock(&obj_array_m[1]);
}

static __side void obj_array_b(void)
{
	mutex_lock(&obj_array_m[2]);
	obj_array_v[1] = ls_value();
	mutex_unlock(&obj_array_m[2]);
}

/* Neighbours in one word of memory, each with its own lock. */
static struct mutex obj_array_ok_m[NR_SLOTS];
static int obj_array_ok_v[NR_SLOTS] __shared;

static int obj_array_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		mutex_init(&obj_array_ok_m[i]);
	return 0;
}

static __side void obj_array_ok_set(unsigned int i)
{
	mutex_lock(&obj_array_ok_m[i]);
	obj_array_ok_v[i] = ls_value();
	mutex_unlock(&obj_array_ok_m[i]);
}

static __side void obj_array_ok_a(void)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		obj_array_ok_set(i);
}

static __side void obj_array_ok_b(void)
{
	unsigned int i;

	for (i = NR_SLOTS; i-- > 0;)
		obj_array_ok_set(i);
}

/* The object's own lock on one side, a global one on the other. */
struct obj_global {
	spinlock_t lock;
	int v;
};

static DEFINE_SPINLOCK(obj_global_s);

static int obj_global_setup(void)
{
	struct obj_global *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return ls_keep(0, o);
}

static __side void obj_global_a(void)
{
	struct obj_global *o = ls_kept(0);

	spin_lock(&o->lock);
	o->v = ls_value();
	spin_unlock(&o->lock);
}

static __side void obj_global_b(void)
{
	struct obj_global *o = ls_kept(0);

	spin_lock(&obj_global_s);
	o->v = ls_value();
	spin_unlock(&obj_global_s);
}

struct obj_global_ok {
	spinlock_t lock;
	int v;
};

static DEFINE_SPINLOCK(obj_global_ok_s);

static int obj_global_ok_setup(void)
{
	struct obj_global_ok *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return ls_keep(0, o);
}

static __side void obj_global_ok_a(void)
{
	struct obj_global_ok *o = ls_kept(0);

	spin_lock(&obj_global_ok_s);
	o->v = ls_value();
	spin_unlock(&obj_global_ok_s);
}

static __side void obj_global_ok_b(void)
{
	struct obj_global_ok *o = ls_kept(0);

	spin_lock(&obj_global_ok_s);
	spin_lock(&o->lock);
	o->v = ls_value();
	spin_unlock(&o->lock);
	spin_unlock(&obj_global_ok_s);
}

/* A child guarded by its parent's lock, and by its own on the other side. */
struct obj_parent {
	struct mutex lock;
	struct obj_child *child;
};

struct obj_child {
	struct mutex lock;
	long v;
};

static int obj_parent_setup(void)
{
	struct obj_parent *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct obj_child *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (p && c) {
		mutex_init(&p->lock);
		mutex_init(&c->lock);
		p->child = c;
	}
	return (ls_keep(0, p) | ls_keep(1, c)) ? -ENOMEM : 0;
}

static __side void obj_parent_a(void)
{
	struct obj_parent *p = ls_kept(0);
	struct obj_child *c = ls_kept(1);

	mutex_lock(&p->lock);
	c->v = ls_value();
	mutex_unlock(&p->lock);
}

static __side void obj_parent_b(void)
{
	struct obj_child *c = ls_kept(1);

	mutex_lock(&c->lock);
	c->v = ls_value();
	mutex_unlock(&c->lock);
}

static __side void obj_parent_ok_a(void)
{
	struct obj_parent *p = ls_kept(0);

	mutex_lock(&p->lock);
	p->child->v = ls_value();
	mutex_unlock(&p->lock);
}

static __side void obj_parent_ok_b(void)
{
	struct obj_parent *p = ls_kept(0);

	mutex_lock(&p->lock);
	mutex_lock(&p->child->lock);
	p->child->v = ls_value();
	mutex_unlock(&p->child->lock);
	mutex_unlock(&p->lock);
}

/* The pointer has moved on between locking the object and writing to it. */
struct obj_moved {
	spinlock_t lock;
	unsigned int v;
};

static int obj_moved_setup(void)
{
	struct obj_moved *o = kcalloc(2, sizeof(*o), GFP_KERNEL);

	if (o) {
		spin_lock_init(&o[0].lock);
		spin_lock_init(&o[1].lock);
	}
	return ls_keep(0, o);
}

static __side void obj_moved_a(void)
{
	struct obj_moved *cur = ls_kept(0);

	spin_lock(&cur->lock);
	cur++;
	cur->v = ls_value();
	cur--;
	spin_unlock(&cur->lock);
}

static __side void obj_moved_b(void)
{
	struct obj_moved *cur = (struct obj_moved *)ls_kept(0) + 1;

	spin_lock(&cur->lock);
	cur->v = ls_value();
	spin_unlock(&cur->lock);
}

static int obj_moved_ok_setup(void)
{
	struct obj_moved *o = kcalloc(2, sizeof(*o), GFP_KERNEL);

	if (o) {
		spin_lock_init(&o[0].lock);
		spin_lock_init(&o[1].lock);
	}
	return ls_keep(0, o);
}

static __side void obj_moved_ok_a(void)
{
	struct obj_moved *cur = ls_kept(0);

	cur++;
	spin_lock(&cur->lock);
	cur->v = ls_value();
	spin_unlock(&cur->lock);
}

static __side void obj_moved_ok_b(void)
{
	struct obj_moved *cur = (struct obj_moved *)ls_kept(0) + 1;

	spin_lock(&cur->lock);
	cur->v = ls_value();
	spin_unlock(&cur->lock);
}

const struct ls_case race_object_cases[] = {
	{ "obj_other", LS_FAULT, LS_RACE, "written under the lock of another object",
	  "severity!=note", obj_other_setup, ls_free_kept,
	  { SIDE(obj_other_a), SIDE(obj_other_b) } },
	{ "obj_other_ok", LS_TWIN, LS_RACE, "each object written under its own lock",
	  "", obj_other_ok_setup, ls_free_kept, { SIDE(obj_other_ok_a), SIDE(obj_other_ok_b) } },
	{ "obj_array", LS_FAULT, LS_RACE, "array element written under its neighbour's mutex",
	  "severity!=note variable=obj_array_v", obj_array_setup, NULL,
	  { SIDE(obj_array_a), SIDE(obj_array_b) } },
	{ "obj_array_ok", LS_TWIN, LS_RACE, "each array element written under its mutex",
	  "", obj_array_ok_setup, NULL, { SIDE(obj_array_ok_a), SIDE(obj_array_ok_b) } },
	{ "obj_global", LS_FAULT, LS_RACE, "the object's lock on one side, a global one on the other",
	  "severity!=note", obj_global_setup, ls_free_kept,
	  { SIDE(obj_global_a), SIDE(obj_global_b) } },
	{ "obj_global_ok", LS_TWIN, LS_RACE, "the global lock on both sides",
	  "", obj_global_ok_setup, ls_free_kept, { SIDE(obj_global_ok_a), SIDE(obj_global_ok_b) } },
	{ "obj_parent", LS_FAULT, LS_RACE, "the parent's mutex on one side, the child's on the other",
	  "severity!=note", obj_parent_setup, ls_free_kept,
	  { SIDE(obj_parent_a), SIDE(obj_parent_b) } },
	{ "obj_parent_ok", LS_TWIN, LS_RACE, "the parent's mutex on both sides",
	  "", obj_parent_setup, ls_free_kept, { SIDE(obj_parent_ok_a), SIDE(obj_parent_ok_b) } },
	{ "obj_moved", LS_FAULT, LS_RACE, "locked through a pointer that then moves on",
	  "severity!=note", obj_moved_setup, ls_free_kept,
	  { SIDE(obj_moved_a), SIDE(obj_moved_b) } },
	{ "obj_moved_ok", LS_TWIN, LS_RACE, "the pointer moves on before its object is locked",
	  "", obj_moved_ok_setup, ls_free_kept, { SIDE(obj_moved_ok_a), SIDE(obj_moved_ok_b) } },
	{ }
};
