// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks that are read or written by assembly or by the kernel's functions, in code that
 * was not changed for it: the headers that `lockscope instrument` puts before the kernel's
 * report them.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "annotate.h"
#include "races.h"

struct block {
	unsigned long word[32];
};

/* What the compiler does not know the bytes of. */
static __always_inline size_t blk_bytes(size_t bytes)
{
	OPTIMIZER_HIDE_VAR(bytes);
	return bytes;
}

/* Cleared as a whole, and one word of it read under the lock. */
static struct block blk_set_v __shared;
static DEFINE_SPINLOCK(blk_set_l);

static __side void blk_set_a(void)
{
	memset(&blk_set_v, 0, sizeof(blk_set_v));
}

static __side void blk_set_b(void)
{
	spin_lock(&blk_set_l);
	ls_use(blk_set_v.word[20]);
	spin_unlock(&blk_set_l);
}

static struct block blk_set_ok_v __shared;
static DEFINE_SPINLOCK(blk_set_ok_l);

static __side void blk_set_ok_a(void)
{
	spin_lock(&blk_set_ok_l);
	memset(&blk_set_ok_v, 0, sizeof(blk_set_ok_v));
	spin_unlock(&blk_set_ok_l);
}

static __side void blk_set_ok_b(void)
{
	spin_lock(&blk_set_ok_l);
	ls_use(blk_set_ok_v.word[20]);
	spin_unlock(&blk_set_ok_l);
}

/* A copy is taken of what is written under the lock. */
static struct block blk_copy_v __shared;
static DEFINE_SPINLOCK(blk_copy_l);

static __side void blk_copy_a(void)
{
	spin_lock(&blk_copy_l);
	blk_copy_v.word[20] = ls_value();
	spin_unlock(&blk_copy_l);
}

static __side void blk_copy_b(void)
{
	struct block copy;

	memcpy(&copy, &blk_copy_v, blk_bytes(sizeof(copy)));
	ls_use(copy.word[20]);
}

static struct block blk_copy_ok_v __shared;
static DEFINE_SPINLOCK(blk_copy_ok_l);

static __side void blk_copy_ok_a(void)
{
	spin_lock(&blk_copy_ok_l);
	blk_copy_ok_v.word[20] = ls_value();
	spin_unlock(&blk_copy_ok_l);
}

static __side void blk_copy_ok_b(void)
{
	struct block copy;

	spin_lock(&blk_copy_ok_l);
	memcpy(&copy, &blk_copy_ok_v, blk_bytes(sizeof(copy)));
	spin_unlock(&blk_copy_ok_l);
	ls_use(copy.word[20]);
}

/* Two that move what lies in a table, one of them without the lock. */
static struct block blk_move_v __shared;
static DEFINE_SPINLOCK(blk_move_l);

static __side void blk_move_a(void)
{
	spin_lock(&blk_move_l);
	memmove(&blk_move_v.word[1], &blk_move_v.word[0], blk_bytes(16 * sizeof(long)));
	spin_unlock(&blk_move_l);
}

static __side void blk_move_b(void)
{
	memmove(&blk_move_v.word[0], &blk_move_v.word[1], blk_bytes(16 * sizeof(long)));
}

static struct block blk_move_ok_v __shared;
static DEFINE_SPINLOCK(blk_move_ok_l);

static __side void blk_move_ok_a(void)
{
	spin_lock(&blk_move_ok_l);
	memmove(&blk_move_ok_v.word[1], &blk_move_ok_v.word[0], blk_bytes(16 * sizeof(long)));
	spin_unlock(&blk_move_ok_l);
}

static __side void blk_move_ok_b(void)
{
	spin_lock(&blk_move_ok_l);
	memmove(&blk_move_ok_v.word[0], &blk_move_ok_v.word[1], blk_bytes(16 * sizeof(long)));
	spin_unlock(&blk_move_ok_l);
}

/* Compared without the lock that its writer holds. */
static char blk_name_v[24] __shared;
static DEFINE_MUTEX(blk_name_m);

static __side void blk_name_a(void)
{
	mutex_lock(&blk_name_m);
	blk_name_v[9] = ls_value();
	mutex_unlock(&blk_name_m);
}

static __side void blk_name_b(void)
{
	ls_use(memcmp(blk_name_v, "a name of 16 bytes", blk_bytes(16)));
}

static char blk_name_ok_v[24] __shared;
static DEFINE_MUTEX(blk_name_ok_m);
static DEFINE_MUTEX(blk_name_ok_other);

static __side void blk_name_ok_a(void)
{
	mutex_lock(&blk_name_ok_m);
	blk_name_ok_v[9] = ls_value();
	mutex_unlock(&blk_name_ok_m);
	/* Behind what is compared, in the same word. */
	mutex_lock(&blk_name_ok_other);
	blk_name_ok_v[13] = ls_value();
	mutex_unlock(&blk_name_ok_other);
}

static __side void blk_name_ok_b(void)
{
	mutex_lock(&blk_name_ok_m);
	ls_use(memcmp(blk_name_ok_v, "a name of 16 bytes", blk_bytes(13)));
	mutex_unlock(&blk_name_ok_m);
}

/* Filled by words, and longer than a page: what races lies far behind its begin. */
#define LONG_WORDS (3 * PAGE_SIZE / sizeof(long))
static unsigned long blk_long_v[LONG_WORDS] __shared;
static DEFINE_MUTEX(blk_long_m);

static __side void blk_long_a(void)
{
	memset_l(blk_long_v, ls_value(), LONG_WORDS);
}

static __side void blk_long_b(void)
{
	mutex_lock(&blk_long_m);
	ls_use(blk_long_v[LONG_WORDS - 2]);
	mutex_unlock(&blk_long_m);
}

static unsigned long blk_long_ok_v[LONG_WORDS] __shared;
static DEFINE_MUTEX(blk_long_ok_m);
static DEFINE_MUTEX(blk_long_ok_other);

static __side void blk_long_ok_a(void)
{
	mutex_lock(&blk_long_ok_m);
	memset_l(blk_long_ok_v, ls_value(), LONG_WORDS - 1);
	mutex_unlock(&blk_long_ok_m);
}

static __side void blk_long_ok_b(void)
{
	mutex_lock(&blk_long_ok_m);
	ls_use(blk_long_ok_v[LONG_WORDS - 2]);
	mutex_unlock(&blk_long_ok_m);
	mutex_lock(&blk_long_ok_other);
	blk_long_ok_v[LONG_WORDS - 1] = ls_value();
	mutex_unlock(&blk_long_ok_other);
}

/* Nothing is mapped there: the copy comes to nothing, but it is one. */
static void __user *blk_user(void)
{
	return (void __user *)8;
}

/* From user memory into what others read under the lock. */
static struct block blk_from_v __shared;
static DEFINE_MUTEX(blk_from_m);

static __side void blk_from_a(void)
{
	ls_use(copy_from_user(&blk_from_v, blk_user(), sizeof(blk_from_v)));
}

static __side void blk_from_b(void)
{
	mutex_lock(&blk_from_m);
	ls_use(blk_from_v.word[20]);
	mutex_unlock(&blk_from_m);
}

static struct block blk_from_ok_v __shared;
static DEFINE_MUTEX(blk_from_ok_m);

static __side void blk_from_ok_a(void)
{
	mutex_lock(&blk_from_ok_m);
	ls_use(copy_from_user(&blk_from_ok_v, blk_user(), sizeof(blk_from_ok_v)));
	mutex_unlock(&blk_from_ok_m);
}

static __side void blk_from_ok_b(void)
{
	mutex_lock(&blk_from_ok_m);
	ls_use(blk_from_ok_v.word[20]);
	mutex_unlock(&blk_from_ok_m);
}

/* To user memory without the lock that the writer holds. */
static struct block blk_to_v __shared;
static DEFINE_MUTEX(blk_to_m);

static __side void blk_to_a(void)
{
	mutex_lock(&blk_to_m);
	blk_to_v.word[20] = ls_value();
	mutex_unlock(&blk_to_m);
}

static __side void blk_to_b(void)
{
	ls_use(copy_to_user(blk_user(), &blk_to_v, sizeof(blk_to_v)));
}

static struct block blk_to_ok_v __shared;
static DEFINE_MUTEX(blk_to_ok_m);

static __side void blk_to_ok_a(void)
{
	mutex_lock(&blk_to_ok_m);
	blk_to_ok_v.word[20] = ls_value();
	mutex_unlock(&blk_to_ok_m);
}

static __side void blk_to_ok_b(void)
{
	mutex_lock(&blk_to_ok_m);
	ls_use(copy_to_user(blk_user(), &blk_to_ok_v, sizeof(blk_to_ok_v)));
	mutex_unlock(&blk_to_ok_m);
}

/* The variants that copy inline. */
static struct block blk_inline_v __shared;
static DEFINE_MUTEX(blk_inline_m);

static __side void blk_inline_a(void)
{
	mutex_lock(&blk_inline_m);
	ls_use(__copy_from_user(&blk_inline_v, blk_user(), sizeof(blk_inline_v)));
	mutex_unlock(&blk_inline_m);
}

static __side void blk_inline_b(void)
{
	ls_use(__copy_to_user(blk_user(), &blk_inline_v, sizeof(blk_inline_v)));
}

static struct block blk_inline_ok_v __shared;
static DEFINE_MUTEX(blk_inline_ok_m);

static __side void blk_inline_ok_a(void)
{
	mutex_lock(&blk_inline_ok_m);
	ls_use(__copy_from_user(&blk_inline_ok_v, blk_user(), sizeof(blk_inline_ok_v)));
	mutex_unlock(&blk_inline_ok_m);
}

static __side void blk_inline_ok_b(void)
{
	mutex_lock(&blk_inline_ok_m);
	ls_use(__copy_to_user(blk_user(), &blk_inline_ok_v, sizeof(blk_inline_ok_v)));
	mutex_unlock(&blk_inline_ok_m);
}

/* What read() and write() of a file copy with, here from and to kernel memory. */
static void blk_iter(struct iov_iter *iter, struct kvec *vec, struct block *buffer, unsigned int direction)
{
	*vec = (struct kvec){ buffer, sizeof(*buffer) };
	iov_iter_kvec(iter, direction, vec, 1, sizeof(*buffer));
}

static struct block blk_iter_v __shared;
static DEFINE_MUTEX(blk_iter_m);

static __side void blk_iter_a(void)
{
	struct block buffer = { };
	struct iov_iter iter;
	struct kvec vec;

	blk_iter(&iter, &vec, &buffer, WRITE);
	mutex_lock(&blk_iter_m);
	ls_use(copy_from_iter(&blk_iter_v, sizeof(blk_iter_v), &iter));
	mutex_unlock(&blk_iter_m);
}

static __side void blk_iter_b(void)
{
	struct block buffer;
	struct iov_iter iter;
	struct kvec vec;

	blk_iter(&iter, &vec, &buffer, READ);
	ls_use(copy_to_iter(&blk_iter_v, sizeof(blk_iter_v), &iter));
}

static struct block blk_iter_ok_v __shared;
static DEFINE_MUTEX(blk_iter_ok_m);

static __side void blk_iter_ok_a(void)
{
	struct block buffer = { };
	struct iov_iter iter;
	struct kvec vec;

	blk_iter(&iter, &vec, &buffer, WRITE);
	mutex_lock(&blk_iter_ok_m);
	ls_use(copy_from_iter(&blk_iter_ok_v, sizeof(blk_iter_ok_v), &iter));
	mutex_unlock(&blk_iter_ok_m);
}

static __side void blk_iter_ok_b(void)
{
	struct block buffer;
	struct iov_iter iter;
	struct kvec vec;

	blk_iter(&iter, &vec, &buffer, READ);
	mutex_lock(&blk_iter_ok_m);
	ls_use(copy_to_iter(&blk_iter_ok_v, sizeof(blk_iter_ok_v), &iter));
	mutex_unlock(&blk_iter_ok_m);
}

/* Bits that are set without an atomic operation: the whole word is written. */
static unsigned long blk_bits_v __shared;
static DEFINE_SPINLOCK(blk_bits_l);

static __side void blk_bits_a(void)
{
	spin_lock(&blk_bits_l);
	__set_bit(blk_bytes(3), &blk_bits_v);
	spin_unlock(&blk_bits_l);
}

static __side void blk_bits_b(void)
{
	__clear_bit(blk_bytes(40), &blk_bits_v);
}

static unsigned long blk_bits_ok_v __shared;
static DEFINE_SPINLOCK(blk_bits_ok_l);

static __side void blk_bits_ok_a(void)
{
	spin_lock(&blk_bits_ok_l);
	__set_bit(blk_bytes(3), &blk_bits_ok_v);
	spin_unlock(&blk_bits_ok_l);
}

static __side void blk_bits_ok_b(void)
{
	spin_lock(&blk_bits_ok_l);
	__clear_bit(blk_bytes(40), &blk_bits_ok_v);
	spin_unlock(&blk_bits_ok_l);
}

/* Copied with the author's word for it, once, and then without. */
static struct block blk_meant_v __shared;

static __side void blk_meant_a(void)
{
	blk_meant_v.word[20] = ls_value();
}

static __side void blk_meant_b(void)
{
	struct block copy;

	data_race(memcpy(&copy, &blk_meant_v, blk_bytes(sizeof(copy))));
	ls_use(copy.word[20]);
	memcpy(&copy, &blk_meant_v, blk_bytes(sizeof(copy)));
	ls_use(copy.word[20]);
}

static struct block blk_meant_ok_v __shared;

static __side void blk_meant_ok_a(void)
{
	blk_meant_ok_v.word[20] = ls_value();
}

static __side void blk_meant_ok_b(void)
{
	struct block copy;

	data_race(memcpy(&copy, &blk_meant_ok_v, blk_bytes(sizeof(copy))));
	ls_use(copy.word[20]);
	ls_use(data_race(copy_to_user(blk_user(), &blk_meant_ok_v, sizeof(copy))));
	kcsan_disable_current();
	ls_use(blk_meant_ok_v.word[20]);
	kcsan_enable_current();
}

/* A word in the block where races do no harm: there, and not at the block's begin. */
static struct block blk_benign_v __shared;

static int blk_benign_setup(void)
{
	lockscope_benign(&blk_benign_v.word[0], sizeof(long), "any of the values will do");
	return 0;
}

static __side void blk_benign_a(void)
{
	memset(&blk_benign_v, 0, sizeof(blk_benign_v));
}

static __side void blk_benign_b(void)
{
	ls_use(blk_benign_v.word[20]);
}

static struct block blk_benign_ok_v __shared;

static int blk_benign_ok_setup(void)
{
	lockscope_benign(&blk_benign_ok_v.word[20], sizeof(long), "any of the values will do");
	return 0;
}

static __side void blk_benign_ok_a(void)
{
	memset(&blk_benign_ok_v, 0, sizeof(blk_benign_ok_v));
}

static __side void blk_benign_ok_b(void)
{
	ls_use(blk_benign_ok_v.word[20]);
}

const struct ls_case race_block_cases[] = {
	{ "blk_set", LS_FAULT, LS_RACE, "memset() without the lock of the reader",
	  "severity!=note variable=blk_set_v", .side = { SIDE(blk_set_a), SIDE(blk_set_b) } },
	{ "blk_set_ok", LS_TWIN, LS_RACE, "memset() under the lock of the reader",
	  "", .side = { SIDE(blk_set_ok_a), SIDE(blk_set_ok_b) } },
	{ "blk_copy", LS_FAULT, LS_RACE, "memcpy() without the lock of the writer",
	  "severity!=note variable=blk_copy_v", .side = { SIDE(blk_copy_a), SIDE(blk_copy_b) } },
	{ "blk_copy_ok", LS_TWIN, LS_RACE, "memcpy() under the lock of the writer",
	  "", .side = { SIDE(blk_copy_ok_a), SIDE(blk_copy_ok_b) } },
	{ "blk_move", LS_FAULT, LS_RACE, "memmove() on both sides, one without the lock",
	  "severity!=note variable=blk_move_v", .side = { SIDE(blk_move_a), SIDE(blk_move_b) } },
	{ "blk_move_ok", LS_TWIN, LS_RACE, "memmove() on both sides under the lock",
	  "", .side = { SIDE(blk_move_ok_a), SIDE(blk_move_ok_b) } },
	{ "blk_name", LS_FAULT, LS_RACE, "memcmp() without the lock of the writer",
	  "severity!=note variable=blk_name_v", .side = { SIDE(blk_name_a), SIDE(blk_name_b) } },
	{ "blk_name_ok", LS_TWIN, LS_RACE, "memcmp() under the lock of the writer, and a byte behind it under another",
	  "", .side = { SIDE(blk_name_ok_a), SIDE(blk_name_ok_b) } },
	{ "blk_long", LS_FAULT, LS_RACE, "memset_l() of three pages without the lock of the reader",
	  "severity!=note variable=blk_long_v", .side = { SIDE(blk_long_a), SIDE(blk_long_b) } },
	{ "blk_long_ok", LS_TWIN, LS_RACE, "memset_l() under the lock of the reader, and a word behind it under another",
	  "", .side = { SIDE(blk_long_ok_a), SIDE(blk_long_ok_b) } },
	{ "blk_from", LS_FAULT, LS_RACE, "copy_from_user() without the lock of the reader",
	  "severity!=note variable=blk_from_v", .side = { SIDE(blk_from_a), SIDE(blk_from_b) } },
	{ "blk_from_ok", LS_TWIN, LS_RACE, "copy_from_user() under the lock of the reader",
	  "", .side = { SIDE(blk_from_ok_a), SIDE(blk_from_ok_b) } },
	{ "blk_to", LS_FAULT, LS_RACE, "copy_to_user() without the lock of the writer",
	  "severity!=note variable=blk_to_v", .side = { SIDE(blk_to_a), SIDE(blk_to_b) } },
	{ "blk_to_ok", LS_TWIN, LS_RACE, "copy_to_user() under the lock of the writer",
	  "", .side = { SIDE(blk_to_ok_a), SIDE(blk_to_ok_b) } },
	{ "blk_inline", LS_FAULT, LS_RACE, "__copy_from_user() and __copy_to_user(), one without the lock",
	  "severity!=note variable=blk_inline_v", .side = { SIDE(blk_inline_a), SIDE(blk_inline_b) } },
	{ "blk_inline_ok", LS_TWIN, LS_RACE, "__copy_from_user() and __copy_to_user() under the lock",
	  "", .side = { SIDE(blk_inline_ok_a), SIDE(blk_inline_ok_b) } },
	{ "blk_iter", LS_FAULT, LS_RACE, "copy_from_iter() and copy_to_iter(), one without the lock",
	  "severity!=note variable=blk_iter_v", .side = { SIDE(blk_iter_a), SIDE(blk_iter_b) } },
	{ "blk_iter_ok", LS_TWIN, LS_RACE, "copy_from_iter() and copy_to_iter() under the lock",
	  "", .side = { SIDE(blk_iter_ok_a), SIDE(blk_iter_ok_b) } },
	{ "blk_bits", LS_FAULT, LS_RACE, "__set_bit() and __clear_bit(), one without the lock",
	  "severity!=note variable=blk_bits_v", .side = { SIDE(blk_bits_a), SIDE(blk_bits_b) } },
	{ "blk_bits_ok", LS_TWIN, LS_RACE, "__set_bit() and __clear_bit() under the lock",
	  "", .side = { SIDE(blk_bits_ok_a), SIDE(blk_bits_ok_b) } },
	{ "blk_meant", LS_FAULT, LS_RACE, "memcpy() after one in data_race()",
	  "severity!=note variable=blk_meant_v", .side = { SIDE(blk_meant_a), SIDE(blk_meant_b) } },
	{ "blk_meant_ok", LS_TWIN, LS_RACE, "copied in data_race(), read with KCSAN disabled",
	  "", .side = { SIDE(blk_meant_ok_a), SIDE(blk_meant_ok_b) } },
	{ "blk_benign", LS_FAULT, LS_RACE, "lockscope_benign of a block's begin, and a race behind it",
	  "severity!=note variable=blk_benign_v", blk_benign_setup, NULL,
	  { SIDE(blk_benign_a), SIDE(blk_benign_b) } },
	{ "blk_benign_ok", LS_TWIN, LS_RACE, "lockscope_benign of what races amid a block",
	  "", blk_benign_ok_setup, NULL, { SIDE(blk_benign_ok_a), SIDE(blk_benign_ok_b) } },
	{ }
};
