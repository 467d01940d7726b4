// SPDX-License-Identifier: GPL-2.0
/*
 * Access sites: code, data, and how the held locks relate to the data. Each is reported to the
 * worker once. Any context, preemption off.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/sched/clock.h>
#include <linux/stacktrace.h>

#include "base/lookup.h"
#include "check/access/access.h"
#include "core/stacks.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/slab.h"

#define MEMO_BITS 15
#define NEW_SITE_COST 200	/* in accesses, the worker's part included */
#define VIA_WORDS 256		/* of an object, searched for a pointer to a lock's object */

static u64 memo[1 << MEMO_BITS];	/* tag << 18 | site */
static typeof(stack_trace_save_regs) *save_regs;

void ls_access_site_init(void)
{
	save_regs = (void *)ls_symbol("stack_trace_save_regs");
}

/* Any context: hooks may run. */
void ls_memo_clear(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(memo); i++)
		WRITE_ONCE(memo[i], 0);
}

/* The object that @addr lies in. */
static void find_object(const struct ls_now *n, struct ls_access_object *o, u32 *offset)
{
	unsigned long addr = n->addr, at;
	u32 site;
	int cpu;

	memset(o, 0, sizeof(*o));
	*offset = 0;
	if (addr >= __START_KERNEL_map) {
		o->kind = LS_DATA_STATIC;
		o->type = addr;
		return;
	}
	if (n->start) {
		*offset = n->offset;
		o->kind = LS_DATA_SLAB;
		o->type = (u64)n->cache;
		o->start = n->start;
		o->size = ls_cache_object_size(n->cache);
		site = ls_alloc_site(n->start);
		if (site) {
			o->kind = LS_DATA_ALLOC;
			o->type = ls_site_ip(site);
		}
		ls_copy_label(o->label, ls_cache_name(n->cache), sizeof(o->label));
		return;
	}
	for_each_possible_cpu(cpu) {
		struct ls_range r = {};

		at = addr - __per_cpu_offset[cpu];
		if (!ls_percpu_find(at, &r)) {
			at -= ls_percpu_static_start;
			if (at >= ls_percpu_static_size)
				continue;
		}
		o->kind = LS_DATA_PERCPU;
		o->type = at;
		if (r.site) {
			o->kind = LS_DATA_ALLOC;
			o->type = r.site;
			*offset = at - r.start;
			o->size = r.end - r.start;
		} else if (r.name) {
			*offset = at - r.start;
			o->type = r.start;
			ls_copy_label(o->label, r.name, sizeof(o->label));
		}
		return;
	}
	o->kind = LS_DATA_OTHER;
	o->type = n->ip;
}

/* Links of a list point to the neighbour, whichever it is: they say nothing about the type. */
static bool is_link(unsigned long at, unsigned long target, unsigned long end)
{
	const unsigned long *there = (unsigned long *)target;

	return target % 8 == 0 && target + 16 <= end &&
	       (READ_ONCE(there[1]) == at || READ_ONCE(there[0]) == at - 8);
}

/* Offset in the object at @start of a pointer into [to, to + size); -1 when there is none. */
static int pointer_to(unsigned long start, u32 bytes, unsigned long to, u32 size, unsigned long *target)
{
	u32 i;

	for (i = 0; i < VIA_WORDS && (i + 1) * 8 <= bytes; i++) {
		unsigned long at = start + i * 8;

		*target = READ_ONCE(*(unsigned long *)at);
		if (*target - to < size && !is_link(at, *target, to + size))
			return i * 8;
	}
	return -1;
}

static void relate(const struct ls_held *h, const struct ls_access_object *o, struct ls_guard_rec *g)
{
	struct kmem_cache *cache;
	unsigned long start, target;
	u32 offset;
	int via;

	*g = (struct ls_guard_rec){ .val = h->val, .ip = h->ip, .lock = h->lock };
	if (h->lock >= __START_KERNEL_map) {
		g->relation = LS_REL_STATIC;
		return;
	}
	if (!ls_slab_locate(h->lock, &cache, &start, &offset))
		return;
	g->lock_offset = offset;
	if (start == o->start) {
		g->relation = LS_REL_SELF;
	} else if (o->start) {
		via = pointer_to(o->start, o->size, start, ls_cache_object_size(cache), &target);
		if (via >= 0) {
			g->relation = LS_REL_VIA;
			g->via = via;
			g->lock_offset = h->lock - target;
		}
	}
}

/*
 * Frames from the access outwards, LS_STACK_FRAMES at most, innermost first. The context is
 * busy.
 */
u32 ls_access_frames(u64 *to, const struct ls_now *n)
{
	LS_UNSET unsigned long frames[LS_STACK_FRAMES + 8];
	unsigned long ip = n->ip;
	u32 nr, i = 0;

	if (n->regs) {
		nr = save_regs ? save_regs(n->regs, frames, LS_STACK_FRAMES, 0) : 0;
		if (nr)
			frames[0] = ip;
	} else {
		nr = ls_stack_save(frames, ARRAY_SIZE(frames));
		while (i < nr && frames[i] != ip)
			i++;
	}
	return ls_stack_keep(to, frames, nr, i, ip);
}

/* Blocks of different lengths at one place share access sites: one for each power of two. */
static u32 key_size(const struct ls_now *n)
{
	return n->op & LS_ACC_RANGE ? roundup_pow_of_two(n->size) : n->size;
}

/*
 * Look up an access site that is not in the memo, or report it to the worker. 0 when there is
 * no room now.
 */
static LS_COLD u32 new_site(struct ls_now *n)
{
	LS_UNSET struct ls_guard_rec guards[LS_LOCKSET_LOCKS];
	struct {
		struct ls_event *e;
		struct ls_rec_access *a;
		struct ls_access_object *o;
	} ev;
	struct ls_access_object object;
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 i, nr = 0, id, found, offset;
	u64 key;

	find_object(n, &object, &offset);
	key = ls_mix(ls_mix(n->ip) + ((u64)n->op << 32 | key_size(n)));
	key = ls_mix(ls_mix(key + ls_data_hash(&object, object.type) + offset) + n->where);
	for (i = 0; i < n->ctx->depth && nr < LS_LOCKSET_LOCKS; i++) {
		const struct ls_held *h = &n->ctx->held[i];
		struct ls_guard_rec *g = &guards[nr];

		if (!(LS_GUARDING_KINDS >> ls_kind_of(h->val) & 1))
			continue;
		relate(h, &object, g);
		key = ls_mix(key + (h->val & (LS_VAL_CLASS_MASK | LS_VAL_READ_MASK)));
		key = ls_mix(key + h->ip + ((u64)g->relation << 56 | (u64)g->via << 32 | g->lock_offset));
		nr++;
	}
	found = ls_tagtab_find(&ls_acc->sites, key);
	if (found)
		return found;

	ev.e = ls_ring_reserve(&pc->ring, sizeof(*ev.e) + sizeof(*ev.a) + nr * sizeof(*guards) +
					  sizeof(object) + LS_STACK_FRAMES * sizeof(u64));
	if (!ev.e) {
		ls_lose_access(LS_ALOSS_EVENTS);
		return 0;
	}
	id = ls_load(&ls_acc->nr_sites);
	do {
		if (id + 1 >= LS_MAX_SITES) {
			ls_lose_access(LS_ALOSS_SITES);
			ls_store_release(&ev.e->state, LS_EVENT_SKIP);
			return 0;
		}
	} while (!ls_cmpxchg(&ls_acc->nr_sites, &id, id + 1));
	id++;
	ls_acc->ops[id] = n->op;
	found = ls_tagtab_insert(&ls_acc->sites, key, id);
	if (found != id) {
		/* Inserted by another CPU first, or the table is full; the id stays unused. */
		if (!found)
			ls_lose_access(LS_ALOSS_SITES);
		ls_store_release(&ev.e->state, LS_EVENT_SKIP);
		return found;
	}
	ev.a = (struct ls_rec_access *)(ev.e + 1);
	*ev.a = (struct ls_rec_access){
		.hdr.type = LS_REC_ACCESS, .id = id, .offset = offset,
		.size = n->size, .op = n->op, .ip = n->ip, .time_ns = local_clock(),
		.where = n->where, .pid = current->pid, .tgid = current->tgid,
		.task_flags = ls_task_flags(), .nr_guards = nr, .cpu = smp_processor_id(),
	};
	memcpy(ev.a->comm, current->comm, LS_COMM_LEN);
	memcpy(ev.a->guards, guards, nr * sizeof(*guards));
	ev.o = (struct ls_access_object *)&ev.a->guards[nr];
	*ev.o = object;
	ev.a->hdr.flags = ls_access_frames((u64 *)(ev.o + 1), n);
	ls_ring_commit(ev.e);
	ls_wake_worker();
	if (!ls_sample_lasts(&ls_sample, n->addr))
		this_cpu_sub(ls_access_cpus.credit, NEW_SITE_COST);
	return id;
}

/* Id of the access site, 0 when there is no room now. */
u32 ls_access_site(struct ls_now *n)
{
	u64 key = ls_mix(n->ip + ((u64)n->lockset << 48)) + ((u64)n->where << 32 | n->op << 16 | key_size(n)) + n->taken;
	u64 *slot, word;
	u32 id;

	/*
	 * One instruction of list code accesses objects of many types. Objects of a cache
	 * share an entry; a finer key is not worth its cost.
	 */
	if (n->moving)
		key += n->addr;
	else if (n->start)
		key += (u64)n->cache;
	else if (n->addr >= __START_KERNEL_map)
		key += n->addr >> 6;
	key = ls_mix(key);
	slot = &memo[key >> (64 - MEMO_BITS)];
	word = ls_load(slot);
	if (likely((word ^ key << 18) <= LS_SHADOW_MAX_SITE && word))
		return word & LS_SHADOW_MAX_SITE;
	n->ctx->busy = 1;
	barrier();
	id = new_site(n);
	barrier();
	n->ctx->busy = 0;
	if (id)
		ls_store(slot, key << 18 | id);
	return id;
}
