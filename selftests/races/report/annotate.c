// SPDX-License-Identifier: GPL-2.0
/* What annotate.h lets authors say about their data, and what it does not cover. */
/* As in the header that instrument puts first: data_race() is a call. */
#define kcsan_disable_current kcsan_disable_nothing
#define kcsan_enable_current_nowarn kcsan_enable_nothing
#include <linux/kcsan-checks.h>
#undef kcsan_disable_current
#undef kcsan_enable_current_nowarn
void kcsan_disable_current(void);
void kcsan_enable_current_nowarn(void);

/* Before what needs it: not every kernel's bit_spinlock.h does so itself. */
#include <linux/processor.h>
#include <linux/bit_spinlock.h>
#include <linux/bitops.h>
#include <linux/slab.h>

#include "annotate.h"
#include "races.h"

/* Locks made by hand from an atomic bit: seen only where the author says so. */
static void take_bit(unsigned long *word)
{
	while (test_and_set_bit_lock(0, word))
		cpu_relax();
}

static unsigned long say_lock_word;
static unsigned long say_lock_v __shared;

static __side void say_lock_a(void)
{
	take_bit(&say_lock_word);
	lockscope_acquire(&say_lock_word, "say_lock_word");
	say_lock_v = ls_value();
	lockscope_release(&say_lock_word);
	clear_bit_unlock(0, &say_lock_word);
}

static __side void say_lock_b(void)
{
	say_lock_v = ls_value();
}

static unsigned long say_lock_ok_word;
static unsigned long say_lock_ok_v __shared;

static __side void say_lock_ok_a(void)
{
	take_bit(&say_lock_ok_word);
	lockscope_acquire(&say_lock_ok_word, "say_lock_ok_word");
	say_lock_ok_v = ls_value();
	lockscope_release(&say_lock_ok_word);
	clear_bit_unlock(0, &say_lock_ok_word);
}

static __side void say_lock_ok_b(void)
{
	if (test_and_set_bit_lock(0, &say_lock_ok_word))
		return;
	lockscope_acquire_try(&say_lock_ok_word, "say_lock_ok_word");
	say_lock_ok_v = ls_value();
	lockscope_release(&say_lock_ok_word);
	clear_bit_unlock(0, &say_lock_ok_word);
}

/* A private lock taken as a reader, and written under it. */
static unsigned long say_read_word;
static unsigned int say_read_v __shared;

static __side void say_read_a(void)
{
	lockscope_acquire_read(&say_read_word, "say_read_word");
	say_read_v = ls_value();
	lockscope_release(&say_read_word);
}

static __side void say_read_b(void)
{
	lockscope_acquire_read(&say_read_word, "say_read_word");
	ls_use(say_read_v);
	lockscope_release(&say_read_word);
}

static unsigned long say_read_ok_word;
static unsigned int say_read_ok_v __shared;

static __side void say_read_ok_a(void)
{
	take_bit(&say_read_ok_word);
	lockscope_acquire(&say_read_ok_word, "say_read_ok_word");
	say_read_ok_v = ls_value();
	lockscope_release(&say_read_ok_word);
	clear_bit_unlock(0, &say_read_ok_word);
}

static __side void say_read_ok_b(void)
{
	take_bit(&say_read_ok_word);
	lockscope_acquire_read(&say_read_ok_word, "say_read_ok_word");
	ls_use(say_read_ok_v);
	lockscope_release(&say_read_ok_word);
	clear_bit_unlock(0, &say_read_ok_word);
}

/* Two bits of one word are two locks. */
static unsigned long say_bit_word;
static int say_bit_v __shared;

static __side void say_bit_a(void)
{
	bit_spin_lock(0, &say_bit_word);
	lockscope_acquire((char *)&say_bit_word, "say_bit_0");
	say_bit_v = ls_value();
	lockscope_release((char *)&say_bit_word);
	bit_spin_unlock(0, &say_bit_word);
}

static __side void say_bit_b(void)
{
	bit_spin_lock(1, &say_bit_word);
	lockscope_acquire((char *)&say_bit_word + 1, "say_bit_1");
	say_bit_v = ls_value();
	lockscope_release((char *)&say_bit_word + 1);
	bit_spin_unlock(1, &say_bit_word);
}

static unsigned long say_bit_ok_word;
static int say_bit_ok_v __shared;

static __side void say_bit_ok_a(void)
{
	bit_spin_lock(0, &say_bit_ok_word);
	lockscope_acquire(&say_bit_ok_word, "say_bit_ok_0");
	say_bit_ok_v = ls_value();
	lockscope_release(&say_bit_ok_word);
	bit_spin_unlock(0, &say_bit_ok_word);
}

static __side void say_bit_ok_b(void)
{
	bit_spin_lock(0, &say_bit_ok_word);
	lockscope_acquire(&say_bit_ok_word, "say_bit_ok_0");
	say_bit_ok_v = ls_value();
	lockscope_release(&say_bit_ok_word);
	bit_spin_unlock(0, &say_bit_ok_word);
}

/* A race that does no harm, and one beside it that the annotation leaves out. */
static struct {
	long harmless;
	long other;
} say_benign_v __shared;

static int say_benign_setup(void)
{
	lockscope_benign(&say_benign_v.harmless, sizeof(long), "any of the values will do");
	return 0;
}

static __side void say_benign_a(void)
{
	say_benign_v.harmless = ls_value();
	say_benign_v.other = ls_value();
}

static __side void say_benign_b(void)
{
	say_benign_v.harmless = ls_value();
	say_benign_v.other = ls_value();
}

/* What was benign of one object says nothing of the next one in its place. */
struct say_old {
	unsigned long v;
	unsigned long rest[10];
};

static int say_old_setup(void)
{
	struct say_old *first = NULL, *next = NULL;
	unsigned int i;

	/* More of them than are kept at a time. */
	for (i = 0; i < 300; i++) {
		first = kzalloc(sizeof(*first), GFP_KERNEL);
		if (!first)
			return -ENOMEM;
		lockscope_benign(&first->v, sizeof(first->v), "any of the values will do");
		kfree(first);
	}
	for (i = 0; i < 1000 && next != first; i++) {
		next = kzalloc(sizeof(*next), GFP_KERNEL);
		if (next && next != first && i < 999)
			kfree(next);
	}
	return ls_keep(0, next);
}

static __side void say_old_a(void)
{
	struct say_old *o = ls_kept(0);

	o->v = ls_value();
}

static __side void say_old_b(void)
{
	struct say_old *o = ls_kept(0);

	o->v = ls_value();
}

static struct {
	long harmless;
	long other;
} say_benign_ok_v __shared;

static int say_benign_ok_setup(void)
{
	lockscope_benign(&say_benign_ok_v, sizeof(say_benign_ok_v), "any of the values will do");
	return 0;
}

static __side void say_benign_ok_a(void)
{
	say_benign_ok_v.harmless = ls_value();
	say_benign_ok_v.other = ls_value();
}

static __side void say_benign_ok_b(void)
{
	say_benign_ok_v.harmless = ls_value();
	say_benign_ok_v.other = ls_value();
}

/* Not looked at, and looked at again. */
static unsigned long say_ignore_v __shared;

static __side void say_ignore_a(void)
{
	lockscope_ignore_begin();
	say_ignore_v = ls_value();
	lockscope_ignore_end();
	say_ignore_v = ls_value();
}

static __side void say_ignore_b(void)
{
	say_ignore_v = ls_value();
}

static unsigned long say_ignore_ok_v __shared;

static __side void say_ignore_ok_a(void)
{
	lockscope_ignore_begin();
	say_ignore_ok_v = ls_value();
	lockscope_ignore_begin();
	say_ignore_ok_v = ls_value();
	lockscope_ignore_end();
	say_ignore_ok_v = ls_value();
	lockscope_ignore_end();
}

static __side void say_ignore_ok_b(void)
{
	lockscope_ignore_begin();
	say_ignore_ok_v = ls_value();
	lockscope_ignore_end();
}

/* Read with the author's word for it, once, and then without. */
static unsigned long say_race_v __shared;

static __side void say_race_a(void)
{
	say_race_v = ls_value();
}

static __side void say_race_b(void)
{
	ls_use(data_race(say_race_v));
	ls_use(say_race_v);
}

static unsigned long say_race_ok_v __shared;

static __side void say_race_ok_a(void)
{
	say_race_ok_v = ls_value();
}

static __side void say_race_ok_b(void)
{
	ls_use(data_race(say_race_ok_v));
	ls_use(data_race(say_race_ok_v + data_race(say_race_ok_v)));
}

const struct ls_case race_annotate_cases[] = {
	{ "say_lock", LS_FAULT, LS_RACE, "lock of one's own, annotated, on one side only",
	  "severity!=note variable=say_lock_v", .side = { SIDE(say_lock_a), SIDE(say_lock_b) } },
	{ "say_lock_ok", LS_TWIN, LS_RACE, "lock of one's own, annotated, on both sides",
	  "", .side = { SIDE(say_lock_ok_a), SIDE(say_lock_ok_b) } },
	{ "say_read", LS_FAULT, LS_RACE, "written under a lock annotated as a reader's",
	  "severity!=note variable=say_read_v", .side = { SIDE(say_read_a), SIDE(say_read_b) } },
	{ "say_read_ok", LS_TWIN, LS_RACE, "written under a lock annotated as a writer's",
	  "", .side = { SIDE(say_read_ok_a), SIDE(say_read_ok_b) } },
	{ "say_bit", LS_FAULT, LS_RACE, "two bit spinlocks of one word, annotated",
	  "severity!=note variable=say_bit_v", .side = { SIDE(say_bit_a), SIDE(say_bit_b) } },
	{ "say_bit_ok", LS_TWIN, LS_RACE, "one bit spinlock, annotated",
	  "", .side = { SIDE(say_bit_ok_a), SIDE(say_bit_ok_b) } },
	{ "say_old", LS_FAULT, LS_RACE, "lockscope_benign of what was there before",
	  "severity!=note", say_old_setup, ls_free_kept, { SIDE(say_old_a), SIDE(say_old_b) } },
	{ "say_benign", LS_FAULT, LS_RACE, "lockscope_benign, and a race on what lies beside",
	  "severity!=note variable=say_benign_v", say_benign_setup, NULL,
	  { SIDE(say_benign_a), SIDE(say_benign_b) } },
	{ "say_benign_ok", LS_TWIN, LS_RACE, "lockscope_benign of all of it",
	  "", say_benign_ok_setup, NULL, { SIDE(say_benign_ok_a), SIDE(say_benign_ok_b) } },
	{ "say_ignore", LS_FAULT, LS_RACE, "written after lockscope_ignore_end",
	  "severity!=note variable=say_ignore_v",
	  .side = { SIDE(say_ignore_a), SIDE(say_ignore_b) } },
	{ "say_ignore_ok", LS_TWIN, LS_RACE, "written before the last lockscope_ignore_end",
	  "", .side = { SIDE(say_ignore_ok_a), SIDE(say_ignore_ok_b) } },
	{ "say_race", LS_FAULT, LS_RACE, "read after data_race()",
	  "severity!=note variable=say_race_v", .side = { SIDE(say_race_a), SIDE(say_race_b) } },
	{ "say_race_ok", LS_TWIN, LS_RACE, "read within data_race()",
	  "", .side = { SIDE(say_race_ok_a), SIDE(say_race_ok_b) } },
	{ }
};
