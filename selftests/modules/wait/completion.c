// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for a completion with a lock held that its completer needs. The completer comes
 * first everywhere, so that nothing waits in earnest but cmp_stack, whose completer holds
 * another lock.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/swait.h>
#include <linux/workqueue.h>

#include "selftest.h"

/* A side that does something about a completion under a lock. */
#define LS_UNDER(function, lock, take, give, what) \
	static __side void function(void) \
	{ \
		take(&(lock)); \
		what; \
		give(&(lock)); \
	}

/* The same after the lock was released. */
#define LS_AFTER(function, lock, take, give, what) \
	static __side void function(void) \
	{ \
		take(&(lock)); \
		give(&(lock)); \
		what; \
	}

static DEFINE_MUTEX(cmp_mutex_m);
static DECLARE_COMPLETION(cmp_mutex_c);
LS_UNDER(cmp_mutex_completes, cmp_mutex_m, mutex_lock, mutex_unlock, complete(&cmp_mutex_c))
LS_UNDER(cmp_mutex_waits, cmp_mutex_m, mutex_lock, mutex_unlock, wait_for_completion(&cmp_mutex_c))

static DEFINE_MUTEX(cmp_mutex_ok_m);
static DECLARE_COMPLETION(cmp_mutex_ok_c);
LS_AFTER(cmp_mutex_ok_completes, cmp_mutex_ok_m, mutex_lock, mutex_unlock,
	 complete(&cmp_mutex_ok_c))
LS_UNDER(cmp_mutex_ok_waits, cmp_mutex_ok_m, mutex_lock, mutex_unlock,
	 wait_for_completion(&cmp_mutex_ok_c))

static DEFINE_MUTEX(cmp_work_m);
static DECLARE_COMPLETION(cmp_work_c);
LS_UNDER(cmp_work_completes, cmp_work_m, mutex_lock, mutex_unlock, complete_all(&cmp_work_c))
LS_UNDER(cmp_work_waits, cmp_work_m, mutex_lock, mutex_unlock, wait_for_completion(&cmp_work_c))

static DEFINE_MUTEX(cmp_work_ok_m);
static DECLARE_COMPLETION(cmp_work_ok_c);
LS_UNDER(cmp_work_ok_completes, cmp_work_ok_m, mutex_lock, mutex_unlock,
	 complete_all(&cmp_work_ok_c))
LS_AFTER(cmp_work_ok_waits, cmp_work_ok_m, mutex_lock, mutex_unlock,
	 wait_for_completion(&cmp_work_ok_c))

/* Waiting under one mutex, completing under a second, the first one under the second. */
static DEFINE_MUTEX(cmp_three_l);
static DEFINE_MUTEX(cmp_three_m);
static DECLARE_COMPLETION(cmp_three_c);
LS_UNDER(cmp_three_completes, cmp_three_m, mutex_lock, mutex_unlock, complete(&cmp_three_c))
LS_UNDER(cmp_three_waits, cmp_three_l, mutex_lock, mutex_unlock, wait_for_completion(&cmp_three_c))
LS_NESTS(cmp_three_ml, cmp_three_m, mutex_lock, mutex_unlock, cmp_three_l, mutex_lock, mutex_unlock)

static DEFINE_MUTEX(cmp_three_ok_l);
static DEFINE_MUTEX(cmp_three_ok_m);
static DECLARE_COMPLETION(cmp_three_ok_c);
LS_UNDER(cmp_three_ok_completes, cmp_three_ok_m, mutex_lock, mutex_unlock,
	 complete(&cmp_three_ok_c))
LS_UNDER(cmp_three_ok_waits, cmp_three_ok_l, mutex_lock, mutex_unlock,
	 ls_require(wait_for_completion_timeout(&cmp_three_ok_c, HZ)))
LS_NESTS(cmp_three_ok_ml, cmp_three_ok_m, mutex_lock, mutex_unlock,
	 cmp_three_ok_l, mutex_lock, mutex_unlock)

/* Two readers: a writer that comes between them keeps the second one out. */
static DECLARE_RWSEM(cmp_rwsem_r);
static DECLARE_COMPLETION(cmp_rwsem_c);
LS_UNDER(cmp_rwsem_completes, cmp_rwsem_r, down_read, up_read, complete(&cmp_rwsem_c))
LS_UNDER(cmp_rwsem_waits, cmp_rwsem_r, down_read, up_read, wait_for_completion(&cmp_rwsem_c))

static DECLARE_RWSEM(cmp_rwsem_ok_r);
static DECLARE_COMPLETION(cmp_rwsem_ok_c);

static __side void cmp_rwsem_ok_completes(void)
{
	ls_require(down_read_trylock(&cmp_rwsem_ok_r));
	complete(&cmp_rwsem_ok_c);
	up_read(&cmp_rwsem_ok_r);
}
LS_UNDER(cmp_rwsem_ok_waits, cmp_rwsem_ok_r, down_read, up_read,
	 wait_for_completion(&cmp_rwsem_ok_c))

static DECLARE_RWSEM(cmp_killable_w);
static DECLARE_COMPLETION(cmp_killable_c);
LS_UNDER(cmp_killable_completes, cmp_killable_w, down_write, up_write, complete(&cmp_killable_c))
LS_UNDER(cmp_killable_waits, cmp_killable_w, down_write, up_write,
	 ls_require(!wait_for_completion_killable(&cmp_killable_c)))

/* Another context does it without. */
static DECLARE_RWSEM(cmp_killable_ok_w);
static DECLARE_COMPLETION(cmp_killable_ok_c);
LS_UNDER(cmp_killable_ok_completes, cmp_killable_ok_w, down_write, up_write,
	 complete(&cmp_killable_ok_c))
LS_UNDER(cmp_killable_ok_waits, cmp_killable_ok_w, down_write, up_write,
	 ls_require(!wait_for_completion_killable(&cmp_killable_ok_c)))

static __side void cmp_killable_ok_other(void)
{
	complete(&cmp_killable_ok_c);
}

/* A timer that needs a spinlock; sleeping under it is another fault. */
static DEFINE_SPINLOCK(cmp_timer_s);
static DECLARE_COMPLETION(cmp_timer_c);
LS_UNDER(cmp_timer_completes, cmp_timer_s, spin_lock, spin_unlock, complete(&cmp_timer_c))
LS_UNDER(cmp_timer_waits, cmp_timer_s, spin_lock_bh, spin_unlock_bh,
	 wait_for_completion(&cmp_timer_c))

static DEFINE_SPINLOCK(cmp_timer_ok_s);
static DECLARE_COMPLETION(cmp_timer_ok_c);
LS_UNDER(cmp_timer_ok_completes, cmp_timer_ok_s, spin_lock, spin_unlock,
	 complete(&cmp_timer_ok_c))
LS_AFTER(cmp_timer_ok_waits, cmp_timer_ok_s, spin_lock_bh, spin_unlock_bh,
	 wait_for_completion(&cmp_timer_ok_c))

/* Waiting for a work item that waits for a task that needs the mutex. */
static DEFINE_MUTEX(cmp_flush_m);
static DECLARE_COMPLETION(cmp_flush_c);
LS_UNDER(cmp_flush_completes, cmp_flush_m, mutex_lock, mutex_unlock, complete(&cmp_flush_c))

static __side void cmp_flush_work(struct work_struct *work)
{
	wait_for_completion(&cmp_flush_c);
}
static DECLARE_WORK(cmp_flush_item, cmp_flush_work);
LS_UNDER(cmp_flush_waits, cmp_flush_m, mutex_lock, mutex_unlock,
	 { schedule_work(&cmp_flush_item); flush_work(&cmp_flush_item); })

static DEFINE_MUTEX(cmp_flush_ok_m);
static DECLARE_COMPLETION(cmp_flush_ok_c);
LS_AFTER(cmp_flush_ok_completes, cmp_flush_ok_m, mutex_lock, mutex_unlock,
	 complete(&cmp_flush_ok_c))

static __side void cmp_flush_ok_work(struct work_struct *work)
{
	wait_for_completion(&cmp_flush_ok_c);
}
static DECLARE_WORK(cmp_flush_ok_item, cmp_flush_ok_work);
LS_UNDER(cmp_flush_ok_waits, cmp_flush_ok_m, mutex_lock, mutex_unlock,
	 { schedule_work(&cmp_flush_ok_item); flush_work(&cmp_flush_ok_item); })

/* The mutex and the completion of one object; in the twin the mutex of another one. */
struct ls_device {
	struct mutex lock;
	struct completion done;
};

static void ls_device_put(struct ls_device **device)
{
	kfree(*device);
	*device = NULL;
}

static struct ls_device *cmp_object_a, *cmp_object_b;

static int cmp_object_setup(void)
{
	struct ls_device **to[] = { &cmp_object_a, &cmp_object_b };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(to); i++) {
		*to[i] = kzalloc(sizeof(struct ls_device), GFP_KERNEL);
		if (!*to[i])
			return -ENOMEM;
		mutex_init(&(*to[i])->lock);
		init_completion(&(*to[i])->done);
	}
	return 0;
}

static void cmp_object_teardown(void)
{
	ls_device_put(&cmp_object_a);
	ls_device_put(&cmp_object_b);
}

LS_UNDER(cmp_object_completes, cmp_object_a->lock, mutex_lock, mutex_unlock,
	 complete(&cmp_object_a->done))
LS_UNDER(cmp_object_others, cmp_object_b->lock, mutex_lock, mutex_unlock,
	 complete(&cmp_object_b->done))
LS_UNDER(cmp_object_waits, cmp_object_b->lock, mutex_lock, mutex_unlock,
	 wait_for_completion(&cmp_object_b->done))

static struct ls_device *cmp_object_ok_a, *cmp_object_ok_b;

static int cmp_object_ok_setup(void)
{
	struct ls_device **to[] = { &cmp_object_ok_a, &cmp_object_ok_b };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(to); i++) {
		*to[i] = kzalloc(sizeof(struct ls_device), GFP_KERNEL);
		if (!*to[i])
			return -ENOMEM;
		mutex_init(&(*to[i])->lock);
		init_completion(&(*to[i])->done);
	}
	return 0;
}

static void cmp_object_ok_teardown(void)
{
	ls_device_put(&cmp_object_ok_a);
	ls_device_put(&cmp_object_ok_b);
}

LS_UNDER(cmp_object_ok_completes, cmp_object_ok_b->lock, mutex_lock, mutex_unlock,
	 complete(&cmp_object_ok_a->done))
LS_UNDER(cmp_object_ok_waits, cmp_object_ok_a->lock, mutex_lock, mutex_unlock,
	 wait_for_completion(&cmp_object_ok_a->done))

/* On the waiter's stack, and waited for in earnest. */
struct ls_request {
	struct work_struct work;
	struct completion *done;
};

static struct completion *ls_request_done(struct work_struct *work)
{
	return container_of(work, struct ls_request, work)->done;
}

static void ls_until_waited_for(struct completion *done)
{
	while (!swait_active(&done->wait))
		msleep(1);
}

static DEFINE_MUTEX(cmp_stack_l);
static DEFINE_MUTEX(cmp_stack_m);
LS_NESTS(cmp_stack_ml, cmp_stack_m, mutex_lock, mutex_unlock, cmp_stack_l, mutex_lock, mutex_unlock)

static __side void cmp_stack_work(struct work_struct *work)
{
	struct completion *done = ls_request_done(work);

	ls_until_waited_for(done);
	mutex_lock(&cmp_stack_m);
	complete(done);
	mutex_unlock(&cmp_stack_m);
}

static __side void cmp_stack_waits(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct ls_request request = { .done = &done };

	INIT_WORK_ONSTACK(&request.work, cmp_stack_work);
	mutex_lock(&cmp_stack_l);
	schedule_work(&request.work);
	wait_for_completion(&done);
	mutex_unlock(&cmp_stack_l);
	flush_work(&request.work);
	destroy_work_on_stack(&request.work);
}

static DEFINE_MUTEX(cmp_stack_ok_l);
static DEFINE_MUTEX(cmp_stack_ok_m);
LS_NESTS(cmp_stack_ok_ml, cmp_stack_ok_m, mutex_lock, mutex_unlock,
	 cmp_stack_ok_l, mutex_lock, mutex_unlock)

static __side void cmp_stack_ok_work(struct work_struct *work)
{
	struct completion *done = ls_request_done(work);

	ls_until_waited_for(done);
	mutex_lock(&cmp_stack_ok_m);
	mutex_unlock(&cmp_stack_ok_m);
	complete(done);
}

static __side void cmp_stack_ok_waits(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct ls_request request = { .done = &done };

	INIT_WORK_ONSTACK(&request.work, cmp_stack_ok_work);
	mutex_lock(&cmp_stack_ok_l);
	schedule_work(&request.work);
	wait_for_completion(&done);
	mutex_unlock(&cmp_stack_ok_l);
	flush_work(&request.work);
	destroy_work_on_stack(&request.work);
}

const struct ls_case verdict_completion_cases[] = {
	{ "cmp_mutex", LS_FAULT, LS_CYCLE, "completing needs the mutex of who waits",
	  "cmp_mutex_m cmp_mutex_c kind=completion",
	  .side = { { cmp_mutex_completes }, { cmp_mutex_waits } } },
	{ "cmp_mutex_ok", LS_TWIN, LS_CYCLE, "the mutex is given back before completing", "",
	  .side = { { cmp_mutex_ok_completes }, { cmp_mutex_ok_waits } } },
	{ "cmp_work", LS_FAULT, LS_CYCLE, "a work item needs the mutex of who waits for it",
	  "cmp_work_m cmp_work_c",
	  .side = { { cmp_work_completes, LS_WORK }, { cmp_work_waits } } },
	{ "cmp_work_ok", LS_TWIN, LS_CYCLE, "the mutex is given back before waiting", "",
	  .side = { { cmp_work_ok_completes, LS_WORK }, { cmp_work_ok_waits } } },
	{ "cmp_three", LS_FAULT, LS_CYCLE, "completing needs a mutex under which the waiter's is taken",
	  "cmp_three_l cmp_three_m cmp_three_c",
	  .side = { { cmp_three_completes }, { cmp_three_ml }, { cmp_three_waits } } },
	{ "cmp_three_ok", LS_TWIN, LS_CYCLE, "who waits gives up after a second", "",
	  .side = { { cmp_three_ok_completes }, { cmp_three_ok_ml }, { cmp_three_ok_waits } } },
	{ "cmp_rwsem", LS_FAULT, LS_CYCLE, "completing and waiting, both as readers",
	  "cmp_rwsem_r cmp_rwsem_c",
	  .side = { { cmp_rwsem_completes }, { cmp_rwsem_waits } } },
	{ "cmp_rwsem_ok", LS_TWIN, LS_CYCLE, "who completes only tried to become a reader", "",
	  .side = { { cmp_rwsem_ok_completes }, { cmp_rwsem_ok_waits } } },
	{ "cmp_killable", LS_FAULT, LS_CYCLE, "wait_for_completion_killable under down_write",
	  "cmp_killable_w cmp_killable_c",
	  .side = { { cmp_killable_completes }, { cmp_killable_waits } } },
	{ "cmp_killable_ok", LS_TWIN, LS_CYCLE, "somebody else completes it without the lock", "",
	  .side = { { cmp_killable_ok_completes }, { cmp_killable_ok_waits },
		    { cmp_killable_ok_other } } },
	{ "cmp_timer", LS_FAULT, LS_CYCLE, "a timer needs the spinlock of who waits for it",
	  "cmp_timer_s cmp_timer_c",
	  .side = { { cmp_timer_completes, LS_TIMER }, { cmp_timer_waits } } },
	{ "cmp_timer_ok", LS_TWIN, LS_CYCLE, "the spinlock is given back before waiting", "",
	  .side = { { cmp_timer_ok_completes, LS_TIMER }, { cmp_timer_ok_waits } } },
	{ "cmp_flush", LS_FAULT, LS_CYCLE, "flush_work of an item that waits for who needs the mutex",
	  "cmp_flush_m cmp_flush_c cmp_flush_work",
	  .side = { { cmp_flush_completes }, { cmp_flush_waits } } },
	{ "cmp_flush_ok", LS_TWIN, LS_CYCLE, "the mutex is given back before completing", "",
	  .side = { { cmp_flush_ok_completes }, { cmp_flush_ok_waits } } },
	{ "cmp_object", LS_FAULT, LS_CYCLE, "the mutex of the object whose completion it is",
	  "kind=mutex kind=completion", .setup = cmp_object_setup, .teardown = cmp_object_teardown,
	  .side = { { cmp_object_completes }, { cmp_object_others }, { cmp_object_waits } } },
	{ "cmp_object_ok", LS_TWIN, LS_CYCLE, "the mutex of another object", "",
	  .setup = cmp_object_ok_setup, .teardown = cmp_object_ok_teardown,
	  .side = { { cmp_object_ok_completes }, { cmp_object_ok_waits } } },
	{ "cmp_stack", LS_FAULT, LS_CYCLE, "a completion on the stack, completed under another mutex",
	  "cmp_stack_l cmp_stack_m kind=completion",
	  .side = { { cmp_stack_ml }, { cmp_stack_waits } } },
	{ "cmp_stack_ok", LS_TWIN, LS_CYCLE, "the other mutex is given back before completing", "",
	  .side = { { cmp_stack_ok_ml }, { cmp_stack_ok_waits } } },
	{ }
};
