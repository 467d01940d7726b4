// SPDX-License-Identifier: GPL-2.0
/*
 * The worker thread: names classes, drains the event rings, writes the log, feeds the judge
 * and reports findings. The only writer of all of these; ls_work_mutex keeps control
 * operations out while it works.
 */
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "base/memory.h"
#include "core/state.h"
#include "out/evidence.h"
#include "out/out.h"
#include "out/races/accesses.h"

#define WORKER_NICE (-10)

DEFINE_MUTEX(ls_work_mutex);
static struct task_struct *thread;
static DECLARE_WAIT_QUEUE_HEAD(flushed);
static u64 flush_wanted, flush_done;

static u64 taken;			/* events taken from the rings */
static DEFINE_PER_CPU(u64, round_end);	/* end of a CPU's ring when the round began */

static void take_event(struct ls_event *e)
{
	u32 ordinal;

	if (((struct ls_rec *)(e + 1))->type)
		ls_races_take(e);
	else
		ls_worker_take(e, &ordinal);
}

static void provide_segments(void)
{
	int seg;

	while ((seg = ls_chains_want(&ls.chains)) >= 0) {
		struct ls_chain *mem = ls_zalloc(array_size(LS_CHAIN_SEG, sizeof(*mem)));

		if (!mem)
			break;
		ls_chains_provide(&ls.chains, seg, mem);
	}
}

/*
 * What completers need gets more accurate with each completion: cycles through completions are
 * searched periodically, and on request.
 */
#define SETTLE_INTERVAL (10 * HZ)

static void settle(bool asked)
{
	static unsigned long last;

	if (!asked && time_before(jiffies, last + SETTLE_INTERVAL))
		return;
	mutex_lock(&ls_work_mutex);
	ls_findings_settle(asked);
	mutex_unlock(&ls_work_mutex);
	last = jiffies;
}

/* Time of event @e. */
static u64 event_time(const struct ls_event *e)
{
	const struct ls_rec *rec = (const struct ls_rec *)(e + 1);

	switch (rec->type) {
	case LS_REC_ACCESS:
		return ((const struct ls_rec_access *)rec)->time_ns;
	case LS_REC_RACE:
		return ((const struct ls_rec_race *)rec)->time_ns;
	case LS_REC_HISTORY:
		return ((const struct ls_rec_history *)rec)->time_ns;
	default:
		return ((const struct ls_rec_sight *)rec)->time_ns;
	}
}

/*
 * The oldest event of this round in all rings: an inversion must come after the order that it
 * inverts.
 */
static struct ls_event *next_event(struct ls_ring **ring)
{
	struct ls_event *oldest = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ls_ring *r = &per_cpu_ptr(&ls_cpus, cpu)->ring;
		struct ls_event *e = ls_ring_peek(r);

		if (!e || r->hdr->tail >= per_cpu(round_end, cpu))
			continue;
		if (oldest && event_time(oldest) <= event_time(e))
			continue;
		oldest = e;
		*ring = r;
	}
	return oldest;
}

/*
 * One round over all events present at its start; later ones wait for the next round, or a
 * round would not end under an event storm. True when there was something to do.
 */
static bool work(void)
{
	struct ls_event *e;
	struct ls_ring *r;
	bool any = false, pending;
	int cpu;

	mutex_lock(&ls_work_mutex);
	for_each_possible_cpu(cpu)
		per_cpu(round_end, cpu) = ls_load_acquire(&per_cpu_ptr(&ls_cpus, cpu)->ring.hdr->head);
	provide_segments();
	ls_findings_name_classes();
	while ((e = next_event(&r))) {
		ls_findings_name_classes();
		take_event(e);
		ls_ring_consume(r, e);
		WRITE_ONCE(taken, taken + 1);
		any = true;
		cond_resched();
	}
	ls_findings_name_classes();
	ls_evidence_work(ls_ledger_observations(), false);
	ls_waits_look();
	ls_races_work();
	pending = ls_wanted_pending();
	mutex_unlock(&ls_work_mutex);
	if (any)
		wake_up_interruptible(&ls_log_wait);
	return any || pending;
}

static int worker(void *unused)
{
	while (!kthread_should_stop()) {
		/* Pairs with the release in ls_worker_flush(): its events are there. */
		u64 wanted = smp_load_acquire(&flush_wanted);
		bool any = work();

		settle(READ_ONCE(flush_done) != wanted);
		if (READ_ONCE(flush_done) != wanted) {
			/* A waiter for this round reads what was appended to the log. */
			smp_store_release(&flush_done, wanted);
			wake_up_all(&flushed);
		}
		if (any) {
			cond_resched();
			continue;
		}
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop() && READ_ONCE(flush_wanted) == wanted)
			schedule_timeout(ls_races_pause());
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

/* True from ls_worker_init() to ls_worker_exit(). */
bool ls_worker_runs(void)
{
	return thread;
}

static void on_irq_work(struct irq_work *work)
{
	struct task_struct *t = READ_ONCE(thread);

	if (t)
		wake_up_process(t);
}

/*
 * Wait until everything recorded before the call was processed. Process context. -ETIME after
 * 30 seconds, -ERESTARTSYS for a signal.
 */
int ls_worker_flush(void)
{
	static DEFINE_MUTEX(ticket);
	u64 mine;
	long rc;

	mutex_lock(&ticket);
	mine = flush_wanted + 1;
	/* Both pair with worker(). */
	smp_store_release(&flush_wanted, mine);
	mutex_unlock(&ticket);
	wake_up_process(thread);
	/* As above. */
	rc = wait_event_interruptible_timeout(flushed, smp_load_acquire(&flush_done) >= mine, 30 * HZ);
	return rc > 0 ? 0 : rc ? (int)rc : -ETIME;
}

/* Append one record to the log. May sleep. */
void ls_worker_log(const void *record, size_t len)
{
	mutex_lock(&ls_work_mutex);
	ls_log_append(record, len, NULL, 0, NULL);
	mutex_unlock(&ls_work_mutex);
}

/* Events taken from the rings since load. */
u64 ls_worker_taken(void)
{
	return READ_ONCE(taken);
}

void ls_worker_info(struct ls_info *info)
{
	info->stacks = ls_ledger_stacks();
	info->sights = ls_ledger_observations();
	ls_findings_info(info);
}

int ls_worker_init(u32 max_classes, u32 max_edges)
{
	int cpu, rc;

	rc = ls_ledger_init();
	rc = rc ? rc : ls_findings_init(max_classes, max_edges);
	if (rc)
		return rc;
	provide_segments();
	for_each_possible_cpu(cpu)
		init_irq_work(&per_cpu_ptr(&ls_cpus, cpu)->work, on_irq_work);
	thread = kthread_run(worker, NULL, "lockscope");
	if (IS_ERR(thread)) {
		rc = PTR_ERR(thread);
		thread = NULL;
		return rc;
	}
	/*
	 * A virtual CPU that does not run for a while is charged for the time. With the usual
	 * weight the thread would have to wait as long, and the rings would overflow.
	 */
	set_user_nice(thread, WORKER_NICE);
	return 0;
}

/* The hooks are detached. */
void ls_worker_exit(void)
{
	struct task_struct *t = thread;
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&ls_cpus, cpu)->work);
	WRITE_ONCE(thread, NULL);
	if (t)
		kthread_stop(t);
	for (i = 0; i < LS_CHAIN_MAX_SEGS; i++)
		ls_free(ls.chains.segs[i]);
	ls_ledger_exit();
	ls_findings_exit();
}
