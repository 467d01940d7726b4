/* SPDX-License-Identifier: GPL-2.0 */
/* Proof of findings: contexts are held at gates, see lockclass/plan.h. */
#ifndef LOCKSCOPE_KMOD_CONFIRM_H
#define LOCKSCOPE_KMOD_CONFIRM_H

#include <linux/jump_label.h>
#include <linux/types.h>

#include "abi.h"

DECLARE_STATIC_KEY_FALSE(ls_confirm_key);	/* there is a plan */

/*
 * An acquisition is about to happen. Any context, preemption off by one level, which may be
 * given up meanwhile. Record the lock as held, and then call ls_confirm_done().
 */
void ls_confirm_at(u64 lock, u64 ip);
void ls_confirm_done(void);
/*
 * In its place where the lock is recorded when the primitive has returned: until then other sides
 * see that the task has begun its own.
 */
void ls_confirm_trying(void);

/*
 * Set by the hooks: do acquisitions that can be interrupted stop at gates? They do not pay for
 * it without a plan. Sleeps, with the plan's mutex held.
 */
extern void (*ls_confirm_switch)(bool on);

/* Process context. @plans and @points are copied; -EINVAL, -EBUSY, -ENOMEM. */
int ls_confirm_set(const struct ls_confirm_plan *plans, u32 nr_plans,
		   const struct ls_confirm_point *points, u32 nr_points, const void *file);
/* End the plan of @file, NULL: any. All gates open, and no context is at one any more. */
void ls_confirm_end(const void *file);
/*
 * No side of a race waits at a gate from here to ls_confirm_resume(). Process context; excludes
 * the other functions.
 */
void ls_confirm_pause(void);
void ls_confirm_resume(void);
/* -ENOENT: @file has no such plan. */
int ls_confirm_read(u32 plan, struct ls_confirm_state *to, const void *file);
/* Findings that have gates at present. Process context. */
u32 ls_confirm_plans(void);

#endif /* LOCKSCOPE_KMOD_CONFIRM_H */
