// SPDX-License-Identifier: GPL-2.0
/* Allocation and free of memory: the allocators' tracepoints. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/slab.h>

#include "base/tracepoint.h"
#include "base/wrapper/tracepoint.h"
#include "check/access/access.h"
#include "check/check.h"
#include "hook/hook.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/slab.h"

static noinline void watched_freed(unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	ls_life_ends(object);
	if (ls_slab_locate(object, &cache, &start, &offset)) {
		ls_identity_forget_names(object, object + ls_cache_object_size(cache));
		ls_access_forget_benign(object, object + ls_cache_object_size(cache));
	}
}

static __always_inline void freed(unsigned long object)
{
	if (unlikely(ls_freeing_matters(object)))
		watched_freed(object);
}

static void on_kmalloc(void *data, unsigned long call_site, const void *ptr, size_t bytes_req,
		       size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	u32 site;

	if (!ptr || !READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	/* Bulk frees bypass the tracepoints: a new life begins here at the latest. */
	freed((unsigned long)ptr);
	ls_freed_forget(ls_freed, (unsigned long)ptr);
	ls_object_reborn((unsigned long)ptr);
	site = ls_site_of(call_site, bytes_req);
	if (site)
		ls_remember(&ls.sites, (u64)ptr, site);
	barrier();
	__preempt_count_sub(1);
}

/* Objects allocated before the module was loaded have locks that are known by address. */
static noinline void unknown_freed(unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	if (ls_freeing_matters(object) && ls_slab_locate(object, &cache, &start, &offset))
		ls_forget_object(object, ls_cache_object_size(cache));
}

static void on_kfree(void *data, unsigned long call_site, const void *ptr)
{
	u32 site;

	if (!ptr || !READ_ONCE(ls_active))
		return;
	ls_tracepoint_enter();
	if (!ls_holds_nothing())
		ls_object_freed((unsigned long)ptr, call_site);
	site = ls_addrmap_remove(&ls.sites, (u64)ptr);
	if (unlikely(!site))
		unknown_freed((unsigned long)ptr);
	else if (ls_site_locks(site))
		ls_freed_object((unsigned long)ptr, site, call_site);
	freed((unsigned long)ptr);
	ls_object_reborn((unsigned long)ptr);
	ls_tracepoint_leave();
}

static void on_cache_alloc(void *data, unsigned long call_site, const void *ptr,
			   struct kmem_cache *cache, gfp_t gfp_flags, int node)
{
	ls_tracepoint_enter();
	/* Bulk frees bypass the tracepoints: a new life begins here at the latest. */
	if (ptr) {
		if (unlikely(ls_freeing_matters((unsigned long)ptr)))
			ls_life_restarts((unsigned long)ptr);
		ls_object_reborn((unsigned long)ptr);
	}
	ls_tracepoint_leave();
}

static void on_cache_free(void *data, unsigned long call_site, const void *ptr,
			  const struct kmem_cache *cache)
{
	ls_tracepoint_enter();
	if (!ls_holds_nothing() && READ_ONCE(ls_active))
		ls_object_freed((unsigned long)ptr, call_site);
	freed((unsigned long)ptr);
	ls_object_reborn((unsigned long)ptr);
	ls_tracepoint_leave();
}

static noinline void forget_page(unsigned long page)
{
	ls_forget_page(page);
	ls_access_forget_benign(page, page + PAGE_SIZE);
}

static void on_page_free(void *data, struct page *page, unsigned int order)
{
	unsigned long addr = (unsigned long)page_address(page), i;

	ls_tracepoint_enter();
	freed((unsigned long)page);
	if (!ls_holds_nothing() && READ_ONCE(ls_active))
		ls_range_freed(addr, PAGE_SIZE << order, 0);
	for (i = 0; i < 1ul << order; i++, addr += PAGE_SIZE) {
		if (unlikely(ls_freeing_matters(addr)))
			forget_page(addr);
		if (unlikely(ls_watched(addr)) && unlikely(ls_load(&ls_acc->nr_pages)))
			ls_shadow_freed(addr, PAGE_SIZE);
	}
	ls_tracepoint_leave();
}

static const struct {
	const char *name;
	void *probe;
} probes[] = {
	{ "kmalloc", on_kmalloc },
	{ "kfree", on_kfree },
	{ "kmem_cache_alloc", on_cache_alloc },
	{ "kmem_cache_free", on_cache_free },
	{ "mm_page_free", on_page_free },
};

int ls_memory_attach(void)
{
	u32 i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		rc = ls_tracepoint_attach(probes[i].name, probes[i].probe, NULL);
		if (rc)
			pr_warn("no tracepoint %s (%d): classes of kmalloc memory will be named by acquire site\n",
				probes[i].name, rc);
	}
	return 0;
}

void ls_memory_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		ls_tracepoint_detach(probes[i].name, probes[i].probe, NULL);
}
