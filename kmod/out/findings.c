// SPDX-License-Identifier: GPL-2.0
/*
 * Input and output of the judge: names of classes, observations, findings in the log and on
 * the console. Worker only, ls_work_mutex held.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "check/events.h"
#include "core/stacks.h"
#include "core/state.h"
#include "core/trace.h"
#include "exempt.h"
#include "hash.h"
#include "judge.h"
#include "spinring.h"
#include "out/console/splat.h"
#include "out/evidence.h"
#include "out/out.h"

bool ls_splat, ls_splat_unproven;

static struct ls_judge judge;
static void *judge_memory;
static struct ls_tagtab reported;	/* class, mode and place -> 1 */
static u32 named;			/* classes up to this id are named */
static u32 nr_findings;

/* Memory that the judge allocated, chained so that it can be freed. */
static struct judge_block {
	struct judge_block *next;
	u64 data[];
} *judge_blocks;

/* Canonical class of a held-lock word. */
u32 ls_worker_class(u32 val)
{
	return ls_judge_class(&judge, val);
}

/* Is canonical class @id not part of the graph? */
bool ls_worker_left_out(u32 id)
{
	return ls_judge_usage(&judge, id) & LS_JUDGE_OUT;
}

/*
 * Did a context that had not acquired it release a semaphore of class @id, apart from opening it at
 * first? Then another one may be handed over at this moment, whose release is still to come, and
 * seem to be held. A report, which is made later, may know better: it has the counts of the whole run.
 */
bool ls_worker_handed_over(u32 id)
{
	return id <= ls.classes.max && ls.classes.table[id].kind == LS_KIND_SEMAPHORE &&
	       ls_load(&ls.classes.table[id].handed);
}

/*
 * Is a finding with this @key new? If it cannot be stored it is suppressed, or it would be
 * reported again and again.
 */
bool ls_worker_new_report(u64 key)
{
	lockdep_assert_held(&ls_work_mutex);
	if (ls_tagtab_find(&reported, key))
		return false;
	if (ls_tagtab_insert(&reported, key, 1))
		return true;
	ls_log_refuse();
	return false;
}

static void on_cycle(void *cookie, u32 kind, const struct ls_finding_edge *edges, u32 nr)
{
	struct ls_rec_finding rec = {
		.hdr = { sizeof(rec) + nr * sizeof(*edges), LS_REC_FINDING },
		.id = ++nr_findings, .kind = kind, .nr_edges = nr,
	};

	u32 i;

	for (i = 0; i < nr; i++) {
		if (edges[i].from >= LS_CLASS_HARDIRQ)
			ls_wanted_uses(edges[i].to);
		if (edges[i].to >= LS_CLASS_HARDIRQ)
			ls_wanted_uses(edges[i].from);
	}
	ls_log_append(&rec, sizeof(rec), edges, nr * sizeof(*edges), NULL);
	trace_finding(rec.id, rec.kind, nr, ls_class_name(edges[0].from));
	ls_evidence_cycle(kind, edges, nr);
}

/* A fault that observation @s shows by itself. */
static void report_fault(const struct ls_rec_sight *s, const u64 *ips, u32 nr, u32 ordinal)
{
	u32 i;
	struct {
		struct ls_rec_finding rec;
		struct ls_finding_edge edge;
	} f = {
		.rec = { .hdr = { sizeof(f.rec) + sizeof(f.edge), LS_REC_FINDING },
			 .kind = s->what, .nr_edges = 1 },
		.edge = { .from = ls_worker_class(s->val), .to = ls_worker_class(s->val),
			  .sight = ordinal },
	};
	/* Where a fault is, so that it is reported once: the function, not the instruction. */
	u64 key = ls_mix(ls_mix(ls_function_of(s->ip)) + f.edge.from * LS_FAULT_KINDS + s->what);

	for (i = 0; !f.edge.from && i < nr && i < LS_FAULT_CALLERS; i++)
		key = ls_mix(key + ls_function_of(ips[i]));
	if (!ls_worker_new_report(key))
		return;
	f.rec.id = ++nr_findings;
	ls_log_append(&f.rec, f.rec.hdr.len, NULL, 0, NULL);
	trace_finding(f.rec.id, s->what, 1, f.edge.from ? ls_class_name(f.edge.from) : "");
	if (ls_splat)
		ls_splat_fault(s->what, f.edge.from, ordinal);
}

static void on_edge(void *cookie, u32 from, u32 to, u32 kinds, u32 sight)
{
	trace_edge(from, to, kinds, ls_class_name(from), ls_class_name(to));
}

static void on_gated(void *cookie, u32 from, u32 to)
{
	ls_wanted_gated(from, to);
}

static void *judge_alloc(void *cookie, ls_size bytes)
{
	struct judge_block *b = ls_zalloc(sizeof(*b) + bytes);

	if (!b)
		return NULL;
	b->next = judge_blocks;
	judge_blocks = b;
	return b->data;
}

static const struct ls_judge_ops judge_ops = {
	.alloc = judge_alloc, .edge = on_edge, .cycle = on_cycle, .gated = on_gated,
};

/*
 * Pass semaphores that are used as signals to the judge. Any class with that canonical class
 * is enough.
 */
static void learn_signals(void)
{
	static u32 learnt;
	u32 now = ls_load(&ls.signal_changes), id;
	int pass;

	if (now == learnt)
		return;
	learnt = now;
	for (pass = 0; pass < 2; pass++) {
		for (id = 1; id <= named; id++) {
			const struct ls_class *c = &ls.classes.table[id];

			if (c->kind == LS_KIND_SEMAPHORE &&
			    (!pass || ls_load(&c->marks) & LS_CLASS_UNORDERED))
				ls_judge_signal(&judge, ls_worker_class(id), pass);
		}
	}
}

/* Process observation number @ordinal, which is in the log. */
static void judge_observation(const struct ls_rec_sight *s, u32 frames, u32 flags, u32 ordinal)
{
	learn_signals();
	ls_judge_observe(&judge, s, ordinal);
	ls_states_take(s, ordinal);
	/* A deadlock has several observations: ls_worker_deadlock(). */
	if (LS_SIGHT_IS_FAULT(s->what) && s->what != LS_FINDING_DEADLOCK && !(s->task_flags & LS_TASK_REPAIRED))
		report_fault(s, (const u64 *)&s->held[s->nr_held], frames, ordinal);
	ls_nesting_take(s, flags, ordinal);
}

/*
 * Observation number @ordinal, of a CPU that spins for another one (kmod/check/spinners.c), which
 * printed that itself.
 */
static void take_spinner(const struct ls_rec_sight *s, u32 flags, u32 ordinal)
{
	static struct ls_finding_edge edges[LS_SPIN_CPUS];
	static u64 number;
	static u32 nr;

	if (number != s->extra) {
		number = s->extra;
		nr = 0;
	}
	if (nr == LS_SPIN_CPUS || !s->new_mask)
		return;
	edges[nr++] = (struct ls_finding_edge){
		.from = ls_worker_class(s->held[__ffs64(s->new_mask)].val),
		.to = ls_worker_class(s->val), .kinds = LS_DEP_EN, .sight = ordinal,
	};
	if (flags & LS_EV_RING_LAST)
		ls_worker_deadlock(edges, nr, false);
}

/*
 * Take an observation by a hook or by the worker; *@ordinal gets its number. False, and a
 * counted loss, when there is no room. ls_work_mutex held.
 */
bool ls_worker_take(struct ls_event *e, u32 *ordinal)
{
	struct ls_rec_sight *s = (struct ls_rec_sight *)(e + 1);
	u32 frames = s->stack, flags = s->hdr.flags;

	lockdep_assert_held(&ls_work_mutex);
	s->hdr.len = sizeof(*s) + s->nr_held * sizeof(s->held[0]);
	s->hdr.type = LS_REC_SIGHT;
	s->hdr.flags = 0;
	s->stack = ls_worker_stack_id((u64 *)&s->held[s->nr_held], frames);
	if (!ls_ledger_add(s, ordinal))
		return false;
	judge_observation(s, frames, flags, *ordinal);
	if (flags & LS_EV_RING)
		take_spinner(s, flags, *ordinal);
	return true;
}

/*
 * Tasks that wait for each other, reported once for the same locks at the same places; on the
 * console if @say. ls_work_mutex held.
 */
void ls_worker_deadlock(const struct ls_finding_edge *edges, u32 nr, bool say)
{
	struct ls_rec_finding rec = {
		.hdr = { sizeof(rec) + nr * sizeof(*edges), LS_REC_FINDING },
		.kind = LS_FINDING_DEADLOCK, .nr_edges = nr,
	};
	u64 key = LS_FINDING_DEADLOCK;
	u32 i;

	lockdep_assert_held(&ls_work_mutex);
	/* Independent of the task it begins with. */
	for (i = 0; i < nr; i++)
		key += ls_mix((u64)edges[i].from << 32 | edges[i].to);
	key = ls_mix(key);
	if (!ls_worker_new_report(key))
		return;
	rec.id = ++nr_findings;
	ls_log_append(&rec, sizeof(rec), edges, nr * sizeof(*edges), NULL);
	trace_finding(rec.id, rec.kind, nr, ls_class_name(edges[0].from));
	wake_up_interruptible(&ls_log_wait);
	if (say && ls_splat)
		ls_splat_deadlock(edges, nr);
}

/* Number of a finding that is about to be reported. ls_work_mutex held. */
u32 ls_worker_new_finding(void)
{
	lockdep_assert_held(&ls_work_mutex);
	return ++nr_findings;
}

/* Name new classes. A class is named before any event that uses it is processed. */
void ls_findings_name_classes(void)
{
	u32 nr = ls_load_acquire(&ls.classes.nr);

	lockdep_assert_held(&ls_work_mutex);
	while (named < nr) {
		struct ls_class *c = &ls.classes.table[named + 1];
		u8 state = ls_load_acquire(&c->state);

		if (state == LS_CLASS_EMPTY)
			break;		/* still being initialised */
		named++;
		if (state == LS_CLASS_READY && !(c->marks & LS_CLASS_MARKER)) {
			ls_name_class(named);
			if (c->canonical != named)
				ls_judge_unite(&judge, named, c->canonical);
			if (ls_exempt(ls_class_name(named)))
				ls_judge_exempt(&judge, c->canonical);
			/* learn_signals() skips classes without a name. */
			if (ls_load(&c->marks) & LS_CLASS_UNORDERED)
				ls_judge_signal(&judge, c->canonical, true);
		}
	}
}

/* Search cycles through completions, with what is known of their completers now. */
void ls_findings_settle(bool all)
{
	lockdep_assert_held(&ls_work_mutex);
	ls_judge_settle(&judge);
	ls_evidence_work(ls_ledger_observations(), all);
	ls_nesting_settle();
}

/* LS_CTL_RESET: forget findings and restart the judge. */
void ls_findings_forget(void)
{
	lockdep_assert_held(&ls_work_mutex);
	ls_evidence_forget(ls_ledger_observations());
	memset(reported.slots, 0, sizeof(u64) * (reported.mask + 1));
	ls_nesting_forget();
	ls_judge_clear(&judge);
	nr_findings = 0;
}

u32 ls_worker_findings(void)
{
	return READ_ONCE(nr_findings);
}

void ls_findings_info(struct ls_info *info)
{
	info->edges = READ_ONCE(judge.graph.nr_edges);
	info->findings = READ_ONCE(nr_findings);
	info->losses[LS_LOSS_EDGES] += READ_ONCE(judge.lost_edges);
	info->losses[LS_LOSS_CYCLES] += READ_ONCE(judge.cut_searches);
}

/* Where the counters are that ls_findings_info() reads. */
void ls_findings_anchor(struct ls_anchor *a)
{
	a->edges = (u64)&judge.graph.nr_edges;
	a->findings = (u64)&nr_findings;
	a->lost_edges = (u64)&judge.lost_edges;
	a->cut_searches = (u64)&judge.cut_searches;
}

int ls_findings_init(u32 max_classes, u32 max_edges)
{
	int rc;

	judge_memory = ls_zalloc(ls_judge_bytes(max_classes, max_edges));
	if (!judge_memory)
		return -ENOMEM;
	rc = ls_nesting_init();
	rc = rc ? rc : ls_evidence_init();
	rc = rc ? rc : ls_worker_tagtab(&reported, 14);
	if (!rc)
		ls_judge_init(&judge, judge_memory, max_classes, max_edges, &judge_ops, NULL);
	return rc;
}

void ls_findings_exit(void)
{
	while (judge_blocks) {
		struct judge_block *next = judge_blocks->next;

		ls_free(judge_blocks);
		judge_blocks = next;
	}
	ls_free(judge_memory);
	ls_nesting_exit();
	ls_evidence_exit();
	ls_free(reported.slots);
}
