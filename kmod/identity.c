// SPDX-License-Identifier: GPL-2.0
/*
 * From a lock's address to its class, at first sight. Runs in hooks: reads the
 * kernel's structures, takes no lock. See contract.md, "Stable identity".
 *
 *   kernel image, module		the address itself
 *   static per-CPU			offset in the per-CPU area, one class for all CPUs
 *   struct page (vmemmap)		offset in struct page: split page-table locks
 *   object of a named slab cache	cache and offset
 *   object of a kmalloc cache		cache, offset and allocation site
 *   vmalloc area			offset and the code that allocated it
 *   such objects of several uses	the same, and the use (refine.h)
 *   our own stack			the function whose frame it lies in, and where
 *   anything else			by address: its initialiser if one was seen,
 *					else the acquire site (unnamed.c)
 *
 * Before all of them: the name that the author of the code gave it (annotate.h).
 */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/semaphore.h>
#include <linux/slab.h>

#include <net/sock.h>

#include "devices.h"
#include "identity.h"
#include "lockscope.h"
#include "refine.h"
#include "slab.h"
#include "vmap.h"

#define ADDR_BITS 14		/* locks known by address only */
#define MAX_OFFSET 0xffffu	/* of a lock in its object, beyond: it is known by address */
#define ARRAY_BITS 13		/* arrays, and code that may show some */
#define MAX_ARRAYS (1u << (ARRAY_BITS - 1))

/* The kernel's static per-CPU area as symbols have it: from 0, since 6.15 from where it was loaded. */
unsigned long ls_percpu_static_start __ro_after_init, ls_percpu_static_size __ro_after_init;

static unsigned long device_initialize_at __ro_after_init;	/* what the mutexes of devices are named by */

/* The class that @proto describes, made unless its key has one; 0: no room, counted. Any context. */
u32 ls_class_add(const struct ls_class *proto)
{
	bool created;
	u32 id = ls_classes_add(&ls.classes, proto, &created);

	if (!id)
		ls_lose(LS_LOSS_CLASSES);
	if (created)
		ls_wake_worker();
	return id;
}

/* @lock is of class @id, by its address too. Where there is no room that is found out again: no loss. */
static bool file_class(unsigned long lock, u32 id)
{
	return ls_addrmap_add(&ls.addrs, ls_addr_of_lock(lock), id);
}

/*
 * Names given by authors. Single slots are made by whoever annotates first; they
 * are given back only when their memory goes.
 */
#define NAMED_BITS 12
#define MAX_NAMED (1u << (NAMED_BITS - 1))
static struct ls_tagtab named;		/* lock -> place in names */
static struct given_name {
	unsigned long lock;
	const char *text;
} *names;
static u32 nr_names;

static u32 name_index(unsigned long lock)
{
	return likely(!ls_load(&nr_names)) ? 0 : ls_tagtab_find(&named, ls_mix(lock));
}

struct ls_arrays ls_lock_arrays;

bool ls_identity_is_named(unsigned long lock)
{
	return name_index(lock);
}

/* What the fast path knows of the class of @lock is old. */
static void forget_class(unsigned long lock)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id;
	u64 keys[2];
	int i;

	if (lock >= __START_KERNEL_map || !ls_slab_locate(lock, &cache, &object, &offset)) {
		ls_tagtab_remove(&ls.classes.keys, ls_key_address(lock));
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(lock));
		return;
	}
	ls_watch_object(object);
	keys[0] = ls_key_slab((u64)cache, offset);
	keys[1] = ls_key_alloc((u64)cache, offset, ls_alloc_site(object));
	for (i = 0; i < 2; i++) {
		const struct ls_class *c;

		id = ls_classes_find(&ls.classes, keys[i]);
		c = &ls.classes.table[id];
		if (id && c->marks & LS_CLASS_REFINE)
			ls_tagtab_remove(&ls.classes.keys,
					 ls_key_refined(keys[i], ls_role_of(c->refinement, lock - c->root)));
		ls_tagtab_remove(&ls.classes.keys, keys[i]);
	}
}

/* @lock gets the class called @text, from now on. Any context. */
void ls_identity_annotate(unsigned long lock, const char *text)
{
	u32 i = name_index(lock);

	if (i && names[i].text == text)
		return;
	if (!i) {
		i = ls_load(&nr_names);
		do {
			if (i + 1 >= MAX_NAMED) {
				ls_lose(LS_LOSS_ADDRESSES);
				return;
			}
		} while (!ls_cmpxchg(&nr_names, &i, i + 1));
		i++;
		names[i].lock = lock;
		names[i].text = text;
		ls_tagtab_insert(&named, ls_mix(lock), i);
	} else {
		WRITE_ONCE(names[i].text, text);
	}
	/* What the fast path knows of it is old; a lock of any kind may begin here. */
	forget_class(lock + LS_RTM_OFF);
	forget_class(lock + LS_SEM_OFF);
	forget_class(lock + LS_SOCK_OFF);
	forget_class(lock + LS_WQ_OFF);
	forget_class(lock);
}

/* Memory or code at [start, end) goes: names in it, and of locks in it, go too. */
void ls_identity_forget_names(unsigned long start, unsigned long end)
{
	u32 i, nr = ls_load(&nr_names);

	for (i = 1; i <= nr; i++) {
		struct given_name *n = &names[i];

		if ((n->lock < start || n->lock >= end) &&
		    ((unsigned long)n->text < start || (unsigned long)n->text >= end))
			continue;
		ls_tagtab_remove(&named, ls_mix(n->lock));
		ls_tagtab_remove(&ls.classes.keys, ls_key_address(n->lock));
		n->lock = 0;
		n->text = NULL;
	}
}

static u32 named_class(unsigned long lock, u32 kind)
{
	u32 offset = LS_KIND_OFFSET(kind), i = name_index(lock - offset), id;
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_ANNOTATED };
	const char *text = i ? READ_ONCE(names[i].text) : NULL;

	if (!text)
		return 0;
	proto.addr = (unsigned long)text;
	/* The spinlock inside it begins where the lock does, and is another class. */
	proto.key = ls_key_init(proto.addr, 1 + offset);
	id = ls_classes_find(&ls.classes, proto.key);
	if (!id) {
		ls_copy_label(proto.label, text, sizeof(proto.label));
		id = ls_class_add(&proto);
	}
	if (id && lock >= __START_KERNEL_map)
		ls_classes_alias(&ls.classes, ls_key_address(lock), id);
	return id;
}

/*
 * Where some object of a cache has a name of its own, every lock at that offset
 * is asked for by address: its class is marked so that the fast path leaves it.
 */
static u32 ask_mark(void)
{
	return unlikely(ls_load(&nr_names)) ? LS_CLASS_ASK : 0;
}

static u32 static_class(unsigned long lock, u32 kind)
{
	struct ls_class proto = {
		.kind = kind,
		.origin = kind == LS_KIND_WORK ? LS_ORIGIN_FUNCTION : LS_ORIGIN_STATIC,
		.addr = lock, .key = ls_key_address(lock),
	};

	return ls_class_add(&proto);
}

static u32 percpu_class(unsigned long offset, unsigned long lock, u32 kind)
{
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_PERCPU,
		.addr = offset, .key = ls_key_address(offset),
	};
	u32 id = ls_classes_find(&ls.classes, proto.key);

	if (!id)
		id = ls_class_add(&proto);
	/* The per-CPU area stays where it is: next time the address will do. */
	if (id)
		ls_classes_alias(&ls.classes, ls_key_address(lock), id);
	return id;
}

static u32 page_class(unsigned long lock, u32 kind)
{
	u32 offset = (lock - VMEMMAP_START) % sizeof(struct page);
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_PAGE, .offset = offset,
		.object_size = sizeof(struct page), .key = ls_mix(VMEMMAP_START + offset),
	};
	u32 id = ls_classes_find(&ls.classes, proto.key);

	return id ? id : ls_class_add(&proto);
}

/* The class that an initialiser names: its expression and the function it stands in. */
static u32 class_of_init(u32 kind, const char *name, unsigned long ip)
{
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_INIT, .addr = ip,
		/* A queue and the spinlock in it have one initialiser. */
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
 * The class of what @marker stands for, in objects of @role such as that at @root, found by
 * @key from now on.
 */
static noinline u32 new_refined(const struct ls_class *marker, u64 role, u64 root, u64 key)
{
	struct ls_class proto = *marker;
	u32 id;

	proto.marks = ask_mark() | (role ? 0 : LS_CLASS_UNREFINED);
	/* One initialiser names one class, wherever the objects come from. */
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

/* Class of @lock, whose object is refined as marker @id says; @key led to the marker. */
static u32 refined_class(u32 id, u64 key, unsigned long lock)
{
	const struct ls_class *marker = &ls.classes.table[id];
	u64 root = lock - marker->root, role = ls_role_of(marker->refinement, root);
	u32 made;

	key = ls_key_refined(key, role);
	made = ls_classes_find(&ls.classes, key);
	return made ? made : new_refined(marker, role, root, key);
}

/* The mutex of a device is named by its initialiser, wherever the device lies. */
static void name_device(struct ls_class *proto)
{
	proto->origin = LS_ORIGIN_INIT;
	proto->addr = device_initialize_at;
	ls_copy_label(proto->label, "&dev->mutex", sizeof(proto->label));
}

/* Class of @lock, of a device whose allocation was not seen: what it is now. */
static u32 device_class(unsigned long lock)
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
 * The class that @proto describes, of @lock in the object of @cache at @object: refined, if
 * such objects are. @site: 0 in a named cache; @init: where it was initialised, or 0.
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

/* Elements of an array are one class; what it is called says where in an element the lock lies. */
static u32 array_class(struct ls_class *proto, const struct ls_array *array, u32 site)
{
	u32 stride = array->stride, place = array->first % stride, id;

	proto->key = ls_key_refined(ls_key_alloc(proto->cache, place, site), (u64)proto->kind << 32 | stride);
	id = ls_classes_find(&ls.classes, proto->key);
	if (id)
		return id;
	proto->offset = place;
	proto->root = stride;
	proto->refinement = LS_REFINE_ARRAY;
	return ls_class_add(proto);
}

/* The initialiser of a ww_mutex is that of the mutex in it. */
static bool same_kind(u32 a, u32 b)
{
	const u32 mutexes = 1u << LS_KIND_MUTEX | 1u << LS_KIND_WW_MUTEX;

	return a == b || (mutexes >> a & 1 && mutexes >> b & 1);
}

static unsigned long function_of(unsigned long ip)
{
	unsigned long size, offset;

	return ls_size_offset(ip, &size, &offset) ? ip - offset : ip;
}

/* Was the lock of class @c initialised by other code than @ip, which now initialises one in its place as @name? */
static bool other_initialiser(const struct ls_class *c, const char *name, unsigned long ip)
{
	if (c->origin != LS_ORIGIN_INIT || c->addr == ip)
		return false;
	return strncmp(c->label, name, sizeof(c->label) - 1) || function_of(c->addr) != function_of(ip);
}

/*
 * A lock in memory that many types share, allocated at @site: of @cache, NULL for pages of
 * its own. @name: of the initialiser that the code at @ip calls, NULL when the class comes
 * from an acquire.
 */
static u32 alloc_class(u32 site, struct kmem_cache *cache, unsigned long object, u32 offset,
		       u32 kind, const char *name, unsigned long ip)
{
	/* Of kvmalloc() both pages and areas come. */
	u64 memory = cache || in_direct_map(object) ? (u64)cache : ~0ull;
	u64 key = ls_key_alloc(memory, offset, site);
	unsigned long lock = object + offset;
	u32 id;
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_ALLOC, .marks = ask_mark() };
	const struct ls_array *array = NULL;
	bool full = false, device;
	s32 root;

	if (!site)
		return 0;
	id = ls_classes_find(&ls.classes, key);
	if (id && !same_kind(ls.classes.table[id].kind, kind)) {
		/* Two kinds in one place: a union, or memory for two uses. The place alone does not tell. */
		ls_tagtab_change(&ls.classes.keys, key, id, id | LS_KEY_ASK);
		ls_site_has_lock(site, true);
		key = ls_key_refined(key, kind);
		id = ls_classes_find(&ls.classes, key);
	}
	if (id && ls.classes.table[id].marks & LS_CLASS_REFINE)
		return refined_class(id, key, lock);
	if (id) {
		if (name && other_initialiser(&ls.classes.table[id], name, ip))
			ls_site_has_lock(site, true);
		return id;
	}
	ls_site_has_lock(site, false);
	device = kind == LS_KIND_MUTEX && ls_is_device_mutex(lock);
	if (!name && !device)
		array = ls_arrays_see(&ls_lock_arrays, ls_key_alloc(memory, 0, site), kind, offset, ip, &full);
	/* Elements of one array may be as many classes now, and an order of two of them two orders. */
	if (full)
		ls_lose(LS_LOSS_SITES);
	/* Elements of an array are no one completion, nor one queue: what completes one does not complete another. */
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
	/* What the initialiser calls it is the same for all of its callers. */
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
		.key = ls_key_slab((u64)cache, offset), .cache = (u64)cache,
		.marks = is_kmalloc(cache) ? LS_CLASS_KMALLOC : ask_mark(),
	};

	ls_copy_label(proto.label, ls_cache_name(cache), sizeof(proto.label));
	if (proto.marks & LS_CLASS_KMALLOC)
		return ls_class_add(&proto);
	return object_member(&proto, object + offset, cache, object, 0, 0);
}

/* Offset in the static per-CPU area, or -1. */
static long percpu_offset(unsigned long lock)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		unsigned long at = lock - __per_cpu_offset[cpu] - ls_percpu_static_start;

		if (at < ls_percpu_static_size)
			return at;
	}
	return -1;
}

/* Per-CPU memory of modules and of alloc_percpu(): by the range it lies in. */
static u32 percpu_range_class(unsigned long lock, u32 kind)
{
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_PERCPU };
	struct ls_range r;
	unsigned int cpu;
	u32 id;

	for_each_possible_cpu(cpu) {
		unsigned long at = lock - __per_cpu_offset[cpu];

		if (!ls_percpu_find(at, &r))
			continue;
		if (r.site) {
			proto.origin = LS_ORIGIN_ALLOC;
			proto.addr = r.site;
			proto.offset = at - r.start;
			proto.key = ls_key_init(r.site, proto.offset + 1);
			ls_copy_label(proto.label, "percpu", sizeof(proto.label));
		} else if (r.name) {
			proto.addr = at - r.start;
			proto.key = ls_key_init((u64)r.name, proto.addr);
			ls_copy_label(proto.label, r.name, sizeof(proto.label));
		} else {
			proto.addr = at;
			proto.key = ls_key_address(at);
		}
		id = ls_classes_find(&ls.classes, proto.key);
		if (!id)
			id = ls_class_add(&proto);
		/* What is named was there at boot and stays: the address will do. */
		if (id && r.name)
			ls_classes_alias(&ls.classes, ls_key_address(lock), id);
		else if (id)
			file_class(lock, id);
		return id;
	}
	return 0;
}

/* Large kmalloc: pages of its own, starting where the object starts. 0: @lock lies in none. */
static unsigned long large_object(unsigned long lock)
{
	unsigned long object = (unsigned long)page_address(virt_to_head_page((void *)lock));

	return lock - object < MAX_OFFSET ? object : 0;
}

static u32 object_class(unsigned long lock, u32 kind, unsigned long ip)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id;

	if (ls_slab_locate(lock, &cache, &object, &offset)) {
		u64 key = ls_key_slab((u64)cache, offset);

		id = ls_classes_find(&ls.classes, key);
		if (!id)
			id = slab_class(cache, object, offset, kind);
		if (id && ls.classes.table[id].marks & LS_CLASS_REFINE)
			return refined_class(id, key, lock);
		if (!id || !(ls.classes.table[id].marks & LS_CLASS_KMALLOC))
			return id;
		return alloc_class(ls_alloc_site(object), cache, object, offset, kind, NULL, ip);
	}
	object = large_object(lock);
	return object ? alloc_class(ls_alloc_site(object), NULL, object, lock - object, kind, NULL, ip) : 0;
}

/*
 * A lock in a vmalloc area: the kernel keeps which code allocated that. @name: as of
 * alloc_class(). 0: it lies in none, or in one that was allocated for others.
 */
static u32 area_class(unsigned long lock, u32 kind, const char *name, unsigned long ip)
{
	struct ls_vmap area;
	u32 site, id;

	if (!ls_vmap_find(lock, &area) || area.stack)
		return 0;
	site = ls_alloc_site_at(area.caller);
	id = alloc_class(site, NULL, area.start, lock - area.start, kind, name, ip);
	if (id && file_class(lock, id))
		ls_watch_area(area.start);
	return id;
}

/*
 * Locks in the memory nodes' own data (zones, lru lists): allocated before
 * anything has a name, never freed, and hot.
 */
static u32 node_class(unsigned long lock, u32 kind)
{
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_STATIC };
	int node;
	u32 id;

	for_each_online_node(node) {
		unsigned long at = lock - (unsigned long)NODE_DATA(node);

		if (at >= sizeof(struct pglist_data))
			continue;
		proto.addr = (unsigned long)node_data;
		proto.offset = at;
		proto.key = ls_key_slab(proto.addr, at);
		id = ls_classes_find(&ls.classes, proto.key);
		if (!id)
			id = ls_class_add(&proto);
		if (id)
			ls_classes_alias(&ls.classes, ls_key_address(lock), id);
		return id;
	}
	return 0;
}

/* Class of @lock, LS_CLASS_NONE when the table is full. Any context. */
u32 ls_identify(unsigned long lock, u32 kind, unsigned long ip)
{
	long percpu;
	u32 id = named_class(lock, kind);

	if (unlikely(id))
		return id;
	if (lock >= __START_KERNEL_map) {
		id = ls_classes_find(&ls.classes, ls_key_address(lock));
		return id ? id : static_class(lock, kind);
	}
	if (lock - VMEMMAP_START < (1ul << 40))
		return page_class(lock, kind);
	if (in_direct_map(lock)) {
		id = object_class(lock, kind, ip);
		if (id)
			return id;
	}
	if (kind == LS_KIND_MUTEX && ls_is_device_mutex(lock))
		return device_class(lock);
	id = ls_classes_find(&ls.classes, ls_key_address(lock));
	if (id)
		return id;
	id = ls_addrmap_find(&ls.addrs, ls_addr_of_lock(lock));
	if (!ls_on_own_stack(lock) && (!id || ls.classes.table[id].kind != kind)) {
		percpu = percpu_offset(lock);
		if (percpu >= 0)
			return percpu_class(percpu, lock, kind);
		id = percpu_range_class(lock, kind);
		if (id)
			return id;
		id = node_class(lock, kind);
		if (id)
			return id;
		id = area_class(lock, kind, NULL, ip);
		if (id)
			return id;
	}
	if (ls_on_own_stack(lock)) {
		if (id && ls.classes.table[id].origin == LS_ORIGIN_INIT && ls.classes.table[id].kind == kind)
			return id;
		id = ls_class_on_stack(lock, kind);
		if (id)
			return id;
	}
	return ls_class_by_address(lock, kind, ip);
}

/* Initialiser's word for a lock known by address only. */
static void name_address(unsigned long lock, u32 kind, const char *name, unsigned long ip)
{
	u32 id = class_of_init(kind, name, ip);

	if (id) {
		ls_remember(&ls.addrs, ls_addr_of_lock(lock), id);
		ls_watch_memory(lock);
	}
}

/*
 * An initialiser ran on @lock: @name is the expression it was given, empty where it
 * is given none, @ip its caller. Named slab caches and static locks need no such help: their name must
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
		object = large_object(lock);
		if (object && alloc_class(ls_alloc_site(object), NULL, object, lock - object, kind, name, ip))
			return;
		if (percpu_offset(lock) >= 0)
			return;
	}
	if (!ls_on_own_stack(lock) && area_class(lock, kind, name, ip))
		return;
	name_address(lock, kind, name, ip);
}

/* A slab cache goes away: its address may soon be another's. Process context. */
void ls_identity_cache_gone(unsigned long cache)
{
	if (cache)
		ls_classes_forget_cache(&ls.classes, cache);
}

int ls_identity_init(void)
{
	void *addrs = ls_zalloc(ls_addrmap_bytes(ADDR_BITS));
	struct ls_array *array_table;
	void *slots, *array_slots;
	int rc;

	if (!addrs)
		return -ENOMEM;
	ls_addrmap_init_spread(&ls.addrs, addrs, ADDR_BITS);
	if (ls_semaphores_init())
		return -ENOMEM;
	names = ls_zalloc(array_size(MAX_NAMED, sizeof(*names)));
	slots = ls_zalloc(ls_tagtab_bytes(NAMED_BITS));
	array_slots = ls_zalloc(ls_tagtab_bytes(ARRAY_BITS));
	array_table = ls_zalloc(array_size(MAX_ARRAYS + 1, sizeof(*array_table)));
	if (!names || !slots || !array_slots || !array_table) {
		ls_free(slots);
		ls_free(array_slots);
		ls_free(array_table);
		return -ENOMEM;
	}
	ls_arrays_init(&ls_lock_arrays, array_slots, ARRAY_BITS, array_table, MAX_ARRAYS);
	ls_tagtab_init(&named, slots, NAMED_BITS);
	device_initialize_at = ls_symbol("device_initialize");
	ls_devices_init();
	ls_percpu_static_start = ls_symbol("__per_cpu_start");
	ls_percpu_static_size = ls_symbol("__per_cpu_end") - ls_percpu_static_start;
	rc = ls_slab_init();
	if (!rc)
		ls_unnamed_init();
	return rc;
}

void ls_identity_exit(void)
{
	ls_free(ls.addrs.slots);
	ls_semaphores_exit();
	ls_free(named.slots);
	ls_free(names);
	ls_free(ls_lock_arrays.tab.slots);
	ls_free(ls_lock_arrays.table);
}
