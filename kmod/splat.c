// SPDX-License-Identifier: GPL-2.0
/*
 * Findings on the console, in lockdep's words, so that people and bots that
 * read its reports can read ours. Worker only. Unlike lockdep's, the backtrace
 * stands near the top: log scanners look for it there.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "lockscope.h"

/* Interrupts are classes in findings only, and of no kind. */
static const char *kind_name(u32 class_id)
{
	return class_id >= LS_CLASS_HARDIRQ ? "interrupt" : ls_kind_name(ls.classes.table[class_id].kind);
}

struct side {
	struct ls_rec_sight s;
	struct ls_held_rec held[LS_MAX_DEPTH];
	u64 ips[LS_STACK_FRAMES];
	u32 nr_ips;
};

static bool load_side(struct side *x, u32 ordinal)
{
	if (!ls_worker_sight(ordinal, &x->s, x->held))
		return false;
	x->nr_ips = ls_worker_stack(x->s.stack, x->ips);
	return true;
}

/* Addresses never reach the console, not even of code that has gone. */
static void symbol(char *text, u64 ip)
{
	sprint_symbol(text, ip);
	if (text[0] == '0' && text[1] == 'x')
		strcpy(text, "(unloaded code)");
}

static void print_frames(const char *indent, const struct side *x)
{
	char text[KSYM_SYMBOL_LEN];
	u32 i;

	for (i = 0; i < x->nr_ips; i++) {
		symbol(text, x->ips[i]);
		printk(KERN_WARNING "%s%s\n", indent, text);
	}
}

static void print_lock(const char *lead, u32 class_id, u64 ip)
{
	char text[KSYM_SYMBOL_LEN];

	symbol(text, ip);
	printk(KERN_WARNING "%s(%s){%s}, at: %s\n", lead, ls_class_name(class_id),
	       kind_name(class_id), text);
}

static void print_head(const char *warning)
{
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "======================================================\n");
	printk(KERN_WARNING "%s\n", warning);
	printk(KERN_WARNING "%s %.*s\n", init_utsname()->release, (int)strcspn(init_utsname()->version, " "), init_utsname()->version);
	printk(KERN_WARNING "------------------------------------------------------\n");
}

static void print_backtrace(const struct side *x)
{
	printk(KERN_WARNING "Call Trace:\n");
	printk(KERN_WARNING " <TASK>\n");
	print_frames("  ", x);
	printk(KERN_WARNING " </TASK>\n");
}

static void print_held(const struct side *x)
{
	char lead[16];
	u32 i;

	printk(KERN_WARNING "%u lock%s held by %s/%u:\n", x->s.nr_held,
	       x->s.nr_held == 1 ? "" : "s", x->s.comm, x->s.pid);
	for (i = 0; i < x->s.nr_held; i++) {
		snprintf(lead, sizeof(lead), " #%u: ", i);
		print_lock(lead, ls_worker_class(x->held[i].val), x->held[i].ip);
	}
}

/* The held entry of class @class_id; the topmost when there are several. */
static const struct ls_held_rec *held_of(const struct side *x, u32 class_id)
{
	u32 i;

	for (i = x->s.nr_held; i-- > 0;)
		if (ls_worker_class(x->held[i].val) == class_id)
			return &x->held[i];
	return NULL;
}

static void print_scenario(const struct ls_finding_edge *edges, u32 nr)
{
	printk(KERN_WARNING " Possible unsafe locking scenario:\n");
	printk(KERN_WARNING "\n");
	if (nr > 2) {
		u32 i;

		printk(KERN_WARNING "Chain exists of:\n");
		for (i = 0; i < nr; i++)
			printk(KERN_WARNING "  %s -->\n", ls_class_name(edges[i].to));
		printk(KERN_WARNING "\n");
	}
	printk(KERN_WARNING "       CPU0                    CPU1\n");
	printk(KERN_WARNING "       ----                    ----\n");
	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(edges[0].from));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[0].to));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[1 % nr].to));
	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(edges[0].to));
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
}

/* edges[0] is the dependency that closed the cycle. */
void ls_splat_cycle(const struct ls_finding_edge *edges, u32 nr)
{
	struct side *now = kzalloc(sizeof(*now), GFP_KERNEL), *old = kzalloc(sizeof(*old), GFP_KERNEL);
	const struct ls_held_rec *held;
	u32 i;

	if (!now || !old || !load_side(now, edges[0].sight))
		goto out;
	held = held_of(now, edges[0].from);

	print_head("WARNING: possible circular locking dependency detected");
	printk(KERN_WARNING "%s/%u is trying to acquire lock:\n", now->s.comm, now->s.pid);
	print_lock("", edges[0].to, now->s.ip);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "but task is already holding lock:\n");
	print_lock("", edges[0].from, held ? held->ip : 0);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "which lock already depends on the new lock.\n");
	print_backtrace(now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "the existing dependency chain (in reverse order) is:\n");
	for (i = nr - 1; i >= 1; i--) {
		printk(KERN_WARNING "\n");
		printk(KERN_WARNING "-> #%u (%s){%s}:\n", i, ls_class_name(edges[i].to),
		       kind_name(edges[i].to));
		if (load_side(old, edges[i].sight))
			print_frames("       ", old);
	}
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "-> #0 (%s){%s}:\n", ls_class_name(edges[0].to),
	       kind_name(edges[0].to));
	print_frames("       ", now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "other info that might help us debug this:\n");
	printk(KERN_WARNING "\n");
	print_scenario(edges, nr);
	print_held(now);
	printk(KERN_WARNING "lockscope: cycle of %u locks\n", nr);
out:
	kfree(now);
	kfree(old);
}

void ls_splat_inversion(u32 class_id, bool same, u32 first, u32 second)
{
	struct side *now = kzalloc(sizeof(*now), GFP_KERNEL), *old = kzalloc(sizeof(*old), GFP_KERNEL);
	const struct ls_held_rec *held;

	if (!now || !old || !load_side(now, second))
		goto out;
	held = held_of(now, class_id);
	print_head("WARNING: possible recursive locking detected");
	printk(KERN_WARNING "%s/%u is trying to acquire lock:\n", now->s.comm, now->s.pid);
	print_lock("", class_id, now->s.ip);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "but task is already holding lock:\n");
	print_lock("", class_id, held ? held->ip : 0);
	print_backtrace(now);
	printk(KERN_WARNING "\n");
	if (!same && first != second && load_side(old, first)) {
		printk(KERN_WARNING "the same two locks were taken in the other order, as in:\n");
		print_frames("       ", old);
		printk(KERN_WARNING "\n");
	}
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
	print_held(now);
out:
	kfree(now);
	kfree(old);
}

static const char *interrupt(u32 class_id)
{
	return class_id == LS_CLASS_HARDIRQ ? "HARDIRQ" : "SOFTIRQ";
}

/*
 * A cycle through an interrupt: edges[0] leads out of it to the lock it takes,
 * the last one leads into it from the lock that is held while it may come.
 */
void ls_splat_interrupt(u32 kind, const struct ls_finding_edge *edges, u32 nr)
{
	struct side *in = kzalloc(sizeof(*in), GFP_KERNEL), *on = kzalloc(sizeof(*on), GFP_KERNEL);
	const char *irq = interrupt(edges[0].from);
	u32 safe = edges[0].to, unsafe = edges[nr - 1].from, i;
	bool state = kind == LS_FINDING_IRQ_STATE;
	struct side *now;
	char head[80];

	if (!in || !on || !load_side(in, edges[0].sight) || !load_side(on, edges[nr - 1].sight))
		goto out;
	/* The younger of the two brought it to light. */
	now = edges[0].sight > edges[nr - 1].sight ? in : on;

	if (state)
		strscpy(head, "WARNING: inconsistent lock state", sizeof(head));
	else
		snprintf(head, sizeof(head), "WARNING: %s-safe -> %s-unsafe lock order detected", irq, irq);
	print_head(head);
	if (state) {
		printk(KERN_WARNING "inconsistent {%s-ON-W} -> {IN-%s-W} usage.\n", irq, irq);
		printk(KERN_WARNING "%s/%u takes:\n", now->s.comm, now->s.pid);
		print_lock("", safe, now->s.ip);
	} else {
		printk(KERN_WARNING "%s/%u is trying to acquire:\n", now->s.comm, now->s.pid);
		print_lock("", unsafe, on->s.ip);
	}
	print_backtrace(now);
	printk(KERN_WARNING "\n");
	if (!state) {
		printk(KERN_WARNING "the %s-irq-unsafe lock:\n", irq);
		print_lock("", unsafe, on->s.ip);
		printk(KERN_WARNING "... which became %s-irq-unsafe at:\n", irq);
	} else {
		printk(KERN_WARNING "{%s-ON-W} state was registered at:\n", irq);
	}
	print_frames("  ", on);
	printk(KERN_WARNING "\n");
	if (!state) {
		printk(KERN_WARNING "and the %s-irq-safe lock:\n", irq);
		print_lock("", safe, in->s.ip);
		printk(KERN_WARNING "... which became %s-irq-safe at:\n", irq);
	} else {
		printk(KERN_WARNING "{IN-%s-W} state was registered at:\n", irq);
	}
	print_frames("  ", in);
	printk(KERN_WARNING "\n");
	for (i = 1; i + 1 < nr; i++) {
		printk(KERN_WARNING "-> #%u (%s){%s} under (%s):\n", i, ls_class_name(edges[i].to),
		       kind_name(edges[i].to), ls_class_name(edges[i].from));
		if (load_side(now, edges[i].sight))
			print_frames("       ", now);
	}
	printk(KERN_WARNING "other info that might help us debug this:\n");
	if (state) {
		printk(KERN_WARNING " Possible unsafe locking scenario:\n");
		printk(KERN_WARNING "\n");
		printk(KERN_WARNING "       CPU0\n");
		printk(KERN_WARNING "       ----\n");
		printk(KERN_WARNING "  lock(%s);\n", ls_class_name(unsafe));
		printk(KERN_WARNING "  <Interrupt>\n");
		printk(KERN_WARNING "    lock(%s);\n", ls_class_name(safe));
	} else {
		printk(KERN_WARNING " Possible interrupt unsafe locking scenario:\n");
		printk(KERN_WARNING "\n");
		printk(KERN_WARNING "       CPU0                    CPU1\n");
		printk(KERN_WARNING "       ----                    ----\n");
		printk(KERN_WARNING "  lock(%s);\n", ls_class_name(unsafe));
		printk(KERN_WARNING "                               local_irq_disable();\n");
		printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(safe));
		printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[1].to));
		printk(KERN_WARNING "  <Interrupt>\n");
		printk(KERN_WARNING "    lock(%s);\n", ls_class_name(safe));
	}
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
out:
	kfree(in);
	kfree(on);
}

/* The words of whoever in the kernel would have said it. */
static const struct {
	const char *head;
	const char *does;
} words[LS_NR_FINDINGS] = {
	[LS_FINDING_WAIT_CONTEXT] = { "[ BUG: Invalid wait context ]", "is trying to lock:" },
	[LS_FINDING_SLEEP_ATOMIC] = { "BUG: sleeping function called from invalid context", NULL },
	[LS_FINDING_BAD_UNLOCK] = { "WARNING: bad unlock balance detected!", "is trying to release lock:" },
	[LS_FINDING_DOUBLE_UNLOCK] = { "WARNING: bad unlock balance detected!", "is trying to release lock:" },
	[LS_FINDING_HELD_FREED] = { "WARNING: held lock freed!", "is freeing memory with a lock still held there:" },
	[LS_FINDING_HELD_INIT] = { "WARNING: held lock freed!", "is initialising a lock that it holds:" },
	[LS_FINDING_HELD_EXIT] = { "WARNING: lock held when exiting", "still has locks held:" },
	[LS_FINDING_HELD_USER] = { "WARNING: lock held when returning to user space!", "is leaving the kernel with locks still held:" },
	[LS_FINDING_NOT_HELD] = { "WARNING: Nested lock was not taken", "needs to hold:" },
	[LS_FINDING_LONG_HOLD] = { "INFO: task blocked on a lock for too long", "waits for:" },
	[LS_FINDING_WW] = { "WARNING: ww_mutex rules broken", "is trying to lock:" },
};

void ls_splat_fault(u32 what, u32 class_id, u32 ordinal)
{
	struct side *x = kzalloc(sizeof(*x), GFP_KERNEL);
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 64];

	if (!x || what >= LS_NR_FINDINGS || !words[what].head || !load_side(x, ordinal))
		goto out;
	if (what == LS_FINDING_SLEEP_ATOMIC) {
		symbol(text, x->s.ip);
		snprintf(head, sizeof(head), "%s at %s", words[what].head, text);
		print_head(head);
	} else {
		print_head(words[what].head);
	}
	if (words[what].does)
		printk(KERN_WARNING "%s/%u %s\n", x->s.comm, x->s.pid, words[what].does);
	if (class_id)
		print_lock("", class_id, x->s.ip);
	if (what == LS_FINDING_SLEEP_ATOMIC)
		printk(KERN_WARNING "in_atomic(), pid: %u, name: %s\n", x->s.pid, x->s.comm);
	if (what == LS_FINDING_BAD_UNLOCK)
		printk(KERN_WARNING "but another task holds it!\n");
	if (what == LS_FINDING_DOUBLE_UNLOCK)
		printk(KERN_WARNING "but there are no more locks to release!\n");
	print_backtrace(x);
	printk(KERN_WARNING "\n");
	print_held(x);
out:
	kfree(x);
}
