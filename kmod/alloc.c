// SPDX-License-Identifier: GPL-2.0
/*
 * Where kmalloc objects come from: the identity of locks in memory that many
 * types share. Two tracepoints, one word an object.
 */
#include <linux/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>

#include "access.h"
#include "lockscope.h"
#include "slab.h"
#include "vmap.h"
#include "base/wrapper/tracepoint.h"

#define SITE_BITS 13			/* 8,192 allocation sites */
#define SITE_SLOT_BITS (SITE_BITS + 1)
#define LIFE_BITS 17			/* objects whose life is followed: those with locks that were reported */
#define AREA_BITS 12			/* vmalloc areas with locks that are known by address */

static struct ls_tagtab site_ids;	/* call site -> number */
static struct site {
	unsigned long ip;
	u32 size, look;			/* of sizes that differ from size in these bits something is to be done */
	u32 bytes;			/* 0, or the size where it says what the memory is for */
	u8 refinement;			/* enum ls_refinement of the objects */
	u8 for_others;			/* the code at ip allocates for its callers */
	u8 learnt;			/* that, from what was allocated */
	u8 several;			/* sizes were asked for */
	u8 locks;			/* there are some in the objects */
} *site_table;
static u32 nr_sites, nr_learnt;
static struct ls_addrmap lives;		/* object -> number of its life */
static u32 nr_lives;
static struct ls_addrmap areas;

unsigned long ls_site_ip(u32 site)
{
	return site && site <= ls_load(&nr_sites) ? site_table[site].ip : 0;
}

/* Size that is part of the site's identity, 0: none is. */
u32 ls_site_bytes(u32 site)
{
	return site_table[site].bytes;
}

u32 ls_site_refinement(u32 site)
{
	return site_table[site].refinement;
}

static u32 new_site(const struct site *site, u64 key)
{
	u32 id = ls_load(&nr_sites);

	do {
		if (id + 1 >= 1u << SITE_BITS) {
			ls_lose(LS_LOSS_SITES);
			return 0;
		}
	} while (!ls_cmpxchg(&nr_sites, &id, id + 1));
	site_table[id + 1] = *site;
	return ls_tagtab_insert(&site_ids, key, id + 1);
}

/* Site of @bytes that the code at @ip has asked for, not for itself. */
static noinline u32 site_for_others(unsigned long ip, u32 bytes)
{
	struct site site = { };
	u32 refinement, id;
	u64 key;

	site.ip = ls_allocator_caller_of(ip, &bytes, &refinement);
	if (ls_is_tracer(site.ip))
		return 0;
	site.bytes = bytes;
	site.refinement = refinement;
	/* Apart from what the same code allocates for itself; its sizes are not looked at. */
	key = ls_mix(ls_mix(site.ip) + ((u64)bytes << 8 | 1));
	id = ls_tagtab_find(&site_ids, key);
	return id ? id : new_site(&site, key);
}

/* No size that is asked for has this bit. */
#define NO_SIZE (1u << 31)

/* The code at the site allocates for its callers: whatever is asked for is looked at. */
static void serves_others(struct site *site, bool learnt)
{
	if (learnt && !READ_ONCE(site->learnt))
		ls_fetch_add(&nr_learnt, 1);
	site->size = NO_SIZE;
	WRITE_ONCE(site->look, NO_SIZE);
	WRITE_ONCE(site->for_others, 1);
	WRITE_ONCE(site->learnt, learnt);
}

/*
 * Memory of one type is of one size, and its locks are initialised at one place. Code that
 * has shown otherwise of memory with locks in it allocates for its callers.
 */
static void see_sizes(struct site *site)
{
	if (READ_ONCE(site->several) && READ_ONCE(site->locks) && !site->for_others)
		serves_others(site, true);
}

/* A lock of an object from @site has got a class; @mixed: other than the one that another object has there. */
void ls_site_has_lock(u32 site, bool mixed)
{
	struct site *s = &site_table[site];
	struct site plain = { .ip = s->ip };
	u64 key = ls_mix(s->ip);
	u32 id;

	if (!mixed) {
		WRITE_ONCE(s->locks, 1);
		see_sizes(s);
		return;
	}
	/* What called an allocator may be one as well. */
	id = ls_tagtab_find(&site_ids, key);
	if (!id)
		id = new_site(&plain, key);
	if (id && !READ_ONCE(site_table[id].learnt))
		serves_others(&site_table[id], true);
}

/* Allocation sites so far; *@learnt: those found to allocate for their callers. */
u32 ls_alloc_sites(u32 *learnt)
{
	*learnt = ls_load(&nr_learnt);
	return ls_load(&nr_sites);
}

/* Has the code at @ip shown that it allocates for its callers? Any context. */
bool ls_site_serves_others(unsigned long ip)
{
	u32 id = ls_tagtab_find(&site_ids, ls_mix(ip));

	return id && READ_ONCE(site_table[id].learnt);
}

static u32 site_of(unsigned long ip, u32 bytes);

/* The allocator's return is traced: the unwinder knows to where. */
static noinline u32 traced_site(u32 bytes)
{
	u64 ip = ls_allocator_caller();

	return ip && !ls_is_tracer(ip) ? site_of(ip, bytes) : 0;
}

/* Site @id is asked for @bytes by the code at @ip, which it was not before, or it allocates for others. */
static noinline u32 look_at_site(u32 id, unsigned long ip, u32 bytes)
{
	struct site *site = &site_table[id];

	if (!bytes && !site->for_others)
		return id;
	if (!site->for_others && !site->size) {
		site->size = bytes;
		return id;
	}
	if (!site->for_others) {
		WRITE_ONCE(site->look, 0);
		WRITE_ONCE(site->several, 1);
		see_sizes(site);
	}
	return site->for_others ? site_for_others(ip, bytes) : id;
}

/* Number of the code at @ip that has asked for @bytes, 0: it is not known; 0: no room. Preemption off. */
static u32 site_of(unsigned long ip, u32 bytes)
{
	u64 key = ls_mix(ip);
	u64 slot = ls_tagtab_first(&site_ids, key);
	u32 id = slot & LS_TAG_ID_MASK;

	if (unlikely(!ls_tag_match(slot, key) || !id))
		id = ls_tagtab_find(&site_ids, key);
	if (unlikely(!id)) {
		struct site site = { .ip = ip, .size = bytes, .look = ~0u };

		if (ls_is_tracer(ip))
			return traced_site(bytes);
		site.refinement = ls_allocator_refines(ip);
		if (ls_allocator_for_others(ip))
			serves_others(&site, false);
		id = new_site(&site, key);
	}
	if (unlikely((site_table[id].size ^ bytes) & site_table[id].look))
		return look_at_site(id, ip, bytes);
	return id;
}

/*
 * The same of code at @ip that allocated a while ago. 0 as well where it did so for its
 * callers, of whom nothing is known any more.
 */
u32 ls_alloc_site_at(unsigned long ip)
{
	return ls_allocator_for_others(ip) || ls_site_serves_others(ip) || ls_is_tracer(ip) ? 0 : site_of(ip, 0);
}

/* Code at [start, end) goes away: its allocation sites must not name what comes there next. */
void ls_alloc_forget(unsigned long start, unsigned long end)
{
	u32 id, nr = ls_load(&nr_sites);

	for (id = 1; id <= nr; id++) {
		const struct site *s = &site_table[id];

		if (s->ip < start || s->ip >= end)
			continue;
		ls_tagtab_remove(&site_ids, ls_mix(s->ip));
		ls_tagtab_remove(&site_ids, ls_mix(ls_mix(s->ip) + ((u64)s->bytes << 8 | 1)));
	}
}

/*
 * Objects and pages about whose freeing we care: a bit by a hash of the address,
 * so that freeing any other costs next to nothing. Bits stay set: a wrong one
 * costs a look-up.
 */
#define WATCH_BITS 18
static unsigned long watched[BITS_TO_LONGS(1 << WATCH_BITS)];

static __always_inline u32 watch_bit(unsigned long addr)
{
	return ls_mix(addr) >> (64 - WATCH_BITS);
}

static unsigned long object_of(unsigned long addr)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset;

	if (addr - VMEMMAP_START < 1ul << 40)	/* a lock in struct page lives as long as the page's use */
		return addr & ~(sizeof(struct page) - 1);
	return ls_slab_locate(addr, &cache, &object, &offset) ? object : addr;
}

/* Does an object, of a cache or a page's, begin at @addr? */
static bool is_object(unsigned long addr)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset;

	return addr - VMEMMAP_START < 1ul << 40 || ls_slab_locate(addr, &cache, &object, &offset);
}

static u32 life_of(unsigned long object)
{
	u32 life = ls_addrmap_find(&lives, object);

	if (!life) {
		life = (ls_fetch_add(&nr_lives, 1) & LS_ADDR_ID_MASK) | 1;
		if (ls_addrmap_set(&lives, object, life))
			ls_lose(LS_LOSS_PAIRS);
		set_bit(watch_bit(object), watched);
	}
	return life;
}

/*
 * The lock at @lock as records have it: its address, with the life of the object it
 * lies in in place of the top bits, so that another lock at the same place is another
 * instance. What lies in no object that comes and goes keeps its address. Any context.
 */
u64 ls_lock_instance(u64 lock)
{
	unsigned long object = object_of(lock);

	if (lock >= __START_KERNEL_map || (object == lock && !is_object(lock)))
		return lock;
	return (lock & ((1ull << LS_INSTANCE_SHIFT) - 1)) |
	       (u64)life_of(object) << LS_INSTANCE_SHIFT;
}

/* The life of the object that @addr lies in. Any context. */
u32 ls_life(unsigned long addr)
{
	return life_of(object_of(addr));
}

/* The same, 0 when it was not asked for before. Any context. */
u32 ls_life_known(unsigned long addr)
{
	return ls_addrmap_find(&lives, object_of(addr));
}

/* A number for the lives of the objects that @a and @b lie in, in any order. Any context. */
u32 ls_lives(unsigned long a, unsigned long b)
{
	a = object_of(a);
	b = object_of(b);
	if (a > b)
		swap(a, b);
	return ls_mix((u64)life_of(a) << 32 | life_of(b)) >> 16;
}

static noinline void watched_freed(unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	ls_addrmap_remove(&lives, object);
	if (ls_slab_locate(object, &cache, &start, &offset)) {
		ls_identity_forget_names(object, object + ls_cache_object_size(cache));
		ls_access_forget_benign(object, object + ls_cache_object_size(cache));
	}
}

static __always_inline void freed(unsigned long object)
{
	if (unlikely(test_bit(watch_bit(object), watched)))
		watched_freed(object);
}

/* Something is known of the object at @object by its address: a lock's name, a benign range. */
void ls_watch_object(unsigned long object)
{
	set_bit(watch_bit(object), watched);
}

static void on_kmalloc(void *data, unsigned long call_site, const void *ptr, size_t bytes_req,
		       size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	u32 site;

	if (!ptr || !READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	/* Bulk frees pass by the tracepoints: a new life begins here at the latest. */
	freed((unsigned long)ptr);
	ls_object_reborn((unsigned long)ptr);
	site = site_of(call_site, bytes_req);
	if (site)
		ls_remember(&ls.sites, (u64)ptr, site);
	barrier();
	__preempt_count_sub(1);
}

/*
 * @object was allocated before we came, by @function: its locks get the names
 * they would have got.
 */
void ls_alloc_seed(const void *object, const char *function)
{
	unsigned long ip = ls_symbol(function);
	u32 site = object && ip ? site_of(ip + 1, 0) : 0;

	if (site)
		ls_remember(&ls.sites, (u64)object, site);
}

/* Locks in [start, end) are known by address only no more. */
static void forget_locks(unsigned long start, unsigned long end)
{
	for (; start < end; start += 4)
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(start));
}

/* What was allocated before we came has locks that are known by address. */
static noinline void unknown_freed(unsigned long object)
{
	struct kmem_cache *cache;
	unsigned long start;
	u32 offset;

	if (test_bit(watch_bit(object), watched) && ls_slab_locate(object, &cache, &start, &offset))
		forget_locks(object, object + ls_cache_object_size(cache));
}

static void on_kfree(void *data, unsigned long call_site, const void *ptr)
{
	if (!ptr || !READ_ONCE(ls_active))
		return;
	ls_tracepoint_enter();
	if (!ls_holds_nothing())
		ls_object_freed((unsigned long)ptr, call_site);
	if (unlikely(!ls_addrmap_remove(&ls.sites, (u64)ptr)))
		unknown_freed((unsigned long)ptr);
	freed((unsigned long)ptr);
	ls_object_reborn((unsigned long)ptr);
	ls_tracepoint_leave();
}

static void on_cache_alloc(void *data, unsigned long call_site, const void *ptr,
			   struct kmem_cache *cache, gfp_t gfp_flags, int node)
{
	ls_tracepoint_enter();
	/* Bulk frees pass by the tracepoints. */
	if (ptr)
		ls_object_reborn((unsigned long)ptr);
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

/* A lock in the vmalloc area at @start is known by address. Without room it stays known. */
bool ls_watch_area(unsigned long start)
{
	return ls_addrmap_add(&areas, start, 1);
}

/* What is at @addr is known by address only: forget it when its memory is freed. */
void ls_watch_memory(unsigned long addr)
{
	unsigned long stack = (unsigned long)task_stack_page(current), object;
	struct kmem_cache *cache;
	struct ls_vmap area;
	u32 offset;

	if (in_direct_map(addr)) {
		set_bit(watch_bit(addr & PAGE_MASK), watched);
		if (ls_slab_locate(addr, &cache, &object, &offset))
			set_bit(watch_bit(object), watched);
	} else if (addr - stack < THREAD_SIZE) {
		ls_watch_area(stack);
	} else if (ls_vmap_find(addr, &area)) {
		ls_watch_area(area.start);
	}
}

/* The vmalloc area at @start is freed. Any context. */
void ls_area_freed(unsigned long start)
{
	struct ls_vmap area;

	/* To go through all locks costs too much to be done for every thread's stack. */
	if (ls_addrmap_remove(&areas, start) && ls_vmap_find(start, &area))
		ls_addrmap_forget_locks(&ls.addrs, area.start, area.size);
}

static noinline void forget_page(unsigned long page)
{
	forget_locks(page, page + PAGE_SIZE);
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
		if (unlikely(test_bit(watch_bit(addr), watched)))
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

int ls_alloc_attach(void)
{
	u32 i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		rc = ls_tracepoint_attach(probes[i].name, probes[i].probe, NULL);
		if (rc)
			pr_warn("lockscope: no tracepoint %s (%d): classes of kmalloc memory will be named by acquire site\n",
				probes[i].name, rc);
	}
	return 0;
}

void ls_alloc_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		ls_tracepoint_detach(probes[i].name, probes[i].probe, NULL);
}

/* @bits: log2 of the kmalloc objects that can be known at one time. */
int ls_alloc_init(u32 bits)
{
	void *objects = ls_zalloc(ls_addrmap_bytes(bits));
	void *slots = ls_zalloc(ls_tagtab_bytes(SITE_SLOT_BITS));
	void *life = ls_zalloc(ls_addrmap_bytes(LIFE_BITS));
	void *area = ls_zalloc(ls_addrmap_bytes(AREA_BITS));

	site_table = ls_zalloc(sizeof(*site_table) << SITE_BITS);
	if (!objects || !slots || !site_table || !life || !area) {
		ls_free(area);
		ls_free(life);
		ls_free(objects);
		ls_free(slots);
		return -ENOMEM;
	}
	ls_addrmap_init_spread(&ls.sites, objects, bits);
	ls_addrmap_init_spread(&lives, life, LIFE_BITS);
	ls_addrmap_init(&areas, area, AREA_BITS);
	ls_tagtab_init(&site_ids, slots, SITE_SLOT_BITS);
	return 0;
}

void ls_alloc_exit(void)
{
	ls_free(ls.sites.slots);
	ls_free(site_ids.slots);
	ls_free(site_table);
	ls_free(lives.slots);
	ls_free(areas.slots);
}
