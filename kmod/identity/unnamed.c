// SPDX-License-Identifier: GPL-2.0
/*
 * Locks without a symbol, a cache or an initialiser, in memory whose allocation was not seen.
 * What is known of the memory is part of the class, besides the function whose frame it is or
 * the code that first acquired the lock. Runs in hooks, see identity.c.
 */
#include <linux/sched/task_stack.h>
#include <asm/unwind.h>

#include "base/lookup.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "identity/vmap.h"

/* What is known of the memory around a lock; the key is 0 when nothing is. */
struct place {
	u64 key;
	u32 offset, stride;	/* stride: the lock is in an array element, at that offset */
	const char *label;
	u16 marks;
};

/*
 * Code that acquires locks at more places of one kind of memory than this gets them as
 * arguments, or looks them up: the place does not identify the lock.
 */
#define MAX_PLACES 4

/* @ip: first acquire site of the lock, 0: it is known already. */
static void place_in_array(struct place *at, u64 memory, u32 kind, unsigned long ip)
{
	const struct ls_array *array;
	bool full = false;

	array = ip ? ls_arrays_see(&ls_lock_arrays, memory, kind, at->offset, ip, &full) :
		     ls_arrays_find(&ls_lock_arrays, memory, kind, at->offset);
	if (full)
		ls_lose(LS_LOSS_SITES);
	if (array) {
		at->stride = array->stride;
		at->offset = array->first % array->stride;
	} else if (ip && ls_arrays_taken(&ls_lock_arrays, memory, kind, ip) > MAX_PLACES) {
		at->stride = 1;
		at->offset = 0;
	}
	at->key = ls_key_refined(ls_mix(memory + at->offset), at->stride);
}

static struct place place_of(unsigned long lock, u32 kind, unsigned long ip)
{
	struct place at = { };
	struct kmem_cache *cache;
	unsigned long object;
	struct ls_vmap area;

	if (ls_slab_locate(lock, &cache, &object, &at.offset)) {
		at.label = ls_cache_name(cache);
		place_in_array(&at, ls_key_slab((u64)cache, 0, LS_KIND_NONE), kind, ip);
	} else if (ls_on_own_stack(lock)) {
		at.marks = LS_CLASS_FLEETING;
	} else if (ls_vmap_find(lock, &area)) {
		at.marks = area.stack ? LS_CLASS_FLEETING : 0;
		at.label = area.stack ? NULL : "vmalloc";
		at.offset = lock - area.start;
		if (at.label)
			place_in_array(&at, ls_key_init(area.caller, 0), kind, ip);
	}
	return at;
}

static u32 site_class(u32 kind, unsigned long ip, const struct place *at)
{
	struct ls_class proto = {
		.kind = kind, .origin = LS_ORIGIN_SITE, .addr = ip, .marks = at->marks,
		.key = ls_key_refined(ls_key_site(ip), at->key),
	};

	if (at->label) {
		proto.offset = at->offset;
		proto.refinement = at->stride ? LS_REFINE_ARRAY : LS_REFINE_NONE;
		ls_copy_label(proto.label, at->label, sizeof(proto.label));
	}
	return ls_class_add(&proto);
}

/*
 * By address only. An initialiser's name is valid until the next one. Otherwise the acquire
 * sites decide, for memory of one kind: sites that acquired one address are one class. Memory
 * on a stack is reused soon, so there a site that has a class keeps it.
 */
u32 ls_class_by_address(unsigned long lock, u32 kind, unsigned long ip)
{
	u32 id = ls_addrmap_find(&ls.addrs, ls_addr_of_lock(lock)), site;
	const struct ls_class *known = &ls.classes.table[id];
	struct place at;
	u64 key;

	if (id && known->kind != kind)
		id = 0;
	/* A class that is not guessed stays until the memory is freed. */
	if (id && known->origin != LS_ORIGIN_SITE)
		return id;
	/* One place may complete, wake or wait for different objects. */
	if (LS_AWAITED_KINDS >> kind & 1)
		return 0;
	if (id && !in_direct_map(lock) && !(known->marks & LS_CLASS_FLEETING))
		return id;
	if (!id)
		ip = ls_lock_user(ip);
	at = place_of(lock, kind, id ? 0 : ip);
	key = ls_key_refined(ls_key_site(ip), at.key);
	site = ls_classes_find(&ls.classes, key);
	if (id && !site && known->refinement != LS_REFINE_ARRAY && !ls_lock_helper(ip))
		ls_classes_alias(&ls.classes, key, id);
	if (id && (!site || site == id || !(known->marks & LS_CLASS_FLEETING)))
		return id;
	/*
	 * Another lock of a class in pages of no slab, most often of a hash table from boot: the
	 * tables of ports have tens of thousands.
	 */
	if (site && !at.key && in_direct_map(lock)) {
		if (ls_file_class(lock, site))
			ls_watch_memory(lock);
		return site;
	}
	if (!site)
		site = site_class(kind, ip, &at);
	if (site) {
		ls_remember(&ls.addrs, ls_addr_of_lock(lock), site);
		ls_watch_memory(lock);
	}
	return site;
}

/*
 * A lock on the current stack is identified by the function around its frame, which survives
 * the reuse of the stack, unlike the address.
 */
u32 ls_class_on_stack(unsigned long lock, u32 kind)
{
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_ALLOC };
	unsigned long ip, size, offset;
	struct unwind_state state;
	u32 id;

	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state);) {
		ip = unwind_get_return_address(&state);
		if (!unwind_next_frame(&state) || state.sp <= lock)
			continue;
		if (!ip || !ls_size_offset(ip, &size, &offset))
			return 0;
		proto.addr = ip - offset;
		proto.offset = state.sp - lock;
		proto.key = ls_key_init(proto.addr, proto.offset << 8 | kind);
		id = ls_classes_find(&ls.classes, proto.key);
		if (!id) {
			ls_copy_label(proto.label, "stack", sizeof(proto.label));
			id = ls_class_add(&proto);
		}
		/* Functions that get its address find it by that. */
		if (id) {
			ls_remember(&ls.addrs, ls_addr_of_lock(lock), id);
			ls_watch_memory(lock);
		}
		return id;
	}
	return 0;
}
