// SPDX-License-Identifier: GPL-2.0
/*
 * One memory access: who, where, with which locks; judged against the shadow of
 * the memory. Runs in call-outs and probes, any context: no lock, no allocation.
 * What is new goes to the thread through the event ring.
 */
#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "access.h"
#include "handover.h"
#include "slab.h"

#define PAGE_TABLE_BITS 15
#define SITE_TABLE_BITS 18
#define LOCKSETS 32768
#define LOCKSET_ELEMENTS (4 * LOCKSETS)
#define LOCKSET_TABLE_BITS 17
#define MEMO_BITS 15
#define OBJECT_BITS 12
#define CHUNK 32		/* shadow pages allocated at a time */
#define AHEAD 64		/* so many are ready before they are needed */
#define MAX_CHUNKS 1024
#define MAX_GRANULES 64		/* of one block; the rest is counted */
#define VIA_WORDS 64		/* of an object that are searched for a pointer to a lock's object */
#define TOLD_BITS 10
#define MAX_BENIGN 128

struct ls_watch ls_watch __read_mostly = { ~0u, ~0u };
struct ls_access_tables *ls_acc __read_mostly;
DEFINE_PER_CPU_ALIGNED(struct ls_access_cpu, ls_access_cpus);
unsigned long ls_follow_start;
u32 ls_follow_bytes;

static struct ls_shadow_page *chunks[MAX_CHUNKS];
static u32 nr_chunks;
static u64 memo[1 << MEMO_BITS];	/* tag << 18 | site */
static u64 told[1 << TOLD_BITS];	/* races that the thread has heard of */
static struct benign {
	unsigned long start, size;
} benign[MAX_BENIGN];
static u32 nr_benign;

/*
 * Slab objects: who touched them last, and from whom to whom they went. Passing
 * from one context to another under a lock that both hold hands an object over,
 * as through a list [RELAY 4.3: unsharing].
 */
static struct object {
	u64 start;
	u64 last;			/* context << 16 | lockset */
	u64 hand;			/* from << 37 | to << 21 | stamp, 0 never */
} objects[1 << OBJECT_BITS];

/* All about one access. */
struct now {
	struct ls_ctx *ctx;
	unsigned long addr, ip, count;
	struct object *object;
	ls_u64 elements[LS_LOCKSET_LOCKS + 8];
	u64 key;
	u32 nr, size, op, level, context, lockset, where;
	bool moving;			/* locks of objects are among those held */
};

/* Below 0x8000 the task's number, as far as it goes; else an interrupt of this CPU. */
u32 ls_access_context(u32 level)
{
	if (level)
		return 0x8000 | level << 12 | (smp_processor_id() & 0xfff);
	return current->pid ? current->pid & 0x7fff : 0x8000 | (smp_processor_id() & 0xfff);
}

static bool on_stack(unsigned long addr)
{
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	return !((addr ^ here) & ~(THREAD_SIZE - 1)) ||
	       addr - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

/* Sequence counters: sections of the context that runs, in a few places each CPU has. */
static struct ls_seq_slot *seq_slot(unsigned long *who)
{
	*who = (unsigned long)current ^ (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
	return &this_cpu_ptr(&ls_access_cpus)->seq[(*who >> 6 ^ *who >> 16) & (LS_SEQ_SLOTS - 1)];
}

/*
 * A marked read of an even counter begins a section, the next one ends it; a write
 * to an even counter begins one that lasts until it is written again.
 */
void ls_access_seq(unsigned long addr, u32 op)
{
	struct ls_seq_slot *s;
	unsigned long who;
	bool odd;

	preempt_disable_notrace();
	s = seq_slot(&who);
	if (s->who != who) {
		s->who = who;
		s->read = s->write = 0;
	}
	odd = READ_ONCE(*(u32 *)addr) & 1;
	if (op & LS_ACC_WRITE) {
		if (!odd)
			s->write = addr;
		else if (s->write == addr)
			s->write = 0;
	} else {
		s->read = odd || s->read == addr ? 0 : addr;
	}
	ls_leave();
}

static void add_element(struct now *n, u64 lock, bool shared)
{
	u64 e = ls_lockset_element(lock, shared);

	n->elements[n->nr++] = e;
	n->key = ls_lockset_key(n->key, e);
}

static void add_sections(struct now *n)
{
	struct ls_seq_slot *s;
	unsigned long who;
	u32 value;

	s = seq_slot(&who);
	if (s->who != who)
		return;
	if (s->read && s->read != n->addr && !get_kernel_nofault(value, (u32 *)s->read) && !(value & 1)) {
		add_element(n, s->read | 1, true);
		n->where |= LS_WHERE_SEQ_READ;
	}
	/* Counted up by now, if it was one. */
	if (s->write && s->write != n->addr && !get_kernel_nofault(value, (u32 *)s->write) && value & 1) {
		add_element(n, s->write | 1, false);
		n->where |= LS_WHERE_SEQ_WRITE;
	}
}

/* Does @addr lie in this CPU's own part of per-CPU memory? */
static bool own_percpu(unsigned long addr)
{
	unsigned long at = addr - this_cpu_read(this_cpu_off);

	return at < ls_percpu_static_size || ls_percpu_find(at);
}

/* What is held: locks, and what else keeps others out [Eraser 3.4]. */
static void collect(struct now *n)
{
	struct ls_ctx *ctx = n->ctx;
	bool irq_off = !(native_save_fl() & X86_EFLAGS_IF);
	u32 i, softirq = n->count & SOFTIRQ_MASK;

	n->where = n->level << LS_VAL_LEVEL_SHIFT;
	if (irq_off)
		n->where |= LS_VAL_IRQ_OFF;
	if (softirq)
		n->where |= LS_VAL_BH_OFF;
	if ((n->count & PREEMPT_MASK) > 1)
		n->where |= LS_WHERE_PREEMPT_OFF;
	for (i = 0; i < ctx->depth && n->nr < LS_LOCKSET_LOCKS; i++) {
		const struct ls_held *h = &ctx->held[i];

		if (!(LS_GUARDING_KINDS >> ls_kind_of(h->val) & 1))
			continue;
		if (h->lock < __START_KERNEL_map)
			n->moving = true;
		add_element(n, h->lock, h->val & LS_VAL_READ_MASK);
	}
	if (ctx->run)
		add_element(n, ctx->run, false);
	add_sections(n);
#ifdef CONFIG_PREEMPT_RCU
	if (READ_ONCE(current->rcu_read_lock_nesting) && !n->level) {
		n->where |= LS_WHERE_RCU;
		add_element(n, LS_PSEUDO_RCU, true);
	}
#endif
	/* A CPU's own data: whoever cannot be interrupted there has them for itself. */
	if ((n->level || irq_off || n->where & (LS_WHERE_PREEMPT_OFF | LS_VAL_BH_OFF)) &&
	    unlikely(own_percpu(n->addr))) {
		if (!n->level && (irq_off || softirq || n->where & LS_WHERE_PREEMPT_OFF))
			add_element(n, LS_PSEUDO_PREEMPT, false);
		if (softirq || irq_off || n->level == LS_SOFTIRQ)
			add_element(n, LS_PSEUDO_BH, false);
		if (irq_off || n->level == LS_HARDIRQ)
			add_element(n, LS_PSEUDO_IRQ, false);
	}
}

static struct ls_shadow_page *shadow_of(unsigned long addr)
{
	u64 key = ls_mix(addr >> PAGE_SHIFT);
	u64 slot = ls_tagtab_first(&ls_acc->pages, key);
	u32 id = slot & LS_TAG_ID_MASK;

	if (unlikely(!ls_tag_match(slot, key) || !id))
		id = ls_tagtab_find(&ls_acc->pages, key);
	return id ? &chunks[(id - 1) / CHUNK][(id - 1) % CHUNK] : NULL;
}

static LS_COLD struct ls_shadow_page *new_shadow(unsigned long addr)
{
	u32 id = ls_load(&ls_acc->nr_pages), ready = ls_load_acquire(&nr_chunks) * CHUNK;

	do {
		if (id >= ready) {
			ls_lose_access(LS_ALOSS_PAGES);
			return NULL;
		}
	} while (!ls_cmpxchg(&ls_acc->nr_pages, &id, id + 1));
	if (id + AHEAD > ready && ready < ls_acc->max_pages)
		ls_wake_worker();
	/* Somebody may be first: then theirs is it. */
	id = ls_tagtab_insert(&ls_acc->pages, ls_mix(addr >> PAGE_SHIFT), id + 1);
	if (!id) {
		ls_lose_access(LS_ALOSS_PAGES);
		return NULL;
	}
	return &chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
}

/* The object that @addr lies in. */
static void find_object(unsigned long addr, unsigned long ip, struct ls_access_object *o, u32 *offset)
{
	struct kmem_cache *cache = NULL;
	unsigned long start, at;
	u32 site;
	int cpu;

	memset(o, 0, sizeof(*o));
	*offset = 0;
	if (addr >= __START_KERNEL_map) {
		o->kind = LS_DATA_STATIC;
		o->type = addr;
		return;
	}
	if (ls_slab_locate(addr, &cache, &start, offset)) {
		o->kind = LS_DATA_SLAB;
		o->type = (u64)cache;
		o->start = start;
		o->size = cache->object_size;
		site = ls_alloc_site(start);
		if (site) {
			o->kind = LS_DATA_ALLOC;
			o->type = ls_site_ip(site);
		}
		ls_copy_label(o->label, cache->name, sizeof(o->label));
		return;
	}
	for_each_possible_cpu(cpu) {
		const struct ls_percpu_range *r;

		at = addr - __per_cpu_offset[cpu];
		r = ls_percpu_find(at);
		if (!r && at >= ls_percpu_static_size)
			continue;
		o->kind = LS_DATA_PERCPU;
		o->type = at;
		if (r && r->site) {
			o->kind = LS_DATA_ALLOC;
			o->type = r->site;
			*offset = at - r->start;
			o->size = r->end - r->start;
		} else if (r && r->name) {
			*offset = at - r->start;
			o->type = r->start;
			ls_copy_label(o->label, r->name, sizeof(o->label));
		}
		return;
	}
	o->kind = LS_DATA_OTHER;
	o->type = ip;
}

/* Offset in the object at @start of a pointer into [to, to + size); -1 when there is none. */
static int pointer_to(unsigned long start, u32 bytes, unsigned long to, u32 size)
{
	u32 i;

	for (i = 0; i < VIA_WORDS && (i + 1) * 8 <= bytes; i++)
		if (READ_ONCE(((unsigned long *)start)[i]) - to < size)
			return i * 8;
	return -1;
}

static void relate(const struct ls_held *h, const struct ls_access_object *o, struct ls_guard_rec *g)
{
	struct kmem_cache *cache;
	unsigned long start;
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
		via = pointer_to(o->start, o->size, start, cache->object_size);
		if (via >= 0) {
			g->relation = LS_REL_VIA;
			g->via = via;
		}
	}
}

/* Frames from the place @ip on. */
static u32 frames_from(u64 *to, unsigned long ip)
{
	unsigned long frames[LS_STACK_FRAMES + 8];
	u32 nr = stack_trace_save(frames, ARRAY_SIZE(frames), 0), i;

	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	if (i >= nr) {
		to[0] = ip;
		return 1;
	}
	nr = min_t(u32, nr - i, LS_STACK_FRAMES);
	memcpy(to, &frames[i], nr * sizeof(*to));
	return nr;
}

/*
 * A way of accessing that the memo does not know: find it, or tell the thread of
 * it. 0 when there is no room for it now.
 */
static LS_COLD u32 new_site(struct now *n)
{
	struct {
		struct ls_event *e;
		struct ls_rec_access *a;
		struct ls_access_object *o;
	} ev;
	struct ls_access_object object;
	struct ls_guard_rec guards[LS_LOCKSET_LOCKS];
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 i, nr = 0, id, found, offset;
	u64 key;

	find_object(n->addr, n->ip, &object, &offset);
	key = ls_mix(ls_mix(n->ip) + ((u64)n->op << 32 | min(n->size, 65535u)));
	key = ls_mix(ls_mix(key + object.type + offset) + n->where);
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
		/* Somebody was first, or there is no place; the id stays unused. */
		if (!found)
			ls_lose_access(LS_ALOSS_SITES);
		ls_store_release(&ev.e->state, LS_EVENT_SKIP);
		return found;
	}
	ev.a = (struct ls_rec_access *)(ev.e + 1);
	*ev.a = (struct ls_rec_access){
		.hdr.type = LS_REC_ACCESS, .id = id, .offset = offset,
		.size = min(n->size, 65535u), .op = n->op, .ip = n->ip, .time_ns = local_clock(),
		.where = n->where, .pid = current->pid, .tgid = current->tgid,
		.task_flags = ls_task_flags(), .nr_guards = nr, .cpu = smp_processor_id(),
	};
	memcpy(ev.a->comm, current->comm, LS_COMM_LEN);
	memcpy(ev.a->guards, guards, nr * sizeof(*guards));
	ev.o = (struct ls_access_object *)&ev.a->guards[nr];
	*ev.o = object;
	ev.a->hdr.flags = frames_from((u64 *)(ev.o + 1), n->ip);
	ls_ring_commit(ev.e);
	ls_wake_worker();
	return id;
}

static u32 site_of(struct now *n)
{
	u64 key = ls_mix(n->ip + ((u64)n->lockset << 48)) + ((u64)n->where << 32 | n->op << 16 | (n->size & 0xffff));
	u64 *slot, word;
	u32 id;

	if (n->moving)
		key += n->addr;
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

/* Follow the object's way from context to context. */
static void follow_object(struct now *n)
{
	struct kmem_cache *cache;
	unsigned long start;
	u64 last = (u64)n->context << 16 | n->lockset, before;
	struct object *o;
	u32 offset;

	n->object = NULL;
	if (n->addr >= __START_KERNEL_map || !ls_slab_locate(n->addr, &cache, &start, &offset))
		return;
	o = &objects[ls_mix(start) >> (64 - OBJECT_BITS)];
	n->object = o;
	if (o->start != start) {
		o->start = start;
		o->last = last;
		o->hand = 0;
		return;
	}
	before = ls_load(&o->last);
	if (before == last)
		return;
	if (before >> 16 != n->context && n->lockset && before & 0xffff &&
	    ls_lockset_meet(&ls_acc->sets, before & 0xffff, n->lockset).apart)
		ls_store(&o->hand, (before >> 16) << 37 | (u64)n->context << 21 | ls_order_tick());
	ls_store(&o->last, last);
}

static bool ordered(void *cookie, u32 from, u32 to, u32 stamp)
{
	const struct now *n = cookie;

	if (ls_order_known(from, to, stamp))
		return true;
	if (n->object) {
		u64 hand = ls_load(&n->object->hand);

		return hand && hand >> 37 == from && (hand >> 21 & 0xffff) == to &&
		       ls_stamp_before(stamp, hand & LS_STAMP_MASK);
	}
	return false;
}

static bool is_benign(unsigned long addr)
{
	u32 i, nr = ls_load_acquire(&nr_benign);

	for (i = 0; i < nr; i++)
		if (addr - ls_load(&benign[i].start) < ls_load(&benign[i].size))
			return true;
	return false;
}

/* Races in [start, start + size) are nobody's concern. Any context. */
int ls_access_benign(unsigned long start, unsigned long size)
{
	u32 i = ls_load(&nr_benign);

	if (is_benign(start))
		return 0;
	do {
		if (i >= MAX_BENIGN)
			return -ENOSPC;
	} while (!ls_cmpxchg(&nr_benign, &i, i + 1));
	ls_store(&benign[i].start, start);
	ls_store(&benign[i].size, size);
	return 0;
}

static LS_COLD void tell_race(struct now *n, const struct ls_granule *g, u32 site,
			      const struct ls_shadow_result *r)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_rec_race *race;
	struct ls_event *e;
	u64 key = ls_mix((u64)site << 32 | r->other) | 1;
	u64 *slot = &told[key >> (64 - TOLD_BITS)];
	u32 i;

	if (ls_load(slot) == key || is_benign(n->addr))
		return;
	e = ls_ring_reserve(&pc->ring, sizeof(*e) + sizeof(*race) +
				       LS_SHADOW_ENTRIES * sizeof(struct ls_history_rec));
	if (!e) {
		ls_lose_access(LS_ALOSS_EVENTS);
		return;
	}
	ls_store(slot, key);
	race = (struct ls_rec_race *)(e + 1);
	*race = (struct ls_rec_race){
		.hdr.type = LS_REC_RACE, .first = r->other, .second = site,
		.first_pid = r->other_context < 0x8000 ? r->other_context : 0,
		.second_pid = n->level ? 0 : current->pid, .addr = n->addr, .time_ns = local_clock(),
	};
	for (i = 0; i < LS_SHADOW_ENTRIES; i++) {
		u64 entry = ls_load(&g->entry[i]);

		if (!ls_shadow_live(g, i))
			continue;
		race->history[race->nr++] = (struct ls_history_rec){
			.access = ls_entry_site(entry), .context = ls_entry_context(entry),
			.bytes = ls_entry_bytes(entry), .initial = ls_entry_initial(entry),
		};
	}
	ls_ring_commit(e);
	ls_wake_worker();
}

static LS_COLD void tell_history(struct now *n, unsigned long addr, u32 site,
				 const struct ls_shadow_result *r)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_rec_history *h;
	struct ls_event *e = ls_ring_reserve(&pc->ring, sizeof(*e) + sizeof(*h));
	u32 i;

	if (!e) {
		ls_lose_access(LS_ALOSS_EVENTS);
		return;
	}
	h = (struct ls_rec_history *)(e + 1);
	*h = (struct ls_rec_history){
		.hdr.type = LS_REC_HISTORY, .addr = addr, .time_ns = local_clock(), .access = site,
		.before = r->before, .after = r->after, .context = n->context,
		.pid = current->pid, .candidates = ~0u,
	};
	if (r->after >= LS_SHARED_READ && r->candidates != LS_LOCKSET_NONE) {
		h->candidates = ls_lockset_size(&ls_acc->sets, r->candidates);
		for (i = 0; i < h->candidates && i < ARRAY_SIZE(h->locks); i++)
			h->locks[i] = ls_lockset_get(&ls_acc->sets, r->candidates, i) >> 1 | 1ull << 63;
	}
	ls_ring_commit(e);
	ls_wake_worker();
}

static void judge(struct now *n, struct ls_shadow_page *page, u32 site)
{
	struct ls_shadow_rules rules = {
		.sets = &ls_acc->sets, .ops = ls_acc->ops, .ordered = ordered, .cookie = n,
		.pass_on = true,
	};
	struct ls_shadow_access a = {
		.site = site, .lockset = n->lockset, .stamp = ls_load(&ls_acc->sync) & LS_STAMP_MASK,
		.context = n->context, .op = n->op,
	};
	unsigned long at = n->addr, end = n->addr + n->size;
	struct ls_shadow_result r;
	u32 granules = 0;

	for (; at < end; at = (at | 7) + 1) {
		struct ls_granule *g = &page->granule[(at & ~PAGE_MASK) >> LS_GRANULE_SHIFT];
		u32 first = at & 7, last = min((at | 7) + 1, end) - (at & ~7ul);

		if (granules++ == MAX_GRANULES) {
			ls_lose_access(LS_ALOSS_RANGE);
			break;
		}
		a.bytes = (0xff << first & 0xff) & 0xff >> (8 - last);
		if (ls_shadow_again(g, &a))
			continue;
		r = ls_shadow_step(g, &a, &rules);
		if (unlikely(r.handed_over))
			this_cpu_inc(ls_access_cpus.handovers);
		if (unlikely(r.unknown))
			ls_lose_access(LS_ALOSS_LOCKSETS);
		if (unlikely(r.race))
			tell_race(n, g, site, &r);
		if (unlikely(at - ls_follow_start < ls_follow_bytes))
			tell_history(n, at, site, &r);
	}
}

static void look(struct now *n)
{
	struct ls_shadow_page *page;
	u32 site;

	page = shadow_of(n->addr);
	if (unlikely(!page)) {
		page = new_shadow(n->addr);
		if (!page)
			return;
	}
	collect(n);
	n->lockset = n->nr < LS_LOCKSET_LOCKS ? ls_lockset_find(&ls_acc->sets, n->key) : LS_LOCKSET_NONE;
	if (unlikely(n->lockset == LS_LOCKSET_NONE)) {
		n->lockset = ls_lockset_intern(&ls_acc->sets, n->elements, n->nr, n->key);
		if (n->lockset == LS_LOCKSET_NONE) {
			ls_lose_access(LS_ALOSS_LOCKSETS);
			return;
		}
	}
	n->context = ls_access_context(n->level);
	follow_object(n);
	site = site_of(n);
	if (unlikely(!site))
		return;
	ls_acc->counts[site]++;
	judge(n, page, site);
}

/* [addr, addr + size) lies in one page, or reaches into the next by a few bytes. */
noinline void ls_access(unsigned long addr, u32 size, u32 op, unsigned long ip)
{
	struct ls_cpu *pc;
	struct now n;

	preempt_disable_notrace();
	n.count = preempt_count();
	if (unlikely(!ls_active) || unlikely(on_stack(addr)))
		goto out;
	this_cpu_inc(ls_access_cpus.seen);
	pc = this_cpu_ptr(&ls_cpus);
	n.ctx = ls_context(pc, &n.level);
	if (unlikely(n.ctx->busy || n.level == LS_NMI)) {
		if (!n.ctx->ignoring)
			ls_lose_access(LS_ALOSS_BUSY);
		goto out;
	}
	n.addr = addr;
	n.size = min(size, (u32)(PAGE_SIZE - (addr & ~PAGE_MASK)));
	n.op = op;
	n.ip = ip;
	n.nr = 0;
	n.key = 0;
	n.moving = false;
	look(&n);
out:
	ls_leave();
}

/* [start, start + size) begins a new life. Any context. */
void ls_shadow_freed(unsigned long start, unsigned long size)
{
	unsigned long at, end = start + size;

	for (at = start & ~7ul; at < end;) {
		unsigned long stop = min(end, (at | ~PAGE_MASK) + 1);
		struct ls_shadow_page *page = ls_watched(at) ? shadow_of(at) : NULL;

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
	ls_shadow_freed(start, cache->object_size);
	if (objects[ls_mix(start) >> (64 - OBJECT_BITS)].start == start)
		objects[ls_mix(start) >> (64 - OBJECT_BITS)].start = 0;
}

/* Races may be told anew. */
void ls_access_untell(void)
{
	memset(told, 0, sizeof(told));
}

/* Get shadow pages ready. Thread only; true when something was done. */
bool ls_access_provide(void)
{
	bool any = false;

	while (nr_chunks < MAX_CHUNKS && nr_chunks * CHUNK < ls_acc->max_pages &&
	       (ls_watch.mask != ~0u || ls_watch.phase != ~0u) &&
	       ls_load(&ls_acc->nr_pages) + AHEAD > nr_chunks * CHUNK) {
		chunks[nr_chunks] = vzalloc(array_size(CHUNK, sizeof(struct ls_shadow_page)));
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

/* The shadow of everything is virgin again; ways of accessing stay. Only while nothing is watched. */
void ls_access_forget_all(void)
{
	u32 i, used = ls_acc->nr_pages;

	for (i = 0; i * CHUNK < used && i < nr_chunks; i++)
		memset(chunks[i], 0, min(used - i * CHUNK, (u32)CHUNK) * sizeof(struct ls_shadow_page));
	ls_acc->nr_pages = 0;
	clear_tagtab(&ls_acc->pages);
	ls_locksets_clear(&ls_acc->sets);
	memset(memo, 0, sizeof(memo));
	memset(objects, 0, sizeof(objects));
	ls_order_clear();
}

/* @megabytes: most memory for shadow pages. */
int ls_access_init(u32 megabytes)
{
	void *sets, *elements, *ids, *meets, *pages, *sites;

	ls_acc = vzalloc(sizeof(*ls_acc));
	sets = vzalloc(array_size(LOCKSETS + 1, sizeof(struct ls_lockset)));
	elements = vzalloc(array_size(LOCKSET_ELEMENTS, sizeof(u64)));
	ids = vzalloc(ls_tagtab_bytes(LOCKSET_TABLE_BITS));
	meets = vzalloc(ls_tagtab_bytes(LOCKSET_TABLE_BITS));
	pages = vzalloc(ls_tagtab_bytes(PAGE_TABLE_BITS));
	sites = vzalloc(ls_tagtab_bytes(SITE_TABLE_BITS));
	if (!ls_acc || !sets || !elements || !ids || !meets || !pages || !sites) {
		vfree(sets), vfree(elements), vfree(ids), vfree(meets), vfree(pages), vfree(sites);
		vfree(ls_acc);
		ls_acc = NULL;
		return -ENOMEM;
	}
	ls_locksets_init(&ls_acc->sets, LOCKSETS, LOCKSET_ELEMENTS, sets, elements, ids, meets,
			 LOCKSET_TABLE_BITS);
	ls_tagtab_init(&ls_acc->pages, pages, PAGE_TABLE_BITS);
	ls_tagtab_init(&ls_acc->sites, sites, SITE_TABLE_BITS);
	ls_acc->max_pages = min_t(u64, ((u64)megabytes << 20) / sizeof(struct ls_shadow_page),
				  1u << (PAGE_TABLE_BITS - 1));
	return 0;
}

/* Nothing is watched any more. */
void ls_access_exit(void)
{
	u32 i;

	if (!ls_acc)
		return;
	for (i = 0; i < nr_chunks; i++)
		vfree(chunks[i]);
	vfree(ls_acc->sets.sets);
	vfree(ls_acc->sets.elements);
	vfree(ls_acc->sets.ids.slots);
	vfree(ls_acc->sets.meets.slots);
	vfree(ls_acc->pages.slots);
	vfree(ls_acc->sites.slots);
	vfree(ls_acc);
}
