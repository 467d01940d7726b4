// SPDX-License-Identifier: GPL-2.0
/*
 * Locks inside objects: many instances, one class. Nesting two instances of a
 * class is a fault when the same instances are taken both ways round or in a
 * ring; a hierarchy that is kept is none, wherever its objects lie in memory.
 */
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

struct ls_node {
	unsigned long payload[6];
	struct mutex lock;
};

static __side void ls_nodes_free(struct ls_node **node, unsigned int nr)
{
	while (nr--) {
		kfree(node[nr]);
		node[nr] = NULL;
	}
}

static struct ls_node *obj_pair_node[2];

/* One function per case allocates and initialises: that is the class's name. */
static __side struct ls_node *obj_pair_new(void)
{
	struct ls_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (node)
		mutex_init(&node->lock);
	return node;
}

static int obj_pair_setup(void)
{
	obj_pair_node[0] = obj_pair_new();
	obj_pair_node[1] = obj_pair_new();
	return obj_pair_node[0] && obj_pair_node[1] ? 0 : -ENOMEM;
}

static void obj_pair_teardown(void)
{
	ls_nodes_free(obj_pair_node, 2);
}

static __side void obj_pair_move(struct ls_node *from, struct ls_node *to)
{
	mutex_lock(&from->lock);
	mutex_lock_nested(&to->lock, SINGLE_DEPTH_NESTING);
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

static __side void obj_pair_forth(void)
{
	obj_pair_move(obj_pair_node[0], obj_pair_node[1]);
}

static __side void obj_pair_back(void)
{
	obj_pair_move(obj_pair_node[1], obj_pair_node[0]);
}

/*
 * Families of grandparent, parent and child. Families take turns in lying
 * upwards and downwards in memory, so no order of addresses explains the
 * hierarchy; only the objects themselves do.
 */
#define OBJ_FAMILIES 32
static struct ls_node *obj_pair_ok_node[3 * OBJ_FAMILIES];

static __side struct ls_node *obj_pair_ok_new(void)
{
	struct ls_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (node)
		mutex_init(&node->lock);
	return node;
}

static void obj_pair_ok_teardown(void)
{
	ls_nodes_free(obj_pair_ok_node, ARRAY_SIZE(obj_pair_ok_node));
}

/* Puts a family of three into ascending or descending order of addresses. */
static void obj_pair_ok_arrange(struct ls_node **family, bool upwards)
{
	unsigned int i, j;

	for (i = 0; i < 2; i++)
		for (j = i + 1; j < 3; j++)
			if ((family[i] < family[j]) != upwards)
				swap(family[i], family[j]);
}

static int obj_pair_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(obj_pair_ok_node); i++) {
		obj_pair_ok_node[i] = obj_pair_ok_new();
		if (!obj_pair_ok_node[i])
			return -ENOMEM;
	}
	for (i = 0; i < OBJ_FAMILIES; i++)
		obj_pair_ok_arrange(&obj_pair_ok_node[3 * i], i & 1);
	return 0;
}

static __side void obj_pair_ok_descend(struct ls_node **family)
{
	mutex_lock(&family[0]->lock);
	mutex_lock_nested(&family[1]->lock, 1);
	mutex_lock_nested(&family[2]->lock, 2);
	mutex_unlock(&family[2]->lock);
	mutex_unlock(&family[1]->lock);
	mutex_unlock(&family[0]->lock);
}

static __side void obj_pair_ok_forwards(void)
{
	unsigned int i;

	for (i = 0; i < OBJ_FAMILIES; i++)
		obj_pair_ok_descend(&obj_pair_ok_node[3 * i]);
}

static __side void obj_pair_ok_backwards(void)
{
	unsigned int i;

	for (i = OBJ_FAMILIES; i-- > 0;)
		obj_pair_ok_descend(&obj_pair_ok_node[3 * i]);
}

/* Objects that change places in a hierarchy: each order is that of the tree of its time. */
struct ls_leaf {
	struct ls_leaf *parent;
	unsigned long payload[5];
	struct mutex lock;
};

/* NAME_leaf: two leaves, of a class of their own. */
#define LS_LEAVES(name)								\
static struct ls_leaf *name##_leaf[2];						\
										\
static __side struct ls_leaf *name##_new(void)					\
{										\
	struct ls_leaf *leaf = kzalloc(sizeof(*leaf), GFP_KERNEL);		\
										\
	if (leaf)								\
		mutex_init(&leaf->lock);					\
	return leaf;								\
}										\
										\
static int name##_setup(void)							\
{										\
	name##_leaf[0] = name##_new();						\
	name##_leaf[1] = name##_new();						\
	return name##_leaf[0] && name##_leaf[1] ? 0 : -ENOMEM;			\
}										\
										\
static void name##_teardown(void)						\
{										\
	kfree(name##_leaf[0]);							\
	kfree(name##_leaf[1]);							\
	name##_leaf[0] = name##_leaf[1] = NULL;					\
}										\
										\
/* Only the side that runs uses the tree. */						\
static __side void name##_hang(struct ls_leaf *parent, struct ls_leaf *child)	\
{										\
	parent->parent = NULL;							\
	child->parent = parent;							\
}										\
										\
static __side void name##_both(struct ls_leaf *outer, struct ls_leaf *inner)	\
{										\
	mutex_lock(&outer->lock);						\
	mutex_lock_nested(&inner->lock, SINGLE_DEPTH_NESTING);			\
	mutex_unlock(&inner->lock);						\
	mutex_unlock(&outer->lock);						\
}

LS_LEAVES(obj_moved)
LS_LEAVES(obj_moved_ok)
LS_LEAVES(obj_against)
LS_LEAVES(obj_against_ok)

static __side void obj_moved_before(void)
{
	obj_moved_hang(obj_moved_leaf[0], obj_moved_leaf[1]);
	obj_moved_both(obj_moved_leaf[0], obj_moved_leaf[1]);
}

static __side void obj_moved_after(void)
{
	obj_moved_hang(obj_moved_leaf[1], obj_moved_leaf[0]);
	obj_moved_both(obj_moved_leaf[1], obj_moved_leaf[0]);
}

/* The tree changes, the order does not: it is that of addresses. */
static __side void obj_moved_ok_sorted(void)
{
	bool first = obj_moved_ok_leaf[0] < obj_moved_ok_leaf[1];

	obj_moved_ok_both(obj_moved_ok_leaf[!first], obj_moved_ok_leaf[first]);
}

static __side void obj_moved_ok_before(void)
{
	obj_moved_ok_hang(obj_moved_ok_leaf[0], obj_moved_ok_leaf[1]);
	obj_moved_ok_sorted();
}

static __side void obj_moved_ok_after(void)
{
	obj_moved_ok_hang(obj_moved_ok_leaf[1], obj_moved_ok_leaf[0]);
	obj_moved_ok_sorted();
}

/* The tree stays as it is; one side goes up in it. */
static __side void obj_against_down(void)
{
	obj_against_hang(obj_against_leaf[0], obj_against_leaf[1]);
	obj_against_both(obj_against_leaf[0], obj_against_leaf[1]);
}

static __side void obj_against_up(void)
{
	obj_against_both(obj_against_leaf[1], obj_against_leaf[0]);
}

static __side void obj_against_ok_down(void)
{
	obj_against_ok_hang(obj_against_ok_leaf[0], obj_against_ok_leaf[1]);
	obj_against_ok_both(obj_against_ok_leaf[0], obj_against_ok_leaf[1]);
}

static __side void obj_against_ok_again(void)
{
	obj_against_ok_both(obj_against_ok_leaf[0], obj_against_ok_leaf[1]);
}

/* Dining philosophers: no two of them want the same two forks. */
static struct ls_node *obj_ring_fork[3];

static __side struct ls_node *obj_ring_new(void)
{
	struct ls_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (node)
		mutex_init(&node->lock);
	return node;
}

static int obj_ring_setup(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		obj_ring_fork[i] = obj_ring_new();
	return obj_ring_fork[0] && obj_ring_fork[1] && obj_ring_fork[2] ? 0 : -ENOMEM;
}

static void obj_ring_teardown(void)
{
	ls_nodes_free(obj_ring_fork, 3);
}

static __side void obj_ring_dine(unsigned int first, unsigned int second)
{
	mutex_lock(&obj_ring_fork[first]->lock);
	mutex_lock(&obj_ring_fork[second]->lock);
	mutex_unlock(&obj_ring_fork[second]->lock);
	mutex_unlock(&obj_ring_fork[first]->lock);
}

static __side void obj_ring_01(void)
{
	obj_ring_dine(0, 1);
}

static __side void obj_ring_12(void)
{
	obj_ring_dine(1, 2);
}

static __side void obj_ring_20(void)
{
	obj_ring_dine(2, 0);
}

/* One philosopher is left-handed: the forks have an order after all. */
static struct ls_node *obj_ring_ok_fork[3];

static __side struct ls_node *obj_ring_ok_new(void)
{
	struct ls_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (node)
		mutex_init(&node->lock);
	return node;
}

static int obj_ring_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		obj_ring_ok_fork[i] = obj_ring_ok_new();
	return obj_ring_ok_fork[0] && obj_ring_ok_fork[1] && obj_ring_ok_fork[2] ? 0 : -ENOMEM;
}

static void obj_ring_ok_teardown(void)
{
	ls_nodes_free(obj_ring_ok_fork, 3);
}

static __side void obj_ring_ok_dine(unsigned int first, unsigned int second)
{
	mutex_lock(&obj_ring_ok_fork[first]->lock);
	mutex_lock(&obj_ring_ok_fork[second]->lock);
	mutex_unlock(&obj_ring_ok_fork[second]->lock);
	mutex_unlock(&obj_ring_ok_fork[first]->lock);
}

static __side void obj_ring_ok_01(void)
{
	obj_ring_ok_dine(0, 1);
}

static __side void obj_ring_ok_12(void)
{
	obj_ring_ok_dine(1, 2);
}

static __side void obj_ring_ok_02(void)
{
	obj_ring_ok_dine(0, 2);
}

const struct ls_case order_objects_cases[] = {
	{ "obj_pair", LS_FAULT, LS_RECURSIVE, "two objects of a type in both orders",
	  "obj_pair_new severity=error",
	  .setup = obj_pair_setup, .teardown = obj_pair_teardown,
	  .side = { { obj_pair_forth }, { obj_pair_back } } },
	{ "obj_pair_ok", LS_TWIN, LS_RECURSIVE, "objects of a type down a hierarchy, addresses at random",
	  "obj_pair_ok_new",
	  .setup = obj_pair_ok_setup, .teardown = obj_pair_ok_teardown,
	  .side = { { obj_pair_ok_forwards }, { obj_pair_ok_backwards } } },
	{ "obj_moved", LS_FAULT, LS_RECURSIVE, "two objects in both orders, as the tree had them each time",
	  "obj_moved_new severity=note",
	  .setup = obj_moved_setup, .teardown = obj_moved_teardown,
	  .side = { { obj_moved_before }, { obj_moved_after } } },
	{ "obj_moved_ok", LS_TWIN, LS_RECURSIVE, "two objects by address while the tree changes",
	  "obj_moved_ok_new",
	  .setup = obj_moved_ok_setup, .teardown = obj_moved_ok_teardown,
	  .side = { { obj_moved_ok_before }, { obj_moved_ok_after } } },
	{ "obj_against", LS_FAULT, LS_RECURSIVE, "two objects in both orders, once against the tree",
	  "obj_against_new severity=error",
	  .setup = obj_against_setup, .teardown = obj_against_teardown,
	  .side = { { obj_against_down }, { obj_against_up } } },
	{ "obj_against_ok", LS_TWIN, LS_RECURSIVE, "two objects down the tree, twice",
	  "obj_against_ok_new",
	  .setup = obj_against_ok_setup, .teardown = obj_against_ok_teardown,
	  .side = { { obj_against_ok_down }, { obj_against_ok_again } } },
	{ "obj_ring", LS_FAULT, LS_RECURSIVE, "three objects of a type in a ring, each pair one way only",
	  "obj_ring_new severity=error",
	  .setup = obj_ring_setup, .teardown = obj_ring_teardown,
	  .side = { { obj_ring_01 }, { obj_ring_12 }, { obj_ring_20 } } },
	{ "obj_ring_ok", LS_TWIN, LS_RECURSIVE, "three objects of a type, all pairs, one order",
	  "obj_ring_ok_new",
	  .setup = obj_ring_ok_setup, .teardown = obj_ring_ok_teardown,
	  .side = { { obj_ring_ok_01 }, { obj_ring_ok_12 }, { obj_ring_ok_02 } } },
	{ }
};
