// SPDX-License-Identifier: GPL-2.0
/*
 * Classes of locks in slab objects, in large kmalloc memory and in vmalloc areas: by cache and
 * offset, by allocation site, by role of the object. Runs in hooks, see identity.c.
 */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "base/lookup.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "identity/vmap.h"
#include "primitives.h"

#define MAX_OFFSET 0xffffu	/* of a lock in its object; beyond it is known by address */

static unsigned long device_initialize_at __ro_after_init;	/* inits their mutex */

/* The class of an initialiser: its expression and the function around it. */
static u32 class_of_init(u32 kind, const char *name, unsigned long ip)
{
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_INIT, .addr = ip,
		/* A queue and the spinlock in it share an initialiser. */
		.key = ls_key_init((u64)name, ip) + LS_KIND_OFFSET(kind),
	};
	u32 id = ls_classes_find(&ls.classes, proto.key);

	if (id)
		return id;
	ls_copy_label(proto.label, name, sizeof(proto.label));
	return ls_class_add(&proto);
}

static bool is_kmalloc(const struct kmem_cache *cache)
{
	return strstarts(ls_cache_name(cache), "kmalloc-") ||
	       strstarts(ls_cache_name(cache), "dma-kmalloc-");
}

/*
 * The class of marker @marker for objects of @role such as that at @root; found by @key from
 * now on.
 */
static noinline u32 new_refined(const struct ls_class *marker, u64 role, u64 root, u64 key)
{
	struct ls_class proto = *marker;
	u32 id;

	proto.marks = ls_named_mark() | (role ? 0 : LS_CLASS_UNREFINED);
	/* One initialiser is one class, wherever the objects are allocated. */
	proto.key = marker->origin == LS_ORIGIN_INIT ? ls_key_init(role, marker->addr) : key;
	ls_role_describe(&proto, marker->refinement, role, root);
	id = ls_classes_find(&ls.classes, proto.key);
	if (!id) {
		id = ls_class_add(&proto);
		if (id && !role)
			ls_fetch_add(&ls.nr_unrefined, 1);
	}
	if (id && proto.key != key)
		ls_classes_alias(&ls.classes, key, id);
	return id;
}

/* Class of @lock, whose object is refined according to marker @id; @key is that of the marker. */
static u32 refined_class(u32 id, u64 key, unsigned long lock)
{
	const struct ls_class *marker = &ls.classes.table[id];
	u64 root = lock - marker->root, role = ls_role_of(marker->refinement, root);
	u32 made;

	key = ls_key_refined(key, role);
	made = ls_classes_find(&ls.classes, key);
	return made ? made : new_refined(marker, role, root, key);
}

/* The mutex of a device has the name of its initialiser, wherever the device is allocated. */
static void name_device(struct ls_class *proto)
{
	proto->origin = LS_ORIGIN_INIT;
	proto->addr = device_initialize_at;
	ls_copy_label(proto->label, "&dev->mutex", sizeof(proto->label));
}

/* Class of @lock in a device whose allocation was not seen: from its present role. */
u32 ls_class_of_device(unsigned long lock)
{
	struct ls_class proto = {
		.kind = LS_KIND_MUTEX, .refinement = LS_REFINE_DEVICE, .root = offsetof(struct device, mutex),
	};
	u64 root = lock - proto.root, role = ls_role_of(proto.refinement, root), key;
	u32 id;

	name_device(&proto);
	key = ls_key_init(role, proto.addr);
	id = ls_classes_find(&ls.classes, key);
	return id ? id : new_refined(&proto, role, root, key);
}

/*
 * The class of @proto for @lock in the object of @cache at @object, refined if such objects
 * are. @site: 0 in a named cache; @init: where it was initialised, or 0.
 */
static u32 object_member(struct ls_class *proto, unsigned long lock, const struct kmem_cache *cache,
			 unsigned long object, u32 site, unsigned long init)
{
	u64 key = proto->key;
	s32 root;
	u32 id;

	proto->refinement = ls_refinement_of(lock, proto->kind, cache, object, site, init, &root);
	if (!proto->refinement)
		return ls_class_add(proto);
	if (proto->refinement == LS_REFINE_DEVICE)
		name_device(proto);
	proto->root = root;
	proto->marks = LS_CLASS_REFINE;
	id = ls_class_add(proto);
	return id ? refined_class(id, key, lock) : 0;
}

/* Elements of an array are one class; the offset within an element is part of its name. */
static u32 array_class(struct ls_class *proto, const struct ls_array *array, u32 site)
{
	u32 stride = array->stride, place = array->first % stride, id;

	proto->key = ls_key_refined(ls_key_alloc(proto->cache, place, ls_key_kind(proto->kind), site), stride);
	id = ls_classes_find(&ls.classes, proto->key);
	if (id)
		return id;
	proto->offset = place;
	proto->root = stride;
	proto->refinement = LS_REFINE_ARRAY;
	return ls_class_add(proto);
}

/* A ww_mutex shares the initialiser of the mutex in it. */
static bool same_kind(u32 a, u32 b)
{
	const u32 mutexes = 1u << LS_KIND_MUTEX | 1u << LS_KIND_WW_MUTEX;

	return a == b || (mutexes >> a & 1 && mutexes >> b & 1);
}

/*
 * Has the lock of class @c another name than one at the same place that the code at @ip now
 * initialises as @name?
 */
static bool other_name(const struct ls_class *c, const char *name, unsigned long ip)
{
	return c->origin == LS_ORIGIN_INIT &&
	       (strncmp(c->label, name, sizeof(c->label) - 1) ||
		(c->addr != ip && ls_function_of(c->addr) != ls_function_of(ip)));
}

/*
 * The lock at @lock, in memory whose locks have class @id by @key, is initialised as @name, by
 * code that others were not initialised by, or that gets names from its caller (ww_mutex). No
 * name may depend on which of them came first, so it is known by its address. Returns its class.
 */
static noinline u32 name_apart(unsigned long lock, u64 key, u32 id, u32 kind, const char *name,
			       unsigned long ip)
{
	u32 own = class_of_init(kind, name, ip);

	if (!own)
		return id;
	ls_fetch_or(&ls.classes.table[id].marks, (u16)LS_CLASS_ASK);
	ls_tagtab_change(&ls.classes.keys, key, id, id | LS_KEY_ASK);
	ls_remember(&ls.addrs, ls_addr_of_lock(lock), own);
	ls_watch_memory(lock);
	return own;
}

/* Class of a lock at @lock, of @kind, at a place where most have class @id. */
static u32 named_apart(unsigned long lock, u32 id, u32 kind)
{
	u32 own;

	if (likely(!(ls.classes.table[id].marks & LS_CLASS_ASK)))
		return id;
	own = ls_addrmap_find(&ls.addrs, ls_addr_of_lock(lock));
	return own && same_kind(ls.classes.table[own].kind, kind) ? own : id;
}

/*
 * Does memory from @site have another kind of lock at @offset, too? A union, or memory for two
 * uses.
 */
static bool two_kinds(u32 site, u64 memory, u32 offset, u32 kind)
{
	u32 k;

	for (k = LS_KIND_NONE + 1; k < LS_NR_KINDS; k++)
		if (!same_kind(k, kind) && ls_classes_find(&ls.classes, ls_key_alloc(memory, offset, k, site)))
			return true;
	return false;
}

/*
 * A lock in memory that many types share, allocated at @site: in @cache, or NULL for whole
 * pages. @name: of the initialiser that the code at @ip calls, NULL when the class comes from
 * an acquire.
 */
static u32 alloc_class(u32 site, struct kmem_cache *cache, unsigned long object, u32 offset,
		       u32 kind, const char *name, unsigned long ip)
{
	/* kvmalloc() returns pages or areas. */
	u64 memory = cache || in_direct_map(object) ? (u64)cache : ~0ull;
	u64 key = ls_key_alloc(memory, offset, ls_key_kind(kind), site);
	unsigned long lock = object + offset;
	u32 id;
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_ALLOC, .marks = ls_named_mark() };
	const struct ls_array *array = NULL;
	bool full = false, device;
	s32 root;

	if (!site)
		return 0;
	id = ls_classes_find(&ls.classes, key);
	if (id && ls.classes.table[id].marks & LS_CLASS_REFINE)
		return refined_class(id, key, lock);
	if (id && !name)
		return named_apart(lock, id, kind);
	if (id && other_name(&ls.classes.table[id], name, ip)) {
		if (ls.classes.table[id].addr != ip)
			ls_site_has_lock(site, true);
		return name_apart(lock, key, id, kind, name, ip);
	}
	if (id) {
		/* An earlier life of the lock may have had another name. */
		if (ls.classes.table[id].marks & LS_CLASS_ASK)
			ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(lock));
		return id;
	}
	ls_site_has_lock(site, false);
	if (two_kinds(site, memory, offset, kind))
		ls_site_has_lock(site, true);
	device = kind == LS_KIND_MUTEX && ls_is_device_mutex(lock);
	if (!name && !device)
		array = ls_arrays_see(&ls_lock_arrays, ls_key_alloc(memory, 0, LS_KIND_NONE, site), kind,
				      offset, ip, &full);
	/*
	 * Without room, elements of one array may be several classes, and a dependency of two
	 * of them several dependencies.
	 */
	if (full)
		ls_lose(LS_LOSS_SITES);
	/* Elements of an array are not one completion or queue: each is completed separately. */
	if (array && LS_AWAITED_KINDS >> kind & 1)
		return 0;
	proto.key = key;
	proto.cache = memory;
	proto.offset = offset;
	proto.addr = ls_site_ip(site);
	proto.bytes = ls_site_bytes(site);
	proto.object_size = cache ? ls_cache_object_size(cache) : 0;
	ls_copy_label(proto.label, cache ? ls_cache_name(cache) : memory ? "vmalloc" : "kmalloc-large",
		      sizeof(proto.label));
	if (array)
		return array_class(&proto, array, site);
	/* The initialiser's name is the same for all of its callers. */
	if (!name || ls_allocator_keyed(ip))
		return object_member(&proto, lock, cache, object, site, 0);
	if (ls_refinement_of(lock, kind, cache, object, site, ip, &root)) {
		proto.origin = LS_ORIGIN_INIT;
		proto.addr = ip;
		ls_copy_label(proto.label, name, sizeof(proto.label));
		return object_member(&proto, lock, cache, object, site, ip);
	}
	id = class_of_init(kind, name, ip);
	if (id)
		ls_classes_alias(&ls.classes, key, id);
	return id;
}

static u32 slab_class(struct kmem_cache *cache, unsigned long object, u32 offset, u32 kind)
{
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_SLAB,
		.offset = offset, .object_size = ls_cache_object_size(cache),
		.key = ls_key_slab((u64)cache, offset, ls_key_kind(kind)), .cache = (u64)cache,
		.marks = is_kmalloc(cache) ? LS_CLASS_KMALLOC : ls_named_mark(),
	};

	ls_copy_label(proto.label, ls_cache_name(cache), sizeof(proto.label));
	if (proto.marks & LS_CLASS_KMALLOC)
		return ls_class_add(&proto);
	return object_member(&proto, object + offset, cache, object, 0, 0);
}

/*
 * Large kmalloc: whole pages, starting where the object starts. 0: @lock lies in none. Pages of
 * other allocators may start where a small object did whose free was not seen (kfree_bulk()).
 */
unsigned long ls_large_object(unsigned long lock)
{
	struct folio *folio = virt_to_folio((void *)lock);
	unsigned long object = (unsigned long)folio_address(folio);

	return folio_size(folio) > KMALLOC_MAX_CACHE_SIZE && lock - object < MAX_OFFSET ? object : 0;
}

u32 ls_class_of_object(unsigned long lock, u32 kind, unsigned long ip)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id, site;

	if (ls_slab_locate(lock, &cache, &object, &offset)) {
		u64 key = ls_key_slab((u64)cache, offset, ls_key_kind(kind));

		id = ls_classes_find(&ls.classes, key);
		if (!id)
			id = slab_class(cache, object, offset, kind);
		if (id && ls.classes.table[id].marks & LS_CLASS_REFINE)
			return refined_class(id, key, lock);
		if (!id || !(ls.classes.table[id].marks & LS_CLASS_KMALLOC))
			return id;
		site = ls_alloc_site(object);
		/* Where caches are merged, others allocate the same memory. */
		if (unlikely(!site) && !ls_cache_merged(cache)) {
			/* The lock that was there: ls_acquire() reports it. */
			site = ls_freed_site(object);
			if (site)
				this_cpu_write(ls_cpus.in_freed, lock);
		}
		return alloc_class(site, cache, object, offset, kind, NULL, ip);
	}
	object = ls_large_object(lock);
	return object ? alloc_class(ls_alloc_site(object), NULL, object, lock - object, kind, NULL, ip) : 0;
}

/*
 * A lock in a vmalloc area, for which the kernel records the allocating code. @name: as for
 * alloc_class(). 0: it lies in none, or in one that was allocated for others.
 */
u32 ls_class_of_area(unsigned long lock, u32 kind, const char *name, unsigned long ip)
{
	struct ls_vmap area;
	u32 site, id;

	if (!ls_vmap_find(lock, &area) || area.stack)
		return 0;
	site = ls_alloc_site_at(area.caller);
	id = alloc_class(site, NULL, area.start, lock - area.start, kind, name, ip);
	if (id && ls_file_class(lock, id))
		ls_watch_area(area.start);
	return id;
}

/* Name a lock known by address only by its initialiser. */
static void name_address(unsigned long lock, u32 kind, const char *name, unsigned long ip)
{
	u32 id = class_of_init(kind, name, ip);

	if (id) {
		ls_remember(&ls.addrs, ls_addr_of_lock(lock), id);
		ls_watch_memory(lock);
	}
}

/*
 * An initialiser ran on @lock: @name is the expression passed to it, empty where there is
 * none, @ip its caller. Locks in named slab caches and static locks ignore it: their name must
 * not depend on whether the initialiser was seen.
 */
void ls_identity_named(unsigned long lock, u32 kind, const char *name, unsigned long ip)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset;

	if (lock >= __START_KERNEL_map)
		return;
	if (ls_slab_locate(lock, &cache, &object, &offset)) {
		if (is_kmalloc(cache))
			alloc_class(ls_alloc_site(object), cache, object, offset, kind, name, ip);
		return;
	}
	if (in_direct_map(lock)) {
		object = ls_large_object(lock);
		if (object && alloc_class(ls_alloc_site(object), NULL, object, lock - object, kind, name, ip))
			return;
		if (ls_percpu_offset(lock) >= 0)
			return;
	}
	if (!ls_on_own_stack(lock) && ls_class_of_area(lock, kind, name, ip))
		return;
	name_address(lock, kind, name, ip);
}

/* Process context, once. */
void ls_objects_init(void)
{
	device_initialize_at = ls_symbol("device_initialize");
}
