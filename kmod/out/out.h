/* SPDX-License-Identifier: GPL-2.0 */
/* What the worker does with events: the log, names, findings. */
#ifndef LOCKSCOPE_OUT_H
#define LOCKSCOPE_OUT_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "abi.h"
#include "core/say.h"
#include "core/state.h"
#include "ring.h"
#include "tagtab.h"

/* waits.c: worker only */
extern uint ls_long_wait_ms;
int ls_waits_init(u32 nr);
void ls_waits_exit(void);
void ls_waits_look(void);
long ls_waits_list(struct ls_waits_req __user *arg);	/* any sleepable context */

/* namesakes.c: worker only */
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

/* ledger.c */
bool ls_worker_observation(u32 ordinal, struct ls_rec_sight *s, struct ls_held_rec *held);
u32 ls_worker_stack(u32 id, u64 *ips);
u32 ls_worker_stack_id(const u64 *ips, u32 nr);
int ls_worker_tagtab(struct ls_tagtab *tab, u32 bits);
bool ls_ledger_add(const struct ls_rec_sight *s, u32 *ordinal);
void ls_ledger_forget_stack(const u64 *ips, u32 nr);
u32 ls_ledger_observations(void);
u32 ls_ledger_stacks(void);
int ls_ledger_init(void);
void ls_ledger_exit(void);

/* findings.c */
u32 ls_worker_class(u32 val);
bool ls_worker_left_out(u32 id);
bool ls_worker_handed_over(u32 id);
bool ls_worker_new_report(u64 key);
u32 ls_worker_new_finding(void);
bool ls_worker_take(struct ls_event *e, u32 *ordinal);
void ls_worker_deadlock(const struct ls_finding_edge *edges, u32 nr, bool say);
u32 ls_worker_findings(void);
void ls_findings_name_classes(void);
void ls_findings_settle(bool all);
void ls_findings_forget(void);
void ls_findings_info(struct ls_info *info);
int ls_findings_init(u32 max_classes, u32 max_edges);
void ls_findings_exit(void);

/* worker.c */
extern struct mutex ls_work_mutex;	/* held by the worker while it works, and by control operations */
bool ls_worker_runs(void);
int ls_worker_init(u32 max_classes, u32 max_edges);
void ls_worker_exit(void);
int ls_worker_flush(void);
u64 ls_worker_taken(void);
void ls_worker_log(const void *record, size_t len);
void ls_worker_info(struct ls_info *info);

/* control.c */
int ls_worker_control(u32 op);

/* nesting.c: worker only */
void ls_nesting_take(const struct ls_rec_sight *s, u32 flags, u32 ordinal);
void ls_nesting_settle(void);
void ls_nesting_forget(void);
int ls_nesting_init(void);
void ls_nesting_exit(void);

/* lastwords.c: attached and detached in process context */
extern bool ls_last_words;		/* parameter */
void ls_last_words_attach(void);
void ls_last_words_detach(void);

/* anchor.c */
int ls_anchor_init(const struct ls_info *info);
void ls_anchor_accesses(const struct ls_access_info *info);
void ls_anchor_exit(void);
void ls_log_anchor(struct ls_anchor *a);
void ls_findings_anchor(struct ls_anchor *a);

/* modules.c */
int ls_modules_init(void);
void ls_modules_exit(void);

#endif /* LOCKSCOPE_OUT_H */
