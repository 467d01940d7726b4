// SPDX-License-Identifier: GPL-2.0
/* Offsets of what slab.h reads in the slab allocator's structures. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>

#include "base/lookup.h"
#include "btf.h"
#include "identity/slab.h"

struct ls_slab_layout ls_slab __ro_after_init;

#define PROBE_SIZE 192

/* Offset of the cache in struct slab: search the page of @object for @own. */
static int find_slab_cache(struct kmem_cache *own, void *object)
{
	struct page *page = virt_to_head_page(object);
	u32 at;

	for (at = 0; at < sizeof(struct page); at += sizeof(long)) {
		if (*(struct kmem_cache **)((char *)page + at) == own && folio_test_slab((struct folio *)page)) {
			ls_slab.slab_cache = at;
			return 0;
		}
	}
	return -ENODEV;
}

/* Members of struct kmem_cache, from BTF. */
static int find_cache_members(void)
{
	const struct {
		const char *name;
		u32 *to;
	} members[] = {
		{ "size", &ls_slab.size },
		{ "reciprocal_size", &ls_slab.reciprocal_size },
		{ "object_size", &ls_slab.object_size },
		{ "name", &ls_slab.name },
		{ "refcount", &ls_slab.refcount },
	};
	unsigned long btf = ls_symbol("__start_BTF"), end = ls_symbol("__stop_BTF");
	u32 i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		*members[i].to = btf ? ls_btf_offset((void *)btf, end - btf, "kmem_cache", members[i].name) :
				       LS_BTF_NONE;
		if (*members[i].to == LS_BTF_NONE) {
			pr_err("this kernel does not tell where struct kmem_cache has its %s\n",
			       members[i].name);
			return -ENODEV;
		}
	}
	return 0;
}

/* Check the result on a cache and an object of this module. */
static bool makes_sense(struct kmem_cache *own, unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	return ls_slab_locate(object + 8, &cache, &start, &offset) && cache == own && start == object &&
	       offset == 8 && ls_cache_object_size(cache) == kmem_cache_size(own);
}

/* Process context. */
int ls_slab_init(void)
{
	struct kmem_cache *own = kmem_cache_create("lockscope_probe", PROBE_SIZE, 0, 0, NULL);
	void *object = own ? kmem_cache_alloc(own, GFP_KERNEL) : NULL;
	int rc = object ? 0 : -ENOMEM;

	ls_slab.direct_size = VMALLOC_START - PAGE_OFFSET;
	rc = rc ? rc : find_cache_members();
	rc = rc ? rc : find_slab_cache(own, object);
	if (!rc && !makes_sense(own, (unsigned long)object)) {
		pr_err("the slab allocator of this kernel is not as expected\n");
		rc = -ENODEV;
	}
	if (object)
		kmem_cache_free(own, object);
	kmem_cache_destroy(own);
	return rc;
}
