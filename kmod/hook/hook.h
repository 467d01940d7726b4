/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks: where they are, how they are attached and detached. */
#ifndef LOCKSCOPE_HOOK_H
#define LOCKSCOPE_HOOK_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/ibt.h>

#include "sites.h"

struct module;

/* attach.c, unhook.c */
extern char *ls_hook_how;
DECLARE_PER_CPU(long, ls_inflight);	/* tasks that will return through a trampoline */
int ls_prims_attach(void);
void ls_prims_detach(void);
void ls_prims_keep_on_cpu(void);
int ls_unhook_sleepers(void);

/* Called by the trampolines, the ftrace_ops and the kretprobes; by name, where no ENDBR is needed. */
void __noendbr ls_hook_acquire(unsigned long lock, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_release(unsigned long lock, const unsigned long *frame);
void ls_hook_special(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5);
void __noendbr ls_hook_result(unsigned long lock, unsigned long ip, unsigned long func5,
			      unsigned long ret, unsigned long arg1);
void ls_hook_sleep(unsigned long ip);
void ls_hook_wait(unsigned long completion, unsigned long arg1, unsigned long ip, unsigned long func5);
void ls_hook_fallible(unsigned long lock, unsigned long ip, unsigned long func5);
void ls_hook_ww(unsigned long lock, unsigned long acquire, unsigned long ip);
void ls_hook_queue(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5,
		   unsigned long frame);

/* special.c, spins.c, deferred.c, queues.c, task.c, sched.c, contention.c, memory.c */
void ls_special_init(void);
void ls_spins_attach(void);
void ls_spins_detach(void);
int ls_deferred_attach(void);
void ls_deferred_detach(void);
int ls_queues_attach(void);
void ls_queues_detach(void);
int ls_task_attach(void);
void ls_task_detach(void);
int ls_sched_attach(void);
void ls_sched_detach(void);
int ls_contention_attach(void);
void ls_contention_detach(void);
int ls_memory_attach(void);
void ls_memory_detach(void);

/* preempt.c: changes of the preemption model */
void ls_preempt_attach(void);
void ls_preempt_unhook(void);
void ls_preempt_detach(void);

/* annotations.c */
void ls_annotations_module(struct module *mod);
void ls_annotations_detach(void);

/* probes.c: process context */
int ls_probes_set(struct ls_site *sites, u32 nr, u32 *armed, const void *file);
void ls_probes_disown(const void *file);
long ls_probes_hits(u32 __user *to, u32 room);
void ls_probes_init(void);
void ls_probes_exit(void);
u64 ls_probes_missed(void);
u32 ls_probes_armed(void);
extern u32 ls_max_probes;
#endif /* LOCKSCOPE_HOOK_H */
