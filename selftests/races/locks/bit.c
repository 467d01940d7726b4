// SPDX-License-Identifier: GPL-2.0
/*
 * Bits as locks, and local locks, in code that was not changed for it: the headers that
 * `lockscope instrument` puts before the kernel's report them. What they cover, and what
 * they do not.
 */
/* Before what needs it: not every kernel's bit_spinlock.h does so itself. */
#include <linux/processor.h>
#include <linux/bit_spinlock.h>
#include <linux/bitops.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "races.h"

/* A bit in each element of a table, as zram has them. */
struct bit_entry {
	unsigned long flags;
	unsigned long value;
};

#define BIT_ENTRIES 8
#define BIT_LOCK 3
#define BIT_OTHER 13		/* in another byte of the word */

static int bit_table(void)
{
	return ls_keep(0, kcalloc(BIT_ENTRIES, sizeof(struct bit_entry), GFP_KERNEL));
}

static struct bit_entry *bit_entry(void)
{
	return (struct bit_entry *)ls_kept(0) + 5;
}

/* One side only. */
static __side void bit_side_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

static __side void bit_side_b(void)
{
	bit_entry()->value = ls_value();
}

static __side void bit_side_ok_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

static __side void bit_side_ok_b(void)
{
	struct bit_entry *e = bit_entry();

	while (!bit_spin_trylock(BIT_LOCK, &e->flags))
		cpu_relax();
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

/* Two bits are two locks. */
static __side void bit_two_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

static __side void bit_two_b(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_OTHER, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_OTHER, &e->flags);
}

static __side void bit_two_ok_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	bit_spin_lock(BIT_OTHER, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_OTHER, &e->flags);
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

static __side void bit_two_ok_b(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_OTHER, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_OTHER, &e->flags);
}

/* The lock of one entry says nothing of another one. */
static __side void bit_entry_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

static __side void bit_entry_b(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e[1].flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e[1].flags);
}

static __side void bit_entry_ok_a(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e[1].flags);
	e[1].value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e[1].flags);
}

static __side void bit_entry_ok_b(void)
{
	struct bit_entry *e = bit_entry();

	bit_spin_lock(BIT_LOCK, &e->flags);
	e->value = ls_value();
	bit_spin_unlock(BIT_LOCK, &e->flags);
}

/* A local lock is of one processor, and no lock for what all of them share. */
static DEFINE_PER_CPU(local_lock_t, bit_local_lock) = INIT_LOCAL_LOCK(bit_local_lock);
static unsigned long bit_local_v __shared;

static __side void bit_local_a(void)
{
	local_lock(&bit_local_lock);
	bit_local_v = ls_value();
	local_unlock(&bit_local_lock);
}

static __side void bit_local_b(void)
{
	local_lock(&bit_local_lock);
	bit_local_v = ls_value();
	local_unlock(&bit_local_lock);
}

static DEFINE_PER_CPU(local_lock_t, bit_local_ok_lock) = INIT_LOCAL_LOCK(bit_local_ok_lock);
static DEFINE_PER_CPU(unsigned long, bit_local_ok_v);

static __side void bit_local_ok_a(void)
{
	local_lock(&bit_local_ok_lock);
	*this_cpu_ptr(&bit_local_ok_v) = ls_value();
	local_unlock(&bit_local_ok_lock);
}

static __side void bit_local_ok_b(void)
{
	local_lock(&bit_local_ok_lock);
	*this_cpu_ptr(&bit_local_ok_v) = ls_value();
	local_unlock(&bit_local_ok_lock);
}

const struct ls_case race_bit_cases[] = {
	{ "bit_side", LS_FAULT, LS_RACE, "bit_spin_lock() on one side only",
	  "severity!=note", bit_table, ls_free_kept, { SIDE(bit_side_a), SIDE(bit_side_b) } },
	{ "bit_side_ok", LS_TWIN, LS_RACE, "bit_spin_lock() on one side, bit_spin_trylock() on the other",
	  "", bit_table, ls_free_kept, { SIDE(bit_side_ok_a), SIDE(bit_side_ok_b) } },
	{ "bit_two", LS_FAULT, LS_RACE, "another bit of one word for each side",
	  "severity!=note", bit_table, ls_free_kept, { SIDE(bit_two_a), SIDE(bit_two_b) } },
	{ "bit_two_ok", LS_TWIN, LS_RACE, "two bits of one word, one of them on both sides",
	  "", bit_table, ls_free_kept, { SIDE(bit_two_ok_a), SIDE(bit_two_ok_b) } },
	{ "bit_entry", LS_FAULT, LS_RACE, "the bit of a neighbour in the table",
	  "severity!=note", bit_table, ls_free_kept, { SIDE(bit_entry_a), SIDE(bit_entry_b) } },
	{ "bit_entry_ok", LS_TWIN, LS_RACE, "two entries of a table, each under its own bit",
	  "", bit_table, ls_free_kept, { SIDE(bit_entry_ok_a), SIDE(bit_entry_ok_b) } },
	{ "bit_local", LS_FAULT, LS_RACE, "local_lock() on two processors",
	  "severity!=note", .side = { SIDE(bit_local_a), SIDE(bit_local_b) },
	  .cpus = LS_CPUS_TWO },
	{ "bit_local_ok", LS_TWIN, LS_RACE, "local_lock() for a processor's own data",
	  "", .side = { SIDE(bit_local_ok_a), SIDE(bit_local_ok_b) }, .cpus = LS_CPUS_TWO },
	{ }
};
