// SPDX-License-Identifier: GPL-2.0
/* Data shared with softirqs and work items. */
#include <linux/bottom_half.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "races.h"

static unsigned long ctx_timer_v __shared;

static __side void ctx_timer_a(void)
{
	ctx_timer_v = ls_value();
}

static __side void ctx_timer_timer(void)
{
	ctx_timer_v = ls_value();
}

static unsigned long ctx_timer_ok_v __shared;
static DEFINE_SPINLOCK(ctx_timer_ok_s);

static __side void ctx_timer_ok_a(void)
{
	spin_lock_bh(&ctx_timer_ok_s);
	ctx_timer_ok_v = ls_value();
	spin_unlock_bh(&ctx_timer_ok_s);
}

static __side void ctx_timer_ok_timer(void)
{
	spin_lock(&ctx_timer_ok_s);
	ctx_timer_ok_v = ls_value();
	spin_unlock(&ctx_timer_ok_s);
}

/* Not to be preempted by tasks is not enough against a softirq. */
static int ctx_tasklet_v __shared;

static __side void ctx_tasklet_a(void)
{
	preempt_disable();
	ctx_tasklet_v = ls_value();
	preempt_enable();
}

static __side void ctx_tasklet_tasklet(void)
{
	ctx_tasklet_v = ls_value();
}

static DEFINE_PER_CPU(int, ctx_tasklet_ok_v);

static __side void ctx_tasklet_ok_a(void)
{
	local_bh_disable();
	*this_cpu_ptr(&ctx_tasklet_ok_v) = ls_value();
	local_bh_enable();
}

static __side void ctx_tasklet_ok_tasklet(void)
{
	*this_cpu_ptr(&ctx_tasklet_ok_v) = ls_value();
}

/* A timer only looks whether there is something to do. */
static bool ctx_look_v __shared;
static DEFINE_MUTEX(ctx_look_m);

static __side void ctx_look_a(void)
{
	mutex_lock(&ctx_look_m);
	ctx_look_v = ls_value() & 1;
	mutex_unlock(&ctx_look_m);
}

static __side void ctx_look_timer(void)
{
	if (ctx_look_v)
		ls_use(1);
}

static bool ctx_look_ok_v __shared;
static DEFINE_MUTEX(ctx_look_ok_m);

static __side void ctx_look_ok_a(void)
{
	mutex_lock(&ctx_look_ok_m);
	WRITE_ONCE(ctx_look_ok_v, ls_value() & 1);
	mutex_unlock(&ctx_look_ok_m);
}

static __side void ctx_look_ok_timer(void)
{
	if (READ_ONCE(ctx_look_ok_v))
		ls_use(1);
}

/* Softirqs off on one processor, and off on the other. */
static unsigned int ctx_two_v __shared;

static __side void ctx_two_a(void)
{
	local_bh_disable();
	ctx_two_v = ls_value();
	local_bh_enable();
}

static __side void ctx_two_tasklet(void)
{
	ctx_two_v = ls_value();
}

static unsigned int ctx_two_ok_v __shared;
static DEFINE_SPINLOCK(ctx_two_ok_s);

static __side void ctx_two_ok_a(void)
{
	spin_lock_bh(&ctx_two_ok_s);
	ctx_two_ok_v = ls_value();
	spin_unlock_bh(&ctx_two_ok_s);
}

static __side void ctx_two_ok_tasklet(void)
{
	spin_lock(&ctx_two_ok_s);
	ctx_two_ok_v = ls_value();
	spin_unlock(&ctx_two_ok_s);
}

/* A work item is a task like any other. */
static long ctx_work_v __shared;

static __side void ctx_work_a(void)
{
	ctx_work_v = ls_value();
}

static __side void ctx_work_work(void)
{
	ctx_work_v = ls_value();
}

static long ctx_work_ok_v __shared;
static DEFINE_MUTEX(ctx_work_ok_m);

static __side void ctx_work_ok_a(void)
{
	mutex_lock(&ctx_work_ok_m);
	ctx_work_ok_v = ls_value();
	mutex_unlock(&ctx_work_ok_m);
}

static __side void ctx_work_ok_work(void)
{
	mutex_lock(&ctx_work_ok_m);
	ctx_work_ok_v = ls_value();
	mutex_unlock(&ctx_work_ok_m);
}

/* A work item and the timer that would start it. */
static u8 ctx_both_v __shared;
static DEFINE_SPINLOCK(ctx_both_s);

static __side void ctx_both_work(void)
{
	ctx_both_v = ls_value();
}

static __side void ctx_both_timer(void)
{
	spin_lock(&ctx_both_s);
	ctx_both_v = ls_value();
	spin_unlock(&ctx_both_s);
}

static u8 ctx_both_ok_v __shared;
static DEFINE_SPINLOCK(ctx_both_ok_s);

static __side void ctx_both_ok_work(void)
{
	spin_lock_bh(&ctx_both_ok_s);
	ctx_both_ok_v = ls_value();
	spin_unlock_bh(&ctx_both_ok_s);
}

static __side void ctx_both_ok_timer(void)
{
	spin_lock(&ctx_both_ok_s);
	ctx_both_ok_v = ls_value();
	spin_unlock(&ctx_both_ok_s);
}

const struct ls_case race_context_cases[] = {
	{ "ctx_timer", LS_FAULT, LS_RACE, "task against a timer, no lock",
	  "severity!=note variable=ctx_timer_v",
	  .side = { SIDE(ctx_timer_a), IN(LS_TIMER, ctx_timer_timer) } },
	{ "ctx_timer_ok", LS_TWIN, LS_RACE, "task under spin_lock_bh, timer under the lock",
	  "", .side = { SIDE(ctx_timer_ok_a), IN(LS_TIMER, ctx_timer_ok_timer) } },
	{ "ctx_tasklet", LS_FAULT, LS_RACE, "task with preemption off against a tasklet",
	  "severity!=note variable=ctx_tasklet_v",
	  .side = { SIDE(ctx_tasklet_a), IN(LS_TASKLET, ctx_tasklet_tasklet) },
	  .cpus = LS_CPUS_SAME },
	{ "ctx_tasklet_ok", LS_TWIN, LS_RACE, "task with softirqs off against one of its processor",
	  "", .side = { SIDE(ctx_tasklet_ok_a), IN(LS_TASKLET, ctx_tasklet_ok_tasklet) },
	  .cpus = LS_CPUS_SAME },
	{ "ctx_look", LS_FAULT, LS_RACE, "written under a mutex, read in a timer",
	  "severity!=note variable=ctx_look_v",
	  .side = { SIDE(ctx_look_a), IN(LS_TIMER, ctx_look_timer) } },
	{ "ctx_look_ok", LS_TWIN, LS_RACE, "marked where it is written and in the timer",
	  "", .side = { SIDE(ctx_look_ok_a), IN(LS_TIMER, ctx_look_ok_timer) } },
	{ "ctx_two", LS_FAULT, LS_RACE, "softirqs off against another processor's tasklet",
	  "severity!=note variable=ctx_two_v",
	  .side = { SIDE(ctx_two_a), IN(LS_TASKLET, ctx_two_tasklet) }, .cpus = LS_CPUS_TWO },
	{ "ctx_two_ok", LS_TWIN, LS_RACE, "spin_lock_bh against another processor's tasklet",
	  "", .side = { SIDE(ctx_two_ok_a), IN(LS_TASKLET, ctx_two_ok_tasklet) },
	  .cpus = LS_CPUS_TWO },
	{ "ctx_work", LS_FAULT, LS_RACE, "task against a work item, no lock",
	  "severity!=note variable=ctx_work_v",
	  .side = { SIDE(ctx_work_a), IN(LS_WORK, ctx_work_work) } },
	{ "ctx_work_ok", LS_TWIN, LS_RACE, "task and work item under a mutex",
	  "", .side = { SIDE(ctx_work_ok_a), IN(LS_WORK, ctx_work_ok_work) } },
	{ "ctx_both", LS_FAULT, LS_RACE, "work item without the timer's lock",
	  "severity!=note variable=ctx_both_v",
	  .side = { IN(LS_WORK, ctx_both_work), IN(LS_TIMER, ctx_both_timer) } },
	{ "ctx_both_ok", LS_TWIN, LS_RACE, "work item under spin_lock_bh, timer under the lock",
	  "", .side = { IN(LS_WORK, ctx_both_ok_work), IN(LS_TIMER, ctx_both_ok_timer) } },
	{ }
};
