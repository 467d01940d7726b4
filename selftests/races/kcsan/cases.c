// SPDX-License-Identifier: GPL-2.0
/*
 * The scenarios of the kernel's kernel/kcsan/kcsan_test.c in our own words, as
 * far as they are about plain and marked accesses. A case is a fault where KCSAN,
 * as it is configured by default, expects a report; kcsan.md says what is expected
 * of us, and why where that is something else.
 */
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/seqlock.h>

#include "annotate.h"
#include "races.h"

static long kcsan_basic_v __shared;

static __side void kcsan_basic_write(void)
{
	kcsan_basic_v = ls_value();
}

static __side void kcsan_basic_read(void)
{
	ls_use(kcsan_basic_v);
}

/* Many addresses at once. */
#define NR_CONCURRENT (3 * PAGE_SIZE / sizeof(long))
static long kcsan_concurrent_races_v[NR_CONCURRENT] __shared;

static __side void kcsan_concurrent_races_count(void)
{
	unsigned int i;

	for (i = 0; i < NR_CONCURRENT; i++)
		kcsan_concurrent_races_v[i]++;
}

/* The same value each time. */
static long kcsan_novalue_change_v __shared;

static __side void kcsan_novalue_change_write(void)
{
	kcsan_novalue_change_v = 42;
}

static __side void kcsan_novalue_change_read(void)
{
	ls_use(kcsan_novalue_change_v);
}

/* The same in a function whose name KCSAN excepts from its filter. */
static long kcsan_novalue_change_exception_v __shared;

static __side void kcsan_novalue_change_exception_write_rcu(void)
{
	kcsan_novalue_change_exception_v = 42;
}

static __side void kcsan_novalue_change_exception_read(void)
{
	ls_use(kcsan_novalue_change_exception_v);
}

/* The writer is not instrumented. */
static long kcsan_unknown_origin_v __shared;

static __side __attribute__((__no_sanitize_thread__)) void kcsan_unknown_origin_write(void)
{
	kcsan_unknown_origin_v++;
}

static __side void kcsan_unknown_origin_read(void)
{
	ls_use(kcsan_unknown_origin_v);
}

static long kcsan_write_write_assume_atomic_v __shared;

static __side void kcsan_write_write_assume_atomic_write(void)
{
	kcsan_write_write_assume_atomic_v = ls_value();
}

/* Larger than a word: on both sides, then on one. */
struct large {
	long v[8];
};

static struct large kcsan_write_write_struct_v __shared;

static __side void kcsan_write_write_struct_write(void)
{
	struct large new = { .v[3] = ls_value() };

	barrier_data(&new);
	kcsan_write_write_struct_v = new;
}

static struct large kcsan_write_write_struct_part_v __shared;

static __side void kcsan_write_write_struct_part_all(void)
{
	struct large new = { .v[3] = ls_value() };

	barrier_data(&new);
	kcsan_write_write_struct_part_v = new;
}

static __side void kcsan_write_write_struct_part_part(void)
{
	kcsan_write_write_struct_part_v.v[3] = 42;
}

static long kcsan_read_atomic_write_atomic_v __shared;

static __side void kcsan_read_atomic_write_atomic_read(void)
{
	ls_use(READ_ONCE(kcsan_read_atomic_write_atomic_v));
}

static __side void kcsan_read_atomic_write_atomic_write(void)
{
	WRITE_ONCE(kcsan_read_atomic_write_atomic_v, ls_value());
}

static long kcsan_read_plain_atomic_write_v __shared;

static __side void kcsan_read_plain_atomic_write_read(void)
{
	ls_use(kcsan_read_plain_atomic_write_v);
}

static __side void kcsan_read_plain_atomic_write_write(void)
{
	WRITE_ONCE(kcsan_read_plain_atomic_write_v, ls_value());
}

static long kcsan_read_plain_atomic_rmw_v __shared;

static __side void kcsan_read_plain_atomic_rmw_read(void)
{
	ls_use(kcsan_read_plain_atomic_rmw_v);
}

static __side void kcsan_read_plain_atomic_rmw_add(void)
{
	__atomic_fetch_add(&kcsan_read_plain_atomic_rmw_v, 1, __ATOMIC_RELAXED);
}

/* No compiler emits an access to nothing, so it is called by its name. */
void __tsan_read_range(void *p, long n);
static struct large kcsan_zero_size_access_v __shared;

static __side void kcsan_zero_size_access_write(void)
{
	struct large new = { .v[3] = ls_value() };

	barrier_data(&new);
	kcsan_zero_size_access_v = new;
}

static __side void kcsan_zero_size_access_nothing(void)
{
	__tsan_read_range(&kcsan_zero_size_access_v.v[3], 0);
}

/* data_race() is nothing in a kernel without KCSAN: our own word for it. */
static long kcsan_data_race_v __shared;

static __side void kcsan_data_race_count(void)
{
	lockscope_ignore_begin();
	data_race(kcsan_data_race_v++);
	lockscope_ignore_end();
}

static __side void kcsan_jiffies_noreport_read(void)
{
	ls_use(jiffies);
}

static long kcsan_seqlock_noreport_v __shared;
static DEFINE_SEQLOCK(kcsan_seqlock_noreport_l);

static __side void kcsan_seqlock_noreport_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&kcsan_seqlock_noreport_l);
		ls_use(kcsan_seqlock_noreport_v);
	} while (read_seqretry(&kcsan_seqlock_noreport_l, seq));
}

static __side void kcsan_seqlock_noreport_write(void)
{
	unsigned long flags;

	write_seqlock_irqsave(&kcsan_seqlock_noreport_l, flags);
	kcsan_seqlock_noreport_v++;
	write_sequnlock_irqrestore(&kcsan_seqlock_noreport_l, flags);
}

/* One bit is flipped: KCSAN's permissive mode, not the default, would let it go. */
static long kcsan_1bit_value_change_v __shared;

static __side void kcsan_1bit_value_change_read(void)
{
	ls_use(kcsan_1bit_value_change_v);
}

static __side void kcsan_1bit_value_change_flip(void)
{
	kcsan_1bit_value_change_v ^= 0x10000;
}

const struct ls_case kcsan_cases[] = {
	{ "kcsan_basic", LS_FAULT, LS_RACE, "plain write, plain read",
	  "", .side = { SIDE(kcsan_basic_write), SIDE(kcsan_basic_read) } },
	{ "kcsan_concurrent_races", LS_FAULT, LS_RACE, "races on many addresses at once",
	  "", .side = { SIDE(kcsan_concurrent_races_count), SIDE(kcsan_concurrent_races_count) } },
	{ "kcsan_novalue_change", LS_TWIN, LS_RACE, "a write that changes nothing",
	  "", .side = { SIDE(kcsan_novalue_change_write), SIDE(kcsan_novalue_change_read) } },
	{ "kcsan_novalue_change_exception", LS_FAULT, LS_RACE, "the same in a function named _rcu",
	  "", .side = { SIDE(kcsan_novalue_change_exception_write_rcu),
			SIDE(kcsan_novalue_change_exception_read) } },
	{ "kcsan_unknown_origin", LS_FAULT, LS_RACE, "the writer is not instrumented",
	  "", .side = { SIDE(kcsan_unknown_origin_write), SIDE(kcsan_unknown_origin_read) } },
	{ "kcsan_write_write_assume_atomic", LS_TWIN, LS_RACE, "two plain writes of a word",
	  "", .side = { SIDE(kcsan_write_write_assume_atomic_write),
			SIDE(kcsan_write_write_assume_atomic_write) } },
	{ "kcsan_write_write_struct", LS_FAULT, LS_RACE, "two plain writes of a structure",
	  "", .side = { SIDE(kcsan_write_write_struct_write),
			SIDE(kcsan_write_write_struct_write) } },
	{ "kcsan_write_write_struct_part", LS_FAULT, LS_RACE, "a structure and a member written",
	  "", .side = { SIDE(kcsan_write_write_struct_part_all),
			SIDE(kcsan_write_write_struct_part_part) } },
	{ "kcsan_read_atomic_write_atomic", LS_TWIN, LS_RACE, "marked read, marked write",
	  "", .side = { SIDE(kcsan_read_atomic_write_atomic_read),
			SIDE(kcsan_read_atomic_write_atomic_write) } },
	{ "kcsan_read_plain_atomic_write", LS_FAULT, LS_RACE, "plain read, marked write",
	  "", .side = { SIDE(kcsan_read_plain_atomic_write_read),
			SIDE(kcsan_read_plain_atomic_write_write) } },
	{ "kcsan_read_plain_atomic_rmw", LS_FAULT, LS_RACE, "plain read, atomic add",
	  "", .side = { SIDE(kcsan_read_plain_atomic_rmw_read),
			SIDE(kcsan_read_plain_atomic_rmw_add) } },
	{ "kcsan_zero_size_access", LS_FAULT, LS_RACE, "an access to no byte at all takes no part",
	  "never=kcsan_zero_size_access_nothing",
	  .side = { SIDE(kcsan_zero_size_access_write), SIDE(kcsan_zero_size_access_write),
		    { kcsan_zero_size_access_nothing } } },
	{ "kcsan_data_race", LS_TWIN, LS_RACE, "accesses that the author has excused",
	  "", .side = { SIDE(kcsan_data_race_count), SIDE(kcsan_data_race_count) } },
	{ "kcsan_jiffies_noreport", LS_TWIN, LS_RACE, "jiffies is volatile",
	  "", .side = { SIDE(kcsan_jiffies_noreport_read), SIDE(kcsan_jiffies_noreport_read) } },
	{ "kcsan_seqlock_noreport", LS_TWIN, LS_RACE, "reader and writer of a seqlock",
	  "", .side = { SIDE(kcsan_seqlock_noreport_read), SIDE(kcsan_seqlock_noreport_write) } },
	{ "kcsan_1bit_value_change", LS_FAULT, LS_RACE, "one bit of a word is flipped",
	  "", .side = { SIDE(kcsan_1bit_value_change_read),
			SIDE(kcsan_1bit_value_change_flip) } },
	{ }
};
