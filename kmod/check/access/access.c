// SPDX-License-Identifier: GPL-2.0
/*
 * A memory access: its context, address and lockset are checked against the shadow of the
 * memory. Runs in call-outs and traps, any context: no lock, no allocation. What is new goes
 * to the worker through the event ring.
 */
#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "base/preempt.h"
#include "check/access/access.h"
#include "check/access/handover.h"
#include "check/access/race_side.h"
#include "check/check.h"
#include "core/context.h"
#include "identity/identity.h"
#include "identity/slab.h"

#define BYTES_PER_COST 16	/* bytes of a block that cost about as much as an access */
#define ERA_ACCESSES 4096	/* credit of a sample, per CPU and era; new sites cost more */
#define SAVED_ERAS 16		/* unused credit is kept for so many eras */

DEFINE_PER_CPU_ALIGNED(struct ls_access_cpu, ls_access_cpus);
unsigned long ls_follow_start;
u32 ls_follow_bytes;

/* Below 0x8000: the low bits of the task's PID; else an interrupt of this CPU. */
u32 ls_access_context(u32 level)
{
	if (level)
		return 0x8000 | level << 12 | (smp_processor_id() & 0xfff);
	return current->pid ? current->pid & 0x7fff : 0x8000 | (smp_processor_id() & 0xfff);
}

/* @here: any address on the stack of the accessing code. */
static bool is_on_stack(unsigned long addr, unsigned long here)
{
	return !((addr ^ here) & ~(THREAD_SIZE - 1)) ||
	       addr - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

unsigned long ls_counters[1 << LS_COUNTER_BITS];

static void add_element(struct ls_now *n, u64 lock, bool shared)
{
	u64 e = ls_lockset_element(lock, shared);

	n->elements[n->nr++] = e;
	n->key = ls_lockset_key(n->key, e);
}

/* Is the counter at @addr odd? -1 when it is not mapped any more. */
static __always_inline int odd(unsigned long addr)
{
	u32 value;

	__get_kernel_nofault(&value, (u32 *)addr, u32, gone);
	return value & 1;
gone:
	return -1;
}

/*
 * A sequence counter separates readers from a writer, but not writers from each other: a
 * reader counts as exclusive holder of it, a writer as shared holder. Readers never conflict.
 */
static void add_sections(struct ls_now *n)
{
	struct ls_seq_slot *s;
	unsigned long owner;

	s = ls_seq_slot(n->count, &owner);
	if (s->owner != owner)
		return;
	/* A retry does not undo writes. An odd counter means that the reader will retry. */
	if (s->read && s->read != n->addr && !(n->op & LS_ACC_WRITE) && odd(s->read) >= 0) {
		add_element(n, s->read | 1, false);
		n->where |= LS_WHERE_SEQ_READ;
	}
	/* If it is a counter, it is odd by now. */
	if (s->write && s->write != n->addr && odd(s->write) > 0) {
		add_element(n, s->write | 1, true);
		n->where |= LS_WHERE_SEQ_WRITE;
	}
}

/* Does @addr lie in this CPU's own part of per-CPU memory? */
static bool own_percpu(unsigned long addr)
{
	unsigned long at = addr - this_cpu_read(this_cpu_off);
	struct ls_range r;

	return at - ls_percpu_static_start < ls_percpu_static_size || ls_percpu_find(at, &r);
}

/*
 * A task sets its state before it tests the condition that it waits for. A wake-up between
 * test and sleep is then not lost, and the task tests again.
 */
static __always_inline bool waiting(const struct ls_now *n)
{
	return !n->level && READ_ONCE(current->__state) != TASK_RUNNING;
}

/* The lockset: locks, and other means of exclusion [Eraser 3.4]. */
static void collect(struct ls_now *n)
{
	struct ls_ctx *ctx = n->ctx;
	bool irq_off = n->irq_off;
	u32 i, held, softirq = n->count & SOFTIRQ_MASK;

	n->where = n->level << LS_VAL_LEVEL_SHIFT;
	if (irq_off)
		n->where |= LS_VAL_IRQ_OFF;
	if (softirq)
		n->where |= LS_VAL_BH_OFF;
	if ((n->count & PREEMPT_MASK) > 1)
		n->where |= LS_WHERE_PREEMPT_OFF;
	if (unlikely(waiting(n)))
		n->where |= LS_WHERE_WAITING;
	for (i = 0; i < ctx->depth && n->nr < LS_LOCKSET_LOCKS; i++) {
		const struct ls_held *h = &ctx->held[i];

		if (!(LS_GUARDING_KINDS >> ls_kind_of(h->val) & 1))
			continue;
		if (h->lock < __START_KERNEL_map)
			n->moving = true;
		n->taken = (n->taken + h->ip) * LS_GOLDEN;
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
	/* Per-CPU data of this CPU: exclusive where interrupts or preemption are off. */
	held = ls_lockset_of_cpu(n->level, irq_off, softirq, n->where & LS_WHERE_PREEMPT_OFF);
	if (held && !n->start && n->addr < __START_KERNEL_map && own_percpu(n->addr))
		for (i = LS_PSEUDO_PREEMPT; i <= LS_PSEUDO_IRQ; i++)
			if (held >> i & 1)
				add_element(n, i, false);
}

static LS_COLD void report_history(struct ls_now *n, unsigned long addr, u32 site,
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
			h->locks[i] = ls_lockset_lock(ls_lockset_get(&ls_acc->sets,
									 r->candidates, i));
	}
	ls_ring_commit(e);
	ls_wake_worker();
}

static noinline void judge(struct ls_now *n, struct ls_shadow_page *page, u32 site)
{
	struct ls_shadow_rules rules = {
		.sets = &ls_acc->sets, .ops = ls_acc->ops, .ordered = ls_ordered, .cookie = n,
		.pass_on = true,
	};
	struct ls_shadow_access a = {
		.site = site, .lockset = n->lockset, .stamp = ls_load(&ls_acc->sync) & LS_STAMP_MASK,
		.context = n->context, .op = n->op,
	};
	unsigned long at = n->addr, end = n->addr + n->size;
	struct ls_shadow_result r;
	bool shared = false;
	u32 i;

	for (; at < end; at = (at | 7) + 1) {
		struct ls_granule *g = &page->granule[(at & ~PAGE_MASK) >> LS_GRANULE_SHIFT];

		a.bytes = ls_shadow_bytes(at, end);
		r = ls_shadow_step(g, &a, &rules);
		shared |= r.after != LS_EXCLUSIVE_TO;
		if (unlikely(r.handed_over))
			this_cpu_inc(ls_access_cpus.handovers);
		if (unlikely(r.unknown))
			ls_lose_access(LS_ALOSS_LOCKSETS);
		if (unlikely(r.race))
			ls_report_race(n, at, g, &(struct ls_shadow_side){ r.other, r.other_context, r.other_lockset }, site);
		for (i = 0; unlikely(i < r.nr_further); i++)
			ls_report_race(n, at, g, &r.further[i], site);
		if (unlikely(at - ls_follow_start < ls_follow_bytes))
			report_history(n, at, site, &r);
	}
	if (shared && !(ls_load(&ls_acc->ops[site]) & LS_OP_SHARED))
		ls_store(&ls_acc->ops[site], ls_acc->ops[site] | LS_OP_SHARED);
	if (n->size >= BYTES_PER_COST && !ls_sample_lasts(&ls_sample, n->addr))
		this_cpu_sub(ls_access_cpus.credit, n->size / BYTES_PER_COST);
}

/* Hash of everything that determines lockset, access site and the current context. */
static __always_inline u64 signature(const struct ls_now *n)
{
	const struct ls_ctx *ctx = n->ctx;
	u64 sig = ctx->key + (u64)current + ((u64)n->count << 1 | n->irq_off) + ctx->run;
	struct ls_seq_slot *s;
	unsigned long owner;
	u32 i;

	for (i = 0; i < ctx->depth; i++)
		sig = (sig + (ctx->held[i].lock ^ (u64)ctx->held[i].ip << 32)) * LS_GOLDEN;
	s = ls_seq_slot(n->count, &owner);
	/* The accessed word may be a counter itself; it does not protect itself. */
	if (s->owner == owner) {
		s->used |= s->read != n->addr;
		sig += ((s->read == n->addr ? 0 : s->read) + (s->write == n->addr ? 0 : s->write * 3)) << 8;
	}
#ifdef CONFIG_PREEMPT_RCU
	sig += (u64)READ_ONCE(current->rcu_read_lock_nesting) << 32;
#endif
	if (unlikely(waiting(n)))
		sig += 1ull << 47;
	return (sig ^ sig >> 32) + ((u64)ls_load(&ls_acc->sync) << 40);
}

static __always_inline void look(struct ls_now *n)
{
	struct ls_shadow_page *page;
	struct ls_granule *g;
	struct ls_same *q;
	u64 sig;
	u32 site, term = ls_sample_term(&ls_sample, n->addr);

	page = ls_shadow_of(n->addr);
	if (unlikely(!page)) {
		if (in_direct_map(n->addr) && !ls_page_exists(n->addr))
			return;
		page = ls_shadow_new(n->addr);
		if (!page)
			return;
	}
	if (unlikely(ls_load(&page->term) != term))
		ls_shadow_renew(page, term);
	g = &page->granule[(n->addr & ~PAGE_MASK) >> LS_GRANULE_SHIFT];
	sig = signature(n);
	q = &this_cpu_read(ls_access_cpus.same)[ls_same_place(n->addr, n->ip)];
	if (ls_same_again(q, n->addr, n->ip, sig, ls_load(&g->state), ls_same_how(n->op, n->size))) {
		site = q->site;
		n->lockset = q->last & 0xffff;
		n->context = q->last >> 16;
		ls_acc->counts[site]++;
		goto stop;
	}
	if (n->addr >= __START_KERNEL_map || !ls_slab_locate(n->addr, &n->cache, &n->start, &n->offset))
		n->start = 0;
	collect(n);
	n->lockset = n->nr < LS_LOCKSET_LOCKS ? ls_lockset_find(&ls_acc->sets, n->key) : LS_LOCKSET_NONE;
	if (unlikely(n->lockset == LS_LOCKSET_NONE)) {
		n->lockset = ls_lockset_intern(&ls_acc->sets, n->elements, n->nr, n->key);
		if (n->lockset == LS_LOCKSET_NONE) {
			ls_lose_access(LS_ALOSS_LOCKSETS);
			return;
		}
		ls_side_locks(n->ctx);
	}
	n->context = ls_access_context(n->level);
	ls_side_task(n->context);
	ls_handover_follow(n);
	site = ls_access_site(n);
	if (unlikely(!site))
		return;
	ls_acc->counts[site]++;
	if (likely(!(n->op & LS_ACC_TRAP)))
		judge(n, page, site);
	/* In a trap preempt_count() differs from one access to the next. */
	if (ls_same_stays(n->addr, n->size, ls_load(&g->state)) && !n->regs) {
		*q = (struct ls_same){
			.addr = n->addr, .ip = n->ip, .signature = sig, .state = ls_load(&g->state),
			.unit = n->way.unit, .object = n->object, .site = site,
			.last = (u64)n->context << 16 | n->lockset,
			.how = ls_same_how(n->op, n->size),
		};
	}
stop:
	if (unlikely(READ_ONCE(ls_stop_at) - (n->addr & READ_ONCE(ls_stop_mask)) < n->size))
		ls_stop(n, site);
}

/*
 * Charge a sample. When the CPU's credit is spent, blocks leave the sample at their next
 * access, and none enter it until the next era.
 */
static noinline void spend(unsigned long addr)
{
	struct ls_access_cpu *c = this_cpu_ptr(&ls_access_cpus);
	u32 era = ls_sample_eras(&ls_sample);
	bool last;

	if (c->era != era) {
		c->credit += min(era - c->era, (u32)SAVED_ERAS) * ERA_ACCESSES;
		c->credit = min(c->credit, SAVED_ERAS * ERA_ACCESSES);
		c->era = era;
	}
	last = --c->credit <= 0;
	if (last)
		ls_store(&ls_sample.open, 0);
	ls_sample_spend(&ls_sample, addr, last);
}

/* @addr is not watched, but the code at @ip was cold. Returns whether it is watched from now on. */
static noinline bool take(unsigned long addr, unsigned long ip, bool stack)
{
	if (!ls_sample_is_cold(&ls_sample, ip))
		return false;
	ls_sample_turn(&ls_sample, ip);
	if (!stack)
		ls_sample_take(&ls_sample, addr);
	return !stack;
}

/* @n: count, irq_off and regs filled in. Preemption off. */
static __always_inline void see(struct ls_now *n, unsigned long addr, u32 size, u32 op, unsigned long ip,
				unsigned long stack)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	bool there = is_on_stack(addr, stack);

	if (unlikely(!ls_active))
		return;
	if (unlikely(!ls_watched(addr)) && !take(addr, ip, there))
		return;
	if (unlikely(there))
		return;
	this_cpu_inc(ls_access_cpus.seen);
	if (unlikely(!ls_sample_lasts(&ls_sample, addr)))
		spend(addr);
	n->ctx = ls_context_of(pc, n->count, &n->level);
	if (unlikely(n->ctx->may_race))
		return;
	if (unlikely(n->ctx->busy || n->level == LS_NMI)) {
		if (!n->ctx->ignoring)
			ls_lose_access(LS_ALOSS_BUSY);
		return;
	}
	n->addr = addr;
	/* An access that crosses a page boundary is checked in its first page only. */
	n->size = min(size, (u32)(PAGE_SIZE - (addr & ~PAGE_MASK)));
	n->op = op;
	n->ip = ip;
	n->nr = 0;
	n->key = n->taken = 0;
	n->moving = false;
	look(n);
}

noinline void ls_access(unsigned long addr, u32 size, u32 op, unsigned long ip)
{
	LS_UNSET struct ls_now n;

	preempt_disable_notrace();
	n.count = preempt_count();
	n.irq_off = !(native_save_fl() & X86_EFLAGS_IF);
	n.regs = NULL;
	see(&n, addr, size, op, ip, (unsigned long)__builtin_frame_address(0));
	ls_leave();
}

/*
 * The current context's accesses may race from here on, or no longer (@begin false). Sections
 * nest. One that began before the module was loaded, or before a context switch that found no
 * room, ends without a begin.
 */
void ls_access_allow_races(bool begin)
{
	struct ls_ctx *ctx;
	u32 level;

	if (unlikely(!READ_ONCE(ls_active)))
		return;
	preempt_disable_notrace();
	ctx = ls_context(this_cpu_ptr(&ls_cpus), &level);
	if (begin)
		ctx->may_race++;
	else if (ctx->may_race)
		ctx->may_race--;
	ls_leave();
}

/* Is @addr canonical and in the kernel's half? A read of any other address is an oops. */
static bool is_kernel_address(unsigned long addr)
{
	u32 unused = 63 - __VIRTUAL_MASK_SHIFT;

	return (long)addr < 0 && (unsigned long)((long)(addr << unused) >> unused) == addr;
}

/*
 * The access at @ip of the code that a trap stopped with @regs. A breakpoint trap
 * counts as an NMI, an optimised probe as one level of preemption off.
 */
void ls_access_trapped(unsigned long addr, u32 size, u32 op, unsigned long ip, struct pt_regs *regs)
{
	LS_UNSET struct ls_now n;

	/* The operand of a probe comes from user space and may be wrong. */
	if (!is_kernel_address(addr))
		return;
	preempt_disable_notrace();
	n.count = preempt_count();
	n.count -= n.count & NMI_MASK ? NMI_OFFSET + HARDIRQ_OFFSET : 1;
	n.irq_off = !(regs->flags & X86_EFLAGS_IF);
	n.regs = regs;
	see(&n, addr, size, op, ip, regs->sp);
	ls_leave();
}
