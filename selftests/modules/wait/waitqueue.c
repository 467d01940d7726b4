// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting on a wait queue with a lock held that its waker needs. A wait that is not necessary
 * cannot be observed, so all of these really wait, and the waker comes in another way than in
 * the fault: with another lock first, as a reader, or too late, when a signal has ended the
 * wait.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "selftest.h"

/* A queue, its condition, the waiter's lock and the waker's lock. */
#define LS_QUEUE(name) \
	static DEFINE_MUTEX(name##_l); \
	static DEFINE_MUTEX(name##_m); \
	static DECLARE_WAIT_QUEUE_HEAD(name##_q); \
	static bool name##_set

/* The latter is held while the former is taken. */
#define LS_QUEUE_ORDER(name) \
	LS_NESTS(name##_ml, name##_m, mutex_lock, mutex_unlock, name##_l, mutex_lock, mutex_unlock)

/* Does the first waiter sleep? It is on the queue before that, and may be preempted then. */
static bool ls_somebody_sleeps(struct wait_queue_head *queue)
{
	struct wait_queue_entry *first;
	bool sleeps;

	spin_lock_irq(&queue->lock);
	first = list_first_entry_or_null(&queue->head, struct wait_queue_entry, entry);
	sleeps = first && !READ_ONCE(((struct task_struct *)first->private)->on_rq);
	spin_unlock_irq(&queue->lock);
	return sleeps;
}

static void ls_until_asleep(struct wait_queue_head *queue)
{
	while (!ls_somebody_sleeps(queue))
		msleep(1);
}

/* A work item that acts once a task sleeps on the queue. */
#define LS_QUEUE_WORK(name, queue, what) \
	static __side void name##_work(struct work_struct *work) \
	{ \
		ls_until_asleep(queue); \
		what; \
	} \
	static DECLARE_WORK(name##_item, name##_work)

#define LS_WAKES(name, wake) \
	do { \
		WRITE_ONCE(name##_set, true); \
		wake(&name##_q); \
	} while (0)

/* With the waker's lock held, and without. */
#define LS_WAKER(name, wake) \
	LS_QUEUE_WORK(name, &name##_q, \
		      mutex_lock(&name##_m); LS_WAKES(name, wake); mutex_unlock(&name##_m))
#define LS_LATE_WAKER(name, wake) \
	LS_QUEUE_WORK(name, &name##_q, \
		      mutex_lock(&name##_m); mutex_unlock(&name##_m); LS_WAKES(name, wake))

/* A side that waits, with its lock held, for what a work item is about to do. */
#define LS_WAITER(name, wait) \
	static __side void name##_waits(void) \
	{ \
		name##_set = false; \
		mutex_lock(&name##_l); \
		schedule_work(&name##_item); \
		wait; \
		mutex_unlock(&name##_l); \
		flush_work(&name##_item); \
	}

LS_QUEUE(waq_three);
LS_QUEUE_ORDER(waq_three)
LS_WAKER(waq_three, wake_up);
LS_WAITER(waq_three, wait_event(waq_three_q, READ_ONCE(waq_three_set)))

LS_QUEUE(waq_three_ok);
LS_QUEUE_ORDER(waq_three_ok)
LS_LATE_WAKER(waq_three_ok, wake_up);
LS_WAITER(waq_three_ok, wait_event(waq_three_ok_q, READ_ONCE(waq_three_ok_set)))

/* Two readers: a writer that comes between them keeps the second one out. */
static DECLARE_RWSEM(waq_rwsem_r);
static DECLARE_WAIT_QUEUE_HEAD(waq_rwsem_q);
static bool waq_rwsem_set;
LS_QUEUE_WORK(waq_rwsem, &waq_rwsem_q,
	      down_read(&waq_rwsem_r); LS_WAKES(waq_rwsem, wake_up_all); up_read(&waq_rwsem_r));

static __side void waq_rwsem_waits(void)
{
	waq_rwsem_set = false;
	down_read(&waq_rwsem_r);
	schedule_work(&waq_rwsem_item);
	wait_event_killable(waq_rwsem_q, READ_ONCE(waq_rwsem_set));
	up_read(&waq_rwsem_r);
	flush_work(&waq_rwsem_item);
}

static DECLARE_RWSEM(waq_rwsem_ok_r);
static DECLARE_WAIT_QUEUE_HEAD(waq_rwsem_ok_q);
static bool waq_rwsem_ok_set;
LS_QUEUE_WORK(waq_rwsem_ok, &waq_rwsem_ok_q,
	      ls_require(down_read_trylock(&waq_rwsem_ok_r));
	      LS_WAKES(waq_rwsem_ok, wake_up_all); up_read(&waq_rwsem_ok_r));

static __side void waq_rwsem_ok_waits(void)
{
	waq_rwsem_ok_set = false;
	down_read(&waq_rwsem_ok_r);
	schedule_work(&waq_rwsem_ok_item);
	wait_event_killable(waq_rwsem_ok_q, READ_ONCE(waq_rwsem_ok_set));
	up_read(&waq_rwsem_ok_r);
	flush_work(&waq_rwsem_ok_item);
}

/* A signal ends the wait before the task that needs the mutex wakes the queue. */
static DEFINE_MUTEX(waq_signal_m);
static DECLARE_WAIT_QUEUE_HEAD(waq_signal_q);
static bool waq_signal_set;
static struct task_struct *waq_signal_waiter;
LS_QUEUE_WORK(waq_signal, &waq_signal_q, send_sig(SIGUSR1, waq_signal_waiter, 1));

static __side void waq_signal_waits(void)
{
	waq_signal_set = false;
	waq_signal_waiter = current;
	allow_signal(SIGUSR1);
	mutex_lock(&waq_signal_m);
	schedule_work(&waq_signal_item);
	ls_require(wait_event_interruptible(waq_signal_q, READ_ONCE(waq_signal_set)));
	mutex_unlock(&waq_signal_m);
	flush_work(&waq_signal_item);
	ls_lower(SIGUSR1);
}

static __side void waq_signal_wakes(void)
{
	mutex_lock(&waq_signal_m);
	LS_WAKES(waq_signal, wake_up_interruptible);
	mutex_unlock(&waq_signal_m);
}

/* Here it is on the queue with the mutex held, but leaves it before it sleeps. */
static DEFINE_MUTEX(waq_signal_ok_m);
static DECLARE_WAIT_QUEUE_HEAD(waq_signal_ok_q);
static bool waq_signal_ok_set;
LS_QUEUE_WORK(waq_signal_ok, &waq_signal_ok_q,
	      mutex_lock(&waq_signal_ok_m); LS_WAKES(waq_signal_ok, wake_up_interruptible);
	      mutex_unlock(&waq_signal_ok_m));

static __side void waq_signal_ok_waits(void)
{
	DEFINE_WAIT(entry);

	waq_signal_ok_set = false;
	mutex_lock(&waq_signal_ok_m);
	schedule_work(&waq_signal_ok_item);
	for (;;) {
		prepare_to_wait(&waq_signal_ok_q, &entry, TASK_INTERRUPTIBLE);
		if (READ_ONCE(waq_signal_ok_set))
			break;
		mutex_unlock(&waq_signal_ok_m);
		schedule();
		mutex_lock(&waq_signal_ok_m);
	}
	finish_wait(&waq_signal_ok_q, &entry);
	mutex_unlock(&waq_signal_ok_m);
	flush_work(&waq_signal_ok_item);
}

/* Waiting for a work item that waits for a task that needs the mutex. */
static DEFINE_MUTEX(waq_flush_m);
static DECLARE_WAIT_QUEUE_HEAD(waq_flush_q);
static bool waq_flush_set;

static __side void waq_flush_work(struct work_struct *work)
{
	wait_event(waq_flush_q, READ_ONCE(waq_flush_set));
}
static DECLARE_WORK(waq_flush_item, waq_flush_work);

static __side void waq_flush_wakes(void)
{
	waq_flush_set = false;
	schedule_work(&waq_flush_item);
	ls_until_asleep(&waq_flush_q);
	mutex_lock(&waq_flush_m);
	LS_WAKES(waq_flush, wake_up);
	mutex_unlock(&waq_flush_m);
}

static __side void waq_flush_waits(void)
{
	mutex_lock(&waq_flush_m);
	flush_work(&waq_flush_item);
	mutex_unlock(&waq_flush_m);
}

/* Another context wakes it without. */
static DEFINE_MUTEX(waq_flush_ok_m);
static DECLARE_WAIT_QUEUE_HEAD(waq_flush_ok_q);
static bool waq_flush_ok_set;

static __side void waq_flush_ok_work(struct work_struct *work)
{
	wait_event(waq_flush_ok_q, READ_ONCE(waq_flush_ok_set));
}
static DECLARE_WORK(waq_flush_ok_item, waq_flush_ok_work);

static __side void waq_flush_ok_wakes(void)
{
	waq_flush_ok_set = false;
	schedule_work(&waq_flush_ok_item);
	ls_until_asleep(&waq_flush_ok_q);
	mutex_lock(&waq_flush_ok_m);
	LS_WAKES(waq_flush_ok, wake_up);
	mutex_unlock(&waq_flush_ok_m);
}

static __side void waq_flush_ok_waits(void)
{
	mutex_lock(&waq_flush_ok_m);
	flush_work(&waq_flush_ok_item);
	mutex_unlock(&waq_flush_ok_m);
}

static __side void waq_flush_ok_other(void)
{
	wake_up(&waq_flush_ok_q);
}

/* schedule_timeout() may be for ever; in the twin it is not. */
LS_QUEUE(waq_time);
LS_QUEUE_ORDER(waq_time)
LS_WAKER(waq_time, wake_up);
LS_WAITER(waq_time, ls_require(wait_event_timeout(waq_time_q, READ_ONCE(waq_time_set),
						  MAX_SCHEDULE_TIMEOUT)))

LS_QUEUE(waq_time_ok);
LS_QUEUE_ORDER(waq_time_ok)
LS_WAKER(waq_time_ok, wake_up);
LS_WAITER(waq_time_ok, ls_require(wait_event_timeout(waq_time_ok_q, READ_ONCE(waq_time_ok_set),
						     60 * HZ)))

LS_QUEUE(waq_hrtime);
LS_QUEUE_ORDER(waq_hrtime)
LS_WAKER(waq_hrtime, wake_up_interruptible_sync);
LS_WAITER(waq_hrtime, ls_require(!wait_event_interruptible_exclusive(waq_hrtime_q,
								     READ_ONCE(waq_hrtime_set))))

LS_QUEUE(waq_hrtime_ok);
LS_QUEUE_ORDER(waq_hrtime_ok)
LS_WAKER(waq_hrtime_ok, wake_up_sync);
LS_WAITER(waq_hrtime_ok, ls_require(!wait_event_hrtimeout(waq_hrtime_ok_q,
							  READ_ONCE(waq_hrtime_ok_set),
							  ktime_set(60, 0))))

/* A queue on the waiter's stack; in the twin the task is woken past its queue as well. */
static DEFINE_MUTEX(waq_stack_l);
static DEFINE_MUTEX(waq_stack_m);
static struct wait_queue_head *waq_stack_q;
static bool waq_stack_set;
LS_NESTS(waq_stack_ml, waq_stack_m, mutex_lock, mutex_unlock, waq_stack_l, mutex_lock, mutex_unlock)
LS_QUEUE_WORK(waq_stack, waq_stack_q,
	      mutex_lock(&waq_stack_m); WRITE_ONCE(waq_stack_set, true); wake_up(waq_stack_q);
	      mutex_unlock(&waq_stack_m));

static __side void waq_stack_waits(void)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(queue);

	waq_stack_set = false;
	waq_stack_q = &queue;
	mutex_lock(&waq_stack_l);
	schedule_work(&waq_stack_item);
	wait_event(queue, READ_ONCE(waq_stack_set));
	mutex_unlock(&waq_stack_l);
	flush_work(&waq_stack_item);
}

LS_QUEUE(waq_stack_ok);
LS_QUEUE_ORDER(waq_stack_ok)
static struct task_struct *waq_stack_ok_waiter;
LS_QUEUE_WORK(waq_stack_ok, &waq_stack_ok_q,
	      mutex_lock(&waq_stack_ok_m); wake_up(&waq_stack_ok_q);
	      mutex_unlock(&waq_stack_ok_m);
	      ls_until_asleep(&waq_stack_ok_q); msleep(50); WRITE_ONCE(waq_stack_ok_set, true);
	      wake_up_process(waq_stack_ok_waiter));

static __side void waq_stack_ok_waits(void)
{
	waq_stack_ok_set = false;
	waq_stack_ok_waiter = current;
	mutex_lock(&waq_stack_ok_l);
	schedule_work(&waq_stack_ok_item);
	wait_event(waq_stack_ok_q, READ_ONCE(waq_stack_ok_set));
	mutex_unlock(&waq_stack_ok_l);
	flush_work(&waq_stack_ok_item);
}

/* On a queue from a condition's evaluation; in the twin on two at once. */
LS_QUEUE(waq_two);
LS_QUEUE_ORDER(waq_two)
static DECLARE_WAIT_QUEUE_HEAD(waq_two_outer);
LS_WAKER(waq_two, wake_up);

static __side bool waq_two_condition(void)
{
	sched_annotate_sleep();
	wait_event(waq_two_q, READ_ONCE(waq_two_set));
	return true;
}
LS_WAITER(waq_two, ___wait_event(waq_two_outer, waq_two_condition(), TASK_UNINTERRUPTIBLE, 0, 0,
				 schedule()))

LS_QUEUE(waq_two_ok);
LS_QUEUE_ORDER(waq_two_ok)
static DECLARE_WAIT_QUEUE_HEAD(waq_two_ok_other);
LS_WAKER(waq_two_ok, wake_up);

static __side void waq_two_ok_waits_on_both(void)
{
	DEFINE_WAIT(one);
	DEFINE_WAIT(other);

	for (;;) {
		prepare_to_wait(&waq_two_ok_other, &other, TASK_UNINTERRUPTIBLE);
		prepare_to_wait(&waq_two_ok_q, &one, TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(waq_two_ok_set))
			break;
		schedule();
	}
	finish_wait(&waq_two_ok_q, &one);
	finish_wait(&waq_two_ok_other, &other);
}
LS_WAITER(waq_two_ok, waq_two_ok_waits_on_both())

/* What sleeps while the condition is looked at waits for a mutex, not on the queue. */
LS_QUEUE(waq_look);
LS_QUEUE_ORDER(waq_look)
LS_WAKER(waq_look, wake_up_all);
LS_WAITER(waq_look, wait_event_cmd(waq_look_q, READ_ONCE(waq_look_set), , ))

static DEFINE_MUTEX(waq_look_ok_l);
static DEFINE_MUTEX(waq_look_ok_data);
static DECLARE_WAIT_QUEUE_HEAD(waq_look_ok_q);

static void waq_look_ok_take(void)
{
	mutex_lock(&waq_look_ok_data);
}

static void waq_look_ok_give(void)
{
	mutex_unlock(&waq_look_ok_data);
}

/* The waker takes the mutex that the condition needs. */
static __side void waq_look_ok_wakes(void)
{
	mutex_lock(&waq_look_ok_data);
	wake_up(&waq_look_ok_q);
	mutex_unlock(&waq_look_ok_data);
}

static bool waq_look_ok_condition(void)
{
	sched_annotate_sleep();
	mutex_lock(&waq_look_ok_data);
	mutex_unlock(&waq_look_ok_data);
	return true;
}

static struct ls_holder *waq_look_ok_holder;

static void waq_look_ok_release(struct work_struct *work)
{
	ls_until_asleep(&waq_look_ok_q);
	msleep(20);
	ls_unhold(waq_look_ok_holder);
}
static DECLARE_WORK(waq_look_ok_releaser, waq_look_ok_release);

static __side void waq_look_ok_waits(void)
{
	waq_look_ok_holder = ls_hold(waq_look_ok_take, waq_look_ok_give);
	schedule_work(&waq_look_ok_releaser);
	mutex_lock(&waq_look_ok_l);
	___wait_event(waq_look_ok_q, waq_look_ok_condition(), TASK_UNINTERRUPTIBLE, 0, 0,
		      schedule());
	mutex_unlock(&waq_look_ok_l);
	flush_work(&waq_look_ok_releaser);
}

const struct ls_case verdict_waitqueue_cases[] = {
	{ "waq_three", LS_FAULT, LS_CYCLE, "waking needs a mutex under which the waiter's is taken",
	  "waq_three_l waq_three_m waq_three_q kind=waitqueue",
	  .side = { { waq_three_ml }, { waq_three_waits } } },
	{ "waq_three_ok", LS_TWIN, LS_CYCLE, "the mutex is given back before waking", "",
	  .side = { { waq_three_ok_ml }, { waq_three_ok_waits } } },
	{ "waq_rwsem", LS_FAULT, LS_CYCLE, "waking and waiting, both as readers",
	  "waq_rwsem_r waq_rwsem_q", .side = { { waq_rwsem_waits } } },
	{ "waq_rwsem_ok", LS_TWIN, LS_CYCLE, "who wakes only tried to become a reader", "",
	  .side = { { waq_rwsem_ok_waits } } },
	{ "waq_signal", LS_FAULT, LS_CYCLE, "waking needs the mutex of who waits, until a signal comes",
	  "waq_signal_m waq_signal_q", .side = { { waq_signal_waits }, { waq_signal_wakes } } },
	{ "waq_signal_ok", LS_TWIN, LS_CYCLE, "the mutex is given back before sleeping", "",
	  .side = { { waq_signal_ok_waits } } },
	{ "waq_flush", LS_FAULT, LS_CYCLE, "flush_work of an item that waits for who needs the mutex",
	  "waq_flush_m waq_flush_q waq_flush_work",
	  .side = { { waq_flush_wakes }, { waq_flush_waits } } },
	{ "waq_flush_ok", LS_TWIN, LS_CYCLE, "somebody else wakes it without the mutex", "",
	  .side = { { waq_flush_ok_wakes }, { waq_flush_ok_waits }, { waq_flush_ok_other } } },
	{ "waq_time", LS_FAULT, LS_CYCLE, "wait_event_timeout for ever",
	  "waq_time_l waq_time_m waq_time_q", .side = { { waq_time_ml }, { waq_time_waits } } },
	{ "waq_time_ok", LS_TWIN, LS_CYCLE, "wait_event_timeout for a minute", "",
	  .side = { { waq_time_ok_ml }, { waq_time_ok_waits } } },
	{ "waq_hrtime", LS_FAULT, LS_CYCLE, "an exclusive waiter, woken synchronously",
	  "waq_hrtime_l waq_hrtime_m waq_hrtime_q",
	  .side = { { waq_hrtime_ml }, { waq_hrtime_waits } } },
	{ "waq_hrtime_ok", LS_TWIN, LS_CYCLE, "a timer on its stack would wake the waiter", "",
	  .side = { { waq_hrtime_ok_ml }, { waq_hrtime_ok_waits } } },
	{ "waq_stack", LS_FAULT, LS_CYCLE, "a queue on the waiter's stack",
	  "waq_stack_l waq_stack_m kind=waitqueue",
	  .side = { { waq_stack_ml }, { waq_stack_waits } } },
	{ "waq_stack_ok", LS_TWIN, LS_CYCLE, "wake_up_process past the queue, without the mutex", "",
	  .side = { { waq_stack_ok_ml }, { waq_stack_ok_waits } } },
	{ "waq_two", LS_FAULT, LS_CYCLE, "the condition for one queue waits on another",
	  "waq_two_l waq_two_m waq_two_q", .side = { { waq_two_ml }, { waq_two_waits } } },
	{ "waq_two_ok", LS_TWIN, LS_CYCLE, "who waits is on two queues at once", "",
	  .side = { { waq_two_ok_ml }, { waq_two_ok_waits } } },
	{ "waq_look", LS_FAULT, LS_CYCLE, "wait_event_cmd, woken by wake_up_all",
	  "waq_look_l waq_look_m waq_look_q", .side = { { waq_look_ml }, { waq_look_waits } } },
	{ "waq_look_ok", LS_TWIN, LS_CYCLE, "the condition sleeps for the waker's mutex", "",
	  .side = { { waq_look_ok_wakes }, { waq_look_ok_waits } } },
	{ }
};
