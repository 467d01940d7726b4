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
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
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
#define LS_PAIRS_TOLD 64	/* pairs of one class that rings are looked for in, or that are looked into */
#define LS_PAIRS_KEPT 256	/* pairs of one class whose first observation the log has */
#define LS_INVERSIONS_TOLD 32	/* pairs of one class that were taken in both orders */
#define LS_LOOK_BITS 11		/* of an object's bytes that are searched for pointers */

extern bool ls_splat, ls_splat_unproven;

/* prims.c */
int ls_prims_attach(void);
void ls_prims_detach(void);
void ls_prims_keep_on_cpu(void);

DECLARE_PER_CPU(long, ls_inflight);	/* tasks in hooked functions that will come back through us */

extern char *ls_hook_how;

/* hooks.c: called by the trampolines, the ftrace_ops and the kretprobes; by name, where no ENDBR is needed. */
void __noendbr ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_release(unsigned long lock, const unsigned long *frame);
void ls_hook_special(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5,
			      unsigned long ret, unsigned long arg1);
void ls_hook_sleep(unsigned long ip);
void ls_acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);
void ls_release(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);

/* special.c */
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
void ls_hook_queue(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5,
		   unsigned long frame);
void ls_alarm_set(struct ls_cpu *pc, u64 timer);
int ls_waitqueues_attach(void);
void ls_waitqueues_detach(void);

/* events.c: what the thread is told */
void ls_events_clear(void);
struct ls_event *ls_event_reserve(struct ls_cpu *pc, const struct ls_ctx *ctx);
void ls_event_fill(struct ls_event *e, const struct ls_ctx *ctx, u32 what, u64 lock, u64 ip,
		   u32 val, u64 mask, u32 chain, u32 flags, u64 extra);
void ls_fault(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val, u64 mask,
	      u64 extra);
void ls_fault_here(struct ls_cpu *pc, struct ls_ctx *ctx, u32 what, u64 lock, u64 ip, u32 val,
		   u64 mask, u64 extra);

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

/* contention.c */
int ls_contention_attach(void);
void ls_contention_detach(void);

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

/* life.c */
void ls_context_range_gone(unsigned long start, unsigned long end);

/* sched.c */
int ls_sched_attach(void);
void ls_sched_detach(void);

/* memory.c */
int ls_memory_attach(void);
void ls_memory_detach(void);

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
