/* SPDX-License-Identifier: GPL-2.0 */
/* Reading the slab allocator's structures without its help: SLUB only. */
#ifndef LOCKSCOPE_SLAB_H
#define LOCKSCOPE_SLAB_H

#include "wrapper/slub_def.h"

extern unsigned long ls_direct_size;	/* bytes of the direct map */
extern unsigned long ls_slab_cache_offset;	/* of slab_cache in struct slab, found at load */

static __always_inline bool in_direct_map(unsigned long addr)
{
	return addr - PAGE_OFFSET < ls_direct_size;
}

/*
 * Cache, start and offset of the slab object around @addr; false when it lies
 * in none. Any context; @addr is a live lock, so its page exists.
 */
static __always_inline bool ls_slab_locate(unsigned long addr, struct kmem_cache **cache,
				    unsigned long *object, u32 *offset)
{
	struct page *page;
	struct kmem_cache *s;
	unsigned long head, base;
	u32 at, index;

	if (!in_direct_map(addr))
		return false;
	page = pfn_to_page((addr - PAGE_OFFSET) >> PAGE_SHIFT);
	head = READ_ONCE(page->compound_head);
	if (head & 1)
		page = (struct page *)(head - 1);
	if (!test_bit(PG_slab, &page->flags))
		return false;
	s = *(struct kmem_cache **)((char *)page + ls_slab_cache_offset);
	base = (unsigned long)page_address(page);
	at = addr - base;
	index = reciprocal_divide(at, s->reciprocal_size);
	at -= index * s->size;
	*cache = s;
	*object = addr - at;
	*offset = at;
	return true;
}

#endif /* LOCKSCOPE_SLAB_H */
