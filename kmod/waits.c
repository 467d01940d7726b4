// SPDX-License-Identifier: GPL-2.0
/*
 * Who waits for a lock for too long, and who has it. The thread looks at the
 * contexts of sleeping tasks every so often; hooks do nothing for it. A lock
 * that a task waits for stands on top of its stack, and says itself who owns it.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "lockscope.h"
#include "lockword.h"

static uint long_wait_ms = 60000;
module_param(long_wait_ms, uint, 0644);
MODULE_PARM_DESC(long_wait_ms, "report who waits for a lock longer than this, in milliseconds; 0: nobody");

static struct wait {
	struct task_struct *task;
	u64 lock;
	u64 since;		/* ns, when we saw it first */
	bool told;
} *waits;
static u32 nr_waits;

/* Owner of the lock that @task waits for according to @top, NULL when it has it or none is known. */
static struct task_struct *waits_for(const struct ls_held *top, struct task_struct *task)
{
	unsigned long owner = 0, at;
	u32 kind = ls_kind_of(top->val);

	switch (kind) {
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
		at = top->lock + offsetof(struct mutex, owner);
		break;
	case LS_KIND_RT_MUTEX:
		at = top->lock - LS_RTM_OFF + offsetof(struct rt_mutex, rtmutex.owner);
		break;
	case LS_KIND_RWSEM:
		at = top->lock + offsetof(struct rw_semaphore, owner);
		break;
	default:
		return NULL;
	}
	if (get_kernel_nofault(owner, (unsigned long *)at))
		return NULL;
	/* A reader's word may be old: only a writer who owns it counts. */
	if (kind == LS_KIND_RWSEM && (owner & 1))
		return NULL;
	owner &= ~LS_OWNER_FLAGS;
	return owner == (unsigned long)task ? NULL : (struct task_struct *)owner;
}

/* What is to be told. */
static struct {
	struct ls_event event;
	struct ls_rec_sight s;
	struct ls_held_rec held[LS_MAX_DEPTH + 1];
	u64 room[LS_STACK_FRAMES];
} found;

/* Sight of @task waiting with what @ctx holds; the owner's entry of the lock is marked. Under RCU. */
static bool describe(const struct ls_ctx *ctx, struct task_struct *task, struct task_struct *owner,
		     u64 waited)
{
	u32 depth = READ_ONCE(ctx->depth), i;
	struct ls_held has, top;

	if (!depth || depth > LS_MAX_DEPTH)
		return false;
	top = ctx->held[depth - 1];
	memset(&found, 0, sizeof(found));
	found.s.time_ns = ktime_get_ns();
	found.s.ip = top.ip;
	found.s.lock = top.lock;
	found.s.val = top.val;
	found.s.pid = task->pid;
	found.s.tgid = task->tgid;
	found.s.task_flags = task->flags & PF_KTHREAD ? LS_TASK_KTHREAD : 0;
	found.s.what = LS_FINDING_LONG_HOLD;
	found.s.extra = waited;
	memcpy(found.s.comm, task->comm, LS_COMM_LEN);
	for (i = 0; i < depth - 1; i++)
		found.held[i] = (struct ls_held_rec){ .val = ctx->held[i].val, .ip = ctx->held[i].ip,
						      .lock = ctx->held[i].lock };
	if (ls_context_entry(owner, top.lock, &has)) {
		found.held[i] = (struct ls_held_rec){ .val = has.val, .ip = has.ip, .lock = has.lock };
		found.s.new_mask = 1ull << i++;
	}
	found.s.nr_held = i;
	found.s.stack = ls_task_stack(task, (u64 *)&found.held[i], top.ip);
	return true;
}

/* True when @found has something to tell. */
static bool look(u32 i, const struct ls_ctx *ctx, struct task_struct *task)
{
	struct wait *w = &waits[i];
	u32 depth = READ_ONCE(ctx->depth);
	u64 now = ktime_get_ns();
	struct task_struct *owner;
	struct ls_held top;

	if (!task || !depth || depth > LS_MAX_DEPTH) {
		w->task = NULL;
		return false;
	}
	top = ctx->held[depth - 1];
	owner = waits_for(&top, task);
	if (!owner) {
		w->task = NULL;
		return false;
	}
	if (w->task != task || w->lock != top.lock) {
		*w = (struct wait){ .task = task, .lock = top.lock, .since = now };
		return false;
	}
	if (w->told || now - w->since < (u64)long_wait_ms * NSEC_PER_MSEC)
		return false;
	w->told = true;
	return describe(ctx, task, owner, now - w->since);
}

/* One round over all sleeping tasks that hold or wait for something. Thread only, work_mutex held. */
void ls_waits_look(void)
{
	u32 i;

	if (!READ_ONCE(long_wait_ms) || !READ_ONCE(ls_active))
		return;
	for (i = 0; i < nr_waits; i++) {
		struct task_struct *task;
		const struct ls_ctx *ctx;
		bool tell;

		rcu_read_lock();
		ctx = ls_context_sleeping(i, &task);
		tell = look(i, ctx, task);
		rcu_read_unlock();
		if (tell)
			ls_worker_take(&found.event);
	}
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
