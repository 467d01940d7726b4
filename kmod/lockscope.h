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
#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/stat.h"
#include "core/state.h"
#include "hook/hook.h"
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

extern bool ls_splat, ls_splat_unproven;

/* waits.c: thread only */
int ls_waits_init(u32 nr);
void ls_waits_exit(void);
void ls_waits_look(void);
long ls_waits_list(struct ls_waits_req __user *arg);	/* any sleepable context */

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
