/* SPDX-License-Identifier: GPL-2.0 */
/* The two sides of a race. */
#ifndef LOCKSCOPE_RACE_SIDE_H
#define LOCKSCOPE_RACE_SIDE_H

#include <linux/sched.h>

#include "abi.h"
#include "check/access/access.h"
#include "core/state.h"
#include "lockset.h"
#include "shadow.h"

/* One side of a race on its way to the worker, see struct ls_rec_side. */
struct ls_race_side {
	u32 flags, pid, tgid, task_flags;
	u16 cpu, nr_locks, nr_frames;
	bool in_order;			/* locks are in order of acquisition */
	char comm[LS_COMM_LEN];
	u64 locks[LS_LOCKSET_LOCKS];
	u32 vals[LS_LOCKSET_LOCKS];	/* class, 0: not known; LS_VAL_READ_MASK for a reader */
	u64 frames[LS_STACK_FRAMES];
};

struct ls_race_event {
	struct ls_rec_race race;
	struct ls_history_rec history[LS_SHADOW_ENTRIES];
	struct ls_race_side sides[2];
};

/*
 * A task that accessed watched memory, hashed by the PID bits that the shadow has. @start is
 * written last; UINT64_MAX: being written.
 */
struct ls_side_task {
	u64 start;			/* the task's start_time, 0: none */
	char comm[LS_COMM_LEN];
	u32 pid, tgid, task_flags;
	bool several;			/* another task had the same bits */
};
#define LS_SIDE_TASK_BITS 12
extern struct ls_side_task ls_side_tasks[];

/* Any context, preemption off. */
void ls_report_race(struct ls_now *n, unsigned long addr, const struct ls_granule *g,
		    const struct ls_shadow_side *other, u32 site);
void ls_report_caught(struct ls_now *n, unsigned long addr, u32 first, u32 second, u32 first_pid,
		      u32 flags, const struct ls_race_side *side);
void ls_side_now(const struct ls_now *n, struct ls_race_side *s);
void ls_side_locks(const struct ls_ctx *ctx);
void ls_side_task_new(struct ls_side_task *t);
/* The current context, @context in the shadow, accesses watched memory. */
static __always_inline void ls_side_task(u32 context)
{
	struct ls_side_task *t = &ls_side_tasks[context & ((1u << LS_SIDE_TASK_BITS) - 1)];

	if (context < 0x8000 &&
	    unlikely(ls_load(&t->start) != current->start_time || t->pid != current->pid ||
		     *(const u64 *)t->comm != *(const u64 *)current->comm))
		ls_side_task_new(t);
}
void ls_access_report_again(void);
void ls_sides_forget(void);
int ls_sides_init(void);
void ls_sides_exit(void);

#endif /* LOCKSCOPE_RACE_SIDE_H */
