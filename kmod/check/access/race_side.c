// SPDX-License-Identifier: GPL-2.0
/*
 * The two sides of a race: tasks, and instances of their locks. An access site has only those
 * of its first access. The later side is fully known. For the earlier one the shadow has a few
 * bits of the PID and the lockset; the tables in this file map them to the task and to the
 * classes of the locks.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "base/memory.h"
#include "check/access/access.h"
#include "check/access/race_side.h"
#include "core/stacks.h"

#define REPORTED_BITS 10
#define TASK_BITS 0x7fffu		/* low bits of the PID in a context number */
#define BEING_WRITTEN ~0ull
#define GUARD_BITS 15			/* locks in locksets whose class is kept */

static u64 reported[1 << REPORTED_BITS];	/* to the worker */
struct ls_side_task ls_side_tasks[1 << LS_SIDE_TASK_BITS];
static struct ls_addrmap guards;	/* lock -> class */

/* Slow path of ls_side_task(): the slot holds another task. */
LS_COLD void ls_side_task_new(struct ls_side_task *t)
{
	u64 start = ls_load(&t->start);
	bool other, same_bits;

	if (start == BEING_WRITTEN || !ls_cmpxchg(&t->start, &start, BEING_WRITTEN))
		return;
	same_bits = start && !((t->pid ^ current->pid) & TASK_BITS);
	other = start != current->start_time || t->pid != current->pid;
	t->several = same_bits && (other || t->several);
	t->pid = current->pid;
	t->tgid = current->tgid;
	t->task_flags = ls_task_flags();
	memcpy(t->comm, current->comm, LS_COMM_LEN);
	ls_store_release(&t->start, current->start_time);
}

/* Record the classes of the locks of a new lockset. */
LS_COLD void ls_side_locks(const struct ls_ctx *ctx)
{
	u32 i;

	for (i = 0; i < ctx->depth; i++) {
		const struct ls_held *h = &ctx->held[i];

		if (LS_GUARDING_KINDS >> ls_kind_of(h->val) & 1 && h->val & LS_VAL_CLASS_MASK)
			ls_remember(&guards, ls_addr_of_lock(h->lock), h->val & LS_VAL_CLASS_MASK);
	}
}

static void add_lock(struct ls_race_side *s, u64 lock, u32 class_id, bool shared)
{
	s->locks[s->nr_locks] = lock;
	s->vals[s->nr_locks++] = class_id | (shared ? LS_VAL_READ_MASK : 0);
}

/* Fill a side from the access @n that is being checked. */
LS_COLD void ls_side_now(const struct ls_now *n, struct ls_race_side *s)
{
	u32 i;

	s->flags = LS_SIDE_TASK;
	s->pid = current->pid;
	s->tgid = current->tgid;
	s->task_flags = ls_task_flags();
	s->cpu = smp_processor_id();
	memcpy(s->comm, current->comm, LS_COMM_LEN);
	s->in_order = true;
	s->nr_locks = 0;
	for (i = 0; i < n->ctx->depth && s->nr_locks < LS_LOCKSET_LOCKS; i++) {
		const struct ls_held *h = &n->ctx->held[i];

		if (LS_GUARDING_KINDS >> ls_kind_of(h->val) & 1)
			add_lock(s, h->lock, h->val & LS_VAL_CLASS_MASK, h->val & LS_VAL_READ_MASK);
	}
	n->ctx->busy = 1;
	barrier();
	s->nr_frames = ls_access_frames(s->frames, n);
	barrier();
	n->ctx->busy = 0;
}

static void find_task(struct ls_race_side *s, u32 context)
{
	const struct ls_side_task *t = &ls_side_tasks[context & ((1u << LS_SIDE_TASK_BITS) - 1)];
	u64 start = ls_load_acquire(&t->start);

	s->pid = context;
	if (!start || start == BEING_WRITTEN || t->several || (t->pid & TASK_BITS) != context)
		return;
	s->pid = t->pid;
	s->tgid = t->tgid;
	s->task_flags = t->task_flags;
	memcpy(s->comm, t->comm, LS_COMM_LEN);
	/* All of it was read before the second look at the start. */
	smp_rmb();
	if (ls_load(&t->start) == start)
		s->flags |= LS_SIDE_TASK;
	else
		s->pid = context;
}

/* Fill a side from @context and @lockset of the shadow. */
static void remembered(struct ls_race_side *s, u32 context, u32 lockset)
{
	u32 i, nr = lockset == LS_LOCKSET_NONE ? 0 : ls_lockset_size(&ls_acc->sets, lockset);

	*s = (struct ls_race_side){ .cpu = LS_CPU_UNKNOWN };
	if (context < 0x8000)
		find_task(s, context);
	else
		s->cpu = context & 0xfff;
	for (i = 0; i < nr && s->nr_locks < LS_LOCKSET_LOCKS; i++) {
		u64 e = ls_lockset_get(&ls_acc->sets, lockset, i), lock = ls_lockset_lock(e);

		add_lock(s, lock, ls_addrmap_find(&guards, ls_addr_of_lock(lock)), e & 1);
	}
}

/*
 * Reserve an event and fill in all but the first side; NULL when the race was reported before,
 * or the ring is full.
 */
static struct ls_race_event *begin(struct ls_now *n, unsigned long addr, u32 first, u32 second, u32 flags)
{
	u64 key = ls_mix(((u64)second << 32 | first) + ((u64)flags << 60)) | 1;
	u64 *slot = &reported[key >> (64 - REPORTED_BITS)];
	struct ls_race_event *race;
	struct ls_event *e;

	if (ls_load(slot) == key || ls_access_is_benign(addr) ||
	    ((ls_acc->ops[first] | n->op) & (LS_ACC_MARKED | LS_ACC_TRAP) && ls_is_counter(addr)))
		return NULL;
	e = ls_ring_reserve(&this_cpu_ptr(&ls_cpus)->ring, sizeof(*e) + sizeof(*race));
	if (!e) {
		ls_lose_access(LS_ALOSS_EVENTS);
		return NULL;
	}
	ls_store(slot, key);
	race = (struct ls_race_event *)(e + 1);
	race->race = (struct ls_rec_race){
		.hdr.type = LS_REC_RACE, .flags = flags, .first = first, .second = second,
		.second_pid = n->level ? 0 : current->pid, .addr = addr, .time_ns = local_clock(),
	};
	ls_side_now(n, &race->sides[1]);
	race->sides[1].flags |= LS_SIDE_SECOND;
	return race;
}

static void end(struct ls_race_event *race)
{
	ls_ring_commit((struct ls_event *)race - 1);
	ls_wake_worker();
}

/*
 * Report that @n, at access site @site, races at @addr with @other of granule @g. Preemption
 * off.
 */
LS_COLD void ls_report_race(struct ls_now *n, unsigned long addr, const struct ls_granule *g,
			    const struct ls_shadow_side *other, u32 site)
{
	struct ls_race_event *race = begin(n, addr, other->site, site, 0);
	u32 i;

	if (!race)
		return;
	remembered(&race->sides[0], other->context, other->lockset);
	race->race.first_pid = race->sides[0].pid;
	for (i = 0; i < LS_SHADOW_ENTRIES; i++) {
		u64 entry = ls_load(&g->entry[i]);

		if (!ls_shadow_live(g, i))
			continue;
		race->history[race->race.nr++] = (struct ls_history_rec){
			.access = ls_entry_site(entry), .context = ls_entry_context(entry),
			.bytes = ls_entry_bytes(entry), .initial = ls_entry_initial(entry),
		};
	}
	end(race);
}

/*
 * Report that @n was stopped at @addr, at access site @second, when @side accessed it at site
 * @first; NULL: the other side was not recorded in time. Preemption off.
 */
LS_COLD void ls_report_caught(struct ls_now *n, unsigned long addr, u32 first, u32 second, u32 first_pid,
			      u32 flags, const struct ls_race_side *side)
{
	struct ls_race_event *race = begin(n, addr, first, second, flags);

	if (!race)
		return;
	race->race.first_pid = first_pid;
	if (side)
		race->sides[0] = *side;
	else
		race->sides[0] = (struct ls_race_side){ .cpu = LS_CPU_UNKNOWN, .pid = first_pid };
	end(race);
}

/* Allow races to be reported again. */
void ls_access_report_again(void)
{
	memset(reported, 0, sizeof(reported));
}

/*
 * The shadow was reset: none of the earlier contexts and locksets is referenced any more. Only
 * while nothing is watched.
 */
void ls_sides_forget(void)
{
	memset(ls_side_tasks, 0, sizeof(ls_side_tasks));
	memset(guards.slots, 0, ls_addrmap_bytes(GUARD_BITS));
	guards.spilled = 0;
}

int ls_sides_init(void)
{
	void *mem = ls_zalloc(ls_addrmap_bytes(GUARD_BITS));

	if (!mem)
		return -ENOMEM;
	ls_addrmap_init(&guards, mem, GUARD_BITS);
	return 0;
}

void ls_sides_exit(void)
{
	ls_free(guards.slots);
	guards.slots = NULL;
}
