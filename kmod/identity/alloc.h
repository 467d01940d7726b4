/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation sites, functions that allocate for others, and lives of memory objects. */
#ifndef LOCKSCOPE_ALLOC_H
#define LOCKSCOPE_ALLOC_H

#include <linux/bitops.h>
#include <linux/types.h>

#include "core/state.h"
#include "freed.h"
#include "hash.h"

struct module;
struct crypto_alg;
struct pernet_operations;

/* Allocation site of the kmalloc object that starts at @object, 0 unknown. Any context. */
static __always_inline u32 ls_alloc_site(unsigned long object)
{
	return ls_addrmap_find(&ls.sites, object);
}

/* Memory with locks that was freed last. */
extern struct ls_freed ls_freed[];

/* sites.c */
int ls_sites_init(void);
void ls_sites_exit(void);
u32 ls_site_of(unsigned long ip, u32 bytes);
unsigned long ls_site_ip(u32 site);
u32 ls_site_bytes(u32 site);
u32 ls_site_refinement(u32 site);
void ls_site_has_lock(u32 site, bool mixed);
bool ls_site_locks(u32 site);
bool ls_site_serves_others(unsigned long ip);
u32 ls_alloc_site_at(unsigned long ip);
u32 ls_alloc_sites(u32 *learnt);
void ls_alloc_seed(const void *object, const char *function);
void ls_alloc_forget(unsigned long start, unsigned long end);
void ls_alloc_for(u64 user, unsigned long function);

/* users.c */
void ls_alloc_for_net(const struct pernet_operations *ops);
void ls_alloc_for_alg(struct crypto_alg *alg);

/* allocators.c: functions that allocate for others */
void ls_allocators_init(void);
void ls_allocators_module(struct module *mod, bool coming);
u32 ls_allocator_refines(unsigned long ip);
bool ls_allocator_for_others(unsigned long ip);
bool ls_allocator_for_user(unsigned long ip);
bool ls_allocator_keyed(unsigned long ip);
bool ls_non_owner(unsigned long ip);
bool ls_lock_helper(unsigned long ip);
unsigned long ls_lock_user(unsigned long ip);
unsigned long ls_allocator_caller_of(unsigned long ip, u32 *bytes, u32 *refinement);

/* freed.c */
u32 ls_freed_site(unsigned long object);
unsigned long ls_freed_by(unsigned long lock);
void ls_freed_object(unsigned long object, u32 site, unsigned long ip);
void ls_freed_clear(void);

/* lives.c */
int ls_lives_init(void);
void ls_lives_exit(void);
u32 ls_life(unsigned long addr);
u32 ls_life_known(unsigned long addr);
void ls_life_ends(unsigned long object);
void ls_life_restarts(unsigned long object);
void ls_life_begins(unsigned long addr);
u64 ls_lock_instance(u64 lock);
u32 ls_lives(unsigned long a, unsigned long b);
void ls_watch_object(unsigned long object);
void ls_watch_memory(unsigned long addr);
void ls_watch_area(unsigned long start);
void ls_area_freed(unsigned long start);
void ls_forget_page(unsigned long page);
void ls_forget_object(unsigned long object, size_t size);

/*
 * Objects and pages whose free matters: a bit by a hash of the address, so that any other free
 * costs little. Bits are never cleared: with a stale one it costs a few look-ups.
 */
#define LS_WATCH_BITS 18
extern unsigned long ls_watched_memory[];

static __always_inline u32 ls_watch_bit(unsigned long addr)
{
	return ls_mix(addr) >> (64 - LS_WATCH_BITS);
}

/* Does the free of the memory at @addr end something that is recorded? */
static __always_inline bool ls_freeing_matters(unsigned long addr)
{
	return test_bit(ls_watch_bit(addr), ls_watched_memory);
}

#endif /* LOCKSCOPE_ALLOC_H */
