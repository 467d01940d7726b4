// SPDX-License-Identifier: GPL-2.0
/* Counters, and accesses of which only one is marked: found, but of low rank. */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "races.h"

static unsigned long cnt_static_n __shared;

static __side void cnt_static_a(void)
{
	cnt_static_n++;
}

static __side void cnt_static_b(void)
{
	cnt_static_n++;
}

static atomic_long_t cnt_static_ok_n __shared;

static __side void cnt_static_ok_a(void)
{
	atomic_long_inc(&cnt_static_ok_n);
}

static __side void cnt_static_ok_b(void)
{
	atomic_long_inc(&cnt_static_ok_n);
	ls_use(atomic_long_read(&cnt_static_ok_n));
}

/* Counters of an object: bytes and packets. */
struct cnt_object {
	spinlock_t lock;
	u64 bytes;
	u32 packets;
};

static int cnt_object_setup(void)
{
	struct cnt_object *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return ls_keep(0, o);
}

static __side void cnt_object_a(void)
{
	struct cnt_object *o = ls_kept(0);

	o->bytes += 64;
}

static __side void cnt_object_b(void)
{
	struct cnt_object *o = ls_kept(0);

	o->bytes += ls_value();
}

/* Memory of its own: an object that is counted up under a lock elsewhere is another matter. */
static int cnt_object_ok_setup(void)
{
	struct cnt_object *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return ls_keep(0, o);
}

static __side void cnt_object_ok_a(void)
{
	struct cnt_object *o = ls_kept(0);

	spin_lock(&o->lock);
	o->bytes += 64;
	o->packets++;
	spin_unlock(&o->lock);
}

static __side void cnt_object_ok_b(void)
{
	struct cnt_object *o = ls_kept(0);

	spin_lock(&o->lock);
	o->bytes += ls_value();
	o->packets++;
	spin_unlock(&o->lock);
}

/* Counts, but what becomes of it decides over the life of an object. */
static int cnt_ref_n __shared;

static __side void cnt_ref_get(void)
{
	cnt_ref_n++;
}

static __side void cnt_ref_put(void)
{
	if (--cnt_ref_n == 0)
		ls_use(1);
}

static refcount_t cnt_ref_ok_n = REFCOUNT_INIT(1);

static __side void cnt_ref_ok_get(void)
{
	refcount_inc(&cnt_ref_ok_n);
}

static __side void cnt_ref_ok_put(void)
{
	if (!refcount_dec_not_one(&cnt_ref_ok_n))
		ls_use(refcount_read(&cnt_ref_ok_n));
}

/* The highest value so far: a comparison and a write. */
static unsigned long cnt_max_v __shared;

static __side void cnt_max_a(void)
{
	unsigned long v = ls_value();

	if (v > cnt_max_v)
		cnt_max_v = v;
}

static __side void cnt_max_b(void)
{
	unsigned long v = ls_value();

	if (v > cnt_max_v)
		cnt_max_v = v;
}

static unsigned long cnt_max_ok_v __shared;
static DEFINE_SPINLOCK(cnt_max_ok_s);

static __side void cnt_max_ok_a(void)
{
	unsigned long v = ls_value();

	spin_lock(&cnt_max_ok_s);
	if (v > cnt_max_ok_v)
		cnt_max_ok_v = v;
	spin_unlock(&cnt_max_ok_s);
}

static __side void cnt_max_ok_b(void)
{
	unsigned long v = ls_value();

	spin_lock(&cnt_max_ok_s);
	if (v > cnt_max_ok_v)
		cnt_max_ok_v = v;
	spin_unlock(&cnt_max_ok_s);
}

/* Read marked, written plainly. */
static unsigned int mark_write_v __shared;

static __side void mark_write_write(void)
{
	mark_write_v = ls_value();
}

static __side void mark_write_read(void)
{
	ls_use(READ_ONCE(mark_write_v));
}

static unsigned int mark_write_ok_v __shared;

static __side void mark_write_ok_write(void)
{
	WRITE_ONCE(mark_write_ok_v, ls_value());
}

static __side void mark_write_ok_read(void)
{
	ls_use(READ_ONCE(mark_write_ok_v));
}

/* Written marked, read plainly. */
static unsigned long mark_read_v __shared;

static __side void mark_read_write(void)
{
	WRITE_ONCE(mark_read_v, ls_value());
}

static __side void mark_read_read(void)
{
	ls_use(mark_read_v);
}

/* The one writer may read plainly what it alone writes. */
static unsigned long mark_read_ok_v __shared;
static DEFINE_SPINLOCK(mark_read_ok_s);

static __side void mark_read_ok_write(void)
{
	spin_lock(&mark_read_ok_s);
	WRITE_ONCE(mark_read_ok_v, mark_read_ok_v + ls_value());
	spin_unlock(&mark_read_ok_s);
}

static __side void mark_read_ok_read(void)
{
	ls_use(READ_ONCE(mark_read_ok_v));
}

/* A compound update of which only the reading half is marked. */
static int mark_half_v __shared;

static __side void mark_half_a(void)
{
	mark_half_v = READ_ONCE(mark_half_v) + 1;
}

static __side void mark_half_b(void)
{
	WRITE_ONCE(mark_half_v, 0);
}

static int mark_half_ok_v __shared;

static __side void mark_half_ok_a(void)
{
	WRITE_ONCE(mark_half_ok_v, READ_ONCE(mark_half_ok_v) + 1);
}

static __side void mark_half_ok_b(void)
{
	WRITE_ONCE(mark_half_ok_v, 0);
}

static bool same_flag_v __shared;

static __side void same_flag_a(void)
{
	same_flag_v = true;
}

static __side void same_flag_b(void)
{
	same_flag_v = true;
}

static bool same_flag_ok_v __shared;
static DEFINE_SPINLOCK(same_flag_ok_l);

static __side void same_flag_ok_a(void)
{
	spin_lock(&same_flag_ok_l);
	same_flag_ok_v = true;
	spin_unlock(&same_flag_ok_l);
}

static __side void same_flag_ok_b(void)
{
	spin_lock(&same_flag_ok_l);
	same_flag_ok_v = true;
	spin_unlock(&same_flag_ok_l);
}

/* The last one decides. */
static bool same_not_v __shared;

static __side void same_not_a(void)
{
	same_not_v = true;
}

static __side void same_not_b(void)
{
	same_not_v = false;
}

/* The loader fills the addresses in: in the module's file both are 0. */
static void *same_place_v __shared;

static __side void same_place_a(void)
{
	same_place_v = &same_flag_v;
}

static __side void same_place_b(void)
{
	same_place_v = &same_not_v;
}

static void *same_place_ok_v __shared;
static DEFINE_SPINLOCK(same_place_ok_l);

static __side void same_place_ok_a(void)
{
	spin_lock(&same_place_ok_l);
	same_place_ok_v = &same_flag_v;
	spin_unlock(&same_place_ok_l);
}

static __side void same_place_ok_b(void)
{
	spin_lock(&same_place_ok_l);
	same_place_ok_v = &same_not_v;
	spin_unlock(&same_place_ok_l);
}

const struct ls_case race_count_cases[] = {
	{ "same_place", LS_FAULT, LS_RACE, "the sides store two addresses",
	  "severity!=note variable=same_place_v",
	  .side = { SIDE(same_place_a), SIDE(same_place_b) } },
	{ "same_place_ok", LS_TWIN, LS_RACE, "the sides store two addresses under a spinlock",
	  "", .side = { SIDE(same_place_ok_a), SIDE(same_place_ok_b) } },
	{ "same_flag", LS_FAULT, LS_RACE, "both sides store true",
	  "severity=note variable=same_flag_v",
	  .side = { SIDE(same_flag_a), SIDE(same_flag_b) } },
	{ "same_flag_ok", LS_TWIN, LS_RACE, "both sides store true under a spinlock",
	  "", .side = { SIDE(same_flag_ok_a), SIDE(same_flag_ok_b) } },
	{ "same_not", LS_FAULT, LS_RACE, "one side stores true, the other false",
	  "severity!=note variable=same_not_v",
	  .side = { SIDE(same_not_a), SIDE(same_not_b) } },
	{ "cnt_static", LS_FAULT, LS_RACE, "plain ++ of a counter on both sides",
	  "severity=note variable=cnt_static_n",
	  .side = { SIDE(cnt_static_a), SIDE(cnt_static_b) } },
	{ "cnt_static_ok", LS_TWIN, LS_RACE, "atomic increments",
	  "", .side = { SIDE(cnt_static_ok_a), SIDE(cnt_static_ok_b) } },
	{ "cnt_object", LS_FAULT, LS_RACE, "plain += of an object's counter on both sides",
	  "severity=note", cnt_object_setup, ls_free_kept,
	  { SIDE(cnt_object_a), SIDE(cnt_object_b) } },
	{ "cnt_object_ok", LS_TWIN, LS_RACE, "an object's counters under its lock",
	  "", cnt_object_ok_setup, ls_free_kept, { SIDE(cnt_object_ok_a), SIDE(cnt_object_ok_b) } },
	{ "cnt_ref", LS_FAULT, LS_RACE, "plain reference count",
	  "variable=cnt_ref_n", .side = { SIDE(cnt_ref_get), SIDE(cnt_ref_put) } },
	{ "cnt_ref_ok", LS_TWIN, LS_RACE, "refcount_t",
	  "", .side = { SIDE(cnt_ref_ok_get), SIDE(cnt_ref_ok_put) } },
	{ "cnt_max", LS_FAULT, LS_RACE, "highest value so far, without a lock",
	  "severity!=note variable=cnt_max_v", .side = { SIDE(cnt_max_a), SIDE(cnt_max_b) } },
	{ "cnt_max_ok", LS_TWIN, LS_RACE, "highest value so far, under a spinlock",
	  "", .side = { SIDE(cnt_max_ok_a), SIDE(cnt_max_ok_b) } },
	{ "mark_write", LS_FAULT, LS_RACE, "written plainly, read by READ_ONCE",
	  "severity=note variable=mark_write_v",
	  .side = { SIDE(mark_write_write), SIDE(mark_write_read) } },
	{ "mark_write_ok", LS_TWIN, LS_RACE, "written by WRITE_ONCE, read by READ_ONCE",
	  "", .side = { SIDE(mark_write_ok_write), SIDE(mark_write_ok_read) } },
	{ "mark_read", LS_FAULT, LS_RACE, "written by WRITE_ONCE, read plainly",
	  "severity=note variable=mark_read_v",
	  .side = { SIDE(mark_read_write), SIDE(mark_read_read) } },
	{ "mark_read_ok", LS_TWIN, LS_RACE, "read plainly only under the lock of its writers",
	  "", .side = { SIDE(mark_read_ok_write), SIDE(mark_read_ok_read) } },
	{ "mark_half", LS_FAULT, LS_RACE, "read by READ_ONCE and written back plainly",
	  "severity=note variable=mark_half_v", .side = { SIDE(mark_half_a), SIDE(mark_half_b) } },
	{ "mark_half_ok", LS_TWIN, LS_RACE, "read by READ_ONCE and written back by WRITE_ONCE",
	  "", .side = { SIDE(mark_half_ok_a), SIDE(mark_half_ok_b) } },
	{ }
};
