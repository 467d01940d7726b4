// SPDX-License-Identifier: GPL-2.0
/*
 * The module's memory: tables, log, shadow. All of it comes from here and is counted,
 * so that its size can be told and what was not given back shows when the module goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/vmalloc.h>

#include "base/memory.h"

/* Before each block, so that the block stays on a cache line's boundary. */
struct block {
	size_t bytes;
} ____cacheline_aligned;

static atomic_long_t now, most;

/* Memory that was not taken by ls_zalloc(): @bytes more, or fewer. Process context. */
void ls_memory_count(long bytes)
{
	long sum = atomic_long_add_return(bytes, &now), old = atomic_long_read(&most);

	while (sum > old && !atomic_long_try_cmpxchg(&most, &old, sum))
		;
}

/*
 * @bytes of zeroes, on a cache line's boundary; NULL when there are none. Nobody is
 * warned then: who asks counts what he could not keep. Process context, may sleep.
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

/* Bytes in use, whole pages; the most there ever were. */
void ls_memory_info(unsigned long *bytes, unsigned long *peak)
{
	*bytes = atomic_long_read(&now);
	*peak = atomic_long_read(&most);
}

/* Everything was given back. */
void ls_memory_exit(void)
{
	if (atomic_long_read(&now))
		pr_warn("%ld bytes of memory were not given back\n", atomic_long_read(&now));
}
