/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of lockscope.ko share. */
#ifndef LOCKSCOPE_H
#define LOCKSCOPE_H

#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/ibt.h>

#include "abi.h"
#include "addrmap.h"
#include "base/lookup.h"
#include "base/memory.h"
#include "base/preempt.h"
#include "base/tracepoint.h"
#include "chains.h"
#include "classes.h"
#include "edges.h"
#include "gates.h"
#include "held.h"
#include "judge.h"
#include "orphans.h"
#include "pairs.h"
#include "primitives.h"
#include "ranges.h"
#include "ring.h"
#include "seen.h"
#include "base/wrapper/rearm.h"

/* What is special about an event: ls_rec.flags while it lies in the ring. */
#define LS_EV_INVERSION 1	/* two instances of a class, the other way round than before */
#define LS_EV_SAME 2		/* the same instance once more */
#define LS_EV_PAIR 4		/* a pair of instances not seen before */
#define LS_EV_STRICT 8		/* a class nests in itself, and the rules are strict */
#define LS_EV_NESTED 16		/* a pair of instances of one class, the log is to have it */
#define LS_FAULT_CALLERS 4	/* frames that tell faults apart which are about no lock */
#define LS_PAIRS_TOLD 64	/* pairs of one class that rings are looked for in, or that are looked into */
#define LS_PAIRS_KEPT 256	/* pairs of one class whose first observation the log has */
#define LS_INVERSIONS_TOLD 32	/* pairs of one class that were taken in both orders */
#define LS_LOOK_BITS 11		/* of an object's bytes that are searched for pointers */

#define LS_SAMPLE 64		/* mean number of acquisitions between counted ones */

/*
 * State of one CPU. Written by its own CPU with preemption off; statistics are
 * single-instruction updates, so an interrupt in between does no harm.
 */
struct ls_cpu {
	struct task_struct *cur;	/* whose locks @task holds */
	struct ls_ctx *task;		/* held locks of cur */
	struct ls_ctx *home;		/* context of whoever holds nothing while switched out */
	u32 sample;			/* acquisitions until the next counted one */
	u32 sample_weight;
	u32 random;
	u64 tail;			/* lock that the end of an interrupt has taken, see in_tail(); 0: none */
	struct task_struct *behind;	/* what cur was before, for as long */
	u64 acquisitions[LS_NR_LEVELS];
	u64 releases;
	u64 unknown_releases;
	u64 stale;			/* held entries given up: their release was not seen */
	u64 losses[LS_NR_LOSSES];
	struct ls_ring ring;
	struct irq_work work;
	struct ls_ctx *level;	/* LS_NR_LEVELS - 1: softirq, hardirq, NMI; modules get little per-CPU memory */
};
DECLARE_PER_CPU(struct ls_cpu, ls_cpus);

/* Is the lock held that the end of an interrupt takes? See in_tail(). */
static __always_inline bool ls_has_tail(const struct ls_cpu *pc)
{
	return LS_HAS_REARM && pc->tail;
}

/* Tables that every CPU reads; laid out once at load. */
struct ls_tables {
	struct ls_chains chains;
	struct ls_classes classes;
	struct ls_edges edges;
	struct ls_pairs pairs;
	struct ls_gates gates;		/* what dependencies and pairs of instances were always seen with */
	struct ls_seen seen;		/* pairs of instances of two classes that were reported */
	struct ls_addrmap addrs;	/* lock -> class, where no arithmetic identity exists */
	struct ls_addrmap sites;	/* kmalloc object -> allocation site */
	struct ls_orphans orphans;	/* semaphores released by another context -> when */
	struct ls_addrmap takers;	/* semaphore on no held-lock stack -> its last taker (semaphores.c) */
	struct ls_addrmap semaphores;	/* semaphore released in its present life -> how (semaphores.c) */
	struct ls_addrmap completers;	/* completion -> its last completer (completions.c) */
	struct ls_addrmap makers;	/* completion made with a device's mutex held -> number of that hold */
	struct ls_addrmap tasks;	/* task that sleeps with locks held -> context + 1 */
	u32 nr_unrefined;		/* classes with LS_CLASS_UNREFINED */
	u32 device_holds;		/* of devices' mutexes that completions were made in */
	u32 signal_changes;		/* semaphore classes whose use is taken for another than before */
};
extern struct ls_tables ls;

/* enum ls_kind of a held or acquired word. */
static __always_inline u32 ls_kind_of(u32 val)
{
	return ls.classes.table[val & LS_VAL_CLASS_MASK].kind;
}

/* Allocation site of the kmalloc object that starts at @object, 0 unknown. Any context. */
static __always_inline u32 ls_alloc_site(unsigned long object)
{
	return ls_addrmap_find(&ls.sites, object);
}

extern int ls_active;			/* hooks record; set by the worker's owner only */
extern bool ls_splat, ls_splat_unproven;
extern bool ls_strict;
extern u32 ls_slack;

/* Count a loss. Any context. */
#define ls_lose(what) this_cpu_inc(ls_cpus.losses[what])

/* Map @addr to @id. What has to go for it is a loss. Any context. */
static __always_inline void ls_remember(struct ls_addrmap *m, u64 addr, u32 id)
{
	if (unlikely(ls_addrmap_set(m, addr, id)))
		ls_lose(LS_LOSS_ADDRESSES);
}

/* prims.c */
int ls_prims_init(void);
int ls_prims_attach(void);
void ls_prims_detach(void);
void ls_prims_keep_on_cpu(void);
bool ls_prims_acquire_in(unsigned long ip);
bool ls_prims_spins_in(unsigned long ip);
bool ls_prims_hooks(unsigned long func5);
void ls_prims_readers(enum ls_read read);
u32 ls_prims_count(void);
void ls_prims_info(u32 i, struct ls_prim_info *out);
extern u32 ls_desc_table[];
extern u64 ls_desc_mul;
#define LS_DESC_BITS 10
static __always_inline u32 ls_desc_of(unsigned long func5)
{
	return ls_desc_table[(u64)func5 * ls_desc_mul >> (64 - LS_DESC_BITS)];
}

DECLARE_PER_CPU(long, ls_inflight);	/* tasks in hooked functions that will come back through us */

/* hooks.c: called by the trampolines, the ftrace_ops and the kretprobes; by name, where no ENDBR is needed. */
void __noendbr ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_release(unsigned long lock, const unsigned long *frame);
void ls_hook_special(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5,
			      unsigned long ret, unsigned long arg1);
void ls_hook_sleep(unsigned long ip);
void ls_acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);
void ls_release(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);
u32 ls_class_at(struct ls_ctx *ctx, u64 lock, u32 kind, u64 ip);
u32 ls_where(u32 level);
struct ls_ctx *ls_context(struct ls_cpu *pc, u32 *level);
struct ls_ctx *ls_context_of(struct ls_cpu *pc, unsigned long count, u32 *level);
struct ls_ctx *ls_ctx_fix(struct ls_cpu *pc);

/* special.c */
extern bool ls_ww_unlock_covered;	/* ww_mutex_unlock() calls mutex_unlock() */
void ls_hook_wait(unsigned long completion, unsigned long arg1, unsigned long ip, unsigned long func5);
void ls_hook_ww(unsigned long lock, unsigned long acquire, unsigned long ip);
void ls_look_at_ww(struct ls_cpu *pc, u64 lock, u64 ip, u64 acquire, long ret);
bool ls_ww_enough(struct ls_cpu *pc, u64 lock, u64 ip);
int ls_special_attach(void);
void ls_special_detach(void);

/* semaphores.c */
void ls_add_orphan(u64 lock);
void ls_drop_moved(struct ls_ctx *ctx, u32 level);
void ls_make_room(struct ls_ctx *ctx, u32 level);
void ls_drop_semaphores(struct ls_ctx *ctx, bool user);
int ls_semaphores_init(void);
void ls_semaphores_exit(void);
bool ls_semaphore_taken(struct ls_ctx *ctx, u64 lock, u32 id, u32 level, u32 *stamp);
bool ls_semaphore_release(struct ls_cpu *pc, u64 lock, u64 ip);

/* completions.c */
void ls_completion_made(struct ls_cpu *pc, u64 completion);
void ls_complete(struct ls_cpu *pc, u64 completion, u64 ip);
void ls_wait_over(u64 completion, u32 desc, unsigned long ret);
u64 ls_needed_mask(const struct ls_ctx *ctx);
void ls_see_completer(struct ls_cpu *pc, struct ls_ctx *ctx, u32 id, u64 completion, u64 ip,
		      u64 mask, u32 level, u32 kind);

/* waitqueues.c */
extern bool ls_waitqueues;
void ls_hook_queue(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5,
		   unsigned long frame);
void ls_alarm_set(struct ls_cpu *pc, u64 timer);
int ls_waitqueues_attach(void);
void ls_waitqueues_detach(void);

/* events.c: what the thread is told */
void ls_events_init(void);
void ls_events_clear(void);
u32 ls_task_flags(void);
u64 ls_waiter_ip(void);
bool ls_is_tracer(u64 ip);
u64 ls_caller(u64 ip);
u64 ls_allocator_caller(void);
u32 ls_stack_save(unsigned long *frames, u32 size);
u32 ls_task_stack(struct task_struct *task, u64 *to, u64 ip);
void ls_wake_worker(void);
struct ls_event *ls_event_reserve(struct ls_cpu *pc, const struct ls_ctx *ctx);
void ls_event_fill(struct ls_event *e, const struct ls_ctx *ctx, u32 what, u64 lock, u64 ip,
		   u32 val, u64 mask, u32 chain, u32 flags, u64 extra);
void ls_fault(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val, u64 mask,
	      u64 extra);
void ls_fault_here(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val,
		   u64 mask, u64 extra);

/* The current task, and no interrupt, runs and holds nothing. Preemption off. */
static __always_inline bool ls_holds_nothing(void)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);

	return pc->cur == current && !(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) &&
	       !pc->task->depth;
}

/* life.c: lives of locks, of memory and of tasks */
void ls_range_freed(unsigned long start, unsigned long size, unsigned long ip);
void ls_object_freed(unsigned long object, unsigned long ip);
void ls_vmalloc_freed(unsigned long addr, unsigned long ip);
void ls_drop_gone_frames(struct ls_cpu *pc, struct ls_ctx *ctx, u64 ip, u64 *key, u32 val);
void ls_lock_initialised(struct ls_cpu *pc, unsigned long lock, unsigned long ip);
void ls_tick(struct ls_cpu *pc, bool user);
void ls_switch_atomic(struct ls_cpu *pc, struct ls_ctx *ctx);
int ls_life_attach(void);
void ls_life_detach(void);

/* preempt.c: changes of the preemption model */
void ls_preempt_attach(void);
void ls_preempt_unhook(void);
void ls_preempt_detach(void);

/* stat.c */
DECLARE_STATIC_KEY_FALSE(ls_stat_key);	/* somebody is attached to acquired, released or waited */
void ls_stat_acquired(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, bool held);
void ls_stat_released(struct ls_ctx *ctx, u32 i);
int ls_stat_attach(void);
void ls_stat_detach(void);

/* waits.c: thread only */
int ls_waits_init(u32 nr);
void ls_waits_exit(void);
void ls_waits_look(void);
long ls_waits_list(struct ls_waits_req __user *arg);	/* any sleepable context */

/* annotations.c */
void ls_annotations_module(struct module *mod);
void ls_annotations_detach(void);

/* unhook.c */
int ls_unhook_sleepers(void);

/* context.c */
int ls_context_init(u32 nr);
void ls_context_exit(void);
void ls_context_clear(void);
bool ls_in_schedule(u64 ip);
void ls_context_range_gone(unsigned long start, unsigned long end);
u32 ls_context_next(u32 i);
const struct ls_ctx *ls_context_sleeping(u32 i, struct task_struct **task);
u32 ls_context_waits_on(struct task_struct *task, u64 *queue);
bool ls_context_entry(struct task_struct *task, u64 lock, struct ls_held *out);
int ls_context_attach(void);
void ls_context_detach(void);

/* identity.c */
extern unsigned long ls_percpu_static_start, ls_percpu_static_size;
int ls_identity_init(void);
u32 ls_identify(unsigned long lock, u32 kind, unsigned long ip);
void ls_identity_named(unsigned long lock, u32 kind, const char *name, unsigned long ip);
void ls_identity_cache_gone(unsigned long cache);
bool ls_identity_is_named(unsigned long lock);
void ls_identity_annotate(unsigned long lock, const char *name);
void ls_identity_forget_names(unsigned long start, unsigned long end);
void ls_identity_exit(void);

/* alloc.c: kmalloc objects and where they were allocated */
int ls_alloc_init(u32 bits);
void ls_alloc_exit(void);
int ls_alloc_attach(void);
void ls_alloc_detach(void);
void ls_alloc_forget(unsigned long start, unsigned long end);
unsigned long ls_site_ip(u32 site);
void ls_alloc_seed(const void *object, const char *function);
u32 ls_site_bytes(u32 site);
u32 ls_site_refinement(u32 site);
u32 ls_life(unsigned long addr);
u32 ls_life_known(unsigned long addr);
u64 ls_lock_instance(u64 lock);
u32 ls_lives(unsigned long a, unsigned long b);
void ls_watch_memory(unsigned long addr);
bool ls_watch_area(unsigned long start);
void ls_area_freed(unsigned long start);
u32 ls_alloc_site_at(unsigned long ip);
void ls_site_has_lock(u32 site, bool mixed);
bool ls_site_serves_others(unsigned long ip);
u32 ls_alloc_sites(u32 *learnt);
void ls_watch_object(unsigned long object);

/* allocators.c: functions that allocate for others */
void ls_allocators_init(void);
void ls_allocators_module(struct module *mod, bool coming);
u32 ls_allocator_refines(unsigned long ip);
bool ls_allocator_for_others(unsigned long ip);
bool ls_allocator_keyed(unsigned long ip);
bool ls_non_owner(unsigned long ip);
bool ls_lock_helper(unsigned long ip);
unsigned long ls_lock_user(unsigned long ip);
unsigned long ls_allocator_caller_of(unsigned long ip, u32 *bytes, u32 *refinement);

/* percpu.c: per-CPU memory that has no symbol of the kernel */
bool ls_percpu_find(unsigned long at, struct ls_range *out);
bool ls_percpu_module_name(unsigned long at, char *name, size_t len);
int ls_percpu_init(void);
void ls_percpu_exit(void);
void ls_percpu_attach(void);
void ls_percpu_detach(void);
void ls_percpu_module(struct module *mod, bool coming);
void ls_percpu_named(void __percpu *ptr, unsigned long size, const char *name);

/* roots.c */
void ls_roots_init(void);

/* symbols.c: worker only */
u32 ls_symbol_number(const char *symbol, unsigned long start, bool in_kernel);
void ls_symbol_sized(char *symbol, size_t room, unsigned long start);
int ls_symbols_init(void);
void ls_symbols_exit(void);

/* names.c: worker only */
bool ls_symbol_at(struct ls_rec_symbol *rec);
void ls_symbol_log(u64 ip);
void ls_names_keep(unsigned long start, unsigned long end);
int ls_names_init(u32 max_classes);
void ls_names_exit(void);
void ls_name_class(u32 id);
const char *ls_class_name(u32 id);
const char *ls_kind_name(u32 kind);
void ls_name_data(u32 kind, unsigned long addr, const char *label, char *name, char *module,
		  unsigned long *offset);

/* log.c: written by the worker only */
int ls_log_init(u32 megabytes);
void ls_log_exit(void);
bool ls_log_append(const void *a, size_t a_len, const void *b, size_t b_len, u64 *at);
void ls_log_refuse(void);
bool ls_log_read(u64 at, void *to, size_t len);
u64 ls_log_len(void);
void ls_log_info(u64 *to_be, u64 *are);
extern struct wait_queue_head ls_log_wait;	/* woken after new records */
ssize_t ls_log_copy_to_user(char __user *buf, size_t len, loff_t at);

/* worker.c */
int ls_worker_init(u32 max_classes, u32 max_edges);
void ls_worker_exit(void);
int ls_worker_flush(void);
int ls_worker_control(u32 op);
bool ls_worker_sight(u32 ordinal, struct ls_rec_sight *s, struct ls_held_rec *held);
u32 ls_worker_stack(u32 id, u64 *ips);
u32 ls_worker_stack_id(const u64 *ips, u32 nr);
u32 ls_worker_new_finding(void);
u32 ls_worker_class(u32 val);
bool ls_worker_left_out(u32 id);
bool ls_worker_new_report(u64 key);
int ls_worker_tagtab(struct ls_tagtab *tab, u32 bits);
u32 ls_worker_findings(void);
u64 ls_worker_taken(void);
void ls_worker_module_going(unsigned long start, unsigned long end);
void ls_worker_log(const void *record, size_t len);
void ls_worker_info(struct ls_info *info);
bool ls_worker_take(struct ls_event *e, u32 *ordinal);
void ls_worker_deadlock(const struct ls_finding_edge *edges, u32 nr);
struct ls_info;

/* nesting.c: worker only */
void ls_nesting_take(const struct ls_rec_sight *s, u32 flags, u32 ordinal);
void ls_nesting_settle(void);
void ls_nesting_forget(void);
int ls_nesting_init(void);
void ls_nesting_exit(void);

/* evidence.c: worker only */
void ls_evidence_cycle(u32 kind, const struct ls_finding_edge *edges, u32 nr);
void ls_evidence_work(u32 nr, bool all);
u32 ls_evidence_unproven(void);
void ls_evidence_forget(u32 nr);
int ls_evidence_init(void);
void ls_evidence_exit(void);

/* splat.c */
void ls_splat_deadlock(const struct ls_finding_edge *edges, u32 nr);
void ls_splat_cycle(const struct ls_finding_edge *edges, u32 nr);
void ls_splat_interrupt(u32 kind, const struct ls_finding_edge *edges, u32 nr);
void ls_splat_fault(u32 what, u32 class_id, u32 ordinal);
void ls_splat_inversion(u32 class_id, bool same, u32 first, u32 second);

/* modules.c */
int ls_modules_init(void);
void ls_modules_exit(void);

/* chardev.c, debugfs.c, main.c */
int ls_chardev_init(void);
void ls_chardev_exit(void);
void ls_debugfs_init(void);
void ls_debugfs_exit(void);
void ls_info_fill(struct ls_info *info);
extern u32 ls_ring_bytes;
extern u64 ls_instance;

#endif /* LOCKSCOPE_H */
