// SPDX-License-Identifier: GPL-2.0
/*
 * The assertions of kcsan_test.c. The macros themselves are nothing in a kernel without KCSAN,
 * so each is restated by the nearest access that has rules: an assertion of no writers becomes
 * a read, an assertion of no accesses a write.
 */
#include <linux/compiler.h>

#include "races.h"

static long kcsan_assert_exclusive_writer_v __shared;

static __side void kcsan_assert_exclusive_writer_assert(void)
{
	ls_use(kcsan_assert_exclusive_writer_v);
}

static __side void kcsan_assert_exclusive_writer_write(void)
{
	kcsan_assert_exclusive_writer_v = 42;
}

static long kcsan_assert_exclusive_access_v __shared;

static __side void kcsan_assert_exclusive_access_assert(void)
{
	kcsan_assert_exclusive_access_v = 42;
}

static __side void kcsan_assert_exclusive_access_read(void)
{
	ls_use(kcsan_assert_exclusive_access_v);
}

static long kcsan_assert_exclusive_access_writer_v __shared;

static __side void kcsan_assert_exclusive_access_writer_access(void)
{
	kcsan_assert_exclusive_access_writer_v = 42;
}

static __side void kcsan_assert_exclusive_access_writer_writer(void)
{
	ls_use(kcsan_assert_exclusive_access_writer_v);
}

/* Some bits change: they do, or others do. */
#define CHANGING 0xff00ff00l

static long kcsan_assert_exclusive_bits_change_v __shared;

static __side void kcsan_assert_exclusive_bits_change_assert(void)
{
	ls_use(kcsan_assert_exclusive_bits_change_v & CHANGING);
}

static __side void kcsan_assert_exclusive_bits_change_flip(void)
{
	WRITE_ONCE(kcsan_assert_exclusive_bits_change_v,
		   READ_ONCE(kcsan_assert_exclusive_bits_change_v) ^ CHANGING);
}

static long kcsan_assert_exclusive_bits_nochange_v __shared;

static __side void kcsan_assert_exclusive_bits_nochange_assert(void)
{
	ls_use(kcsan_assert_exclusive_bits_nochange_v & ~CHANGING);
}

static __side void kcsan_assert_exclusive_bits_nochange_flip(void)
{
	WRITE_ONCE(kcsan_assert_exclusive_bits_nochange_v,
		   READ_ONCE(kcsan_assert_exclusive_bits_nochange_v) ^ CHANGING);
}

/* For as long as a function runs: looked at when it begins and when it ends. */
static __side void kcsan_scope(void)
{
	ls_use(ls_value());
}

static long kcsan_assert_exclusive_writer_scoped_v __shared;

static __side void kcsan_assert_exclusive_writer_scoped_assert(void)
{
	ls_use(kcsan_assert_exclusive_writer_scoped_v);
	kcsan_scope();
	ls_use(kcsan_assert_exclusive_writer_scoped_v);
}

static __side void kcsan_assert_exclusive_writer_scoped_write(void)
{
	kcsan_assert_exclusive_writer_scoped_v = 42;
}

static long kcsan_assert_exclusive_access_scoped_v __shared;

static __side void kcsan_assert_exclusive_access_scoped_assert(void)
{
	kcsan_assert_exclusive_access_scoped_v = 42;
	kcsan_scope();
	kcsan_assert_exclusive_access_scoped_v = 42;
}

static __side void kcsan_assert_exclusive_access_scoped_read(void)
{
	ls_use(kcsan_assert_exclusive_access_scoped_v);
}

const struct ls_case kcsan_assert_cases[] = {
	{ "kcsan_assert_exclusive_writer", LS_FAULT, LS_RACE, "no other writer: there is one",
	  "", .side = { SIDE(kcsan_assert_exclusive_writer_assert),
			SIDE(kcsan_assert_exclusive_writer_write) } },
	{ "kcsan_assert_exclusive_access", LS_FAULT, LS_RACE, "no other access: there is a reader",
	  "", .side = { SIDE(kcsan_assert_exclusive_access_assert),
			SIDE(kcsan_assert_exclusive_access_read) } },
	{ "kcsan_assert_exclusive_access_writer", LS_FAULT, LS_RACE, "both assertions at once",
	  "", .side = { SIDE(kcsan_assert_exclusive_access_writer_access),
			SIDE(kcsan_assert_exclusive_access_writer_writer) } },
	{ "kcsan_assert_exclusive_bits_change", LS_FAULT, LS_RACE, "these bits change",
	  "", .side = { SIDE(kcsan_assert_exclusive_bits_change_assert),
			SIDE(kcsan_assert_exclusive_bits_change_flip) } },
	{ "kcsan_assert_exclusive_bits_nochange", LS_TWIN, LS_RACE, "other bits of the word change",
	  "", .side = { SIDE(kcsan_assert_exclusive_bits_nochange_assert),
			SIDE(kcsan_assert_exclusive_bits_nochange_flip) } },
	{ "kcsan_assert_exclusive_writer_scoped", LS_FAULT, LS_RACE,
	  "no other writer while a function runs", "never=kcsan_scope",
	  .side = { SIDE(kcsan_assert_exclusive_writer_scoped_assert),
		    SIDE(kcsan_assert_exclusive_writer_scoped_write) } },
	{ "kcsan_assert_exclusive_access_scoped", LS_FAULT, LS_RACE,
	  "no other access while a function runs", "never=kcsan_scope",
	  .side = { SIDE(kcsan_assert_exclusive_access_scoped_assert),
		    SIDE(kcsan_assert_exclusive_access_scoped_read) } },
	{ }
};
