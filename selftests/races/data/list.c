// SPDX-License-Identifier: GPL-2.0
/* Lists and rings. */
#include <linux/list.h>
#include <linux/spinlock.h>

#include "races.h"

/* Two add to one list without a lock. */
static LIST_HEAD(list_add_head);
static struct list_head list_add_node[2];

static __side void list_add_a(void)
{
	ls_apart_begin();
	list_add(&list_add_node[0], &list_add_head);
	list_del(&list_add_node[0]);
	ls_apart_end();
}

static __side void list_add_b(void)
{
	ls_apart_begin();
	list_add(&list_add_node[1], &list_add_head);
	list_del(&list_add_node[1]);
	ls_apart_end();
}

static LIST_HEAD(list_add_ok_head);
static struct list_head list_add_ok_node[2];
static DEFINE_SPINLOCK(list_add_ok_s);

static __side void list_add_ok_a(void)
{
	spin_lock(&list_add_ok_s);
	list_add(&list_add_ok_node[0], &list_add_ok_head);
	list_del(&list_add_ok_node[0]);
	spin_unlock(&list_add_ok_s);
}

static __side void list_add_ok_b(void)
{
	spin_lock(&list_add_ok_s);
	list_add(&list_add_ok_node[1], &list_add_ok_head);
	list_del(&list_add_ok_node[1]);
	spin_unlock(&list_add_ok_s);
}

struct list_item {
	struct list_head list;
	struct hlist_node hash;
	int v;
};

/* The walk goes without the lock. Adding marks its write of the head: a note is what it gets. */
static LIST_HEAD(list_walk_head);
static struct list_item list_walk_item;
static DEFINE_SPINLOCK(list_walk_s);

static __side void list_walk_add(void)
{
	spin_lock(&list_walk_s);
	ls_apart_begin();
	list_add(&list_walk_item.list, &list_walk_head);
	list_del(&list_walk_item.list);
	ls_apart_end();
	spin_unlock(&list_walk_s);
}

static __side void list_walk_walk(void)
{
	struct list_head *p;

	ls_apart_begin();
	for (p = list_walk_head.next; p != &list_walk_head; p = p->next)
		ls_use((unsigned long)p);
	ls_apart_end();
}

static LIST_HEAD(list_walk_ok_head);
static struct list_item list_walk_ok_item;
static DEFINE_SPINLOCK(list_walk_ok_s);

static __side void list_walk_ok_add(void)
{
	spin_lock(&list_walk_ok_s);
	list_add(&list_walk_ok_item.list, &list_walk_ok_head);
	list_del(&list_walk_ok_item.list);
	spin_unlock(&list_walk_ok_s);
}

static __side void list_walk_ok_walk(void)
{
	struct list_head *p;

	spin_lock(&list_walk_ok_s);
	for (p = list_walk_ok_head.next; p != &list_walk_ok_head; p = p->next)
		ls_use((unsigned long)p);
	spin_unlock(&list_walk_ok_s);
}

/* Moved between two lists, under the lock of one of them only. */
static LIST_HEAD(list_move_from);
static LIST_HEAD(list_move_to);
static struct list_head list_move_node = LIST_HEAD_INIT(list_move_node);
static DEFINE_SPINLOCK(list_move_sfrom);
static DEFINE_SPINLOCK(list_move_sto);

static __side void list_move_forth(void)
{
	spin_lock(&list_move_sfrom);
	ls_apart_begin();
	list_move(&list_move_node, &list_move_to);
	ls_apart_end();
	spin_unlock(&list_move_sfrom);
}

static __side void list_move_back(void)
{
	spin_lock(&list_move_sto);
	ls_apart_begin();
	list_move(&list_move_node, &list_move_from);
	ls_apart_end();
	spin_unlock(&list_move_sto);
}

static LIST_HEAD(list_move_ok_from);
static LIST_HEAD(list_move_ok_to);
static struct list_head list_move_ok_node = LIST_HEAD_INIT(list_move_ok_node);
static DEFINE_SPINLOCK(list_move_ok_sfrom);
static DEFINE_SPINLOCK(list_move_ok_sto);

static __side void list_move_ok_forth(void)
{
	spin_lock(&list_move_ok_sfrom);
	spin_lock(&list_move_ok_sto);
	list_move(&list_move_ok_node, &list_move_ok_to);
	spin_unlock(&list_move_ok_sto);
	spin_unlock(&list_move_ok_sfrom);
}

static __side void list_move_ok_back(void)
{
	spin_lock(&list_move_ok_sfrom);
	spin_lock(&list_move_ok_sto);
	list_move(&list_move_ok_node, &list_move_ok_from);
	spin_unlock(&list_move_ok_sto);
	spin_unlock(&list_move_ok_sfrom);
}

/* Readers are on their own under RCU, writers are not. */
static HLIST_HEAD(list_hash_head);
static struct list_item list_hash_item[2];

static __side void list_hash_a(void)
{
	ls_apart_begin();
	hlist_add_head(&list_hash_item[0].hash, &list_hash_head);
	hlist_del(&list_hash_item[0].hash);
	ls_apart_end();
}

static __side void list_hash_b(void)
{
	ls_apart_begin();
	hlist_add_head(&list_hash_item[1].hash, &list_hash_head);
	hlist_del(&list_hash_item[1].hash);
	ls_apart_end();
}

static HLIST_HEAD(list_hash_ok_head);
static struct list_item list_hash_ok_item[2];
static DEFINE_SPINLOCK(list_hash_ok_s);

static __side void list_hash_ok_a(void)
{
	spin_lock(&list_hash_ok_s);
	hlist_add_head(&list_hash_ok_item[0].hash, &list_hash_ok_head);
	hlist_del(&list_hash_ok_item[0].hash);
	spin_unlock(&list_hash_ok_s);
}

static __side void list_hash_ok_b(void)
{
	spin_lock(&list_hash_ok_s);
	hlist_add_head(&list_hash_ok_item[1].hash, &list_hash_ok_head);
	hlist_del(&list_hash_ok_item[1].hash);
	spin_unlock(&list_hash_ok_s);
}

/* A ring buffer: producer and consumer both read both indices. */
#define RING_SIZE 8

struct ring {
	unsigned int head;
	unsigned int tail;
	int slot[RING_SIZE];
};

static struct ring list_ring_r __shared;

static __side void list_ring_put(void)
{
	unsigned int head = list_ring_r.head;

	if (head - list_ring_r.tail >= RING_SIZE)
		return;
	list_ring_r.slot[head % RING_SIZE] = ls_value();
	list_ring_r.head = head + 1;
}

static __side void list_ring_get(void)
{
	unsigned int tail = list_ring_r.tail;

	if (tail == list_ring_r.head)
		return;
	ls_use(list_ring_r.slot[tail % RING_SIZE]);
	list_ring_r.tail = tail + 1;
}

static struct ring list_ring_ok_r __shared;
static DEFINE_SPINLOCK(list_ring_ok_s);

static __side void list_ring_ok_put(void)
{
	struct ring *r = &list_ring_ok_r;

	spin_lock(&list_ring_ok_s);
	if (r->head - r->tail < RING_SIZE)
		r->slot[r->head++ % RING_SIZE] = ls_value();
	spin_unlock(&list_ring_ok_s);
}

static __side void list_ring_ok_get(void)
{
	struct ring *r = &list_ring_ok_r;

	spin_lock(&list_ring_ok_s);
	if (r->head != r->tail)
		ls_use(r->slot[r->tail++ % RING_SIZE]);
	spin_unlock(&list_ring_ok_s);
}

const struct ls_case race_list_cases[] = {
	{ "list_add", LS_FAULT, LS_RACE, "two add to one list without a lock",
	  "severity!=note", .side = { SIDE(list_add_a), SIDE(list_add_b) } },
	{ "list_add_ok", LS_TWIN, LS_RACE, "two add to one list under a spinlock",
	  "", .side = { SIDE(list_add_ok_a), SIDE(list_add_ok_b) } },
	{ "list_walk", LS_FAULT, LS_RACE, "list walked without the lock of who adds to it",
	  "severity=note", .side = { SIDE(list_walk_add), SIDE(list_walk_walk) } },
	{ "list_walk_ok", LS_TWIN, LS_RACE, "list walked under the lock of who adds to it",
	  "", .side = { SIDE(list_walk_ok_add), SIDE(list_walk_ok_walk) } },
	{ "list_move", LS_FAULT, LS_RACE, "moved between lists under the lock of where it was",
	  "severity!=note", .side = { SIDE(list_move_forth), SIDE(list_move_back) } },
	{ "list_move_ok", LS_TWIN, LS_RACE, "moved between lists under the locks of both",
	  "", .side = { SIDE(list_move_ok_forth), SIDE(list_move_ok_back) } },
	{ "list_hash", LS_FAULT, LS_RACE, "two add to one hash chain without a lock",
	  "severity!=note", .side = { SIDE(list_hash_a), SIDE(list_hash_b) } },
	{ "list_hash_ok", LS_TWIN, LS_RACE, "two add to one hash chain under a spinlock",
	  "", .side = { SIDE(list_hash_ok_a), SIDE(list_hash_ok_b) } },
	{ "list_ring", LS_FAULT, LS_RACE, "ring with plain indices and no lock",
	  "severity!=note variable=list_ring_r",
	  .side = { SIDE(list_ring_put), SIDE(list_ring_get) } },
	{ "list_ring_ok", LS_TWIN, LS_RACE, "ring under a spinlock",
	  "", .side = { SIDE(list_ring_ok_put), SIDE(list_ring_ok_get) } },
	{ }
};
