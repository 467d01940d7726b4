// SPDX-License-Identifier: GPL-2.0
/* Memory for the shadow of watched pages, and the lifetimes of watched memory. */
#include <linux/kernel.h>
#include <linux/mm.h>

#include "base/memory.h"
#include "check/access/access.h"
#include "check/access/handover.h"
#include "check/access/race_side.h"
#include "identity/alloc.h"
#include "identity/slab.h"

#define PAGE_TABLE_BITS 15
#define SITE_TABLE_BITS 18
#define LOCKSETS 32768
#define LOCKSET_ELEMENTS (4 * LOCKSETS)
#define LOCKSET_TABLE_BITS 16
#define CHUNK 32		/* shadow pages allocated at a time */
#define AHEAD 64		/* shadow pages that are prepared ahead */
#define MAX_CHUNKS 1024
#define MAX_BENIGN 128

struct ls_sample ls_sample;
struct ls_access_tables *ls_acc __read_mostly;
static struct ls_shadow_page *chunks[MAX_CHUNKS];
static u32 nr_chunks;
static struct benign {
	unsigned long start, size;
} benign[MAX_BENIGN];
static u32 nr_benign;

/* Shadow of the page that @addr lies in, NULL when it has none. */
struct ls_shadow_page *ls_shadow_of(unsigned long addr)
{
	u64 key = ls_mix(addr >> PAGE_SHIFT);
	u64 slot = ls_tagtab_first(&ls_acc->pages, key);
	u32 id = slot & LS_TAG_ID_MASK;

	if (unlikely(!ls_tag_match(slot, key) || !id))
		id = ls_tagtab_find(&ls_acc->pages, key);
	return id ? &chunks[(id - 1) / CHUNK][(id - 1) % CHUNK] : NULL;
}

/* Allocate one; NULL when there is no room. */
LS_COLD struct ls_shadow_page *ls_shadow_new(unsigned long addr)
{
	u32 id = ls_load(&ls_acc->nr_pages), ready = ls_load_acquire(&nr_chunks) * CHUNK;
	bool lasts = ls_sample_lasts(&ls_sample, addr);
	struct ls_shadow_page *page;

	do {
		if (id >= ready) {
			/* A sample uses only what is ready by now. */
			if (lasts || ready >= ls_acc->max_pages)
				ls_lose_access(LS_ALOSS_PAGES);
			else
				this_cpu_inc(ls_access_cpus.left_out);
			return NULL;
		}
	} while (!ls_cmpxchg(&ls_acc->nr_pages, &id, id + 1));
	if (id + AHEAD > ready && ready < ls_acc->max_pages)
		ls_wake_worker();
	/* Another CPU may have inserted one first: use that. */
	id = ls_tagtab_insert(&ls_acc->pages, ls_mix(addr >> PAGE_SHIFT), id + 1);
	if (!id) {
		ls_lose_access(LS_ALOSS_PAGES);
		return NULL;
	}
	page = &chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
	ls_store(&page->term, ls_sample_term(&ls_sample, addr));
	return page;
}

/* The page is watched again after a pause. Any context. */
LS_COLD void ls_shadow_renew(struct ls_shadow_page *page, u32 term)
{
	u32 i;

	for (i = 0; i < LS_GRANULES; i++)
		ls_shadow_forget(&page->granule[i]);
	ls_store(&page->term, term);
}

bool ls_access_is_benign(unsigned long addr)
{
	u32 i, nr = ls_load_acquire(&nr_benign);

	for (i = 0; i < nr; i++)
		if (addr - ls_load(&benign[i].start) < ls_load(&benign[i].size))
			return true;
	return false;
}

/* Races in [start, start + size) are benign, as long as that memory lives. Any context. */
int ls_access_benign(unsigned long start, unsigned long size)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, i, nr = ls_load(&nr_benign);

	if (ls_access_is_benign(start))
		return 0;
	for (i = 0; i < MAX_BENIGN; i++) {
		unsigned long none = 0;

		if (ls_cmpxchg(&benign[i].start, &none, start))
			break;
	}
	if (i == MAX_BENIGN)
		return -ENOSPC;
	ls_store(&benign[i].size, size);
	while (nr <= i && !ls_cmpxchg(&nr_benign, &nr, i + 1))
		;
	if (start < __START_KERNEL_map && ls_slab_locate(start, &cache, &object, &offset))
		ls_watch_object(object);
	else
		ls_watch_memory(start);
	return 0;
}

/* [start, start + size) begins a new life. Any context. */
void ls_shadow_freed(unsigned long start, unsigned long size)
{
	unsigned long at, end = start + size;

	for (at = start & ~7ul; at < end;) {
		unsigned long stop = min(end, (at | ~PAGE_MASK) + 1);
		struct ls_shadow_page *page = ls_watched(at) ? ls_shadow_of(at) : NULL;

		for (; page && at < stop; at += 8)
			ls_shadow_forget(&page->granule[(at & ~PAGE_MASK) >> LS_GRANULE_SHIFT]);
		at = stop;
	}
}

/* The slab object at @object begins or ends a life. Any context. */
void ls_object_forget(unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	if (!ls_slab_locate(object, &cache, &start, &offset))
		return;
	ls_shadow_freed(start, ls_cache_object_size(cache));
	ls_handover_forget(start);
}

/* Code and data at [start, end) go away: forget what is known of that range. Any context. */
void ls_access_forget_benign(unsigned long start, unsigned long end)
{
	u32 i, nr = ls_load_acquire(&nr_benign);

	for (i = 0; i < nr; i++) {
		if (ls_load(&benign[i].start) >= start && ls_load(&benign[i].start) < end) {
			ls_store(&benign[i].size, 0);
			ls_store_release(&benign[i].start, 0);
		}
	}
}

/* Prepare shadow pages. Worker only, while memory is watched; true when something was done. */
bool ls_access_provide(void)
{
	bool any = false;

	while (nr_chunks < MAX_CHUNKS && nr_chunks * CHUNK < ls_acc->max_pages &&
	       ls_load(&ls_acc->nr_pages) + AHEAD > nr_chunks * CHUNK) {
		chunks[nr_chunks] = ls_zalloc(array_size(CHUNK, sizeof(struct ls_shadow_page)));
		if (!chunks[nr_chunks])
			break;
		ls_store_release(&nr_chunks, nr_chunks + 1);
		any = true;
	}
	return any;
}

static void clear_tagtab(struct ls_tagtab *tab)
{
	memset(tab->slots, 0, sizeof(u64) * (tab->mask + 1));
}

/* Reset the whole shadow to virgin; access sites stay. Only while nothing is watched. */
void ls_access_forget_all(void)
{
	u32 i, used = ls_acc->nr_pages;
	int cpu;

	for (i = 0; i * CHUNK < used && i < nr_chunks; i++)
		memset(chunks[i], 0, min(used - i * CHUNK, (u32)CHUNK) * sizeof(struct ls_shadow_page));
	ls_acc->nr_pages = 0;
	clear_tagtab(&ls_acc->pages);
	ls_locksets_clear(&ls_acc->sets);
	ls_memo_clear();
	for_each_possible_cpu(cpu)
		memset(per_cpu(ls_access_cpus, cpu).same, 0, sizeof(struct ls_same) << LS_SAME_BITS);
	ls_sides_forget();
	ls_handover_clear();
}

/* @megabytes: limit of the memory for shadow pages. */
int ls_access_init(u32 megabytes)
{
	void *sets, *elements, *ids, *meets, *pages, *sites;
	int cpu;

	if (ls_sides_init())
		return -ENOMEM;
	ls_acc = ls_zalloc(sizeof(*ls_acc));
	sets = ls_zalloc(array_size(LOCKSETS + 1, sizeof(struct ls_lockset)));
	elements = ls_zalloc(array_size(LOCKSET_ELEMENTS, sizeof(u64)));
	ids = ls_zalloc(ls_tagtab_bytes(LOCKSET_TABLE_BITS));
	meets = ls_zalloc(ls_tagtab_bytes(LOCKSET_TABLE_BITS));
	pages = ls_zalloc(ls_tagtab_bytes(PAGE_TABLE_BITS));
	sites = ls_zalloc(ls_tagtab_bytes(SITE_TABLE_BITS));
	if (!ls_acc || !sets || !elements || !ids || !meets || !pages || !sites) {
		ls_free(sets), ls_free(elements), ls_free(ids), ls_free(meets), ls_free(pages), ls_free(sites);
		ls_free(ls_acc);
		ls_acc = NULL;
		return -ENOMEM;
	}
	ls_locksets_init(&ls_acc->sets, LOCKSETS, LOCKSET_ELEMENTS, sets, elements, ids, meets,
			 LOCKSET_TABLE_BITS);
	ls_tagtab_init(&ls_acc->pages, pages, PAGE_TABLE_BITS);
	ls_tagtab_init(&ls_acc->sites, sites, SITE_TABLE_BITS);
	for_each_possible_cpu(cpu) {
		struct ls_same *same = ls_zalloc(sizeof(*same) << LS_SAME_BITS);

		if (!same)
			return -ENOMEM;
		per_cpu(ls_access_cpus, cpu).same = same;
	}
	ls_acc->max_pages = min_t(u64, ((u64)megabytes << 20) / sizeof(struct ls_shadow_page),
				  1u << (PAGE_TABLE_BITS - 1));
	return 0;
}

/* Only once nothing is watched any more. */
void ls_access_exit(void)
{
	u32 i;
	int cpu;

	ls_sides_exit();
	if (!ls_acc)
		return;
	for_each_possible_cpu(cpu)
		ls_free(per_cpu(ls_access_cpus, cpu).same);
	for (i = 0; i < nr_chunks; i++)
		ls_free(chunks[i]);
	ls_free(ls_acc->sets.sets);
	ls_free(ls_acc->sets.elements);
	ls_free(ls_acc->sets.ids.slots);
	ls_free(ls_acc->sets.meets.slots);
	ls_free(ls_acc->pages.slots);
	ls_free(ls_acc->sites.slots);
	ls_free(ls_acc);
}
