// SPDX-License-Identifier: GPL-2.0
/*
 * Orders of locks that take a second look: a lock left and taken again inside a
 * critical section [RacerX, figure 5], and waiting for a work item, which is
 * waiting for whatever its function waits for.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "selftest.h"

static DEFINE_MUTEX(again_mutex_a);
static DEFINE_MUTEX(again_mutex_b);
LS_NESTS(again_mutex_ab, again_mutex_a, mutex_lock, mutex_unlock,
	 again_mutex_b, mutex_lock, mutex_unlock)

static __side void again_mutex_drops_a(void)
{
	mutex_lock(&again_mutex_a);
	mutex_lock(&again_mutex_b);
	mutex_unlock(&again_mutex_a);
	mutex_lock(&again_mutex_a);
	mutex_unlock(&again_mutex_b);
	mutex_unlock(&again_mutex_a);
}

static DEFINE_MUTEX(again_mutex_ok_a);
static DEFINE_MUTEX(again_mutex_ok_b);
LS_NESTS(again_mutex_ok_ab, again_mutex_ok_a, mutex_lock, mutex_unlock,
	 again_mutex_ok_b, mutex_lock, mutex_unlock)

/* Both are left, and both are taken again in their order. */
static __side void again_mutex_ok_drops_both(void)
{
	mutex_lock(&again_mutex_ok_a);
	mutex_lock(&again_mutex_ok_b);
	mutex_unlock(&again_mutex_ok_a);
	mutex_unlock(&again_mutex_ok_b);
	mutex_lock(&again_mutex_ok_a);
	mutex_lock(&again_mutex_ok_b);
	mutex_unlock(&again_mutex_ok_b);
	mutex_unlock(&again_mutex_ok_a);
}

/* Taken with interrupts off, and those are never on in between. */
static DEFINE_SPINLOCK(again_spin_a);
static DEFINE_SPINLOCK(again_spin_b);
LS_NESTS(again_spin_ab, again_spin_a, spin_lock_irq, spin_unlock_irq,
	 again_spin_b, spin_lock, spin_unlock)

static __side void again_spin_drops_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&again_spin_a, flags);
	spin_lock(&again_spin_b);
	spin_unlock(&again_spin_a);
	spin_lock(&again_spin_a);
	spin_unlock(&again_spin_b);
	spin_unlock_irqrestore(&again_spin_a, flags);
}

static DEFINE_SPINLOCK(again_spin_ok_a);
static DEFINE_SPINLOCK(again_spin_ok_b);
LS_NESTS(again_spin_ok_ab, again_spin_ok_a, spin_lock_irq, spin_unlock_irq,
	 again_spin_ok_b, spin_lock, spin_unlock)

static __side void again_spin_ok_tries_a(void)
{
	unsigned long flags;

	spin_lock_irqsave(&again_spin_ok_a, flags);
	spin_lock(&again_spin_ok_b);
	spin_unlock(&again_spin_ok_a);
	ls_require(spin_trylock(&again_spin_ok_a));
	spin_unlock(&again_spin_ok_b);
	spin_unlock_irqrestore(&again_spin_ok_a, flags);
}

/* A reader that becomes a writer has to leave; what it holds stays held. */
static DECLARE_RWSEM(again_rwsem_r);
static DEFINE_MUTEX(again_rwsem_m);

static __side void again_rwsem_rm(void)
{
	down_write(&again_rwsem_r);
	mutex_lock(&again_rwsem_m);
	mutex_unlock(&again_rwsem_m);
	up_write(&again_rwsem_r);
}

static __side void again_rwsem_upgrades(void)
{
	down_read(&again_rwsem_r);
	mutex_lock(&again_rwsem_m);
	up_read(&again_rwsem_r);
	down_write(&again_rwsem_r);
	up_write(&again_rwsem_r);
	mutex_unlock(&again_rwsem_m);
}

static DECLARE_RWSEM(again_rwsem_ok_r);
static DEFINE_MUTEX(again_rwsem_ok_m);

static __side void again_rwsem_ok_rm(void)
{
	down_write(&again_rwsem_ok_r);
	mutex_lock(&again_rwsem_ok_m);
	mutex_unlock(&again_rwsem_ok_m);
	up_write(&again_rwsem_ok_r);
}

static __side void again_rwsem_ok_upgrades(void)
{
	down_read(&again_rwsem_ok_r);
	mutex_lock(&again_rwsem_ok_m);
	mutex_unlock(&again_rwsem_ok_m);
	up_read(&again_rwsem_ok_r);
	down_write(&again_rwsem_ok_r);
	mutex_lock(&again_rwsem_ok_m);
	mutex_unlock(&again_rwsem_ok_m);
	up_write(&again_rwsem_ok_r);
}

/*
 * The first side runs the item to its end. The second waits for it with the
 * lock held that its function takes, and finds it idle.
 */
static DEFINE_MUTEX(work_flush_m);

static __side void work_flush_run(struct work_struct *unused)
{
	mutex_lock(&work_flush_m);
	mutex_unlock(&work_flush_m);
}
static DECLARE_WORK(work_flush_item, work_flush_run);

static __side void work_flush_runs(void)
{
	schedule_work(&work_flush_item);
	flush_work(&work_flush_item);
}

static __side void work_flush_waits(void)
{
	mutex_lock(&work_flush_m);
	flush_work(&work_flush_item);
	mutex_unlock(&work_flush_m);
}

static DEFINE_MUTEX(work_flush_ok_m);

static __side void work_flush_ok_run(struct work_struct *unused)
{
	mutex_lock(&work_flush_ok_m);
	mutex_unlock(&work_flush_ok_m);
}
static DECLARE_WORK(work_flush_ok_item, work_flush_ok_run);

static __side void work_flush_ok_runs(void)
{
	schedule_work(&work_flush_ok_item);
	flush_work(&work_flush_ok_item);
}

static __side void work_flush_ok_waits(void)
{
	mutex_lock(&work_flush_ok_m);
	mutex_unlock(&work_flush_ok_m);
	flush_work(&work_flush_ok_item);
}

/* Learned the other way round: first the waiting, then the run. */
static DECLARE_RWSEM(work_cancel_w);

static __side void work_cancel_run(struct work_struct *unused)
{
	down_read(&work_cancel_w);
	up_read(&work_cancel_w);
}
static DECLARE_WORK(work_cancel_item, work_cancel_run);

static __side void work_cancel_waits(void)
{
	down_write(&work_cancel_w);
	cancel_work_sync(&work_cancel_item);
	up_write(&work_cancel_w);
}

static __side void work_cancel_runs(void)
{
	queue_work(system_unbound_wq, &work_cancel_item);
	flush_work(&work_cancel_item);
}

/* Cancelling without waiting is no order. */
static DECLARE_RWSEM(work_cancel_ok_w);

static __side void work_cancel_ok_run(struct work_struct *unused)
{
	down_read(&work_cancel_ok_w);
	up_read(&work_cancel_ok_w);
}
static DECLARE_WORK(work_cancel_ok_item, work_cancel_ok_run);

static __side void work_cancel_ok_waits(void)
{
	down_write(&work_cancel_ok_w);
	cancel_work(&work_cancel_ok_item);
	up_write(&work_cancel_ok_w);
}

static __side void work_cancel_ok_runs(void)
{
	queue_work(system_unbound_wq, &work_cancel_ok_item);
	flush_work(&work_cancel_ok_item);
}

/* Through a lock in between: the item wants m, whose holder may want n. */
static DEFINE_MUTEX(work_delayed_m);
static DEFINE_MUTEX(work_delayed_n);

static __side void work_delayed_run(struct work_struct *unused)
{
	mutex_lock(&work_delayed_m);
	mutex_unlock(&work_delayed_m);
}
static DECLARE_DELAYED_WORK(work_delayed_item, work_delayed_run);

static __side void work_delayed_runs(void)
{
	schedule_delayed_work(&work_delayed_item, 1);
	flush_delayed_work(&work_delayed_item);
}

LS_NESTS(work_delayed_mn, work_delayed_m, mutex_lock, mutex_unlock,
	 work_delayed_n, mutex_lock, mutex_unlock)

static __side void work_delayed_waits(void)
{
	mutex_lock(&work_delayed_n);
	cancel_delayed_work_sync(&work_delayed_item);
	mutex_unlock(&work_delayed_n);
}

static DEFINE_MUTEX(work_delayed_ok_m);
static DEFINE_MUTEX(work_delayed_ok_n);

static __side void work_delayed_ok_run(struct work_struct *unused)
{
	mutex_lock(&work_delayed_ok_m);
	mutex_unlock(&work_delayed_ok_m);
}
static DECLARE_DELAYED_WORK(work_delayed_ok_item, work_delayed_ok_run);

static __side void work_delayed_ok_runs(void)
{
	schedule_delayed_work(&work_delayed_ok_item, 1);
	flush_delayed_work(&work_delayed_ok_item);
}

LS_NESTS(work_delayed_ok_mn, work_delayed_ok_m, mutex_lock, mutex_unlock,
	 work_delayed_ok_n, mutex_lock, mutex_unlock)

static __side void work_delayed_ok_waits(void)
{
	mutex_lock(&work_delayed_ok_n);
	mutex_unlock(&work_delayed_ok_n);
	cancel_delayed_work_sync(&work_delayed_ok_item);
}

const struct ls_case verdict_order_cases[] = {
	{ "again_mutex", LS_FAULT, LS_CYCLE, "mutex left and taken again under a later one",
	  "again_mutex_a again_mutex_b",
	  .side = { { again_mutex_ab }, { again_mutex_drops_a } } },
	{ "again_mutex_ok", LS_TWIN, LS_CYCLE, "both mutexes left and taken again",
	  "again_mutex_ok_a again_mutex_ok_b",
	  .side = { { again_mutex_ok_ab }, { again_mutex_ok_drops_both } } },
	{ "again_spin", LS_FAULT, LS_CYCLE, "spinlock left and taken again, interrupts off",
	  "again_spin_a again_spin_b",
	  .side = { { again_spin_ab }, { again_spin_drops_a } } },
	{ "again_spin_ok", LS_TWIN, LS_CYCLE, "spinlock left and tried again, interrupts off",
	  "again_spin_ok_a again_spin_ok_b",
	  .side = { { again_spin_ok_ab }, { again_spin_ok_tries_a } } },
	{ "again_rwsem", LS_FAULT, LS_CYCLE, "reader turns writer under a mutex",
	  "again_rwsem_r again_rwsem_m",
	  .side = { { again_rwsem_rm }, { again_rwsem_upgrades } } },
	{ "again_rwsem_ok", LS_TWIN, LS_CYCLE, "reader turns writer with nothing else in hand",
	  "again_rwsem_ok_r again_rwsem_ok_m",
	  .side = { { again_rwsem_ok_rm }, { again_rwsem_ok_upgrades } } },
	{ "work_flush", LS_FAULT, LS_CYCLE, "flush_work with the mutex its function takes",
	  "work_flush_m work_flush_run kind=work",
	  .side = { { work_flush_runs }, { work_flush_waits } } },
	{ "work_flush_ok", LS_TWIN, LS_CYCLE, "flush_work after mutex_unlock",
	  "work_flush_ok_m work_flush_ok_run",
	  .side = { { work_flush_ok_runs }, { work_flush_ok_waits } } },
	{ "work_cancel", LS_FAULT, LS_CYCLE, "cancel_work_sync with the rwsem its function takes",
	  "work_cancel_w work_cancel_run kind=work",
	  .side = { { work_cancel_waits }, { work_cancel_runs } } },
	{ "work_cancel_ok", LS_TWIN, LS_CYCLE, "cancel_work does not wait",
	  "work_cancel_ok_w work_cancel_ok_run",
	  .side = { { work_cancel_ok_waits }, { work_cancel_ok_runs } } },
	{ "work_delayed", LS_FAULT, LS_CYCLE, "cancel_delayed_work_sync, one lock in between",
	  "work_delayed_m work_delayed_n work_delayed_run kind=work",
	  .side = { { work_delayed_runs }, { work_delayed_mn }, { work_delayed_waits } } },
	{ "work_delayed_ok", LS_TWIN, LS_CYCLE, "cancel_delayed_work_sync after mutex_unlock",
	  "work_delayed_ok_m work_delayed_ok_n work_delayed_ok_run",
	  .side = { { work_delayed_ok_runs }, { work_delayed_ok_mn }, { work_delayed_ok_waits } } },
	{ }
};
