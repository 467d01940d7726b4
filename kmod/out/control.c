// SPDX-License-Identifier: GPL-2.0
/* Control of the module: start, stop, reset. */
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "check/events.h"
#include "core/context.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "out/out.h"
#include "out/races/accesses.h"

/* Stop the hooks and wait until none is running. */
static void quiesce(void)
{
	int cpu;

	WRITE_ONCE(ls_active, 0);
	synchronize_rcu();
	/* Checked by the fast paths. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&ls_cpus, cpu)->cur, NULL);
	synchronize_rcu();
}

static void resume(void)
{
	ls_context_clear();
	ls_freed_clear();
	/* A hook that is active finds contexts that are clear. */
	smp_wmb();
	WRITE_ONCE(ls_active, 1);
}

static void forget(void)
{
	struct ls_rec rec = { sizeof(rec), LS_REC_RESET };
	u32 id;

	mutex_lock(&ls_work_mutex);
	ls_chains_clear(&ls.chains);
	ls_edges_clear(&ls.edges);
	memset(ls.pairs.slots, 0, ls_pairs_bytes(64 - ls.pairs.shift + 3));
	ls_gates_clear(&ls.gates);
	ls_seen_clear(&ls.seen);
	ls_findings_forget();
	for (id = 1; id <= ls.classes.nr; id++) {
		ls_fetch_and(&ls.classes.table[id].marks, ~LS_CLASS_REPORTED);
		ls_class_counts_clear(&ls.classes.table[id]);
		ls.classes.table[id].pairs = 0;
		ls.classes.table[id].inversions = 0;
		ls.classes.table[id].usage = 0;
		ls.classes.table[id].uses = ls.classes.table[id].use_looks = 0;
		ls.classes.table[id].absent[0] = ls.classes.table[id].absent[1] = 0;
		ls.classes.table[id].absent_in[0] = ls.classes.table[id].absent_in[1] = 0;
	}
	ls_events_clear();
	ls_races_forget();
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
	mutex_unlock(&ls_work_mutex);
}

/* LS_CTL_*. Process context, may sleep; one caller at a time. */
int ls_worker_control(u32 op)
{
	static DEFINE_MUTEX(control);
	int rc = 0;

	if (op == LS_CTL_FLUSH)
		return ls_worker_flush();
	rc = mutex_lock_interruptible(&control);
	if (rc)
		return rc;
	switch (op) {
	case LS_CTL_STOP:
		quiesce();
		break;
	case LS_CTL_START:
		if (!ls_active) {
			quiesce();
			resume();
		}
		break;
	case LS_CTL_RESET: {
		int was = ls_active;

		quiesce();
		rc = ls_worker_flush();
		if (!rc)
			forget();
		if (was)
			resume();
		break;
	}
	default:
		rc = -EINVAL;
	}
	mutex_unlock(&control);
	return rc;
}
