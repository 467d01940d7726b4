// SPDX-License-Identifier: GPL-2.0
/* Faults that one observation shows, on the console. Worker only. */
#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "console_words.h"
#include "out/console/splat.h"
#include "out/out.h"

/* "COMM/PID WORDS (LOCK), at: FUNCTION" on one line. */
static void print_task_lock(const struct ls_splat_side *x, u32 class_id)
{
	char lead[LS_COMM_LEN + 48];

	snprintf(lead, sizeof(lead), "%s/%u %s ", x->s.comm, x->s.pid, ls_finding_words(x->s.what));
	ls_splat_lock(lead, class_id, x->s.ip);
}

/* "COMM/PID WORDS" on one line. */
static void print_task(const struct ls_splat_side *x)
{
	printk(KERN_WARNING LS_SAY_WHO "\n", x->s.comm, x->s.pid, ls_finding_words(x->s.what));
}

/* Most kinds: what the task did, and with which lock. */
static void splat_lock(const struct ls_splat_side *x, u32 class_id)
{
	ls_splat_head(ls_finding_head(x->s.what));
	print_task_lock(x, class_id);
}

/*
 * The kernel prints the preempt count here. Observations do not have it; it is assumed to be 1
 * unless disabled interrupts explain the report. So an RCU read side looks like preemption
 * off.
 */
static void splat_sleep(const struct ls_splat_side *x, u32 class_id)
{
	u32 level = (x->s.val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	bool irqs_off = x->s.val & LS_VAL_IRQ_OFF;
	bool atomic = !irqs_off || level != LS_TASK || (x->s.val & LS_VAL_BH_OFF) || x->s.new_mask;
	char text[KSYM_SYMBOL_LEN];

	ls_splat_symbol(text, x->s.ip);
	printk(KERN_WARNING "%s at %s\n", ls_finding_head(x->s.what), text);
	printk(KERN_WARNING LS_SAY_SLEEP "\n",
	       atomic, irqs_off, x->s.pid, x->s.comm);
	if (class_id)
		print_task_lock(x, class_id);
}

/*
 * Log scanners take the address in brackets for a code location; print the offset only, not
 * the address.
 */
static void splat_unlock(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];
	const char *offset;

	ls_splat_head(ls_finding_head(x->s.what));
	printk(KERN_WARNING LS_SAY_RELEASE "\n", x->s.comm, x->s.pid,
	       ls_class_name(class_id));
	ls_splat_symbol(text, x->s.ip);
	offset = strchr(text, '+');
	if (offset)
		printk(KERN_WARNING "[<%.*s>] %s\n", (int)strcspn(offset + 1, "/"), offset + 1, text);
	else
		printk(KERN_WARNING "%s\n", text);
	printk(KERN_WARNING "%s\n", ls_finding_words(x->s.what));
}

/* Memory with a lock in it is freed. */
static void splat_freed(const struct ls_splat_side *x, u32 class_id)
{
	ls_splat_head(ls_finding_head(x->s.what));
	printk(KERN_WARNING LS_SAY_FREED "\n", x->s.comm, x->s.pid,
	       ls_finding_words(x->s.what), ls_class_name(class_id));
	ls_splat_lock("", class_id, ls_splat_taken(x, class_id).ip);
}

/* What the task does to a lock that it holds. */
static void splat_held(const struct ls_splat_side *x, u32 class_id)
{
	ls_splat_head(ls_finding_head(x->s.what));
	print_task(x);
	ls_splat_lock("", class_id, ls_splat_taken(x, class_id).ip);
}

/* The task still holds locks where it should hold none: title with the first one, then the rest. */
static void print_kept(const struct ls_splat_side *x)
{
	u32 i = x->s.new_mask ? __ffs64(x->s.new_mask) : 0;

	if (i < x->s.nr_held)
		ls_splat_lock("", ls_worker_class(x->held[i].val), x->held[i].ip);
}

static void splat_exit(const struct ls_splat_side *x, u32 class_id)
{
	char head[LS_COMM_LEN + 48];

	snprintf(head, sizeof(head), "%s %s/%u %s", ls_finding_head(x->s.what), x->s.comm, x->s.pid,
		 ls_finding_words(x->s.what));
	ls_splat_head(head);
	print_kept(x);
}

static void splat_user(const struct ls_splat_side *x, u32 class_id)
{
	ls_splat_head(ls_finding_head(x->s.what));
	print_task(x);
	print_kept(x);
}

static void splat_not_held(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];

	ls_splat_symbol(text, x->s.ip);
	ls_splat_head(ls_finding_head(x->s.what));
	printk(KERN_WARNING "%s/%u %s %s\n", x->s.comm, x->s.pid, ls_finding_words(x->s.what), text);
	printk(KERN_WARNING LS_SAY_NOT_HOLDING "\n", ls_class_name(class_id),
	       ls_splat_kind(class_id));
}

static void splat_long_hold(const struct ls_splat_side *x, u32 class_id)
{
	u64 owner = ls_splat_owners(x);

	printk(KERN_WARNING LS_SAY_LONG "\n", x->s.comm, x->s.pid,
	       ls_finding_head(x->s.what), div_u64(x->s.extra, NSEC_PER_SEC));
	print_task_lock(x, class_id);
	if (owner)
		ls_splat_lock(LS_SAY_OWNER, class_id, x->held[__ffs64(owner)].ip);
}

/*
 * The kernel has no report for this. Log scanners take this line as the title, so it has the
 * location.
 */
static void splat_ww(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 40];

	ls_splat_function(text, x->s.ip);
	snprintf(head, sizeof(head), "%s %s!", ls_finding_head(x->s.what), text);
	ls_splat_head(head);
	print_task_lock(x, class_id);
}

/* Also without a report of the kernel's that has the place in its title. */
static void splat_at_end(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 40];

	ls_splat_function(text, x->s.ip);
	snprintf(head, sizeof(head), "%s %s!", ls_finding_head(x->s.what), text);
	ls_splat_head(head);
	print_task(x);
}

/* The topmost entry is no lock that is held. */
static void splat_in_freed(const struct ls_splat_side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];

	splat_ww(x, class_id);
	if (!x->s.nr_held)
		return;
	ls_splat_symbol(text, x->held[x->s.nr_held - 1].ip);
	printk(KERN_WARNING LS_SAY_FREED_AT "\n", text);
}

/* Kinds that take several observations have functions of their own: NULL. */
#define splat_own NULL
static void (*const splats[LS_NR_FINDINGS])(const struct ls_splat_side *x, u32 class_id) = {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, splat, ...) \
	[value] = splat_##splat,
	LS_SIGHT_FINDINGS(LS_ROW)
#undef LS_ROW
};

/* Faults that one observation shows, in the words of the kernel's own check. */
void ls_splat_fault(u32 what, u32 class_id, u32 ordinal)
{
	struct ls_splat_side *x;

	if (WARN_ON_ONCE(what >= LS_NR_FINDINGS || !splats[what]))
		return;
	x = kzalloc(sizeof(*x), GFP_KERNEL);
	if (!x || !ls_splat_load(x, ordinal))
		goto out;
	splats[what](x, class_id);
	ls_splat_backtrace(x);
	printk(KERN_WARNING "\n");
	if (what == LS_FINDING_IN_FREED && x->s.nr_held)
		x->s.nr_held--;
	ls_splat_held(x);
out:
	kfree(x);
}
