// SPDX-License-Identifier: GPL-2.0
/* Faults that one observation shows, on the console. Worker only. */
#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "out/console/splat.h"
#include "out/out.h"

/* "COMM/PID WORDS (LOCK), at: FUNCTION" on one line. */
static void print_task_lock(const struct ls_splat_side *x, const char *words, u32 class_id)
{
	char lead[LS_COMM_LEN + 48];

	snprintf(lead, sizeof(lead), "%s/%u %s ", x->s.comm, x->s.pid, words);
	ls_splat_lock(lead, class_id, x->s.ip);
}

/*
 * The kernel tells here whether the preempt count is 0. No sight has it; it is
 * taken for one unless interrupts that are off explain everything. So a read side
 * of RCU looks like one.
 */
static void splat_sleep(const struct ls_splat_side *x, u32 class_id)
{
	u32 level = (x->s.val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	bool irqs_off = x->s.val & LS_VAL_IRQ_OFF;
	bool atomic = !irqs_off || level != LS_TASK || (x->s.val & LS_VAL_BH_OFF) || x->s.new_mask;
	char text[KSYM_SYMBOL_LEN];

	ls_splat_symbol(text, x->s.ip);
	printk(KERN_WARNING "BUG: sleeping function called from invalid context at %s\n", text);
	printk(KERN_WARNING "in_atomic(): %d, irqs_disabled(): %d, non_block: 0, pid: %u, name: %s\n",
	       atomic, irqs_off, x->s.pid, x->s.comm);
	if (class_id)
		print_task_lock(x, "is trying to lock:", class_id);
}

/*
 * Scanners take the address in brackets for the sign of a place in code; the
 * offset is what may be told of it.
 */
static void splat_unlock(const struct ls_splat_side *x, u32 what, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];
	const char *offset;

	ls_splat_head("WARNING: bad unlock balance detected!");
	printk(KERN_WARNING "%s/%u is trying to release lock (%s) at:\n", x->s.comm, x->s.pid,
	       ls_class_name(class_id));
	ls_splat_symbol(text, x->s.ip);
	offset = strchr(text, '+');
	if (offset)
		printk(KERN_WARNING "[<%.*s>] %s\n", (int)strcspn(offset + 1, "/"), offset + 1, text);
	else
		printk(KERN_WARNING "%s\n", text);
	printk(KERN_WARNING "%s\n", what == LS_FINDING_BAD_UNLOCK ?
	       "but another task holds it!" : "but there are no more locks to release!");
}

/* Memory with a lock in it is freed, or the lock is made anew. */
static void splat_held_freed(const struct ls_splat_side *x, u32 what, u32 class_id)
{
	ls_splat_head("WARNING: held lock freed!");
	if (what == LS_FINDING_HELD_INIT)
		printk(KERN_WARNING "%s/%u is initialising a lock that it holds:\n", x->s.comm, x->s.pid);
	else
		printk(KERN_WARNING "%s/%u is freeing memory of (%s), with a lock still held there!\n",
		       x->s.comm, x->s.pid, ls_class_name(class_id));
	ls_splat_lock("", class_id, ls_splat_taken(x, class_id).ip);
}

/* The task keeps locks where it should have none: the first of them, the rest follows. */
static void splat_kept(const struct ls_splat_side *x, u32 what)
{
	char head[LS_COMM_LEN + 48];
	u32 i = x->s.new_mask ? __ffs64(x->s.new_mask) : 0;

	if (what == LS_FINDING_HELD_EXIT) {
		snprintf(head, sizeof(head), "WARNING: %s/%u still has locks held!", x->s.comm, x->s.pid);
		ls_splat_head(head);
	} else {
		ls_splat_head("WARNING: lock held when returning to user space!");
		printk(KERN_WARNING "%s/%u is leaving the kernel with locks still held!\n",
		       x->s.comm, x->s.pid);
	}
	if (i < x->s.nr_held)
		ls_splat_lock("", ls_worker_class(x->held[i].val), x->held[i].ip);
}

static void splat_not_held(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];

	ls_splat_symbol(text, x->s.ip);
	ls_splat_head("WARNING: Nested lock was not taken");
	printk(KERN_WARNING "%s/%u relies on a lock at: %s\n", x->s.comm, x->s.pid, text);
	printk(KERN_WARNING "but this task is not holding: (%s){%s}\n", ls_class_name(class_id),
	       ls_splat_kind(class_id));
}

static void splat_long_hold(const struct ls_splat_side *x, u32 class_id)
{
	u64 owner = ls_splat_owners(x);

	printk(KERN_WARNING "INFO: task %s:%u blocked for more than %llu seconds on a lock.\n",
	       x->s.comm, x->s.pid, div_u64(x->s.extra, NSEC_PER_SEC));
	print_task_lock(x, "waits for:", class_id);
	if (owner)
		ls_splat_lock("which its owner took: ", class_id, x->held[__ffs64(owner)].ip);
}

/* The kernel has no words for this. Scanners take the line for the title: it says where. */
static void splat_ww(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 40];

	ls_splat_function(text, x->s.ip);
	snprintf(head, sizeof(head), "WARNING: ww_mutex rules broken in %s!", text);
	ls_splat_head(head);
	print_task_lock(x, "is trying to lock:", class_id);
}

/* Faults that one sight shows, in the words of whoever in the kernel would have said it. */
void ls_splat_fault(u32 what, u32 class_id, u32 ordinal)
{
	struct ls_splat_side *x = kzalloc(sizeof(*x), GFP_KERNEL);

	if (!x || !ls_splat_load(x, ordinal))
		goto out;
	/* A new kind needs words of its own: see CFLAGS_out/console/fault.o. */
	switch ((enum ls_finding_kind)what) {
	case LS_FINDING_WAIT_CONTEXT:
		ls_splat_head("[ BUG: Invalid wait context ]");
		print_task_lock(x, "is trying to lock:", class_id);
		break;
	case LS_FINDING_SLEEP_ATOMIC:
		splat_sleep(x, class_id);
		break;
	case LS_FINDING_BAD_UNLOCK:
	case LS_FINDING_DOUBLE_UNLOCK:
		splat_unlock(x, what, class_id);
		break;
	case LS_FINDING_HELD_FREED:
	case LS_FINDING_HELD_INIT:
		splat_held_freed(x, what, class_id);
		break;
	case LS_FINDING_HELD_EXIT:
	case LS_FINDING_HELD_USER:
		splat_kept(x, what);
		break;
	case LS_FINDING_NOT_HELD:
		splat_not_held(x, class_id);
		break;
	case LS_FINDING_LONG_HOLD:
		splat_long_hold(x, class_id);
		break;
	case LS_FINDING_WW:
		splat_ww(x, class_id);
		break;
	/* These have functions of their own. */
	case LS_FINDING_ORDER_CYCLE:
	case LS_FINDING_RECURSIVE:
	case LS_FINDING_IRQ_INVERSION:
	case LS_FINDING_IRQ_STATE:
	case LS_FINDING_DEADLOCK:
	case LS_FINDING_RACE:
	case LS_NR_FINDINGS:
		goto out;
	}
	ls_splat_backtrace(x);
	printk(KERN_WARNING "\n");
	ls_splat_held(x);
out:
	kfree(x);
}
