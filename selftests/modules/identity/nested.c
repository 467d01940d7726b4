// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one structure whose use is declared where they are acquired, by *_nested():
 * lockdep has a class for each subclass, LockScope a table of what the code says. A macro's
 * lines are no places of their own, so the sides are written out.
 */
#include <linux/mutex.h>
#include <linux/slab.h>

#include "roles.h"

struct nest_node {
	unsigned long payload[7];
	struct mutex lock;
};

/* NAME_of: two nodes of a class of their own. */
#define NEST_NODES(name)						\
static __side struct nest_node *name##_new(int unused)			\
{									\
	struct nest_node *node = kzalloc(sizeof(*node), GFP_KERNEL);	\
									\
	if (node)							\
		mutex_init(&node->lock);				\
	return node;							\
}									\
ROLE_PAIR(name, struct nest_node, name##_new, kfree, 0, 0)

static void nest_unlock(struct nest_node **of)
{
	mutex_unlock(&of[0]->lock);
	mutex_unlock(&of[1]->lock);
}

/* What a node is used for, as a file's and a quota file's commit_mutex in jfs. */
enum { NEST_PLAIN, NEST_SPECIAL };

/* A special one outside, another special one inside. */
NEST_NODES(nest_role)
static DEFINE_MUTEX(nest_role_l);

static __side void nest_role_ol(void)
{
	mutex_lock_nested(&nest_role_of[0]->lock, NEST_SPECIAL);
	mutex_lock(&nest_role_l);
	mutex_unlock(&nest_role_l);
	mutex_unlock(&nest_role_of[0]->lock);
}

static __side void nest_role_lo(void)
{
	mutex_lock(&nest_role_l);
	mutex_lock_nested(&nest_role_of[1]->lock, NEST_SPECIAL);
	mutex_unlock(&nest_role_of[1]->lock);
	mutex_unlock(&nest_role_l);
}

NEST_NODES(nest_role_ok)
static DEFINE_MUTEX(nest_role_ok_l);

static __side void nest_role_ok_ol(void)
{
	mutex_lock(&nest_role_ok_of[0]->lock);
	mutex_lock(&nest_role_ok_l);
	mutex_unlock(&nest_role_ok_l);
	mutex_unlock(&nest_role_ok_of[0]->lock);
}

static __side void nest_role_ok_lo(void)
{
	mutex_lock(&nest_role_ok_l);
	mutex_lock_nested(&nest_role_ok_of[1]->lock, NEST_SPECIAL);
	mutex_unlock(&nest_role_ok_of[1]->lock);
	mutex_unlock(&nest_role_ok_l);
}

/* The same node in both roles: whatever is said of it, it is one lock. */
NEST_NODES(nest_one)
static DEFINE_MUTEX(nest_one_l);

static __side void nest_one_ol(void)
{
	mutex_lock(&nest_one_of[0]->lock);
	mutex_lock(&nest_one_l);
	mutex_unlock(&nest_one_l);
	mutex_unlock(&nest_one_of[0]->lock);
}

static __side void nest_one_lo(void)
{
	mutex_lock(&nest_one_l);
	mutex_lock_nested(&nest_one_of[0]->lock, NEST_SPECIAL);
	mutex_unlock(&nest_one_of[0]->lock);
	mutex_unlock(&nest_one_l);
}

NEST_NODES(nest_one_ok)
static DEFINE_MUTEX(nest_one_ok_l);

static __side void nest_one_ok_plain(void)
{
	mutex_lock(&nest_one_ok_l);
	mutex_lock(&nest_one_ok_of[0]->lock);
	mutex_unlock(&nest_one_ok_of[0]->lock);
	mutex_unlock(&nest_one_ok_l);
}

static __side void nest_one_ok_special(void)
{
	mutex_lock(&nest_one_ok_l);
	mutex_lock_nested(&nest_one_ok_of[0]->lock, NEST_SPECIAL);
	mutex_unlock(&nest_one_ok_of[0]->lock);
	mutex_unlock(&nest_one_ok_l);
}

/* Two nodes in both orders; the one declared as nested is outside once. */
NEST_NODES(nest_moved)

static __side void nest_moved_before(void)
{
	mutex_lock(&nest_moved_of[0]->lock);
	mutex_lock_nested(&nest_moved_of[1]->lock, SINGLE_DEPTH_NESTING);
	nest_unlock(nest_moved_of);
}

static __side void nest_moved_after(void)
{
	mutex_lock_nested(&nest_moved_of[1]->lock, SINGLE_DEPTH_NESTING);
	mutex_lock(&nest_moved_of[0]->lock);
	nest_unlock(nest_moved_of);
}

/* The inner one is declared each time: they have changed places. */
NEST_NODES(nest_moved_ok)

static __side void nest_moved_ok_before(void)
{
	mutex_lock(&nest_moved_ok_of[0]->lock);
	mutex_lock_nested(&nest_moved_ok_of[1]->lock, SINGLE_DEPTH_NESTING);
	nest_unlock(nest_moved_ok_of);
}

static __side void nest_moved_ok_after(void)
{
	mutex_lock(&nest_moved_ok_of[1]->lock);
	mutex_lock_nested(&nest_moved_ok_of[0]->lock, SINGLE_DEPTH_NESTING);
	nest_unlock(nest_moved_ok_of);
}

const struct ls_case verdict_nested_cases[] = {
	ROLE_CASE(nest_role, LS_FAULT, "two locks of one subclass in both orders with a mutex",
		  "nest_role_l nest_role_new"),
	ROLE_CASE(nest_role_ok, LS_TWIN, "a lock outside, one of another subclass inside", "nest_role_ok_l"),
	ROLE_CASE(nest_one, LS_FAULT, "one lock as two subclasses in both orders with a mutex",
		  "nest_one_l nest_one_new severity=error"),
	{ "nest_one_ok", LS_TWIN, LS_CYCLE, "one lock as two subclasses in one order with a mutex",
	  "nest_one_ok_l", nest_one_ok_setup, nest_one_ok_teardown,
	  { { nest_one_ok_plain }, { nest_one_ok_special } } },
	{ "nest_moved", LS_FAULT, LS_RECURSIVE, "two locks in both orders, once against what is declared",
	  "nest_moved_new severity=error", nest_moved_setup, nest_moved_teardown,
	  { { nest_moved_before }, { nest_moved_after } } },
	{ "nest_moved_ok", LS_TWIN, LS_RECURSIVE, "two locks in both orders, the inner one always declared",
	  "nest_moved_ok_new", nest_moved_ok_setup, nest_moved_ok_teardown,
	  { { nest_moved_ok_before }, { nest_moved_ok_after } } },
	{ }
};
