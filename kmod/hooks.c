// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks. Any context, NMI included. They take no lock, allocate nothing,
 * never sleep or print; they only touch this CPU's state, the held stack of
 * their own context, and tables updated by compare-and-swap.
 */
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/sched/clock.h>
#include <linux/stacktrace.h>

#include "lockscope.h"
#include "slab.h"

DEFINE_PER_CPU_ALIGNED(struct ls_cpu, ls_cpus);
struct ls_tables ls __cacheline_aligned;
int ls_active __read_mostly;

/*
 * preempt_enable() without the reschedule: a hook may run where scheduling is
 * not allowed. A wish to reschedule is honoured at the next chance.
 */
static __always_inline void leave(void)
{
	barrier();
	__preempt_count_sub(1);
}

static __always_inline struct ls_ctx *context(struct ls_cpu *pc, unsigned long count, u32 *level)
{
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))) {
		*level = LS_TASK;
		if (likely(pc->cur == current))
			return pc->task;
		return ls_ctx_fix(pc);
	}
	*level = count & NMI_MASK ? LS_NMI : count & HARDIRQ_MASK ? LS_HARDIRQ : LS_SOFTIRQ;
	return &pc->level[*level - 1];
}

/* Set the thread to work; at most one irq_work is under way on a CPU. */
void ls_wake_worker(void)
{
	irq_work_queue(this_cpu_ptr(&ls_cpus.work));
}

/*
 * Semaphores may be released by anyone. What another context has released since
 * we took it is not held here any more, whatever our stack says. Looked at only
 * before something new is learnt. A counter of semaphore acquisitions tells
 * "since": the entry has its value then, the orphan its value at the release.
 */
#define ORPHAN_BITS 19
#define ORPHAN_MASK ((1u << ORPHAN_BITS) - 1)

static void add_orphan(u64 lock)
{
	u32 now = ls_load(&ls.semaphore_acquisitions) & ORPHAN_MASK;

	if (!ls_addrmap_find(&ls.orphans, lock))
		ls_fetch_add(&ls.nr_orphans, 1);
	ls_addrmap_set(&ls.orphans, lock, now << 1 | 1);
}

static bool released_since(const struct ls_held *h, u32 kind)
{
	u32 orphan = ls_addrmap_find(&ls.orphans, h->lock);

	if (!orphan)
		return false;
	/* Readers of an rwsem carry no stamp. */
	return kind == LS_KIND_RWSEM || (((orphan >> 1) - h->stamp) & ORPHAN_MASK) <= ORPHAN_MASK / 2;
}

static void drop_orphans(struct ls_ctx *ctx)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;) {
		u32 kind = ls.classes.table[ctx->held[i].val & LS_VAL_CLASS_MASK].kind;

		if ((kind != LS_KIND_SEMAPHORE && kind != LS_KIND_RWSEM) ||
		    !released_since(&ctx->held[i], kind))
			continue;
		if (ls_addrmap_remove(&ls.orphans, ctx->held[i].lock))
			ls_fetch_add(&ls.nr_orphans, -1);
		ls_held_remove(ctx, i);
	}
}

/* What an acquisition brings. */
struct news {
	u64 mask;	/* held entries whose edge brings something new */
	bool self;	/* the class is held already */
	u32 flags;	/* LS_EV_* */
};

/* Signature of everything held. */
static u32 gates_of(const struct ls_ctx *ctx)
{
	u32 i, gates = 0;

	for (i = 0; i < ctx->depth; i++)
		gates |= ls_gate_bits(ctx->held[i].lock, ctx->held[i].val);
	return gates;
}

static void find_news(const struct ls_ctx *ctx, u32 val, struct news *news)
{
	u32 i, gates = gates_of(ctx);

	for (i = 0; i < ctx->depth; i++) {
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK))
			news->self = true;
		if (!ls_orders(ctx->held[i].val, val))
			continue;
		if (ls_edges_peek(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_NEWS)
			news->mask |= 1ull << i;
	}
}

static void mark_edges(const struct ls_ctx *ctx, u32 val, u64 mask)
{
	u32 i, gates = gates_of(ctx);

	for (i = 0; i < ctx->depth; i++)
		if (mask & (1ull << i) &&
		    ls_edges_mark(&ls.edges, ctx->held[i].val, val, gates) == LS_EDGE_FULL)
			ls_lose(LS_LOSS_EDGES);
}

/* Most frames between a hook and the caller of the lock function. */
#define LS_OWN_FRAMES 8


/* Stack from the acquire site @ip down to the entry. */
static u32 save_stack(u64 *to, unsigned long ip)
{
	unsigned long frames[LS_STACK_FRAMES + LS_OWN_FRAMES];
	u32 nr = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	u32 first = 0, i;

	for (i = 0; i < nr; i++) {
		if (frames[i] == ip) {
			first = i;
			break;
		}
	}
	/* The caller must be there even if the unwinder missed it. */
	if (i == nr) {
		to[0] = ip;
		return 1;
	}
	nr = min_t(u32, nr - first, LS_STACK_FRAMES);
	for (i = 0; i < nr; i++)
		to[i] = frames[first + i];
	return nr;
}

static u32 task_flags(void)
{
	u32 flags = 0;

	if (current->flags & PF_KTHREAD)
		flags |= LS_TASK_KTHREAD;
	if (current->flags & PF_WQ_WORKER)
		flags |= LS_TASK_WORKER;
	return flags;
}

/*
 * An event as it lies in the ring: ls_event, ls_rec_sight (its header unused,
 * nr_held entries behind it), then the frames of its stack; ls_rec_sight.stack
 * says how many, and with LS_EV_PAIR the pads say which lives the objects are in.
 */
static void fill_event(struct ls_event *e, const struct ls_ctx *ctx, u64 lock, u64 ip, u32 val,
		       u32 chain, const struct news *news)
{
	struct ls_rec_sight *s = (struct ls_rec_sight *)(e + 1);
	u32 i;

	s->hdr.flags = news->flags;
	s->time_ns = local_clock();
	s->new_mask = news->mask;
	s->ip = ip;
	s->lock = lock;
	s->val = val;
	s->chain = chain;
	s->pid = current->pid;
	s->tgid = current->tgid;
	s->task_flags = task_flags();
	s->nr_held = ctx->depth;
	s->cpu = smp_processor_id();
	memcpy(s->comm, current->comm, LS_COMM_LEN);
	for (i = 0; i < ctx->depth; i++) {
		s->held[i].val = ctx->held[i].val;
		s->held[i].ip = ctx->held[i].ip;
		s->held[i].lock = ctx->held[i].lock;
		/* By the time the thread looks, the objects may be others. */
		if (news->flags & LS_EV_PAIR && news->mask & (1ull << i))
			s->held[i].pad = ls_life(ctx->held[i].lock);
	}
	if (news->flags & LS_EV_PAIR)
		s->pad = ls_life(lock);
	s->stack = save_stack((u64 *)&s->held[ctx->depth], ip);
}

static struct ls_event *reserve_event(struct ls_cpu *pc, const struct ls_ctx *ctx)
{
	return ls_ring_reserve(&pc->ring, sizeof(struct ls_event) + sizeof(struct ls_rec_sight) +
					  ctx->depth * sizeof(struct ls_held_rec) +
					  LS_STACK_FRAMES * sizeof(u64));
}

/* Exclusively held locks besides entry @i: what keeps two orders of a pair apart. */
static u32 pair_gates(const struct ls_ctx *ctx, u32 i)
{
	u32 k, gates = 0;

	for (k = 0; k < ctx->depth; k++)
		if (k != i && !(ctx->held[k].val & LS_VAL_READ_MASK))
			gates |= ls_pair_gate(ctx->held[k].lock);
	return gates;
}

/*
 * The class is held already. The same instance again is a deadlock unless both
 * may read at once for certain; for two instances it is the order that counts.
 */
static void look_at_instances(const struct ls_ctx *ctx, u64 lock, u32 val, struct news *news)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	u32 i, gates;

	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];
		bool both_read = (h->val & LS_VAL_READ_MASK) && (val & LS_VAL_READ_MASK);

		if (((h->val ^ val) & LS_VAL_CLASS_MASK) || !ls_orders(h->val, val))
			continue;
		if (h->lock == lock) {
			if (both_read && (val & LS_VAL_READ_MASK) == LS_RECURSIVE << LS_VAL_READ_SHIFT)
				continue;
			if (!(c->marks & LS_CLASS_SAME)) {
				news->flags |= LS_EV_SAME;
				news->mask |= 1ull << i;
			}
			continue;
		}
		if (both_read)
			continue;
		gates = pair_gates(ctx, i);
		switch (ls_pairs_see(&ls.pairs, h->lock, lock, ls_lives(h->lock, lock), gates)) {
		case LS_PAIR_INVERTED:
			if (!(c->marks & LS_CLASS_INVERTED)) {
				news->flags |= LS_EV_INVERSION;
				news->mask |= 1ull << i;
			}
			break;
		case LS_PAIR_NEW:
			/* Longer rings of instances are for the thread; it gets the first few. */
			if (!gates && ls_load(&c->pairs) < LS_PAIRS_TOLD) {
				ls_fetch_add(&c->pairs, 1);
				news->flags |= LS_EV_PAIR;
				news->mask |= 1ull << i;
			}
			break;
		default:
			break;
		}
	}
}

/* There was no room to tell: unlearn what look_at_instances() learnt. */
static void forget_instances(const struct ls_ctx *ctx, u64 lock, u32 val, const struct news *news)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];
	u32 i;

	if (!(news->flags & (LS_EV_INVERSION | LS_EV_PAIR)))
		return;
	for (i = 0; i < ctx->depth; i++)
		if (!((ctx->held[i].val ^ val) & LS_VAL_CLASS_MASK))
			ls_pairs_unsee(&ls.pairs, ctx->held[i].lock, lock,
				       ls_lives(ctx->held[i].lock, lock));
	if (news->flags & LS_EV_PAIR)
		ls_fetch_add(&c->pairs, -1);
}

/* One event of a kind is enough for a class: the thread reports it once. */
static void mark_told(u32 val, u32 flags)
{
	struct ls_class *c = &ls.classes.table[val & LS_VAL_CLASS_MASK];

	if (flags & LS_EV_SAME)
		ls_fetch_or(&c->marks, LS_CLASS_SAME);
	if (flags & LS_EV_INVERSION)
		ls_fetch_or(&c->marks, LS_CLASS_INVERTED);
}

/*
 * A chain not seen before, or one that nests a class in itself. Learns what is
 * new; when there is no room for it now, forgets that it was here, so that the
 * next time round tries again: nothing is lost, only put off.
 */
static LS_COLD void slow_path(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val,
			      u64 key)
{
	struct news news = { 0 };
	struct ls_event *e = NULL;
	enum ls_chain_result r;
	u32 chain = ls_tagtab_find(&ls.chains.tab, key);

	if (chain && !(chain & LS_CHAIN_SLOW))
		return;		/* lay further along its probe run */
	if (chain & LS_CHAIN_DERIVED)
		chain = 0;	/* held before, but never taken like this */

	if (!chain)
		find_news(ctx, val, &news);
	else
		news.self = true;
	if (news.self)
		look_at_instances(ctx, lock, val, &news);
	if (chain && !news.flags)
		return;

	if (news.mask) {
		e = reserve_event(pc, ctx);
		if (!e) {
			forget_instances(ctx, lock, val, &news);
			return;
		}
	}
	r = chain ? LS_CHAIN_NEW : ls_chains_add(&ls.chains, ctx, key, val, ip, news.self, &chain);
	if (r == LS_CHAIN_FULL)
		ls_lose(LS_LOSS_CHAINS);
	if (e) {
		if (r == LS_CHAIN_DEFER) {
			ls_store_release(&e->state, LS_EVENT_SKIP);
			ls_fetch_add(&pc->ring.hdr->deferred, 1);
			forget_instances(ctx, lock, val, &news);
			return;
		}
		mark_edges(ctx, val, news.mask);
		mark_told(val, news.flags);
		fill_event(e, ctx, lock, ip, val, chain & LS_CHAIN_INDEX, &news);
		ls_ring_commit(e);
	}
	ls_wake_worker();
}

/* Every so often an acquisition counts for all those since the last one. */
static noinline void count_chain(struct ls_cpu *pc, u64 key)
{
	struct ls_chain *data;
	u32 id = ls_tagtab_find(&ls.chains.tab, key) & LS_CHAIN_INDEX;

	data = ls_chains_get(&ls.chains, id);
	if (data)
		ls_fetch_add(&data->count, pc->sample_weight);
	pc->random = pc->random * 1664525u + 1013904223u;
	pc->sample_weight = LS_SAMPLE / 2 + (pc->random >> 26);
	pc->sample = pc->sample_weight;
}

/* Not found where it usually lies: further along, or not at all yet. */
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
	id = ls_identify(lock, kind, ip);
	barrier();
	ctx->busy = 0;
	return id;
}

/*
 * Class of @lock without touching any per-object state, 0 when that does not
 * tell: static locks by address, locks in slab objects by cache and offset (the
 * address of the page's cache and one reciprocal division), locks in kmalloc
 * memory by the object's allocation site as well.
 */
static __always_inline u32 class_of(u64 lock)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id;
	u64 key, slot;

	if (lock >= __START_KERNEL_map || !ls_slab_locate(lock, &cache, &object, &offset))
		return ls_classes_fast(&ls.classes, ls_key_address(lock));
	key = ls_key_slab((u64)cache, offset);
	slot = ls_tagtab_first(&ls.classes.keys, key);
	id = slot & LS_TAG_ID_MASK;
	if (unlikely(!ls_tag_match(slot, key)))
		return 0;
	if (likely(id < LS_KEY_KMALLOC))
		return id;
	id = ls_alloc_site(object);
	return id ? ls_classes_fast(&ls.classes, ls_key_alloc((u64)cache, offset, id)) : 0;
}

/* How and where a lock is taken, without its class. */
static __always_inline u32 how(u32 desc, unsigned long count)
{
	u32 val = desc & LS_DESC_VAL;

	val |= (~native_save_fl() & X86_EFLAGS_IF) << (25 - 9);
	if (unlikely(count & SOFTIRQ_MASK))
		val |= LS_VAL_BH_OFF;
	return val;
}

/* The whole way of an acquisition. Preemption off, hooks active. */
static noinline void acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc)
{
	unsigned long count = preempt_count();
	struct ls_ctx *ctx;
	u32 level, val;
	u64 key, slot;

	ctx = context(pc, count, &level);
	this_cpu_inc(ls_cpus.acquisitions[level]);
	if (unlikely(ctx->busy)) {
		ls_lose(LS_LOSS_RECURSION);
		return;
	}
	val = class_of(lock);
	if (unlikely(!val))
		val = new_class(ctx, lock, desc >> LS_DESC_KIND_SHIFT, ip);
	if (unlikely(!val || ctx->depth >= LS_MAX_DEPTH)) {
		if (val)
			ls_lose(LS_LOSS_HELD_OVERFLOW);
		ctx->lost++;
		return;
	}
	if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_SEMAPHORE) {
		ls_semaphore_acquired(&ls.classes.table[val]);
		if (ls.classes.table[val].marks & LS_CLASS_SIGNAL)
			return;
	}
	val |= how(desc, count) | level << LS_VAL_LEVEL_SHIFT;
	/*
	 * A queued rwlock lets readers pass waiting writers only in interrupt
	 * context, which includes code that has softirqs off.
	 */
	if ((val & LS_VAL_READ_MASK) && desc >> LS_DESC_KIND_SHIFT == LS_KIND_RWLOCK &&
	    (level || (val & LS_VAL_BH_OFF)))
		val ^= (LS_SHARED ^ LS_RECURSIVE) << LS_VAL_READ_SHIFT;

	key = ls_chain_mix(ctx->key, val);
	slot = ls_tagtab_first(&ls.chains.tab, key);
	if (unlikely(!ls_tag_match(slot, key) || (slot & LS_CHAIN_SLOW))) {
		ctx->busy = 1;
		barrier();
		if (unlikely(ls_load(&ls.nr_orphans)) && ctx->depth) {
			drop_orphans(ctx);
			key = ls_chain_mix(ctx->key, val);
		}
		slow_path(pc, ctx, lock, ip, val, key);
		barrier();
		ctx->busy = 0;
	}
	ls_held_push(ctx, lock, ip, val, key);
	if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_SEMAPHORE)
		ctx->held[ctx->depth - 1].stamp = ls_fetch_add(&ls.semaphore_acquisitions, 1) + 1;
	if (unlikely(!--pc->sample))
		count_chain(pc, key);
}

static noinline void acquire_leave(u64 lock, u64 ip, unsigned long func5)
{
	if (ls_active)
		acquire(this_cpu_ptr(&ls_cpus), lock, ip, ls_desc_of(func5));
	leave();
}

/*
 * A task takes a lock of a known class in a known chain: nearly always. The same
 * as acquire(), but with no call in it, so that the compiler saves few registers
 * or none; whatever is not as usual is left to acquire_leave() from the start.
 */
static __always_inline void acquire_usual(u64 lock, u64 ip, unsigned long func5, bool is_static)
{
	unsigned long count = preempt_count();
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	struct ls_ctx *ctx;
	u64 key, slot;
	u32 val, desc;

	if (unlikely(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) || unlikely(!ls_active) ||
	    unlikely(pc->cur != current) || unlikely(pc->sample == 1))
		goto unusual;
	ctx = pc->task;
	val = is_static ? ls_classes_fast(&ls.classes, ls_key_address(lock)) : class_of(lock);
	if (unlikely(!val) || unlikely(ctx->state >= LS_MAX_DEPTH))
		goto unusual;
	desc = ls_desc_of(func5);
	val |= how(desc, count);
	/* Readers with softirqs off are another kind of reader. */
	if (unlikely((val & LS_VAL_BH_OFF) && (val & LS_VAL_READ_MASK)))
		goto unusual;
	key = ls_chain_mix(ctx->key, val);
	slot = ls_tagtab_first(&ls.chains.tab, key);
	if (unlikely(!ls_tag_match(slot, key) || (slot & LS_CHAIN_SLOW)))
		goto unusual;
	pc->sample--;
	this_cpu_inc(ls_cpus.acquisitions[LS_TASK]);
	ls_held_push(ctx, lock, ip, val, key);
	leave();
	return;
unusual:
	acquire_leave(lock, ip, func5);
}

static noinline void acquire_object(u64 lock, u64 ip, unsigned long func5)
{
	acquire_usual(lock, ip, func5, false);
}

void ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5)
{
	preempt_disable_notrace();
	if (lock >= __START_KERNEL_map)
		acquire_usual(lock, ip, func5, true);
	else
		acquire_object(lock, ip, func5);
}

static LS_COLD void release_slow(struct ls_ctx *ctx, u64 lock, unsigned long func5)
{
	u32 kind;
	int i;

	if (ctx->busy) {
		ls_lose(LS_LOSS_RECURSION);
		return;
	}
	i = ls_held_find(ctx, lock);
	if (i >= 0) {
		ls_held_remove(ctx, i);
		return;
	}
	if (ctx->lost) {
		ctx->lost--;
		return;
	}
	this_cpu_inc(ls_cpus.unknown_releases);
	/* Only these may be released by somebody else. */
	kind = ls_desc_of(func5) >> LS_DESC_KIND_SHIFT;
	if (kind == LS_KIND_SEMAPHORE || kind == LS_KIND_RWSEM)
		add_orphan(lock);
}

static noinline void release(struct ls_cpu *pc, u64 lock, unsigned long func5)
{
	struct ls_ctx *ctx;
	u32 level;

	ctx = context(pc, preempt_count(), &level);
	this_cpu_inc(ls_cpus.releases);
	if (likely(ls_held_is_top(ctx, lock) && !ctx->busy))
		ls_held_pop_top(ctx);
	else
		release_slow(ctx, lock, func5);
}

static noinline void release_leave(u64 lock, unsigned long func5)
{
	if (ls_active)
		release(this_cpu_ptr(&ls_cpus), lock, func5);
	leave();
}

void ls_hook_release(unsigned long lock, unsigned long func5)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u64 top;

	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) ||
	    unlikely(!ls_active) || unlikely(pc->cur != current))
		goto unusual;
	ctx = pc->task;
	top = ctx->state - 1;
	if (unlikely(top >= LS_MAX_DEPTH) || unlikely(ctx->held[top].lock != lock))
		goto unusual;
	this_cpu_inc(ls_cpus.releases);
	ctx->depth = top;
	ctx->key = ctx->held[top].below;
	leave();
	return;
unusual:
	release_leave(lock, func5);
}

/* @arg1: second argument of the primitive, the acquire context of a ww_mutex. */
void ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5, unsigned long ret,
		    unsigned long arg1)
{
	u32 desc;
	bool taken;

	preempt_disable_notrace();
	if (likely(ls_active)) {
		desc = ls_desc_of(func5);
		taken = desc & LS_DESC_BOOL ? (ret & 0xff) : (u32)ret;
		if (desc & LS_DESC_ZERO)
			taken = !taken;
		if (desc >> LS_DESC_KIND_SHIFT == LS_KIND_WW_MUTEX && arg1)
			desc |= LS_VAL_CTX;
		if (taken)
			acquire(this_cpu_ptr(&ls_cpus), lock + (desc & LS_DESC_OFFSET), ip, desc);
	}
	leave();
}

/* A semaphore that its holder takes again counts or signals: one entry is enough. */
static void forget_if_held(struct ls_cpu *pc, u64 lock)
{
	u32 level;
	struct ls_ctx *ctx = context(pc, preempt_count(), &level);
	int i = ctx->busy ? -1 : ls_held_find(ctx, lock);

	if (i >= 0)
		ls_held_remove(ctx, i);
}

static void count_release(struct ls_cpu *pc, u64 lock, u64 ip)
{
	u32 level, id;
	struct ls_ctx *ctx = context(pc, preempt_count(), &level);

	if (ctx->busy)
		return;
	/* Perhaps nobody has acquired it yet. */
	id = class_of(lock);
	if (!id)
		id = new_class(ctx, lock, LS_KIND_SEMAPHORE, ip);
	if (id)
		ls_semaphore_released(&ls.classes.table[id], ls_held_find(ctx, lock) >= 0);
}

static void downgrade(struct ls_cpu *pc, u64 lock)
{
	u32 level;
	struct ls_ctx *ctx = context(pc, preempt_count(), &level);
	int i = ctx->busy ? -1 : ls_held_find(ctx, lock);

	if (i >= 0)
		ls_held_set_read(ctx, i, LS_SHARED);
}

void ls_hook_special(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5)
{
	u32 desc, kind;
	u64 lock;
	struct ls_cpu *pc;

	preempt_disable_notrace();
	if (unlikely(!ls_active))
		goto out;
	pc = this_cpu_ptr(&ls_cpus);
	desc = ls_desc_of(func5);
	kind = desc >> LS_DESC_KIND_SHIFT;
	lock = arg0 + (desc & LS_DESC_OFFSET);
	switch (desc & LS_OP_MASK) {
	case LS_OP_ACQUIRE:
		if (kind == LS_KIND_SEMAPHORE)
			forget_if_held(pc, lock);
		acquire(pc, lock, ip, desc & ~(u32)LS_OP_MASK);
		break;
	case LS_OP_RELEASE:
		if (kind == LS_KIND_SEMAPHORE)
			count_release(pc, lock, ip);
		release(pc, lock, func5);
		break;
	case LS_OP_DOWNGRADE:
		downgrade(pc, lock);
		break;
	case LS_OP_INIT:
		ls_identity_named(lock, kind, (const char *)arg1, ip);
		break;
	case LS_OP_CACHE_GONE:
		ls_identity_cache_gone(arg0);
		break;
	}
out:
	leave();
}
