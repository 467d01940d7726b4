// SPDX-License-Identifier: GPL-2.0
/*
 * Work items and timers: a run of an item is a reader of the item's "lock", whose class is the
 * function. Both order what precedes their start and what follows their end.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "base/lookup.h"
#include "base/preempt.h"
#include "base/tracepoint.h"
#include "check/access/handover.h"
#include "check/at_end.h"
#include "check/check.h"
#include "core/context.h"
#include "hook/hook.h"
#include "primitives.h"

/*
 * Items of one function run in parallel, one item never twice at a time. A run is a reader of
 * its item's "lock", and a context that waits for the item is a writer. A run waits for none of
 * them, so it does not matter that a softirq, where queues with WQ_BH run theirs, comes to a
 * context that waits.
 */
#define RUN_DESC LS_DESC(WORK, LS_SH | LS_VAL_TRY, 0, 0)

static void on_work_start(void *data, struct work_struct *work)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	/* Like a return address: behind the function's start. */
	pc = this_cpu_ptr(&ls_cpus);
	ls_work_begins();
	ls_acquire(pc, ls_work_instance(work), (u64)work->func + 1, RUN_DESC);
	ctx = ls_context(pc, &level);
	if (ctx->depth)
		ctx->run = (u64)work;
	ls_waited((u64)work);
	ls_leave();
}

static void on_work_end(void *data, struct work_struct *work, work_func_t function)
{
	struct ls_cpu *pc;
	struct ls_ctx *ctx;
	u32 level;

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	ctx = ls_context(pc, &level);
	if (!ctx->busy)
		ls_run_ends(ctx);
	if (unlikely(ctx->depth) && !ctx->busy)
		ls_drop_semaphores(ctx, false);
	ctx->run = 0;
	ls_work_ends(pc, (u64)function);
	ls_completed((u64)work | LS_ENDED);
	ls_leave();
}

/* The item queued by the timer that runs here: queued by the context that started the timer. */
static DEFINE_PER_CPU(struct work_struct *, delayed);
static void *delayed_expired;		/* timer function of delayed work */

static struct work_struct *delayed_work_of(struct timer_list *timer)
{
	return timer->function == delayed_expired && delayed_expired ?
		       &container_of(timer, struct delayed_work, timer)->work : NULL;
}

struct pool_workqueue;

/* The context that queues an item has finished with what it hands over in it. */
static void on_work_queued(void *data, int cpu, struct pool_workqueue *pwq, struct work_struct *work)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	if (this_cpu_read(delayed) != work)
		ls_completed((u64)work);
	ls_leave();
}

/* Both kinds of timers: the same for the context that starts one. */
static void on_hrtimer_started(void *data, void *timer)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_completed((u64)timer);
	ls_alarm_set(this_cpu_ptr(&ls_cpus), (u64)timer);
	ls_leave();
}

static void on_timer_started(void *data, struct timer_list *timer)
{
	struct work_struct *work = delayed_work_of(timer);

	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_completed((u64)timer);
	if (work)
		ls_completed((u64)work);
	ls_leave();
}

static void on_hrtimer_expired(void *data, struct hrtimer *timer)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_waited((u64)timer);
	ls_begins(ls_hrtimer_run(), (u64)timer->function);
	ls_leave();
}

static void on_timer_expired(void *data, struct timer_list *timer)
{
	/* Read before its function runs, which may free it. */
	this_cpu_write(delayed, delayed_work_of(timer));
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_waited((u64)timer);
	ls_begins(LS_RUN_TIMER, (u64)timer->function);
	ls_leave();
}

/* The function has returned; the timer may be freed. */
static void on_hrtimer_ended(void *data, void *timer)
{
	preempt_disable_notrace();
	if (READ_ONCE(ls_active))
		ls_completed((u64)timer | LS_ENDED);
	ls_ends(ls_hrtimer_run());
	ls_leave();
}

static void on_timer_ended(void *data, void *timer)
{
	this_cpu_write(delayed, NULL);
	preempt_disable_notrace();
	if (READ_ONCE(ls_active))
		ls_completed((u64)timer | LS_ENDED);
	ls_ends(LS_RUN_TIMER);
	ls_leave();
}

static struct softirq_action *softirq_actions;
/* First one of each CPU, in struct tasklet_head. */
static struct tasklet_struct * __percpu *tasklets, * __percpu *hi_tasklets;

/* Function that the handler of @vec is about to run: a tasklet's where there is one only. */
static u64 softirq_function(unsigned int vec)
{
	struct tasklet_struct * __percpu *list = vec == TASKLET_SOFTIRQ ? tasklets :
						 vec == HI_SOFTIRQ	? hi_tasklets : NULL;
	/* Stays until the handler takes it; interrupts only append to it. */
	struct tasklet_struct *first = list ? READ_ONCE(*this_cpu_ptr(list)) : NULL;

	if (first && !READ_ONCE(first->next))
		return (u64)READ_ONCE(first->func);
	return (u64)READ_ONCE(softirq_actions[vec].action);
}

static void on_softirq_entry(void *data, unsigned int vec)
{
	if (!READ_ONCE(ls_active) || !softirq_actions)
		return;
	preempt_disable_notrace();
	ls_begins(LS_RUN_SOFTIRQ, softirq_function(vec));
	ls_leave();
}

static void on_softirq_exit(void *data, unsigned int vec)
{
	preempt_disable_notrace();
	ls_ends(LS_RUN_SOFTIRQ);
	ls_leave();
}

/*
 * The poll function of a network device has returned: NET_RX's handler runs many. netpoll runs
 * them with interrupts off, on top of anything.
 */
static void on_napi_poll(void *data, struct napi_struct *napi, int work, int budget)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	if (!irqs_disabled() && !in_hardirq() && ls_in_run(LS_RUN_SOFTIRQ))
		ls_part_ends(LS_RUN_SOFTIRQ, (u64)READ_ONCE(napi->poll));
	ls_leave();
}

static const struct {
	const char *name;
	void *probe;
} probes[] = {
	{ "workqueue_execute_start", on_work_start },
	{ "workqueue_queue_work", on_work_queued },
	{ "workqueue_execute_end", on_work_end },
	{ "timer_start", on_timer_started },
	{ "timer_expire_entry", on_timer_expired },
	{ "timer_expire_exit", on_timer_ended },
	{ "hrtimer_start", on_hrtimer_started },
	{ "hrtimer_expire_entry", on_hrtimer_expired },
	{ "hrtimer_expire_exit", on_hrtimer_ended },
	{ "softirq_entry", on_softirq_entry },
	{ "softirq_exit", on_softirq_exit },
	{ "napi_poll", on_napi_poll },
};

int ls_deferred_attach(void)
{
	int rc = 0;
	u32 i;

	delayed_expired = (void *)ls_symbol("delayed_work_timer_fn");
	softirq_actions = (void *)ls_symbol("softirq_vec");
	tasklets = (void __percpu *)ls_symbol("tasklet_vec");
	hi_tasklets = (void __percpu *)ls_symbol("tasklet_hi_vec");
	if (!softirq_actions)
		pr_warn("no softirq_vec: what softirq handlers leave is not seen\n");
	for (i = 0; i < ARRAY_SIZE(probes) && !rc; i++)
		rc = ls_tracepoint_attach(probes[i].name, probes[i].probe, NULL);
	return rc;
}

void ls_deferred_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		ls_tracepoint_detach(probes[i].name, probes[i].probe, NULL);
}
