// SPDX-License-Identifier: GPL-2.0
/*
 * Long waits for locks, their owners, and tasks that wait for each other. The worker scans the
 * contexts of sleeping tasks periodically; a context records what it waits for (stat.c), and
 * the lock word its owner.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/stacks.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "out/out.h"

uint ls_long_wait_ms = 60000;

/* Longer deadlocks are not searched. */
#define DEADLOCK_MAX 16

/* A task that has to back off is awake after so long, even where IPIs take long. */
#define DEADLOCK_STANDS (50 * NSEC_PER_MSEC)

/* State of context i at the last scan. Worker only. */
static struct seen {
	struct task_struct *task;
	u64 since;		/* start of its wait, as recorded in the context */
	bool reported, reported_dead;
	u32 closes;		/* in a cycle of waits: 1 + the context that it waits for */
	u64 closed;		/* time of the scan that first found it */
} *waits;
static u32 nr_waits;

/* Few contexts of the pool are in use: a bit is tested for the others. */
#define for_each_context(i) \
	for ((i) = ls_context_next(0); (i) < nr_waits; (i) = ls_context_next((i) + 1))

/* A task that sleeps for a lock, according to its context. */
struct blocked {
	const struct ls_ctx *ctx;
	struct task_struct *task;
	struct ls_wait wait;
};

/* The owner according to the lock word, NULL when it has none. */
static struct task_struct *lock_owner(u64 lock, u32 kind)
{
	unsigned long owner;

	if (!ls_owner_word(lock, kind, &owner))
		return NULL;
	/* A reader's owner word may be stale: only a writer counts. */
	if (kind == LS_KIND_RWSEM && (owner & LS_OWNER_READER))
		return NULL;
	return (struct task_struct *)(owner & ~LS_OWNER_FLAGS);
}

/* Does context @i belong to a sleeping task that waits for a lock? Under RCU, which keeps the task. */
static bool blocked(u32 i, struct blocked *b)
{
	b->ctx = ls_context_sleeping(i, &b->task);
	if (!b->task)
		return false;
	b->wait = b->ctx->wait[LS_WAIT_SLEEP];
	barrier();
	return b->wait.lock && READ_ONCE(b->ctx->wait[LS_WAIT_SLEEP].lock) == b->wait.lock;
}

/*
 * A task that has to back off, as with ww_mutexes, continues as soon as it is scheduled: it
 * waits for no lock. It is TASK_WAKING until another CPU has queued it.
 */
static bool asleep(const struct task_struct *task)
{
	return READ_ONCE(task->__state) & TASK_NORMAL && !READ_ONCE(task->on_rq);
}

/*
 * Owner of the lock that @b waits for. Locks without an owner word, or with many owners, are
 * searched in the contexts of sleeping tasks. Under RCU.
 */
static struct task_struct *owner_of(const struct blocked *b)
{
	struct task_struct *owner = lock_owner(b->wait.lock, ls_kind_of(b->wait.val)), *task;
	struct ls_held has;
	u32 i;

	if (owner)
		return owner == b->task ? NULL : owner;
	for_each_context(i) {
		const struct ls_ctx *ctx = ls_context_sleeping(i, &task);

		if (task && task != b->task && READ_ONCE(ctx->depth) &&
		    ls_context_entry(task, b->wait.lock, &has) &&
		    /* The topmost entry is the lock that it waits for itself. */
		    READ_ONCE(ctx->wait[LS_WAIT_SLEEP].lock) != b->wait.lock)
			return task;
	}
	return NULL;
}

/* Number of the context of @task, nr_waits when it has none. Under RCU. */
static u32 context_of(struct task_struct *task)
{
	struct task_struct *other;
	u32 i;

	for_each_context(i) {
		ls_context_sleeping(i, &other);
		if (other == task)
			break;
	}
	return i;
}

/* The observation to be reported. */
static struct {
	struct ls_event event;
	struct ls_rec_sight s;
	struct ls_held_rec held[LS_MAX_DEPTH];
	u64 room[LS_STACK_FRAMES];
} found;

/* Observation @what of a waiting task, with its held locks. */
static void describe(const struct blocked *b, u32 what, u64 extra)
{
	u32 depth = min_t(u32, READ_ONCE(b->ctx->depth), LS_MAX_DEPTH), i;

	memset(&found, 0, sizeof(found));
	found.s.time_ns = ktime_get_ns();
	found.s.ip = b->wait.ip;
	found.s.lock = b->wait.lock;
	found.s.val = b->wait.val;
	found.s.pid = b->task->pid;
	found.s.tgid = b->task->tgid;
	found.s.task_flags = b->task->flags & PF_KTHREAD ? LS_TASK_KTHREAD : 0;
	found.s.what = what;
	found.s.extra = extra;
	memcpy(found.s.comm, b->task->comm, LS_COMM_LEN);
	/* For a function that cannot fail the lock has an entry already. */
	if (depth && b->ctx->held[depth - 1].lock == b->wait.lock)
		depth--;
	for (i = 0; i < depth; i++)
		found.held[i] = (struct ls_held_rec){ .val = b->ctx->held[i].val,
						      .ip = b->ctx->held[i].ip,
						      .lock = b->ctx->held[i].lock };
	found.s.nr_held = depth;
}

/* Store the observation, with instances as in records. */
static bool take_found(u32 *ordinal)
{
	u32 i;

	found.s.lock = ls_lock_instance(found.s.lock);
	for (i = 0; i < found.s.nr_held; i++)
		found.held[i].lock = ls_lock_instance(found.held[i].lock);
	return ls_worker_take(&found.event, ordinal);
}

/* The stack follows the held locks. */
static void add_stack(struct task_struct *task)
{
	found.s.stack = ls_task_stack(task, (u64 *)&found.held[found.s.nr_held], found.s.ip);
}

/*
 * Observation of a long wait of @b for a lock that @owner holds; the owner's entry of the lock
 * is marked.
 */
static void describe_long(const struct blocked *b, struct task_struct *owner, u64 waited)
{
	struct ls_held has;

	describe(b, LS_FINDING_LONG_HOLD, waited);
	if (ls_context_entry(owner, b->wait.lock, &has)) {
		/* No context has room for more. */
		if (found.s.nr_held == LS_MAX_DEPTH)
			found.s.nr_held--;
		found.held[found.s.nr_held] =
			(struct ls_held_rec){ .val = has.val, .ip = has.ip, .lock = has.lock };
		found.s.new_mask = 1ull << found.s.nr_held++;
	}
	add_stack(b->task);
}

/* True when @found has a wait that is too long. Under RCU. */
static bool look(u32 i)
{
	struct seen *w = &waits[i];
	struct task_struct *owner;
	struct blocked b;
	u64 now;

	if (!blocked(i, &b)) {
		w->task = NULL;
		return false;
	}
	if (w->task != b.task || w->since != b.wait.since)
		*w = (struct seen){ .task = b.task, .since = b.wait.since };
	now = local_clock();
	if (w->reported || !ls_long_wait_ms ||
	    (s64)(now - w->since) < (s64)ls_long_wait_ms * NSEC_PER_MSEC)
		return false;
	owner = owner_of(&b);
	if (!owner)
		return false;
	w->reported = true;
	describe_long(&b, owner, now - w->since);
	return true;
}

/*
 * Follow waits from context @start on, into @ring; 0 when they do not lead back to it. Only
 * locks with a single owner: a semaphore may be released by any context. Under RCU.
 */
static u32 ring_of(u32 start, u32 *ring)
{
	u32 i = start, n = 0;
	struct blocked b;

	do {
		struct task_struct *owner;

		if (n == DEADLOCK_MAX || i >= nr_waits || !blocked(i, &b) || !asleep(b.task) ||
		    ls_kind_of(b.wait.val) == LS_KIND_SEMAPHORE)
			return 0;
		ring[n++] = i;
		owner = owner_of(&b);
		if (!owner)
			return 0;
		i = context_of(owner);
	} while (i != start);
	return n;
}

/*
 * One task of a deadlock; the lock that @before, the task that waits for it, needs is marked.
 * Under RCU.
 */
static bool describe_member(u32 i, u32 before, u64 number)
{
	struct blocked b, other;
	u32 k;

	if (!blocked(i, &b) || !blocked(before, &other))
		return false;
	describe(&b, LS_FINDING_DEADLOCK, number);
	for (k = 0; k < found.s.nr_held; k++)
		if (found.held[k].lock == other.wait.lock)
			found.s.new_mask = 1ull << k;
	add_stack(b.task);
	return found.s.new_mask;
}

/*
 * The tasks of a cycle are deadlocked if all of its waits existed at one time. A cycle found
 * in two scans with the same waits for the same tasks did: none of them made progress in
 * between.
 */
static void look_for_deadlock(u32 start)
{
	struct ls_finding_edge edges[DEADLOCK_MAX];
	u32 ring[DEADLOCK_MAX], n, i;
	u64 now = local_clock();
	bool known = true;

	rcu_read_lock();
	n = ring_of(start, ring);
	for (i = 0; i < n; i++) {
		struct seen *w = &waits[ring[i]];
		u32 next = 1 + ring[(i + 1) % n];

		if (w->closes != next) {
			w->closes = next;
			w->closed = now;
		}
		known &= (s64)(now - w->closed) >= (s64)DEADLOCK_STANDS;
	}
	rcu_read_unlock();
	if (!n || !known || waits[start].reported_dead)
		return;
	for (i = 0; i < n; i++) {
		bool report;

		rcu_read_lock();
		report = describe_member(ring[i], ring[(i + n - 1) % n], now);
		rcu_read_unlock();
		if (!report)
			return;
		edges[i].to = ls_worker_class(found.s.val);
		edges[i].from = ls_worker_class(found.held[__ffs64(found.s.new_mask)].val);
		edges[i].kinds = LS_DEP_EN;
		waits[ring[i]].reported_dead = true;
		if (!take_found(&edges[i].sight))
			return;
	}
	ls_worker_deadlock(edges, n, true);
}

/* Scan all sleeping tasks that wait for something. Worker only, ls_work_mutex held. */
void ls_waits_look(void)
{
	u32 i, nr = 0;

	lockdep_assert_held(&ls_work_mutex);
	if (!READ_ONCE(ls_active))
		return;
	for_each_context(i) {
		u32 ordinal;
		bool report;

		rcu_read_lock();
		report = look(i);
		rcu_read_unlock();
		nr += waits[i].task != NULL;
		if (report)
			take_found(&ordinal);
	}
	if (nr < 2)
		return;
	for_each_context(i)
		if (waits[i].task)
			look_for_deadlock(i);
}

/* PID and TGID in the initial namespace, and whether @task still exists. Under RCU. */
static bool ids_of(struct task_struct *task, u32 *pid, u32 *tgid, char *comm)
{
	pid_t nr;

	/* A lock word may have a task that is gone. */
	if (get_kernel_nofault(nr, &task->pid) ||
	    pid_task(find_pid_ns(nr, &init_pid_ns), PIDTYPE_PID) != task)
		return false;
	*pid = nr;
	*tgid = task->tgid;
	memcpy(comm, task->comm, LS_COMM_LEN);
	comm[LS_COMM_LEN - 1] = 0;
	return true;
}

/* Under RCU. */
static bool fill(u32 i, struct ls_wait_rec *r)
{
	struct task_struct *owner;
	struct blocked b;
	struct ls_held has;
	u64 now;

	memset(r, 0, sizeof(*r));
	if (!blocked(i, &b) || !ids_of(b.task, &r->pid, &r->tgid, r->comm) || !asleep(b.task))
		return false;
	now = local_clock();
	r->lock = b.wait.lock;
	r->since = b.wait.since;
	r->waited = (s64)(now - b.wait.since) > 0 ? now - b.wait.since : 0;
	r->ip = b.wait.ip;
	r->val = b.wait.val;
	r->nr_held = READ_ONCE(b.ctx->depth);
	if (r->nr_held && b.ctx->held[min_t(u32, r->nr_held, LS_MAX_DEPTH) - 1].lock == b.wait.lock)
		r->nr_held--;
	r->nr = ls_task_stack(b.task, r->stack, b.wait.ip);
	owner = owner_of(&b);
	if (!owner || !ids_of(owner, &r->owner_pid, &r->owner_tgid, r->owner_comm))
		return true;
	r->flags |= LS_WAIT_OWNER;
	r->owner_nr = ls_task_stack(owner, r->owner_stack, 0);
	if (ls_context_entry(owner, b.wait.lock, &has)) {
		r->flags |= LS_WAIT_OWNER_LOCK;
		r->owner_val = has.val;
		r->owner_ip = has.ip;
	}
	return true;
}

/* LS_IOC_WAITS. Process context, may sleep. */
long ls_waits_list(struct ls_waits_req __user *arg)
{
	struct ls_waits_req req;
	struct ls_wait_rec *r;
	u32 i, done = 0;
	long rc = 0;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	r = kmalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	req.total = 0;
	for_each_context(i) {
		bool any;

		rcu_read_lock();
		any = fill(i, r);
		rcu_read_unlock();
		if (!any)
			continue;
		req.total++;
		if (done == req.nr)
			continue;
		if (copy_to_user((struct ls_wait_rec __user *)req.buf + done, r, sizeof(*r))) {
			rc = -EFAULT;
			break;
		}
		done++;
		cond_resched();
	}
	kfree(r);
	req.nr = done;
	return rc ? rc : copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

int ls_waits_init(u32 nr)
{
	nr_waits = nr;
	waits = ls_zalloc(array_size(nr, sizeof(*waits)));
	return waits ? 0 : -ENOMEM;
}

void ls_waits_exit(void)
{
	ls_free(waits);
}
