// SPDX-License-Identifier: GPL-2.0
/* Running a side in the context it belongs to, and small helpers for cases. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "selftest.h"
#include "base/wrapper/hrtimer.h"

struct ls_job {
	void (*run)(void);
	unsigned int rounds;
	struct completion done;
	bool wrong_context;
	struct task_struct *ending;
	union {
		struct work_struct work;
		struct tasklet_struct tasklet;
		struct timer_list timer;
		struct hrtimer hrtimer;
	};
};

static void ls_job_run(struct ls_job *job, bool right_context)
{
	unsigned int i;

	job->wrong_context = !right_context;
	for (i = 0; i < job->rounds; i++)
		job->run();
}

static int ls_job_thread(void *data)
{
	struct ls_job *job = data;

	ls_job_run(job, in_task());
	/*
	 * The thread may still run when the waiter goes on: it leaves from the
	 * kernel's own text, as this module's may be gone by then.
	 */
	kthread_complete_and_exit(&job->done, 0);
	return 0;
}

static void ls_job_work(struct work_struct *work)
{
	struct ls_job *job = container_of(work, struct ls_job, work);

	ls_job_run(job, in_task());
	complete(&job->done);
}

static void ls_job_tasklet(struct tasklet_struct *tasklet)
{
	struct ls_job *job = container_of(tasklet, struct ls_job, tasklet);

	ls_job_run(job, in_serving_softirq());
	complete(&job->done);
}

static void ls_job_timer(struct timer_list *timer)
{
	struct ls_job *job = container_of(timer, struct ls_job, timer);

	ls_job_run(job, in_serving_softirq());
	complete(&job->done);
}

static enum hrtimer_restart ls_job_hrtimer(struct hrtimer *hrtimer)
{
	struct ls_job *job = container_of(hrtimer, struct ls_job, hrtimer);

	ls_job_run(job, in_hardirq());
	complete(&job->done);
	return HRTIMER_NORESTART;
}

/*
 * A lock still held at the end of a thread can only be released once the thread has ended,
 * after its last message.
 */
static void ls_job_wait_gone(struct task_struct *task)
{
	while (!READ_ONCE(task->exit_state))
		msleep(1);
	put_task_struct(task);
}

/* The callback may still be on its way out when it has completed the job. */
static void ls_job_settle(struct ls_job *job, enum ls_where where)
{
	switch (where) {
	case LS_THREAD:
	case LS_CALLER:
		break;
	case LS_ENDING:
		ls_job_wait_gone(job->ending);
		break;
	case LS_WORK:
		flush_work(&job->work);
		break;
	case LS_TASKLET:
		tasklet_kill(&job->tasklet);
		break;
	case LS_TIMER:
		timer_delete_sync(&job->timer);
		break;
	case LS_HRTIMER:
		hrtimer_cancel(&job->hrtimer);
		break;
	}
}

static int ls_job_start(struct ls_job *job, enum ls_where where, const char *comm)
{
	struct task_struct *task;

	switch (where) {
	case LS_THREAD:
		task = kthread_run(ls_job_thread, job, "%s", comm);
		return PTR_ERR_OR_ZERO(task);
	case LS_ENDING:
		task = kthread_create(ls_job_thread, job, "%s", comm);
		if (IS_ERR(task))
			return PTR_ERR(task);
		job->ending = get_task_struct(task);
		wake_up_process(task);
		return 0;
	case LS_CALLER:
		ls_job_run(job, in_task());
		complete(&job->done);
		return 0;
	case LS_WORK:
		INIT_WORK(&job->work, ls_job_work);
		queue_work(system_unbound_wq, &job->work);
		return 0;
	case LS_TASKLET:
		tasklet_setup(&job->tasklet, ls_job_tasklet);
		tasklet_schedule(&job->tasklet);
		return 0;
	case LS_TIMER:
		timer_setup(&job->timer, ls_job_timer, TIMER_PINNED);
		mod_timer(&job->timer, jiffies + 1);
		return 0;
	case LS_HRTIMER:
		hrtimer_setup(&job->hrtimer, ls_job_hrtimer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
		hrtimer_start(&job->hrtimer, ns_to_ktime(100 * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_PINNED_HARD);
		return 0;
	}
	return -EINVAL;
}

int ls_run_rounds(enum ls_where where, const char *comm, void (*run)(void), unsigned int rounds)
{
	struct ls_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return -ENOMEM;
	job->run = run;
	job->rounds = rounds;
	init_completion(&job->done);
	ret = ls_job_start(job, where, comm);
	if (ret)
		goto out;
	wait_for_completion(&job->done);
	ls_job_settle(job, where);
	if (job->wrong_context)
		ret = -EPROTO;
out:
	kfree(job);
	return ret;
}

struct ls_holder {
	void (*take)(void);
	void (*give)(void);
	struct completion held;
	struct completion release;
	struct completion gone;
};

static int ls_holder_thread(void *data)
{
	struct ls_holder *holder = data;

	holder->take();
	complete(&holder->held);
	wait_for_completion(&holder->release);
	holder->give();
	kthread_complete_and_exit(&holder->gone, 0);
	return 0;
}

struct ls_holder *ls_hold(void (*take)(void), void (*give)(void))
{
	struct ls_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	struct task_struct *task;

	if (!holder)
		goto broken;
	holder->take = take;
	holder->give = give;
	init_completion(&holder->held);
	init_completion(&holder->release);
	init_completion(&holder->gone);
	task = kthread_run(ls_holder_thread, holder, "lst_holder");
	if (IS_ERR(task)) {
		kfree(holder);
		goto broken;
	}
	wait_for_completion(&holder->held);
	return holder;
broken:
	ls_broken(__func__, "no holder thread");
	return NULL;
}

void ls_unhold(struct ls_holder *holder)
{
	if (!holder)
		return;
	complete(&holder->release);
	wait_for_completion(&holder->gone);
	kfree(holder);
}

void ls_raise(int sig)
{
	allow_signal(sig);
	send_sig(sig, current, 1);
	ls_require(signal_pending(current));
}

void ls_lower(int sig)
{
	flush_signals(current);
	disallow_signal(sig);
}

static atomic_t ls_nr_broken = ATOMIC_INIT(0);
static bool ls_forgiving;

void ls_forgive(bool on)
{
	WRITE_ONCE(ls_forgiving, on);
}

void ls_broken(const char *function, const char *what)
{
	if (READ_ONCE(ls_forgiving))
		return;
	pr_err("%s: requirement not met: %s\n", function, what);
	atomic_inc(&ls_nr_broken);
}

bool ls_was_broken(void)
{
	return atomic_xchg(&ls_nr_broken, 0) != 0;
}
