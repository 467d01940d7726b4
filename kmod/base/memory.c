// SPDX-License-Identifier: GPL-2.0
/*
 * The module's memory: tables, log, shadow. All of it is allocated here and counted, for the
 * statistics and for a leak check at unload.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/vmalloc.h>

#include "base/memory.h"

/* In front of each block; keeps the block aligned to a cache line. */
struct block {
	size_t bytes;
} ____cacheline_aligned;

static atomic_long_t now, most;

/*
 * Account @bytes (negative: fewer) of memory that does not come from ls_zalloc(). Process
 * context.
 */
void ls_memory_count(long bytes)
{
	long sum = atomic_long_add_return(bytes, &now), old = atomic_long_read(&most);

	while (sum > old && !atomic_long_try_cmpxchg(&most, &old, sum))
		;
}

/*
 * Zeroed memory, aligned to a cache line; NULL on failure, without a warning: the caller
 * counts the loss. Process context, may sleep.
 */
void *ls_zalloc(size_t bytes)
{
	size_t all = size_add(bytes, sizeof(struct block));
	struct block *b = __vmalloc(all, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);

	if (!b)
		return NULL;
	b->bytes = PAGE_ALIGN(all);
	ls_memory_count(b->bytes);
	return b + 1;
}

/* NULL is fine. Process context. */
void ls_free(const void *memory)
{
	const struct block *b = (const struct block *)memory - 1;

	if (!memory)
		return;
	ls_memory_count(-(long)b->bytes);
	vfree(b);
}

/* Bytes in use, in whole pages, and their peak. */
void ls_memory_info(unsigned long *bytes, unsigned long *peak)
{
	*bytes = atomic_long_read(&now);
	*peak = atomic_long_read(&most);
}

/* Check that everything was freed. */
void ls_memory_exit(void)
{
	if (atomic_long_read(&now))
		pr_warn("%ld bytes of memory were not given back\n", atomic_long_read(&now));
}
