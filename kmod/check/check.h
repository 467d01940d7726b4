/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks: acquisitions and releases, and the rules of each kind of lock. Any context,
 * preemption off, unless stated otherwise.
 */
#ifndef LOCKSCOPE_CHECK_H
#define LOCKSCOPE_CHECK_H

#include <linux/types.h>

#include "core/state.h"
#include "primitives.h"

struct task_struct;
struct work_struct;

/* The "lock" of a work item. */
static inline u64 ls_work_instance(const struct work_struct *work)
{
	return (u64)work + LS_ENDED;
}

/* acquire.c, chain.c, release.c */
void ls_acquire(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);
void ls_release(struct ls_cpu *pc, u64 lock, u64 ip, u32 desc);
bool ls_chain_learn(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, u64 key);
bool ls_refine_held(struct ls_ctx *ctx);

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
void ls_wait_begins(struct ls_cpu *pc, u64 completion, u64 ip);
void ls_wait_over(u64 completion, u32 desc, unsigned long ret);
u64 ls_needed_mask(const struct ls_ctx *ctx);
void ls_see_completer(struct ls_cpu *pc, struct ls_ctx *ctx, u32 id, u64 completion, u64 ip,
		      u64 mask, u32 level, u32 kind);

/* waitqueues.c */
void ls_waitqueues_init(void);
void ls_queue_add(struct ls_cpu *pc, u64 head, u64 entry, u64 ip, u64 frame);
void ls_queue_remove(struct ls_cpu *pc, u64 head);
void ls_queue_sleep(struct ls_cpu *pc, u64 ip, u64 frame);
void ls_queue_wake(struct ls_cpu *pc, u64 head, u64 ip);
void ls_queue_waking(struct task_struct *task);
void ls_alarm_set(struct ls_cpu *pc, u64 timer);

/* ww.c */
void ls_ww_begins(struct ls_cpu *pc, u64 lock, u64 ip);
void ls_look_at_ww(struct ls_cpu *pc, u64 lock, u64 ip, u64 acquire, long ret);
void ls_look_at_ww_unlock(struct ls_cpu *pc, u64 lock, u64 ip);
bool ls_ww_enough(struct ls_cpu *pc, u64 lock, u64 ip);

/* life.c: lifetimes of locks, memory and tasks */
void ls_range_freed(unsigned long start, unsigned long size, unsigned long ip);
void ls_object_freed(unsigned long object, unsigned long ip);
void ls_vmalloc_freed(unsigned long addr, unsigned long ip);
void ls_run_ends(struct ls_ctx *ctx);
void ls_drop_gone_frames(struct ls_cpu *pc, struct ls_ctx *ctx, u64 ip, u64 *key, u32 val);
void ls_lock_initialised(struct ls_cpu *pc, unsigned long lock, unsigned long ip);
void ls_tick(struct ls_cpu *pc, bool user);
void ls_schedule_bug(struct ls_cpu *pc);
void ls_task_exits(struct ls_cpu *pc);
void ls_context_range_gone(unsigned long start, unsigned long end);

#endif /* LOCKSCOPE_CHECK_H */
