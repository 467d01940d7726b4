/* SPDX-License-Identifier: GPL-2.0 */
/* The slab object around a lock, like kmod/identity/slab.h, by CO-RE. */
#ifndef LOCKSCOPE_BPF_IDENT_H
#define LOCKSCOPE_BPF_IDENT_H

#include "bpf/order.h"

extern const void vmemmap_base __ksym __weak;
extern const void page_offset_base __ksym __weak;

/* Since 6.10 ("mm: free up PG_slab") a type of page, in the upper byte. */
#define LS_PAGE_TYPE_SLAB 0xf5

struct page___typed {
	unsigned int page_type;
} __attribute__((preserve_access_index));

static __always_inline bool ls_is_slab(struct page *page)
{
	if (bpf_core_enum_value_exists(enum pageflags, PG_slab))
		return BPF_CORE_READ(page, flags) >> bpf_core_enum_value(enum pageflags, PG_slab) & 1;
	return BPF_CORE_READ((struct page___typed *)page, page_type) >> 24 == LS_PAGE_TYPE_SLAB;
}

/* Before that, a word with several meanings. */
struct page___head {
	unsigned long compound_head;
} __attribute__((preserve_access_index));

struct page___info {
	unsigned long compound_info;
} __attribute__((preserve_access_index));

/* Address of the head page of @page. */
static __always_inline __u64 ls_head_of(struct page *page)
{
	__u64 info;

	if (bpf_core_field_exists(struct page___head, compound_head))
		info = BPF_CORE_READ((struct page___head *)page, compound_head);
	else
		info = BPF_CORE_READ((struct page___info *)page, compound_info);
	if (!(info & 1))
		return (__u64)page;
	/* An address, or a mask: no struct page has an address that high. */
	return info >> 32 == 0xffffffff ? (__u64)page & info : info - 1;
}

/* The slab page of @addr and the start of its objects; false when it is in none. */
static __always_inline bool ls_slab_of(__u64 addr, struct slab **slab, __u64 *start)
{
	__u64 vmemmap = 0, direct = 0;
	struct page *page;

	if (!&vmemmap_base || !&page_offset_base ||
	    bpf_probe_read_kernel(&vmemmap, sizeof(vmemmap), &vmemmap_base) ||
	    bpf_probe_read_kernel(&direct, sizeof(direct), &page_offset_base) ||
	    addr < direct || addr >= vmemmap)
		return false;
	page = (struct page *)(vmemmap + ((addr - direct) >> 12) * bpf_core_type_size(struct page));
	page = (struct page *)ls_head_of(page);
	if (!ls_is_slab(page))
		return false;
	*slab = (struct slab *)page;
	*start = direct + (((__u64)page - vmemmap) / bpf_core_type_size(struct page) << 12);
	return true;
}

static __always_inline bool ls_is_kmalloc(const char *name)
{
	return (name[0] == 'k' && name[1] == 'm' && name[2] == 'a' && name[3] == 'l' && name[4] == 'l' &&
		name[5] == 'o' && name[6] == 'c' && name[7] == '-') ||
	       (name[0] == 'd' && name[1] == 'm' && name[2] == 'a' && name[3] == '-');
}

/* Fill in cache, offset and size of the object around @addr. */
static __always_inline bool ls_slab_ident(__u64 addr, struct ls_order_ident *id)
{
	struct kmem_cache *cache;
	struct slab *slab;
	__u64 start;
	__u32 size;

	if (!ls_slab_of(addr, &slab, &start))
		return false;
	cache = BPF_CORE_READ(slab, slab_cache);
	size = BPF_CORE_READ(cache, size);
	if (!size)
		return false;
	id->offset = (__u32)(addr - start) % size;
	id->object_size = BPF_CORE_READ(cache, object_size);
	bpf_probe_read_kernel_str(id->name, sizeof(id->name), BPF_CORE_READ(cache, name));
	return true;
}

/* Beginning of the name of the cache of @addr; false when it is in none. */
static __always_inline bool ls_cache_name(__u64 addr, char name[16])
{
	struct slab *slab;
	__u64 start;

	return ls_slab_of(addr, &slab, &start) &&
	       bpf_probe_read_kernel_str(name, 16, BPF_CORE_READ(slab, slab_cache, name)) > 0;
}

/*
 * Are the classes of two locks certainly different? All objects of a class are from one cache,
 * or all from kmalloc caches.
 */
static __always_inline bool ls_classes_differ(__u64 a, __u64 b)
{
	__u64 an[2] = {}, bn[2] = {};

	if (!ls_cache_name(a, (char *)an) || !ls_cache_name(b, (char *)bn))
		return false;
	if (an[0] == bn[0] && an[1] == bn[1])
		return false;
	return !ls_is_kmalloc((char *)an) || !ls_is_kmalloc((char *)bn);
}

#endif /* LOCKSCOPE_BPF_IDENT_H */
