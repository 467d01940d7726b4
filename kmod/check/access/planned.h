/* SPDX-License-Identifier: GPL-2.0 */
/* Accesses of planned races, see lockclass/plan.h. */
#ifndef LOCKSCOPE_PLANNED_H
#define LOCKSCOPE_PLANNED_H

#include "check/access/access.h"

/* A plan has races: no watchpoint is armed from now on, and accesses are looked up in the plan. */
static inline void ls_accesses_plan(bool on)
{
	WRITE_ONCE(ls_stop_mask, on ? 0 : ~7ul);
}

static __always_inline bool ls_accesses_planned(void)
{
	return !READ_ONCE(ls_stop_mask);
}

/* @n is about to access memory. Any context, preemption off by one level, which may be given up meanwhile. */
void ls_access_planned(struct ls_now *n);

#endif /* LOCKSCOPE_PLANNED_H */
