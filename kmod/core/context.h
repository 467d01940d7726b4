/* SPDX-License-Identifier: GPL-2.0 */
/* Contexts: what one task, or one interrupt level of a CPU, holds. */
#ifndef LOCKSCOPE_CONTEXT_H
#define LOCKSCOPE_CONTEXT_H

#include <linux/hardirq.h>

#include "core/state.h"

extern struct ls_ctx *ls_contexts;	/* of tasks asleep with locks held, and one per CPU */

int ls_context_init(u32 nr);
void ls_context_exit(void);
void ls_context_anchor(struct ls_anchor *a);
void ls_context_clear(void);
u32 ls_context_count(void);
struct ls_ctx *ls_context_get(void);
void ls_context_put(struct ls_ctx *ctx);
u32 ls_context_next(u32 i);
const struct ls_ctx *ls_context_sleeping(u32 i, struct task_struct **task);
u32 ls_context_waits_on(struct task_struct *task, u64 *queue);
bool ls_context_entry(struct task_struct *task, u64 lock, struct ls_held *out);
bool ls_context_holds(struct task_struct *task, u64 lock);
bool ls_in_schedule(u64 ip);
struct ls_ctx *ls_ctx_fix(struct ls_cpu *pc);
struct ls_ctx *ls_context(struct ls_cpu *pc, u32 *level);
struct ls_ctx *ls_context_of(struct ls_cpu *pc, unsigned long count, u32 *level);
u32 ls_where(u32 level);
u32 ls_entry(u32 level);

/* The own context of @task, NULL: none. */
static __always_inline struct ls_ctx *ls_context_registered(struct task_struct *task)
{
	u32 id = ls_addrmap_find(&ls.tasks, (u64)task);

	return id ? &ls_contexts[id - 1] : NULL;
}

/* Context of the code on this CPU that had preempt_count() @count. Preemption off. */
static __always_inline struct ls_ctx *ls_context_in(struct ls_cpu *pc, unsigned long count, u32 *level)
{
	count = ls_count_mend(count);
	if (unlikely(ls_has_tail(pc)) && !(count & NMI_MASK)) {
		*level = LS_HARDIRQ;
		return &pc->level[LS_HARDIRQ - 1];
	}
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))) {
		*level = LS_TASK;
		if (likely(pc->cur == current))
			return pc->task;
		return ls_ctx_fix(pc);
	}
	*level = count & NMI_MASK ? LS_NMI : count & HARDIRQ_MASK ? LS_HARDIRQ : LS_SOFTIRQ;
	return &pc->level[*level - 1];
}

/* Depth of RCU read sides of the current task. */
static __always_inline int ls_rcu_depth(void)
{
#ifdef CONFIG_PREEMPT_RCU
	return READ_ONCE(current->rcu_read_lock_nesting);
#else
	return 0;
#endif
}

/* LS_ATOMIC_*; @off: is preemption off, but for this module's part? */
static __always_inline u64 ls_atomic_by(bool off)
{
	return (off ? LS_ATOMIC_PREEMPT : 0) | (ls_rcu_depth() ? LS_ATOMIC_RCU : 0);
}

/* The same for code that had preempt_count() @count, including this module's part. */
static __always_inline u64 ls_atomic_in(unsigned long count)
{
	return ls_atomic_by((count & PREEMPT_MASK) > PREEMPT_OFFSET + ls_slack);
}

/* Acquire mode and context bits, without the class. */
static __always_inline u32 ls_how(u32 desc, unsigned long count)
{
	u32 val = desc & LS_DESC_VAL;

	val |= (~native_save_fl() & X86_EFLAGS_IF) << (25 - 9);
	if (unlikely(count & SOFTIRQ_MASK))
		val |= LS_VAL_BH_OFF;
	return val;
}

/* Is code that had preempt_count() @count, including this module's part, atomic? */
static __always_inline bool ls_is_atomic(unsigned long count)
{
	return (count > PREEMPT_OFFSET + ls_slack) || !(native_save_fl() & X86_EFLAGS_IF) ||
	       ls_rcu_depth();
}

#endif /* LOCKSCOPE_CONTEXT_H */
