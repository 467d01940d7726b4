// SPDX-License-Identifier: GPL-2.0
/*
 * The thread behind the hooks: names classes, drains the event rings, writes
 * the log, feeds the judge and reports what it finds. The only writer of all of
 * these; work_mutex keeps the control operations out while it works.
 */
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "check/access/access.h"
#include "out/accesses.h"
#include "evidence.h"
#include "exempt.h"
#include "lockscope.h"
#include "logindex.h"
#include "core/trace.h"

#define STACK_BITS 18
#define MAX_STACKS (1u << (STACK_BITS - 1))
static struct task_struct *thread;
static DEFINE_MUTEX(work_mutex);
static DECLARE_WAIT_QUEUE_HEAD(flushed);
static u64 flush_wanted, flush_done;

static struct ls_judge judge;
static void *judge_memory;
static struct ls_tagtab stacks;		/* hash of a stack -> id */
static struct ls_tagtab reported;	/* class, how and where -> 1 */

static struct ls_logindex stack_index, sight_index;
static u32 named;			/* classes up to here have their names */
static u32 nr_findings;
static u64 taken;			/* events of the rings */
static DEFINE_PER_CPU(u64, round_end);	/* where a CPU's ring ended when the round began */

/* Memory the judge asked for, chained so that it can be freed. */
static struct judge_block {
	struct judge_block *next;
	u64 data[];
} *judge_blocks;

/* An empty table of 2^@bits slots. */
int ls_worker_tagtab(struct ls_tagtab *tab, u32 bits)
{
	void *slots = ls_zalloc(ls_tagtab_bytes(bits));

	if (slots)
		ls_tagtab_init(tab, slots, bits);
	return slots ? 0 : -ENOMEM;
}

/* Sight @ordinal and what was held, LS_MAX_DEPTH entries of room. */
bool ls_worker_sight(u32 ordinal, struct ls_rec_sight *s, struct ls_held_rec *held)
{
	u64 at;

	return ls_logindex_get(&sight_index, ordinal, &at) && ls_log_read(at, s, sizeof(*s)) &&
	       ls_log_read(at + sizeof(*s), held, s->nr_held * sizeof(*held));
}

/* Frames of stack @id into @ips (LS_STACK_FRAMES of room); how many. */
u32 ls_worker_stack(u32 id, u64 *ips)
{
	struct ls_rec_stack rec;
	u64 at;

	if (!id || !ls_logindex_get(&stack_index, id - 1, &at) || !ls_log_read(at, &rec, sizeof(rec)) ||
	    !ls_log_read(at + sizeof(rec), ips, rec.nr * sizeof(*ips)))
		return 0;
	return rec.nr;
}

/* Canonical class of a held word. */
u32 ls_worker_class(u32 val)
{
	return ls_judge_class(&judge, val);
}

/* Does canonical class @id take no part in the graph? */
bool ls_worker_left_out(u32 id)
{
	return ls_judge_usage(&judge, id) & LS_JUDGE_OUT;
}

/* Id of the stack @ips, put into the log when it is new; 0 when it found no room. */
u32 ls_worker_stack_id(const u64 *ips, u32 nr)
{
	struct ls_rec_stack rec = {
		.hdr = { sizeof(rec) + nr * sizeof(u64), LS_REC_STACK }, .nr = nr,
	};
	u64 key = nr, at;
	u32 i, id;

	for (i = 0; i < nr; i++)
		key = ls_chain_mix(key, ips[i]);
	id = ls_tagtab_find(&stacks, key);
	if (id)
		return id;
	if (stack_index.nr >= MAX_STACKS || !ls_logindex_room(&stack_index)) {
		ls_lose(LS_LOSS_STACKS);
		return 0;
	}
	rec.id = stack_index.nr + 1;
	if (!ls_log_append(&rec, sizeof(rec), ips, nr * sizeof(u64), &at))
		return 0;
	ls_logindex_add(&stack_index, at);
	ls_tagtab_insert(&stacks, key, rec.id);
	return rec.id;
}

/* Is a finding by this @key new? One that could not be remembered would come again and again. */
bool ls_worker_new_report(u64 key)
{
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

	ls_log_append(&rec, sizeof(rec), edges, nr * sizeof(*edges), NULL);
	trace_finding(rec.id, rec.kind, nr, ls_class_name(edges[0].from));
	ls_evidence_cycle(kind, edges, nr);
}

/* Where a fault is, so that it is told once: the function, not the instruction. */
static u64 place_of(u64 ip)
{
	unsigned long size, offset;

	return ls_size_offset && ls_size_offset(ip, &size, &offset) ? ip - offset : ip;
}

#define FAULT_KINDS 32	/* in the key of a fault */
static_assert(LS_NR_FINDINGS <= FAULT_KINDS);

/* A fault that sight @s shows by itself. */
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
	u64 key = ls_mix(ls_mix(place_of(s->ip)) + f.edge.from * FAULT_KINDS + s->what);

	for (i = 0; !f.edge.from && i < nr && i < LS_FAULT_CALLERS; i++)
		key = ls_mix(key + place_of(ips[i]));
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

/* Tell the judge which semaphores are signals. Any class of a canonical one will do. */
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

/* Learn from observation number @ordinal, which is in the log. */
static void judge_sight(const struct ls_rec_sight *s, u32 frames, u32 flags, u32 ordinal)
{
	learn_signals();
	ls_judge_sight(&judge, s, ordinal);
	/* A deadlock takes several: ls_worker_deadlock(). */
	if (LS_SIGHT_IS_FAULT(s->what) && s->what != LS_FINDING_DEADLOCK)
		report_fault(s, (const u64 *)&s->held[s->nr_held], frames, ordinal);
	ls_nesting_take(s, flags, ordinal);
}

/*
 * A sight of a hook's or of the thread's own making; *@ordinal gets its number. False, and
 * a counted loss, when it finds no room. work_mutex held.
 */
bool ls_worker_take(struct ls_event *e, u32 *ordinal)
{
	struct ls_rec_sight *s = (struct ls_rec_sight *)(e + 1);
	u32 frames = s->stack, flags = s->hdr.flags;
	u64 at;

	s->hdr.len = sizeof(*s) + s->nr_held * sizeof(s->held[0]);
	s->hdr.type = LS_REC_SIGHT;
	s->hdr.flags = 0;
	s->stack = ls_worker_stack_id((u64 *)&s->held[s->nr_held], frames);
	/* Whoever reads the log counts the sights in it: none may be there without a number. */
	if (!ls_logindex_room(&sight_index)) {
		ls_log_refuse();
		return false;
	}
	if (!ls_log_append(s, s->hdr.len, NULL, 0, &at))
		return false;
	*ordinal = sight_index.nr;
	ls_logindex_add(&sight_index, at);
	judge_sight(s, frames, flags, *ordinal);
	return true;
}

static void take_event(struct ls_event *e)
{
	u32 ordinal;

	if (((struct ls_rec *)(e + 1))->type)
		ls_races_take(e);
	else
		ls_worker_take(e, &ordinal);
}

/* Tasks that wait for each other, told once for the same locks at the same places. work_mutex held. */
void ls_worker_deadlock(const struct ls_finding_edge *edges, u32 nr)
{
	struct ls_rec_finding rec = {
		.hdr = { sizeof(rec) + nr * sizeof(*edges), LS_REC_FINDING },
		.kind = LS_FINDING_DEADLOCK, .nr_edges = nr,
	};
	u64 key = LS_FINDING_DEADLOCK;
	u32 i;

	/* The same whatever task it begins with. */
	for (i = 0; i < nr; i++)
		key += ls_mix((u64)edges[i].from << 32 | edges[i].to);
	key = ls_mix(key);
	if (!ls_worker_new_report(key))
		return;
	rec.id = ++nr_findings;
	ls_log_append(&rec, sizeof(rec), edges, nr * sizeof(*edges), NULL);
	trace_finding(rec.id, rec.kind, nr, ls_class_name(edges[0].from));
	wake_up_interruptible(&ls_log_wait);
	if (ls_splat)
		ls_splat_deadlock(edges, nr);
}

/* Number of a finding that is about to be told. work_mutex held. */
u32 ls_worker_new_finding(void)
{
	return ++nr_findings;
}

/* Name what is new. Classes named here exist before any event that uses them. */
static void name_classes(void)
{
	u32 nr = ls_load_acquire(&ls.classes.nr);

	while (named < nr) {
		struct ls_class *c = &ls.classes.table[named + 1];
		u8 state = ls_load_acquire(&c->state);

		if (state == LS_CLASS_EMPTY)
			break;		/* its maker is just about to say */
		named++;
		if (state == LS_CLASS_READY && !(c->marks & LS_CLASS_MARKER)) {
			ls_name_class(named);
			if (c->canonical != named)
				ls_judge_unite(&judge, named, c->canonical);
			if (ls_exempt(ls_class_name(named)))
				ls_judge_exempt(&judge, c->canonical);
			/* learn_signals() knows no class before it has a name. */
			if (ls_load(&c->marks) & LS_CLASS_UNORDERED)
				ls_judge_signal(&judge, c->canonical, true);
		}
	}
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
 * What a completion's completers need is known better the more of them were seen:
 * cycles through completions are looked for every so often, and when asked to.
 */
#define SETTLE_INTERVAL (10 * HZ)

static void settle(bool asked)
{
	static unsigned long last;

	if (!asked && time_before(jiffies, last + SETTLE_INTERVAL))
		return;
	mutex_lock(&work_mutex);
	ls_judge_settle(&judge);
	ls_evidence_work(sight_index.nr, asked);
	ls_nesting_settle();
	mutex_unlock(&work_mutex);
	last = jiffies;
}

/* When what @e tells of happened. */
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

/* The oldest event of this round of all rings: an inversion is to come after what it inverts. */
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
 * One round over everything there is when it begins; what comes meanwhile is the next
 * one's, or a round would have no end under a storm. True when there was something to do.
 */
static bool work(void)
{
	struct ls_event *e;
	struct ls_ring *r;
	bool any = false, pending;
	int cpu;

	mutex_lock(&work_mutex);
	for_each_possible_cpu(cpu)
		per_cpu(round_end, cpu) = ls_load_acquire(&per_cpu_ptr(&ls_cpus, cpu)->ring.hdr->head);
	provide_segments();
	name_classes();
	while ((e = next_event(&r))) {
		name_classes();
		take_event(e);
		ls_ring_consume(r, e);
		WRITE_ONCE(taken, taken + 1);
		any = true;
		cond_resched();
	}
	name_classes();
	ls_evidence_work(sight_index.nr, false);
	ls_waits_look();
	ls_races_work();
	pending = ls_wanted_pending();
	mutex_unlock(&work_mutex);
	if (any)
		wake_up_interruptible(&ls_log_wait);
	return any || pending;
}

static int worker(void *unused)
{
	while (!kthread_should_stop()) {
		u64 wanted = smp_load_acquire(&flush_wanted);
		bool any = work();

		settle(READ_ONCE(flush_done) != wanted);
		if (READ_ONCE(flush_done) != wanted) {
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

static void on_irq_work(struct irq_work *work)
{
	struct task_struct *t = READ_ONCE(thread);

	if (t)
		wake_up_process(t);
}

/*
 * Wait until everything recorded before the call has been judged. Process
 * context. -ETIME when the worker did not manage in 30 seconds, -ERESTARTSYS
 * when a signal came.
 */
int ls_worker_flush(void)
{
	static DEFINE_MUTEX(ticket);
	u64 mine;
	long rc;

	mutex_lock(&ticket);
	mine = flush_wanted + 1;
	smp_store_release(&flush_wanted, mine);
	mutex_unlock(&ticket);
	wake_up_process(thread);
	rc = wait_event_interruptible_timeout(flushed, smp_load_acquire(&flush_done) >= mine, 30 * HZ);
	return rc > 0 ? 0 : rc ? (int)rc : -ETIME;
}

static void name_going(u64 ip, unsigned long start, unsigned long end, struct ls_tagtab *done)
{
	u64 key = ls_mix(ip);

	if (ip < start || ip >= end || ls_tagtab_find(done, key))
		return;
	ls_tagtab_insert(done, key, 1);
	ls_symbol_log(ip);
}

/* Where accesses were, and where the locks were taken that were held then. */
static void going_accesses(unsigned long start, unsigned long end, struct ls_tagtab *done)
{
	struct ls_guard_rec guards[LS_LOCKSET_LOCKS];
	struct ls_rec_access a;
	u32 id, i, nr = ls_load(&ls_acc->nr_sites);

	for (id = 1; id <= nr; id++) {
		if (!ls_access_get(id, &a, guards))
			continue;
		name_going(a.ip, start, end, done);
		for (i = 0; i < a.nr_guards; i++)
			name_going(guards[i].ip, start, end, done);
	}
}

/*
 * Module code at [start, end) is about to go. Everything recorded is judged and
 * every address in it that the log names gets its symbol. May sleep.
 */
void ls_worker_module_going(unsigned long start, unsigned long end)
{
	u64 ips[LS_STACK_FRAMES], at;
	struct ls_rec_sight s;
	struct ls_held_rec *held;
	struct ls_tagtab done;
	u32 id, i, nr;

	/* A signal of whoever unloads it ends the wait: what is known by then gets its name. */
	if (!thread || ls_worker_flush() == -ETIME || ls_worker_tagtab(&done, 14))
		return;
	held = kmalloc_array(LS_MAX_DEPTH, sizeof(*held), GFP_KERNEL);
	mutex_lock(&work_mutex);
	for (id = 1; id <= stack_index.nr; id++) {
		nr = ls_worker_stack(id, ips);
		for (i = 0; i < nr; i++)
			name_going(ips[i], start, end, &done);
	}
	/* Acquire sites of held locks need not be in any stack. */
	for (id = 0; held && id < sight_index.nr; id++) {
		if (!ls_logindex_get(&sight_index, id, &at) || !ls_worker_sight(id, &s, held))
			continue;
		for (i = 0; i < s.nr_held; i++)
			name_going(held[i].ip, start, end, &done);
	}
	going_accesses(start, end, &done);
	ls_names_keep(start, end);
	mutex_unlock(&work_mutex);
	kfree(held);
	ls_free(done.slots);
}

/* Append one record to the log. May sleep. */
void ls_worker_log(const void *record, size_t len)
{
	mutex_lock(&work_mutex);
	ls_log_append(record, len, NULL, 0, NULL);
	mutex_unlock(&work_mutex);
}

/* Stop the hooks and wait until none is running. */
static void quiesce(void)
{
	int cpu;

	WRITE_ONCE(ls_active, 0);
	synchronize_rcu();
	/* The fast paths know by this. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&ls_cpus, cpu)->cur, NULL);
	synchronize_rcu();
}

static void resume(void)
{
	ls_context_clear();
	smp_wmb();
	WRITE_ONCE(ls_active, 1);
}

static void clear_tagtab(struct ls_tagtab *tab)
{
	memset(tab->slots, 0, sizeof(u64) * (tab->mask + 1));
}

static void forget(void)
{
	struct ls_rec rec = { sizeof(rec), LS_REC_RESET };
	u32 id;

	mutex_lock(&work_mutex);
	ls_chains_clear(&ls.chains);
	ls_edges_clear(&ls.edges);
	memset(ls.pairs.slots, 0, ls_pairs_bytes(64 - ls.pairs.shift + 3));
	ls_evidence_forget(sight_index.nr);
	ls_gates_clear(&ls.gates);
	ls_seen_clear(&ls.seen);
	clear_tagtab(&reported);
	ls_nesting_forget();
	for (id = 1; id <= ls.classes.nr; id++) {
		ls_fetch_and(&ls.classes.table[id].marks, ~LS_CLASS_TOLD);
		ls_class_counts_clear(&ls.classes.table[id]);
		ls.classes.table[id].pairs = 0;
		ls.classes.table[id].inversions = 0;
		ls.classes.table[id].usage = 0;
		ls.classes.table[id].absent[0] = ls.classes.table[id].absent[1] = 0;
		ls.classes.table[id].absent_in[0] = ls.classes.table[id].absent_in[1] = 0;
	}
	ls_events_clear();
	ls_judge_clear(&judge);
	ls_races_forget();
	nr_findings = 0;
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
	mutex_unlock(&work_mutex);
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

u32 ls_worker_findings(void)
{
	return READ_ONCE(nr_findings);
}

/* Events that were taken from the rings, since load. */
u64 ls_worker_taken(void)
{
	return READ_ONCE(taken);
}

void ls_worker_info(struct ls_info *info)
{
	info->edges = READ_ONCE(judge.graph.nr_edges);
	info->stacks = READ_ONCE(stack_index.nr);
	info->sights = READ_ONCE(sight_index.nr);
	info->findings = READ_ONCE(nr_findings);
	info->losses[LS_LOSS_EDGES] += READ_ONCE(judge.lost_edges);
	info->losses[LS_LOSS_CYCLES] += READ_ONCE(judge.cut_searches);
}

int ls_worker_init(u32 max_classes, u32 max_edges)
{
	int cpu, rc;

	judge_memory = ls_zalloc(ls_judge_bytes(max_classes, max_edges));
	if (!judge_memory)
		return -ENOMEM;
	rc = ls_worker_tagtab(&stacks, STACK_BITS);
	rc = rc ? rc : ls_nesting_init();
	rc = rc ? rc : ls_evidence_init();
	rc = rc ? rc : ls_worker_tagtab(&reported, 14);
	if (rc)
		return rc;
	ls_judge_init(&judge, judge_memory, max_classes, max_edges, &judge_ops, NULL);
	provide_segments();
	for_each_possible_cpu(cpu)
		init_irq_work(&per_cpu_ptr(&ls_cpus, cpu)->work, on_irq_work);
	thread = kthread_run(worker, NULL, "lockscope");
	if (IS_ERR(thread)) {
		rc = PTR_ERR(thread);
		thread = NULL;
		return rc;
	}
	return 0;
}

/* The hooks are gone. */
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
	ls_logindex_free(&stack_index);
	ls_logindex_free(&sight_index);
	for (i = 0; i < LS_CHAIN_MAX_SEGS; i++)
		ls_free(ls.chains.segs[i]);
	while (judge_blocks) {
		struct judge_block *next = judge_blocks->next;

		ls_free(judge_blocks);
		judge_blocks = next;
	}
	ls_free(judge_memory);
	ls_free(stacks.slots);
	ls_nesting_exit();
	ls_evidence_exit();
	ls_free(reported.slots);
}
