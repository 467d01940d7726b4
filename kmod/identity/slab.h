/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the slab allocator's structures directly: SLUB only. No header declares them in every
 * kernel, so slab.c finds the offsets of members at load.
 */
#ifndef LOCKSCOPE_SLAB_H
#define LOCKSCOPE_SLAB_H

#include <linux/mm.h>
#include <linux/reciprocal_div.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

struct ls_slab_layout {
	unsigned long direct_size;	/* bytes of the direct map */
	u32 slab_cache;			/* in struct slab, which overlays struct page */
	u32 size, reciprocal_size;	/* in struct kmem_cache, like the following */
	u32 object_size, name, refcount;
};
extern struct ls_slab_layout ls_slab;

int ls_slab_init(void);

static __always_inline bool in_direct_map(unsigned long addr)
{
	return addr - PAGE_OFFSET < ls_slab.direct_size;
}

/*
 * Does the page of @addr in the direct map exist? The map has holes, and the address of an
 * access that has not happened yet may be invalid. Any context.
 */
static __always_inline bool ls_page_exists(unsigned long addr)
{
	unsigned long flags;

	__get_kernel_nofault(&flags, (unsigned long *)pfn_to_page((addr - PAGE_OFFSET) >> PAGE_SHIFT),
			     unsigned long, gone);
	return true;
gone:
	return false;
}

/* Members of struct kmem_cache. */
static __always_inline u32 ls_cache_object_size(const struct kmem_cache *cache)
{
	return *(const unsigned int *)((const char *)cache + ls_slab.object_size);
}

static __always_inline const char *ls_cache_name(const struct kmem_cache *cache)
{
	return *(const char **)((const char *)cache + ls_slab.name);
}

/* Do several caches share this one's memory? */
static __always_inline bool ls_cache_merged(const struct kmem_cache *cache)
{
	return READ_ONCE(*(const int *)((const char *)cache + ls_slab.refcount)) > 1;
}

/*
 * Cache, start and offset of the slab object around @addr; false when it lies
 * in none. Any context; the page of @addr exists, see ls_page_exists().
 */
static __always_inline bool ls_slab_locate(unsigned long addr, struct kmem_cache **cache,
				    unsigned long *object, u32 *offset)
{
	struct page *page;
	char *s;
	unsigned long base;
	u32 at, index;

	if (!in_direct_map(addr))
		return false;
	page = compound_head(pfn_to_page((addr - PAGE_OFFSET) >> PAGE_SHIFT));
	if (!folio_test_slab((struct folio *)page))
		return false;
	s = *(char **)((char *)page + ls_slab.slab_cache);
	base = (unsigned long)page_address(page);
	at = addr - base;
	index = reciprocal_divide(at, *(struct reciprocal_value *)(s + ls_slab.reciprocal_size));
	at -= index * *(unsigned int *)(s + ls_slab.size);
	*cache = (struct kmem_cache *)s;
	*object = addr - at;
	*offset = at;
	return true;
}

#endif /* LOCKSCOPE_SLAB_H */
