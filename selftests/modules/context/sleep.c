// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping where that is not allowed. What is called might sleep but has no
 * need to: locks are free, completions complete, work is idle. On a kernel that
 * does not check it goes well every time here, which is why such faults last.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "selftest.h"

static DEFINE_MUTEX(slp_preempt_m);

static __side void slp_preempt_task(void)
{
	preempt_disable();
	mutex_lock(&slp_preempt_m);
	mutex_unlock(&slp_preempt_m);
	preempt_enable();
}

static DEFINE_MUTEX(slp_preempt_ok_m);

static __side void slp_preempt_ok_task(void)
{
	mutex_lock(&slp_preempt_ok_m);
	preempt_disable();
	preempt_enable();
	mutex_unlock(&slp_preempt_ok_m);
}

static DEFINE_MUTEX(slp_irqs_m);

static __side void slp_irqs_task(void)
{
	local_irq_disable();
	mutex_lock(&slp_irqs_m);
	mutex_unlock(&slp_irqs_m);
	local_irq_enable();
}

static DEFINE_MUTEX(slp_irqs_ok_m);

static __side void slp_irqs_ok_task(void)
{
	local_irq_disable();
	ls_require(mutex_trylock(&slp_irqs_ok_m));
	mutex_unlock(&slp_irqs_ok_m);
	local_irq_enable();
}

/* A kernel that suspends runs one task, with interrupts off. */
static DEFINE_MUTEX(slp_suspend_ok_m);

static __side void slp_suspend_ok_task(void)
{
	local_irq_disable();
	system_state = SYSTEM_SUSPEND;
	mutex_lock(&slp_suspend_ok_m);
	mutex_unlock(&slp_suspend_ok_m);
	system_state = SYSTEM_RUNNING;
	local_irq_enable();
}

static DECLARE_RWSEM(slp_bh_w);

static __side void slp_bh_task(void)
{
	local_bh_disable();
	down_write(&slp_bh_w);
	up_write(&slp_bh_w);
	local_bh_enable();
}

static DECLARE_RWSEM(slp_bh_ok_w);

static __side void slp_bh_ok_task(void)
{
	local_bh_disable();
	local_bh_enable();
	down_write(&slp_bh_ok_w);
	up_write(&slp_bh_ok_w);
}

static DEFINE_MUTEX(slp_rcu_m);

static __side void slp_rcu_task(void)
{
	rcu_read_lock();
	mutex_lock(&slp_rcu_m);
	mutex_unlock(&slp_rcu_m);
	rcu_read_unlock();
}

static DEFINE_MUTEX(slp_rcu_ok_m);

static __side void slp_rcu_ok_task(void)
{
	mutex_lock(&slp_rcu_ok_m);
	rcu_read_lock();
	rcu_read_unlock();
	mutex_unlock(&slp_rcu_ok_m);
}

static DEFINE_MUTEX(slp_timer_m);
LS_TAKES(slp_timer_softirq, slp_timer_m, mutex_lock, mutex_unlock)

/* What a timer is not allowed to do it leaves to a work item. */
static DEFINE_MUTEX(slp_timer_ok_m);
LS_TAKES(slp_timer_ok_work, slp_timer_ok_m, mutex_lock, mutex_unlock)

static DECLARE_RWSEM(slp_hrtimer_r);
LS_TAKES(slp_hrtimer_hardirq, slp_hrtimer_r, down_read, up_read)

static DECLARE_RWSEM(slp_hrtimer_ok_r);

static __side void slp_hrtimer_ok_hardirq(void)
{
	ls_require(down_read_trylock(&slp_hrtimer_ok_r));
	up_read(&slp_hrtimer_ok_r);
}

static DEFINE_RT_MUTEX(slp_tasklet_r);
LS_TAKES(slp_tasklet_softirq, slp_tasklet_r, rt_mutex_lock, rt_mutex_unlock)

static DEFINE_RT_MUTEX(slp_tasklet_ok_r);
LS_TAKES(slp_tasklet_ok_task, slp_tasklet_ok_r, rt_mutex_lock, rt_mutex_unlock)

static DEFINE_SPINLOCK(slp_alloc_s);

static __side void slp_alloc_task(void)
{
	void *memory;

	spin_lock(&slp_alloc_s);
	memory = kmalloc(64, GFP_KERNEL);
	spin_unlock(&slp_alloc_s);
	kfree(memory);
}

static DEFINE_SPINLOCK(slp_alloc_ok_s);

static __side void slp_alloc_ok_task(void)
{
	void *memory;

	spin_lock(&slp_alloc_ok_s);
	memory = kmalloc(64, GFP_ATOMIC);
	spin_unlock(&slp_alloc_ok_s);
	kfree(memory);
}

/* Without any lock, which a finding then has none of. */
static __side void slp_bare_task(void)
{
	void *memory;

	preempt_disable();
	memory = kmalloc(64, GFP_KERNEL);
	preempt_enable();
	kfree(memory);
}

static __side void slp_bare_ok_task(void)
{
	void *memory;

	preempt_disable();
	memory = kmalloc(64, GFP_ATOMIC);
	preempt_enable();
	kfree(memory);
}

static __side void slp_irqalloc_hardirq(void)
{
	kfree(kmalloc(64, GFP_KERNEL));
}

static __side void slp_irqalloc_ok_hardirq(void)
{
	kfree(kmalloc(64, GFP_ATOMIC));
}

static __side void slp_bhalloc_tasklet(void)
{
	kfree(kmalloc(64, GFP_KERNEL));
}

static __side void slp_bhalloc_ok_tasklet(void)
{
	kfree(kmalloc(64, GFP_NOWAIT));
}

static DEFINE_SPINLOCK(slp_complete_s);
static DECLARE_COMPLETION(slp_complete_done);

static __side void slp_complete_task(void)
{
	complete(&slp_complete_done);
	spin_lock(&slp_complete_s);
	wait_for_completion(&slp_complete_done);
	spin_unlock(&slp_complete_s);
}

static DEFINE_SPINLOCK(slp_complete_ok_s);
static DECLARE_COMPLETION(slp_complete_ok_done);

static __side void slp_complete_ok_task(void)
{
	complete(&slp_complete_ok_done);
	spin_lock(&slp_complete_ok_s);
	ls_require(try_wait_for_completion(&slp_complete_ok_done));
	spin_unlock(&slp_complete_ok_s);
}

/* Freeing nothing might sleep as well: that is reported before the argument is checked. */
static __side void slp_vfree_task(void)
{
	preempt_disable();
	vfree(NULL);
	preempt_enable();
}

static __side void slp_vfree_ok_task(void)
{
	preempt_disable();
	preempt_enable();
	vfree(NULL);
}

static __side void slp_cond_task(void)
{
	rcu_read_lock();
	cond_resched();
	rcu_read_unlock();
}

/* As long walks do: left in between. */
static __side void slp_cond_ok_task(void)
{
	rcu_read_lock();
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	rcu_read_unlock();
}

static __side void slp_might_task(void)
{
	local_irq_disable();
	might_sleep();
	local_irq_enable();
}

static __side void slp_might_ok_task(void)
{
	might_sleep();
	local_irq_disable();
	local_irq_enable();
}

/* A work item that has never run: nothing to wait for. */
static DEFINE_RWLOCK(slp_flush_s);

static void slp_flush_run(struct work_struct *unused)
{
}
static DECLARE_WORK(slp_flush_work, slp_flush_run);

static __side void slp_flush_task(void)
{
	read_lock(&slp_flush_s);
	flush_work(&slp_flush_work);
	read_unlock(&slp_flush_s);
}

static DEFINE_RWLOCK(slp_flush_ok_s);

static void slp_flush_ok_run(struct work_struct *unused)
{
}
static DECLARE_WORK(slp_flush_ok_work, slp_flush_ok_run);

static __side void slp_flush_ok_task(void)
{
	read_lock(&slp_flush_ok_s);
	read_unlock(&slp_flush_ok_s);
	flush_work(&slp_flush_ok_work);
}

const struct ls_case verdict_sleep_cases[] = {
	{ "slp_preempt", LS_FAULT, LS_SLEEP_ATOMIC, "mutex with preemption off",
	  "slp_preempt_m", .side = { { slp_preempt_task } } },
	{ "slp_preempt_ok", LS_TWIN, LS_SLEEP_ATOMIC, "preemption off under a mutex",
	  "slp_preempt_ok_m", .side = { { slp_preempt_ok_task } } },
	{ "slp_irqs", LS_FAULT, LS_SLEEP_ATOMIC, "mutex with interrupts off",
	  "slp_irqs_m", .side = { { slp_irqs_task } } },
	{ "slp_irqs_ok", LS_TWIN, LS_SLEEP_ATOMIC, "mutex_trylock with interrupts off",
	  "slp_irqs_ok_m", .side = { { slp_irqs_ok_task } } },
	{ "slp_suspend_ok", LS_TWIN, LS_SLEEP_ATOMIC, "mutex with interrupts off while the kernel suspends",
	  "slp_suspend_ok_m", .side = { { slp_suspend_ok_task } } },
	{ "slp_bh", LS_FAULT, LS_SLEEP_ATOMIC, "down_write with softirqs off",
	  "slp_bh_w", .side = { { slp_bh_task } } },
	{ "slp_bh_ok", LS_TWIN, LS_SLEEP_ATOMIC, "down_write with softirqs on again",
	  "slp_bh_ok_w", .side = { { slp_bh_ok_task } } },
	{ "slp_rcu", LS_FAULT, LS_SLEEP_ATOMIC, "mutex in an RCU read side",
	  "slp_rcu_m", .side = { { slp_rcu_task } } },
	{ "slp_rcu_ok", LS_TWIN, LS_SLEEP_ATOMIC, "RCU read side under a mutex",
	  "slp_rcu_ok_m", .side = { { slp_rcu_ok_task } } },
	{ "slp_timer", LS_FAULT, LS_SLEEP_ATOMIC, "mutex in a timer",
	  "slp_timer_m", .side = { { slp_timer_softirq, LS_TIMER } } },
	{ "slp_timer_ok", LS_TWIN, LS_SLEEP_ATOMIC, "mutex in a work item",
	  "slp_timer_ok_m", .side = { { slp_timer_ok_work, LS_WORK } } },
	{ "slp_hrtimer", LS_FAULT, LS_SLEEP_ATOMIC, "down_read in a hardirq",
	  "slp_hrtimer_r", .side = { { slp_hrtimer_hardirq, LS_HRTIMER } } },
	{ "slp_hrtimer_ok", LS_TWIN, LS_SLEEP_ATOMIC, "down_read_trylock in a hardirq",
	  "slp_hrtimer_ok_r", .side = { { slp_hrtimer_ok_hardirq, LS_HRTIMER } } },
	{ "slp_tasklet", LS_FAULT, LS_SLEEP_ATOMIC, "rt_mutex in a tasklet",
	  "slp_tasklet_r", .side = { { slp_tasklet_softirq, LS_TASKLET } } },
	{ "slp_tasklet_ok", LS_TWIN, LS_SLEEP_ATOMIC, "rt_mutex in a task",
	  "slp_tasklet_ok_r", .side = { { slp_tasklet_ok_task } } },
	{ "slp_alloc", LS_FAULT, LS_SLEEP_ATOMIC, "kmalloc(GFP_KERNEL) under a spinlock",
	  "slp_alloc_s", .side = { { slp_alloc_task } } },
	{ "slp_alloc_ok", LS_TWIN, LS_SLEEP_ATOMIC, "kmalloc(GFP_ATOMIC) under a spinlock",
	  "slp_alloc_ok_s", .side = { { slp_alloc_ok_task } } },
	{ "slp_bare", LS_FAULT, LS_SLEEP_ATOMIC, "kmalloc(GFP_KERNEL) with preemption off", "",
	  .side = { { slp_bare_task } } },
	{ "slp_bare_ok", LS_TWIN, LS_SLEEP_ATOMIC, "kmalloc(GFP_ATOMIC) with preemption off", "",
	  .side = { { slp_bare_ok_task } } },
	{ "slp_irqalloc", LS_FAULT, LS_SLEEP_ATOMIC, "kmalloc(GFP_KERNEL) in a hardirq", "",
	  .side = { { slp_irqalloc_hardirq, LS_HRTIMER } } },
	{ "slp_irqalloc_ok", LS_TWIN, LS_SLEEP_ATOMIC, "kmalloc(GFP_ATOMIC) in a hardirq", "",
	  .side = { { slp_irqalloc_ok_hardirq, LS_HRTIMER } } },
	{ "slp_bhalloc", LS_FAULT, LS_SLEEP_ATOMIC, "kmalloc(GFP_KERNEL) in a tasklet", "",
	  .side = { { slp_bhalloc_tasklet, LS_TASKLET } } },
	{ "slp_bhalloc_ok", LS_TWIN, LS_SLEEP_ATOMIC, "kmalloc(GFP_NOWAIT) in a tasklet", "",
	  .side = { { slp_bhalloc_ok_tasklet, LS_TASKLET } } },
	{ "slp_complete", LS_FAULT, LS_SLEEP_ATOMIC, "wait_for_completion under a spinlock",
	  "slp_complete_s", .side = { { slp_complete_task } } },
	{ "slp_complete_ok", LS_TWIN, LS_SLEEP_ATOMIC, "try_wait_for_completion under a spinlock",
	  "slp_complete_ok_s", .side = { { slp_complete_ok_task } } },
	{ "slp_vfree", LS_FAULT, LS_SLEEP_ATOMIC, "vfree with preemption off", "",
	  .side = { { slp_vfree_task } } },
	{ "slp_vfree_ok", LS_TWIN, LS_SLEEP_ATOMIC, "vfree with preemption on again", "",
	  .side = { { slp_vfree_ok_task } } },
	{ "slp_cond", LS_FAULT, LS_SLEEP_ATOMIC, "cond_resched in an RCU read side", "",
	  .side = { { slp_cond_task } } },
	{ "slp_cond_ok", LS_TWIN, LS_SLEEP_ATOMIC, "cond_resched between RCU read sides", "",
	  .side = { { slp_cond_ok_task } } },
	{ "slp_might", LS_FAULT, LS_SLEEP_ATOMIC, "might_sleep with interrupts off", "",
	  .side = { { slp_might_task } } },
	{ "slp_might_ok", LS_TWIN, LS_SLEEP_ATOMIC, "might_sleep before interrupts are off", "",
	  .side = { { slp_might_ok_task } } },
	{ "slp_flush", LS_FAULT, LS_SLEEP_ATOMIC, "flush_work under read_lock",
	  "slp_flush_s", .side = { { slp_flush_task } } },
	{ "slp_flush_ok", LS_TWIN, LS_SLEEP_ATOMIC, "flush_work after read_unlock",
	  "slp_flush_ok_s", .side = { { slp_flush_ok_task } } },
	{ }
};
