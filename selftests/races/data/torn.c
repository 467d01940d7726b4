// SPDX-License-Identifier: GPL-2.0
/* Accesses that share bytes without being the same. */
#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "races.h"

union halves {
	u64 whole;
	u32 half[2];
};

/* Marked reading does not help against a writer that needs two stores. */
static union halves tear_halves_v __shared;
static DEFINE_SPINLOCK(tear_halves_s);

static __side void tear_halves_write(void)
{
	unsigned long v = ls_value();

	spin_lock(&tear_halves_s);
	tear_halves_v.half[0] = v;
	barrier();
	tear_halves_v.half[1] = ~v;
	spin_unlock(&tear_halves_s);
}

static __side void tear_halves_read(void)
{
	ls_use(READ_ONCE(tear_halves_v.whole));
}

static union halves tear_halves_ok_v __shared;
static DEFINE_SPINLOCK(tear_halves_ok_s);

static __side void tear_halves_ok_write(void)
{
	u64 v = ls_value();

	spin_lock(&tear_halves_ok_s);
	WRITE_ONCE(tear_halves_ok_v.whole, v | ~v << 32);
	spin_unlock(&tear_halves_ok_s);
}

static __side void tear_halves_ok_read(void)
{
	ls_use(READ_ONCE(tear_halves_ok_v.whole));
}

/* Half of it written, all of it read: overlapping is enough. */
static union halves tear_overlap_v __shared;

static __side void tear_overlap_write(void)
{
	tear_overlap_v.half[1] = ls_value();
}

static __side void tear_overlap_read(void)
{
	ls_use(tear_overlap_v.whole);
}

/* The other half is another variable. */
static union halves tear_overlap_ok_v __shared;
static DEFINE_SPINLOCK(tear_overlap_ok_s0);
static DEFINE_SPINLOCK(tear_overlap_ok_s1);

static __side void tear_overlap_ok_write(void)
{
	spin_lock(&tear_overlap_ok_s1);
	tear_overlap_ok_v.half[1] = ls_value();
	spin_unlock(&tear_overlap_ok_s1);
}

static __side void tear_overlap_ok_read(void)
{
	spin_lock(&tear_overlap_ok_s0);
	tear_overlap_ok_v.half[0] ^= ls_value();
	spin_unlock(&tear_overlap_ok_s0);
}

/* Bit-fields of one word are written together: one lock for all of them. */
static struct {
	unsigned int a:3;
	unsigned int b:5;
} tear_bits_v __shared;
static DEFINE_SPINLOCK(tear_bits_sa);
static DEFINE_SPINLOCK(tear_bits_sb);

static __side void tear_bits_a(void)
{
	spin_lock(&tear_bits_sa);
	tear_bits_v.a = ls_value();
	spin_unlock(&tear_bits_sa);
}

static __side void tear_bits_b(void)
{
	spin_lock(&tear_bits_sb);
	tear_bits_v.b = ls_value();
	spin_unlock(&tear_bits_sb);
}

/* Bytes of one word are not. */
static struct {
	u8 a;
	u8 b;
} tear_bits_ok_v __shared;
static DEFINE_SPINLOCK(tear_bits_ok_sa);
static DEFINE_SPINLOCK(tear_bits_ok_sb);

static __side void tear_bits_ok_a(void)
{
	spin_lock(&tear_bits_ok_sa);
	tear_bits_ok_v.a = ls_value();
	spin_unlock(&tear_bits_ok_sa);
}

static __side void tear_bits_ok_b(void)
{
	spin_lock(&tear_bits_ok_sb);
	tear_bits_ok_v.b = ls_value();
	spin_unlock(&tear_bits_ok_sb);
}

/* A structure is assigned, one member is read. */
struct tear_struct {
	unsigned long v[3];
};

static int tear_struct_setup(void)
{
	return ls_keep(0, kzalloc(sizeof(struct tear_struct), GFP_KERNEL));
}

static __side void tear_struct_assign(void)
{
	struct tear_struct *p = ls_kept(0), new;

	new.v[0] = new.v[1] = new.v[2] = ls_value();
	barrier_data(&new);
	*p = new;
}

static __side void tear_struct_read(void)
{
	struct tear_struct *p = ls_kept(0);

	ls_use(p->v[2]);
}

struct tear_struct_ok {
	struct mutex lock;
	unsigned long v[3];
};

static int tear_struct_ok_setup(void)
{
	struct tear_struct_ok *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (p)
		mutex_init(&p->lock);
	return ls_keep(0, p);
}

static __side void tear_struct_ok_assign(void)
{
	struct tear_struct_ok *p = ls_kept(0);
	struct tear_struct new;

	new.v[0] = new.v[1] = new.v[2] = ls_value();
	barrier_data(&new);
	mutex_lock(&p->lock);
	*(struct tear_struct *)p->v = new;
	mutex_unlock(&p->lock);
}

static __side void tear_struct_ok_read(void)
{
	struct tear_struct_ok *p = ls_kept(0);

	mutex_lock(&p->lock);
	ls_use(p->v[2]);
	mutex_unlock(&p->lock);
}

/* Statistics are zeroed in one go while another context writes to them. */
struct tear_zero_stats {
	unsigned int n[16];
};

static struct tear_zero_stats tear_zero_v __shared;
static DEFINE_SPINLOCK(tear_zero_s);

static __side void tear_zero_reset(void)
{
	tear_zero_v = (struct tear_zero_stats){ };
}

static __side void tear_zero_set(void)
{
	spin_lock(&tear_zero_s);
	tear_zero_v.n[13] = ls_value();
	spin_unlock(&tear_zero_s);
}

static struct tear_zero_stats tear_zero_ok_v __shared;
static DEFINE_SPINLOCK(tear_zero_ok_s);

static __side void tear_zero_ok_reset(void)
{
	spin_lock(&tear_zero_ok_s);
	tear_zero_ok_v = (struct tear_zero_stats){ };
	spin_unlock(&tear_zero_ok_s);
}

static __side void tear_zero_ok_set(void)
{
	spin_lock(&tear_zero_ok_s);
	tear_zero_ok_v.n[13] = ls_value();
	spin_unlock(&tear_zero_ok_s);
}

/* A member that lies across two words of memory; only its end is shared. */
struct tear_packed {
	u32 a;
	u64 b;
	u32 c;
} __packed;

static struct tear_packed tear_packed_v __aligned(8) __shared;

static __side void tear_packed_write(void)
{
	tear_packed_v.b = ls_value();
}

static __side void tear_packed_read(void)
{
	ls_use(((u32 *)&tear_packed_v)[2]);
}

static int tear_packed_ok_setup(void)
{
	return ls_keep(0, kzalloc(sizeof(struct tear_packed), GFP_KERNEL));
}

static __side void tear_packed_ok_write(void)
{
	struct tear_packed *p = ls_kept(0);

	p->b = ls_value();
}

/* Beside it, on both sides. */
static __side void tear_packed_ok_near(void)
{
	struct tear_packed *p = ls_kept(0);

	p->a = ls_value();
	p->c = ls_value();
}

const struct ls_case race_torn_cases[] = {
	{ "tear_halves", LS_FAULT, LS_RACE, "64 bits written as two halves, read marked in one",
	  "severity!=note variable=tear_halves_v",
	  .side = { SIDE(tear_halves_write), SIDE(tear_halves_read) } },
	{ "tear_halves_ok", LS_TWIN, LS_RACE, "64 bits written and read marked in one",
	  "", .side = { SIDE(tear_halves_ok_write), SIDE(tear_halves_ok_read) } },
	{ "tear_overlap", LS_FAULT, LS_RACE, "32 bits written, all 64 of the word read",
	  "severity!=note variable=tear_overlap_v",
	  .side = { SIDE(tear_overlap_write), SIDE(tear_overlap_read) } },
	{ "tear_overlap_ok", LS_TWIN, LS_RACE, "each half of 64 bits under its own lock",
	  "", .side = { SIDE(tear_overlap_ok_write), SIDE(tear_overlap_ok_read) } },
	{ "tear_bits", LS_FAULT, LS_RACE, "two bit-fields of one word, each under its own lock",
	  "severity!=note variable=tear_bits_v", .side = { SIDE(tear_bits_a), SIDE(tear_bits_b) } },
	{ "tear_bits_ok", LS_TWIN, LS_RACE, "two bytes of one word, each under its own lock",
	  "", .side = { SIDE(tear_bits_ok_a), SIDE(tear_bits_ok_b) } },
	{ "tear_struct", LS_FAULT, LS_RACE, "structure assigned, its last member read",
	  "severity!=note", tear_struct_setup, ls_free_kept,
	  { SIDE(tear_struct_assign), SIDE(tear_struct_read) } },
	{ "tear_struct_ok", LS_TWIN, LS_RACE, "structure assigned and read under its mutex",
	  "", tear_struct_ok_setup, ls_free_kept,
	  { SIDE(tear_struct_ok_assign), SIDE(tear_struct_ok_read) } },
	{ "tear_zero", LS_FAULT, LS_RACE, "structure set to zero without the lock of its writers",
	  "severity!=note variable=tear_zero_v",
	  .side = { SIDE(tear_zero_reset), SIDE(tear_zero_set) } },
	{ "tear_zero_ok", LS_TWIN, LS_RACE, "structure set to zero under the lock of its writers",
	  "", .side = { SIDE(tear_zero_ok_reset), SIDE(tear_zero_ok_set) } },
	{ "tear_packed", LS_FAULT, LS_RACE, "unaligned 64 bits written, their last 32 read",
	  "severity!=note variable=tear_packed_v",
	  .side = { SIDE(tear_packed_write), SIDE(tear_packed_read) } },
	{ "tear_packed_ok", LS_TWIN, LS_RACE, "unaligned 64 bits and what lies beside them",
	  "", tear_packed_ok_setup, ls_free_kept,
	  { SIDE(tear_packed_ok_write), SIDE(tear_packed_ok_near) } },
	{ }
};
