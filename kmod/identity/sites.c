// SPDX-License-Identifier: GPL-2.0
/*
 * Allocation sites of kmalloc objects: the identity of locks in memory that many types share.
 * One word per object.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "core/stacks.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "tagtab.h"

#define USER_BITS 8			/* tasks about to allocate for a user */
#define SITE_BITS 13			/* 8,192 allocation sites */
#define MIN_OBJECT_BITS 17		/* 131,072 kmalloc objects, 1 MiB */
#define MAX_OBJECT_BITS 22		/* 32 MiB */
#define SITE_SLOT_BITS (SITE_BITS + 1)

static struct ls_tagtab site_ids;	/* call site -> number */
static struct site {
	unsigned long ip;
	u32 size, look;			/* other values of these size bits: slow path */
	u32 bytes;			/* 0, or the size where it is part of the site's identity */
	u64 user;			/* 0, or the user that an allocator's argument named */
	u8 refinement;			/* enum ls_refinement of the objects */
	u8 for_others;			/* the code at ip allocates for its callers */
	u8 learnt;			/* the same, found from its allocations */
	u8 several;			/* several sizes were allocated */
	u8 locks;			/* the objects have locks */
} *site_table;
static u32 nr_sites, nr_learnt;
static struct ls_addrmap users;		/* task -> site of what it is about to allocate */

unsigned long ls_site_ip(u32 site)
{
	return site && site <= ls_load(&nr_sites) ? site_table[site].ip : 0;
}

/* Size that is part of the site's identity, 0: none. */
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

static u64 key_of_user(u64 user)
{
	return ls_mix(ls_mix(user) + 2);
}

/*
 * The current task is about to allocate memory for @user, of which @function is a part (0: none).
 * Preemption off.
 */
void ls_alloc_for(u64 user, unsigned long function)
{
	/* Like a return address, behind the function's start. */
	struct site site = { .user = user, .ip = function + 1 };
	u64 key = key_of_user(user);
	u32 id;

	if (!function) {
		/* An allocation for another user may have failed before. */
		ls_addrmap_remove(&users, (u64)current);
		return;
	}
	id = ls_tagtab_find(&site_ids, key);
	if (!id)
		id = new_site(&site, key);
	/* Evicts a task that allocated nothing, if any. */
	if (id && ls_addrmap_set(&users, (u64)current, id))
		ls_lose(LS_LOSS_SITES);
}

/* Site of @bytes that the code at @ip allocated for a caller. */
static noinline u32 site_for_others(unsigned long ip, u32 bytes)
{
	struct site site = { };
	u32 refinement, id;
	u64 key;

	if (ls_allocator_for_user(ip)) {
		id = ls_addrmap_remove(&users, (u64)current);
		if (id)
			return id;
	}
	site.ip = ls_allocator_caller_of(ip, &bytes, &refinement);
	if (ls_is_tracer(site.ip))
		return 0;
	site.bytes = bytes;
	site.refinement = refinement;
	/* Distinct from what the same code allocates for itself; its sizes are not compared. */
	key = ls_mix(ls_mix(site.ip) + ((u64)bytes << 8 | 1));
	id = ls_tagtab_find(&site_ids, key);
	return id ? id : new_site(&site, key);
}

/* A bit that no allocation size has. */
#define NO_SIZE (1u << 31)

/* The code at the site allocates for its callers: every allocation takes the slow path. */
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
 * Memory of one type has one size, and its locks are initialised at one place. Code that
 * allocates memory with locks in other ways allocates for its callers.
 */
static void see_sizes(struct site *site)
{
	if (READ_ONCE(site->several) && READ_ONCE(site->locks) && !site->for_others)
		serves_others(site, true);
}

/* Do objects from @site have locks? */
bool ls_site_locks(u32 site)
{
	return READ_ONCE(site_table[site].locks);
}

/*
 * A lock in an object from @site was put into a class; @mixed: into another one than the lock
 * at that offset of another object.
 */
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
	/* The caller of an allocator may be one as well. */
	id = ls_tagtab_find(&site_ids, key);
	if (!id)
		id = new_site(&plain, key);
	if (id && !READ_ONCE(site_table[id].learnt))
		serves_others(&site_table[id], true);
}

/* Number of allocation sites; *@learnt: those found to allocate for their callers. */
u32 ls_alloc_sites(u32 *learnt)
{
	*learnt = ls_load(&nr_learnt);
	return ls_load(&nr_sites);
}

/* Was the code at @ip found to allocate for its callers? Any context. */
bool ls_site_serves_others(unsigned long ip)
{
	u32 id = ls_tagtab_find(&site_ids, ls_mix(ip));

	return id && READ_ONCE(site_table[id].learnt);
}

/* A return tracer is on the allocator: the unwinder knows the return address. */
static noinline u32 traced_site(u32 bytes)
{
	u64 ip = ls_allocator_caller();

	return ip && !ls_is_tracer(ip) ? ls_site_of(ip, bytes) : 0;
}

/* Slow path of site @id: the code at @ip allocates a new size, or allocates for others. */
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

/*
 * Number of the allocation site at @ip for @bytes (0: size not known); 0 when there is no
 * room. Preemption off.
 */
u32 ls_site_of(unsigned long ip, u32 bytes)
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
 * The same for code at @ip that allocated earlier. Also 0 where it did so for its callers,
 * which are not known any more.
 */
u32 ls_alloc_site_at(unsigned long ip)
{
	return ls_allocator_for_others(ip) || ls_site_serves_others(ip) || ls_is_tracer(ip) ? 0 : ls_site_of(ip, 0);
}

/*
 * Code at [start, end) goes away: its allocation sites must not name the code that is loaded
 * there next.
 */
void ls_alloc_forget(unsigned long start, unsigned long end)
{
	u32 id, nr = ls_load(&nr_sites);

	for (id = 1; id <= nr; id++) {
		const struct site *s = &site_table[id];

		if (s->user && ((s->ip >= start && s->ip < end) || (s->user >= start && s->user < end)))
			ls_tagtab_remove(&site_ids, key_of_user(s->user));
		if (s->ip < start || s->ip >= end || s->user)
			continue;
		ls_tagtab_remove(&site_ids, ls_mix(s->ip));
		ls_tagtab_remove(&site_ids, ls_mix(ls_mix(s->ip) + ((u64)s->bytes << 8 | 1)));
	}
}

/*
 * @object was allocated by @function before the module was loaded: its locks get their usual
 * names.
 */
void ls_alloc_seed(const void *object, const char *function)
{
	unsigned long ip = ls_symbol(function);
	u32 site = object && ip ? ls_site_of(ip + 1, 0) : 0;

	if (site)
		ls_remember(&ls.sites, (u64)object, site);
}

/* As many kmalloc objects at one time as the machine has pages: eight bytes for each page. */
int ls_sites_init(void)
{
	u32 bits = clamp(ilog2(totalram_pages()) + 1, MIN_OBJECT_BITS, MAX_OBJECT_BITS);
	void *objects = ls_zalloc(ls_addrmap_bytes(bits));
	void *slots = ls_zalloc(ls_tagtab_bytes(SITE_SLOT_BITS));

	void *tasks = ls_zalloc(ls_addrmap_bytes(USER_BITS));

	site_table = ls_zalloc(sizeof(*site_table) << SITE_BITS);
	if (!objects || !slots || !tasks || !site_table) {
		ls_free(objects);
		ls_free(slots);
		ls_free(tasks);
		return -ENOMEM;
	}
	ls_addrmap_init(&users, tasks, USER_BITS);
	ls_addrmap_init_spread(&ls.sites, objects, bits);
	ls_tagtab_init(&site_ids, slots, SITE_SLOT_BITS);
	return 0;
}

void ls_sites_exit(void)
{
	ls_free(ls.sites.slots);
	ls_free(site_ids.slots);
	ls_free(users.slots);
	ls_free(site_table);
}
