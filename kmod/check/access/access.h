/* SPDX-License-Identifier: GPL-2.0 */
/* Memory accesses: interface between their sources (call-outs, probes) and the checks. */
#ifndef LOCKSCOPE_ACCESS_H
#define LOCKSCOPE_ACCESS_H

#include <linux/hardirq.h>

#include "core/state.h"
#include "hash.h"
#include "lockset.h"
#include "order.h"
#include "same.h"
#include "sample.h"
#include "shadow.h"
#include "sites.h"
#include "tagtab.h"

struct kmem_cache;
struct pt_regs;

#define LS_MAX_SITES (1u << 17)
static_assert(LS_MAX_SITES - 1 <= LS_SHADOW_MAX_SITE);

/* Which memory is watched. */
extern struct ls_sample ls_sample;

static __always_inline bool ls_watched(unsigned long addr)
{
	return ls_sample_has(&ls_sample, addr);
}

/* Sequence counters: the current section of one level of a CPU. */
struct ls_seq_slot {
	unsigned long owner;		/* task and level */
	unsigned long read;		/* counter of the last marked read */
	u32 read_ip;			/* where, low half; 0: not known any more */
	bool used;			/* an access since then was checked */
	unsigned long write;		/* counter that is about to become odd */
	unsigned long write_ip;		/* where */
	u64 releases;			/* release count of this CPU at that time */
};
#define LS_SEQ_SLOTS 4

/* Per-CPU state. */
struct ls_access_cpu {
	struct ls_same *same;		/* 1 << LS_SAME_BITS; modules get little per-CPU memory */
	u64 seen;
	u64 losses[LS_NR_ALOSSES];
	u64 handovers;
	ls_u64 link_locked;		/* context << 16 | lockset of the last access, 0: none, or a slab object */
	u64 probe_hits;
	u64 left_out;			/* accesses of a sample that found no shadow memory yet */
	u32 era;			/* of the sample: when credit was last added */
	s32 credit;			/* accesses of a sample that may still be checked */
	struct ls_seq_slot seq[LS_SEQ_SLOTS];
};
DECLARE_PER_CPU(struct ls_access_cpu, ls_access_cpus);
#define ls_lose_access(why) this_cpu_inc(ls_access_cpus.losses[why])

/* Tables; laid out once at load. */
struct ls_access_tables {
	struct ls_locksets sets;
	struct ls_tagtab pages;		/* page -> 1 + number of its shadow */
	struct ls_tagtab sites;		/* access site -> its id */
	u8 ops[LS_MAX_SITES];		/* LS_ACC_*, and LS_OP_SHARED */
	u32 counts[LS_MAX_SITES];
	u32 nr_sites;
	u32 nr_pages;			/* shadow pages in use */
	u32 max_pages;
	u32 sync;			/* number of ordering events: the clock of stamps */
};
extern struct ls_access_tables *ls_acc;

/* Follows an LS_REC_ACCESS in the ring: the object, then frames. */
struct ls_access_object {
	u64 type;			/* symbol's address, cache, allocation site: by kind */
	u64 start;			/* of the object, 0 unknown */
	u32 kind;			/* enum ls_data_kind */
	u32 size;
	char label[LS_LABEL_LEN];	/* cache's name */
};

/*
 * What identifies the data, as a number. When a cache is destroyed the next one may get its
 * address, so its name counts, too.
 */
static inline u64 ls_data_hash(const struct ls_access_object *o, u64 type)
{
	u64 key = ls_mix(ls_mix(type) + o->kind), word;
	u32 i;

	for (i = 0; o->kind == LS_DATA_SLAB && i < LS_LABEL_LEN; i += sizeof(word)) {
		memcpy(&word, o->label + i, sizeof(word));
		key = ls_mix(key + word);
	}
	return key;
}

#define LS_OP_SHARED 0x80u	/* the memory was shared by then; see LS_COUNT_SHARED */

/*
 * Section of the context that runs with preempt_count() @count. Tasks, softirqs and hardirqs
 * have one each, so an interrupt does not end the section of the code that it interrupts.
 */
static __always_inline struct ls_seq_slot *ls_seq_slot(unsigned long count, unsigned long *owner)
{
	unsigned long level = count & (HARDIRQ_MASK | SOFTIRQ_OFFSET);

	*owner = (unsigned long)current ^ level;
	return &this_cpu_ptr(&ls_access_cpus)
			->seq[(level >> SOFTIRQ_SHIFT & 1) | (level >> (HARDIRQ_SHIFT - 1) & 2)];
}

/*
 * A word that was made odd at one address and even at another, with no lock released in
 * between, is a sequence counter. Its updates are plain and its readers' loads marked, which
 * is not a race. A word that one place makes both odd and even is a plain count.
 */
#define LS_COUNTER_BITS 12
#define LS_COUNTER_WAYS 4	/* slots where an entry may be */
extern unsigned long ls_counters[];
static __always_inline unsigned long *ls_counter_places(unsigned long addr)
{
	return &ls_counters[(ls_mix(addr) >> (64 - LS_COUNTER_BITS)) & ~(LS_COUNTER_WAYS - 1ul)];
}

static __always_inline bool ls_is_counter(unsigned long addr)
{
	unsigned long *at = ls_counter_places(addr);
	u32 i;

	for (i = 0; i < LS_COUNTER_WAYS; i++)
		if (ls_load(&at[i]) == addr)
			return true;
	return false;
}

/* The last slot is overwritten when the others are in use. */
static __always_inline void ls_counter_seen(unsigned long addr)
{
	unsigned long *at = ls_counter_places(addr);
	u32 i;

	for (i = 0; i < LS_COUNTER_WAYS - 1; i++)
		if (!ls_load(&at[i]) || ls_load(&at[i]) == addr)
			break;
	if (ls_load(&at[i]) != addr)
		ls_store(&at[i], addr);
}

/*
 * A marked read of a word begins a read section. Another one of the same word ends it, if it
 * has another address or if memory was accessed in between; otherwise the reader spins for an
 * even value. The value itself is not known: the call-out precedes the read. A write to an
 * even counter begins a write section, which lasts until the next write to it. Any context but
 * NMI, where accesses are not checked. The state is unused once the task has left the CPU.
 */
static __always_inline void ls_access_seq(unsigned long addr, u32 op, unsigned long ip)
{
	unsigned long owner, count = preempt_count();
	struct ls_seq_slot *s = ls_seq_slot(count, &owner);

	if (unlikely(count & NMI_MASK))
		return;
	if (unlikely(s->owner != owner)) {
		s->owner = owner;
		s->read = s->write = 0;
	}
	if (op & LS_ACC_WRITE) {
		if (!(READ_ONCE(*(u32 *)addr) & 1)) {
			s->write = addr;
			s->write_ip = ip;
			s->releases = this_cpu_read(ls_cpus.releases);
		} else if (s->write == addr) {
			s->write = 0;
			if (s->write_ip != ip && s->releases == this_cpu_read(ls_cpus.releases))
				ls_counter_seen(addr);
		}
	} else if (s->read != addr) {
		s->read = addr;
		s->read_ip = ip;
		s->used = false;
	} else if (s->used || (s->read_ip && s->read_ip != (u32)ip)) {
		s->read = 0;
	}
}

/*
 * Counter in whose read section @prev is switched out, 0: none. A preempted task may be in a
 * section of any word; a task that sleeps only of a known counter, because any marked read
 * looks like the begin of a section. Interrupts off.
 */
static __always_inline unsigned long ls_section_leave(const struct task_struct *prev, bool preempt)
{
	struct ls_seq_slot *s = &this_cpu_ptr(&ls_access_cpus)->seq[0];

	if (likely(s->owner != (unsigned long)prev) || !s->read)
		return 0;
	return preempt || ls_is_counter(s->read) ? s->read : 0;
}

/* @next is switched in again, and was in a read section of @counter. Interrupts off. */
static __always_inline void ls_section_return(const struct task_struct *next, unsigned long counter)
{
	struct ls_seq_slot *s = &this_cpu_ptr(&ls_access_cpus)->seq[0];

	s->owner = (unsigned long)next;
	s->read = counter;
	s->read_ip = 0;
	s->used = false;
	s->write = 0;
}

/* State of the access that is being checked. */
struct ls_now {
	struct ls_ctx *ctx;
	struct pt_regs *regs;		/* of the trapped context; NULL for call-outs */
	unsigned long addr, ip;
	unsigned long count;		/* preempt_count() of the accessing code, plus one */
	struct ls_object *object;	/* ordering state of the object, NULL: no heap memory */
	struct ls_way way;
	struct kmem_cache *cache;
	unsigned long start;		/* start of the slab object, 0: there is none */
	u32 offset;			/* offset in it */
	u64 key;			/* hash of elements */
	u64 taken;			/* hash of acquire sites, in order of acquisition */
	ls_u64 elements[LS_LOCKSET_LOCKS + 8];
	u32 nr, size, op, level, context, lockset;
	u32 where;			/* LS_WHERE_*, and context bits of LS_VAL_* */
	bool irq_off;
	bool moving;			/* the lockset has locks that lie in objects */
};

/* access.c: any context. @ip: return address of the access. */
void ls_access(unsigned long addr, u32 size, u32 op, unsigned long ip);
void ls_access_trapped(unsigned long addr, u32 size, u32 op, unsigned long ip, struct pt_regs *regs);
void ls_access_allow_races(bool begin);
u32 ls_access_context(u32 level);

/* site.c: any context, preemption off */
u32 ls_access_site(struct ls_now *n);
u32 ls_access_frames(u64 *to, const struct ls_now *n);
void ls_memo_clear(void);
void ls_access_site_init(void);

/* shadow_pages.c */
struct ls_shadow_page *ls_shadow_of(unsigned long addr);
struct ls_shadow_page *ls_shadow_new(unsigned long addr);
void ls_shadow_renew(struct ls_shadow_page *page, u32 term);
void ls_shadow_freed(unsigned long start, unsigned long size);
bool ls_access_is_benign(unsigned long addr);

/* watchpoints.c */
extern bool ls_watchpoints;		/* arm them from the start */
extern unsigned long ls_stop_at;	/* granule at which accessors are stopped, 0 none */
extern unsigned long ls_stop_mask;	/* of addresses compared with it; 0: all of them, for a plan */
void ls_stop(struct ls_now *n, u32 site);
int ls_watchpoints_init(void);
void ls_watchpoints_exit(void);
void ls_watchpoints_use(bool on);
void ls_watchpoints_forget(unsigned long start, unsigned long end);
void ls_watchpoints_want(unsigned long addr, u32 size);
u32 ls_watchpoints_armed(void);
u32 ls_watchpoints_caught(void);

/* trapped.c: traps of watchpoints */
bool ls_trapped_decode(const struct pt_regs *regs, struct ls_site *s);
bool ls_trapped_in_us(struct pt_regs *regs);
void ls_trapped_init(void);

void ls_object_forget(unsigned long object);
static __always_inline void ls_object_reborn(unsigned long object)
{
	if (unlikely(ls_watched(object)) && unlikely(ls_load(&ls_acc->nr_pages)))
		ls_object_forget(object);
}
int ls_access_init(u32 megabytes);
void ls_access_exit(void);
bool ls_access_provide(void);
void ls_access_forget_all(void);
extern u32 ls_follow_bytes;
extern unsigned long ls_follow_start;
void ls_access_forget_benign(unsigned long start, unsigned long end);
int ls_access_benign(unsigned long start, unsigned long size);

#endif /* LOCKSCOPE_ACCESS_H */
