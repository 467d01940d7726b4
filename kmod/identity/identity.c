// SPDX-License-Identifier: GPL-2.0
/*
 * From a lock's address to its class, for the first acquisition. Runs in hooks: reads the
 * kernel's structures, takes no lock.
 *
 *   kernel image, module		the address itself
 *   static per-CPU			offset in the per-CPU area, one class for all CPUs
 *   struct page (vmemmap)		offset in struct page: split page-table locks
 *   object of a named slab cache	cache and offset
 *   object of a kmalloc cache		cache, offset and allocation site
 *   vmalloc area			offset and the code that allocated it
 *   such objects of several uses	the same, and the use (refine.h)
 *   own stack				the function whose frame it lies in, and offset
 *   anything else			by address: its initialiser if one was seen,
 *					else the acquire site (unnamed.c)
 *
 * Before all of them: its annotated name (annotate.h).
 */
#include <linux/mm.h>
#include <linux/overflow.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "core/stacks.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/lookup.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "identity/vmap.h"

#define ADDR_BITS 16		/* locks known by address only */
#define ARRAY_BITS 13		/* arrays, and code that may index some */
#define MAX_ARRAYS (1u << (ARRAY_BITS - 1))

struct ls_arrays ls_lock_arrays;

/*
 * The class of @proto, created unless its key has one; 0: no room, which is counted. Any
 * context.
 */
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
	/* The per-CPU area does not move: from now on look it up by address. */
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

/* Per-CPU memory of modules and of alloc_percpu(): by the range around it. */
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
		/* Named ranges were there at boot and stay: look it up by address. */
		if (id && r.name)
			ls_classes_alias(&ls.classes, ls_key_address(lock), id);
		else if (id)
			ls_file_class(lock, id);
		return id;
	}
	return 0;
}

/*
 * Locks in the data of memory nodes (zones, lru lists): allocated before the slab allocator,
 * never freed, and hot.
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
		proto.key = ls_key_slab(proto.addr, at, ls_key_kind(kind));
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
	u32 id = ls_named_class(lock, kind);

	if (unlikely(id))
		return id;
	if (lock >= __START_KERNEL_map) {
		id = ls_classes_find(&ls.classes, ls_key_address(lock));
		return id ? id : static_class(lock, kind);
	}
	if (lock - VMEMMAP_START < (1ul << 40))
		return page_class(lock, kind);
	if (in_direct_map(lock)) {
		id = ls_class_of_object(lock, kind, ip);
		if (id)
			return id;
	}
	if (kind == LS_KIND_MUTEX && ls_is_device_mutex(lock))
		return ls_class_of_device(lock);
	id = ls_classes_find(&ls.classes, ls_key_address(lock));
	if (id)
		return id;
	id = ls_addrmap_find(&ls.addrs, ls_addr_of_lock(lock));
	if (!ls_on_own_stack(lock) && (!id || ls.classes.table[id].kind != kind)) {
		percpu = ls_percpu_offset(lock);
		if (percpu >= 0)
			return percpu_class(percpu, lock, kind);
		id = percpu_range_class(lock, kind);
		if (id)
			return id;
		id = node_class(lock, kind);
		if (id)
			return id;
		id = ls_class_of_area(lock, kind, NULL, ip);
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

/* A slab cache is destroyed: its address may be reused. Process context. */
void ls_identity_cache_gone(unsigned long cache)
{
	if (cache)
		ls_classes_forget_cache(&ls.classes, cache);
}

/* Not in its first slot: probe further, or create the class. */
static LS_COLD u32 new_class(struct ls_ctx *ctx, u64 lock, u32 kind, u64 ip)
{
	u32 id;

	if (lock >= __START_KERNEL_map) {
		id = ls_classes_find(&ls.classes, ls_key_address(lock));
		if (id)
			return id;
	}

	ctx->busy = 1;
	barrier();
	id = ls_identify(lock, kind, ls_caller(ip));
	barrier();
	ctx->busy = 0;
	return id;
}

/* Class of @lock, created if it is new; 0 when there is no room. Preemption off, @ctx not busy. */
u32 ls_class_at(struct ls_ctx *ctx, u64 lock, u32 kind, u64 ip)
{
	u32 id = ls_class_known(lock, ls_key_kind(kind), true), k;

	/* Asserted to be held: by the kind that it was acquired as. */
	for (k = kind; unlikely(!id && !kind) && ++k < LS_NR_KINDS;)
		id = ls_class_known(lock, ls_key_kind(k), true);
	return likely(id) ? id : new_class(ctx, lock, kind, ip);
}

int ls_identity_init(void)
{
	void *addrs = ls_zalloc(ls_addrmap_bytes(ADDR_BITS));
	struct ls_array *array_table;
	void *array_slots;
	int rc;

	if (!addrs)
		return -ENOMEM;
	ls_addrmap_init_spread(&ls.addrs, addrs, ADDR_BITS);
	if (ls_named_init())
		return -ENOMEM;
	array_slots = ls_zalloc(ls_tagtab_bytes(ARRAY_BITS));
	array_table = ls_zalloc(array_size(MAX_ARRAYS + 1, sizeof(*array_table)));
	if (!array_slots || !array_table) {
		ls_free(array_slots);
		ls_free(array_table);
		return -ENOMEM;
	}
	ls_arrays_init(&ls_lock_arrays, array_slots, ARRAY_BITS, array_table, MAX_ARRAYS);
	ls_objects_init();
	ls_devices_init();
	rc = ls_slab_init();
	if (!rc)
		ls_vmap_init();
	return rc;
}

void ls_identity_exit(void)
{
	ls_free(ls.addrs.slots);
	ls_named_exit();
	ls_free(ls_lock_arrays.tab.slots);
	ls_free(ls_lock_arrays.table);
}
