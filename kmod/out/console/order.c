// SPDX-License-Identifier: GPL-2.0
/*
 * Cycles, inversions and deadlocks on the console, in lockdep's words, for people and bots
 * that read its reports. Worker only. Unlike lockdep's, the backtrace is near the top, where
 * log scanners look for it.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "console_words.h"
#include "out/console/splat.h"
#include "out/out.h"

/* edges[0] is that of a waiting task, edges[1] that of the completing context. */
static void print_scenario_wait(const struct ls_finding_edge *edges)
{
	bool queue = ls_splat_is_queue(edges[0].to);

	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", ls_class_name(edges[0].from));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "lock", ls_class_name(edges[1].to));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", queue ? "wake_up" : "complete",
	       ls_class_name(edges[0].to));
	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", queue ? "wait_event" : "wait_for_completion",
	       ls_class_name(edges[0].to));
}

static void print_scenario_locks(const struct ls_finding_edge *edges, u32 nr)
{
	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", ls_class_name(edges[0].from));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "lock", ls_class_name(edges[0].to));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "lock", ls_class_name(edges[1 % nr].to));
	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", ls_class_name(edges[0].to));
}

static void print_scenario(const struct ls_finding_edge *edges, u32 nr)
{
	printk(KERN_WARNING LS_SAY_SCENARIO "\n");
	printk(KERN_WARNING "\n");
	if (nr > 2) {
		u32 i;

		printk(KERN_WARNING LS_SAY_CHAIN_EXISTS "\n");
		for (i = 0; i < nr; i++)
			printk(KERN_WARNING "  %s%s -->\n", ls_splat_prefix(edges[i].to),
			       ls_class_name(edges[i].to));
		printk(KERN_WARNING "\n");
	}
	printk(KERN_WARNING LS_SAY_CPUS "\n");
	printk(KERN_WARNING LS_SAY_CPUS_LINE "\n");
	if (ls_splat_is_awaited(edges[0].to))
		print_scenario_wait(edges);
	else
		print_scenario_locks(edges, nr);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_DEADLOCK "\n");
	printk(KERN_WARNING "\n");
}

/*
 * Log scanners take the headline as the title, so it has a location: of all tasks' the one whose
 * name sorts first, whichever task was the last to wait.
 */
static void print_deadlock_head(const struct ls_finding_edge *edges, u32 nr, struct ls_splat_side *x)
{
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 40];
	int lead = scnprintf(head, sizeof(head), "%s ", ls_finding_head(LS_FINDING_DEADLOCK));
	char *place = head + lead;
	u32 i;

	for (i = 0; i < nr; i++) {
		if (!ls_splat_load(x, edges[i].sight))
			continue;
		ls_splat_function(text, x->s.ip);
		if (!*place || strcmp(text, place) < 0)
			strscpy(place, text, sizeof(head) - lead - 1);
	}
	strcat(place, "!");
	ls_splat_head(head);
}

/* These tasks are blocked for ever. */
void ls_splat_deadlock(const struct ls_finding_edge *edges, u32 nr)
{
	struct ls_splat_side *x = kzalloc(sizeof(*x), GFP_KERNEL);
	u32 i;

	if (x)
		print_deadlock_head(edges, nr, x);
	for (i = 0; x && i < nr; i++) {
		if (!ls_splat_load(x, edges[i].sight))
			continue;
		printk(KERN_WARNING LS_SAY_HAS "\n", x->s.comm, x->s.pid,
		       ls_finding_words(LS_FINDING_DEADLOCK), i + 1 < nr ? "the next one" : "the first one");
		ls_splat_lock("", edges[i].to, x->s.ip);
		ls_splat_backtrace(x);
		ls_splat_held(x);
		printk(KERN_WARNING "\n");
	}
	kfree(x);
}

/* edges[0] is the dependency that closed the cycle. */
void ls_splat_cycle(const struct ls_finding_edge *edges, u32 nr)
{
	struct ls_splat_side *now = kzalloc(sizeof(*now), GFP_KERNEL), *old = kzalloc(sizeof(*old), GFP_KERNEL);
	const struct ls_held_rec *held;
	u32 i;

	if (!now || !old || !ls_splat_load(now, edges[0].sight))
		goto out;
	held = ls_splat_held_of(now, edges[0].from);

	ls_splat_head(ls_finding_head(LS_FINDING_ORDER_CYCLE));
	printk(KERN_WARNING LS_SAY_WHO "\n", now->s.comm, now->s.pid, ls_finding_words(LS_FINDING_ORDER_CYCLE));
	ls_splat_lock("", edges[0].to, now->s.ip);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_HOLDING "\n");
	ls_splat_lock("", edges[0].from, held ? held->ip : 0);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_DEPENDS "\n");
	ls_splat_backtrace(now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_CHAIN "\n");
	for (i = nr - 1; i >= 1; i--) {
		printk(KERN_WARNING "\n");
		printk(KERN_WARNING LS_SAY_LINK "\n", i, ls_splat_prefix(edges[i].to),
		       ls_class_name(edges[i].to), ls_splat_kind(edges[i].to));
		if (ls_splat_is_awaited(edges[i].from))
			printk(KERN_WARNING LS_SAY_NEEDED "\n",
			       ls_splat_is_queue(edges[i].from) ? "wakes" : "completes",
			       ls_splat_prefix(edges[i].from), ls_class_name(edges[i].from));
		if (ls_splat_load(old, edges[i].sight))
			ls_splat_frames("       ", old);
	}
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_LINK "\n", 0, ls_splat_prefix(edges[0].to),
	       ls_class_name(edges[0].to), ls_splat_kind(edges[0].to));
	ls_splat_frames("       ", now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_OTHER_INFO "\n");
	printk(KERN_WARNING "\n");
	print_scenario(edges, nr);
	ls_splat_held(now);
	printk(KERN_WARNING LS_SAY_CYCLE "\n", nr,
	       !ls_splat_is_awaited(edges[0].to) ? "" :
	       ls_splat_is_queue(edges[0].to) ? ", wait queues among them" : ", completions among them");
out:
	kfree(now);
	kfree(old);
}

/* Scenario for a single CPU. */
static void print_scenario_alone(const char *first, const char *between, const char *second)
{
	printk(KERN_WARNING LS_SAY_SCENARIO "\n");
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_CPU "\n");
	printk(KERN_WARNING LS_SAY_CPU_LINE "\n");
	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", first);
	if (between) {
		printk(KERN_WARNING "  %s\n", between);
		printk(KERN_WARNING LS_SAY_NESTED_CALL "\n", "lock", second);
	} else {
		printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", second);
	}
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_DEADLOCK "\n");
	printk(KERN_WARNING "\n");
}

void ls_splat_inversion(u32 class_id, bool same, u32 first, u32 second)
{
	struct ls_splat_side *now = kzalloc(sizeof(*now), GFP_KERNEL), *old = kzalloc(sizeof(*old), GFP_KERNEL);
	const char *name = ls_class_name(class_id);
	const struct ls_held_rec *held;

	if (!now || !old || !ls_splat_load(now, second))
		goto out;
	held = ls_splat_held_of(now, class_id);
	ls_splat_head(ls_finding_head(LS_FINDING_RECURSIVE));
	printk(KERN_WARNING LS_SAY_WHO "\n", now->s.comm, now->s.pid, ls_finding_words(LS_FINDING_RECURSIVE));
	ls_splat_lock("", class_id, now->s.ip);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_HOLDING "\n");
	ls_splat_lock("", class_id, held ? held->ip : 0);
	ls_splat_backtrace(now);
	printk(KERN_WARNING "\n");
	if (!same && first != second && ls_splat_load(old, first)) {
		printk(KERN_WARNING LS_SAY_OTHER_ORDER "\n");
		ls_splat_frames("       ", old);
		printk(KERN_WARNING "\n");
	}
	printk(KERN_WARNING LS_SAY_OTHER_INFO "\n");
	print_scenario_alone(name, NULL, name);
	if (!same) {
		printk(KERN_WARNING LS_SAY_NESTING "\n");
		printk(KERN_WARNING "\n");
	}
	ls_splat_held(now);
out:
	kfree(now);
	kfree(old);
}

static const char *interrupt(u32 class_id)
{
	return class_id == LS_CLASS_HARDIRQ ? "HARDIRQ" : "SOFTIRQ";
}

static char mode(u32 val)
{
	return val & LS_VAL_READ_MASK ? 'R' : 'W';
}

/* One lock, acquired in an interrupt and with that interrupt enabled. */
static void splat_irq_state(const struct ls_splat_side *in, const struct ls_splat_side *on, u32 class_id, const char *irq)
{
	struct ls_held_rec in_at = ls_splat_taken(in, class_id), on_at = ls_splat_taken(on, class_id);
	char in_state[24], on_state[24];
	/* The more recent of the two triggered the report. */
	bool now_in = in->s.time_ns > on->s.time_ns;

	snprintf(in_state, sizeof(in_state), "IN-%s-%c", irq, mode(in_at.val));
	snprintf(on_state, sizeof(on_state), "%s-ON-%c", irq, mode(on_at.val));
	ls_splat_head(ls_finding_head(LS_FINDING_IRQ_STATE));
	printk(KERN_WARNING LS_SAY_IRQ_USAGE "\n", now_in ? on_state : in_state,
	       now_in ? in_state : on_state);
	printk(KERN_WARNING LS_SAY_WHO "\n", now_in ? in->s.comm : on->s.comm,
	       now_in ? in->s.pid : on->s.pid, ls_finding_words(LS_FINDING_IRQ_STATE));
	ls_splat_lock("", class_id, now_in ? in_at.ip : on_at.ip);
	ls_splat_backtrace(now_in ? in : on);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_IRQ_REGISTERED "\n", now_in ? on_state : in_state);
	ls_splat_frames("  ", now_in ? on : in);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_OTHER_INFO "\n");
	print_scenario_alone(ls_class_name(class_id), LS_SAY_INTERRUPT, ls_class_name(class_id));
	ls_splat_held(now_in ? in : on);
}

static void print_scenario_interrupt(u32 unsafe, u32 safe, u32 next)
{
	printk(KERN_WARNING LS_SAY_IRQ_SCENARIO "\n");
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_CPUS "\n");
	printk(KERN_WARNING LS_SAY_CPUS_LINE "\n");
	printk(KERN_WARNING LS_SAY_FIRST_CPU "\n", "lock", ls_class_name(unsafe));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "local_irq_disable", "");
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "lock", ls_class_name(safe));
	printk(KERN_WARNING LS_SAY_SECOND_CPU "\n", "lock", ls_class_name(next));
	printk(KERN_WARNING "  " LS_SAY_INTERRUPT "\n");
	printk(KERN_WARNING LS_SAY_NESTED_CALL "\n", "lock", ls_class_name(safe));
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_DEADLOCK "\n");
	printk(KERN_WARNING "\n");
}

/*
 * A cycle through an interrupt: edges[0] leads from the interrupt to the lock that it
 * acquires, the last one from the lock that is held with the interrupt enabled into it.
 */
void ls_splat_interrupt(u32 kind, const struct ls_finding_edge *edges, u32 nr)
{
	struct ls_splat_side *in = kzalloc(sizeof(*in), GFP_KERNEL), *on = kzalloc(sizeof(*on), GFP_KERNEL);
	struct ls_splat_side *now = kzalloc(sizeof(*now), GFP_KERNEL);
	const char *irq = interrupt(edges[0].from);
	u32 safe = edges[0].to, unsafe = edges[nr - 1].from, last = 0, i;
	char head[80];

	if (!in || !on || !now || !ls_splat_load(in, edges[0].sight) || !ls_splat_load(on, edges[nr - 1].sight))
		goto out;
	if (kind == LS_FINDING_IRQ_STATE) {
		splat_irq_state(in, on, safe, irq);
		goto out;
	}
	/* The most recent one triggered the report. */
	for (i = 1; i < nr; i++)
		if (edges[i].sight > edges[last].sight)
			last = i;
	if (!ls_splat_load(now, edges[last].sight))
		goto out;

	snprintf(head, sizeof(head), LS_SAY_IRQ_ORDER, irq, irq, ls_finding_head(kind));
	ls_splat_head(head);
	printk(KERN_WARNING LS_SAY_WHO "\n", now->s.comm, now->s.pid, ls_finding_words(kind));
	i = last < nr - 1 ? edges[last].to : unsafe;
	ls_splat_lock("", i, ls_splat_taken(now, i).ip);
	if (last && last < nr - 1) {
		printk(KERN_WARNING LS_SAY_IRQ_HOLDING "\n");
		ls_splat_lock("", edges[last].from, ls_splat_taken(now, edges[last].from).ip);
	}
	ls_splat_backtrace(now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_IRQ_SAFE "\n", irq);
	ls_splat_lock("", safe, ls_splat_taken(in, safe).ip);
	printk(KERN_WARNING LS_SAY_IRQ_SAFE_AT "\n", irq);
	ls_splat_frames("  ", in);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_IRQ_UNSAFE "\n", irq);
	ls_splat_lock("", unsafe, ls_splat_taken(on, unsafe).ip);
	printk(KERN_WARNING LS_SAY_IRQ_UNSAFE_AT "\n", irq);
	ls_splat_frames("  ", on);
	printk(KERN_WARNING "\n");
	for (i = 1; i + 1 < nr; i++) {
		printk(KERN_WARNING LS_SAY_IRQ_LINK "\n", i, ls_class_name(edges[i].to),
		       ls_splat_kind(edges[i].to), ls_class_name(edges[i].from));
		if (ls_splat_load(in, edges[i].sight))
			ls_splat_frames("       ", in);
	}
	printk(KERN_WARNING LS_SAY_OTHER_INFO "\n");
	print_scenario_interrupt(unsafe, safe, edges[1].to);
	ls_splat_held(now);
out:
	kfree(in);
	kfree(on);
	kfree(now);
}
