// SPDX-License-Identifier: GPL-2.0
/*
 * Findings on the console, in lockdep's words, so that people and bots that
 * read its reports can read ours. Worker only. Unlike lockdep's, the backtrace
 * stands near the top: log scanners look for it there.
 */
#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include "lockscope.h"

/* Interrupts are classes in findings only, and of no kind. */
static const char *kind_name(u32 class_id)
{
	return class_id >= LS_CLASS_HARDIRQ ? "interrupt" : ls_kind_name(ls.classes.table[class_id].kind);
}

static bool is_kind(u32 class_id, u32 kinds)
{
	return class_id < LS_CLASS_HARDIRQ && kinds >> ls.classes.table[class_id].kind & 1;
}

static bool is_queue(u32 class_id)
{
	return is_kind(class_id, 1u << LS_KIND_WAITQUEUE);
}

/* A completion, or a wait queue. */
static bool is_awaited(u32 class_id)
{
	return is_kind(class_id, LS_AWAITED_KINDS);
}

/* What stands before its name, as lockdep had it while it knew completions. */
static const char *prefix(u32 class_id)
{
	return !is_awaited(class_id) ? "" : is_queue(class_id) ? "(waitqueue)" : "(completion)";
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

/* The function alone, for titles. */
static void function(char *text, u64 ip)
{
	symbol(text, ip);
	text[strcspn(text, "+ ")] = '\0';
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
	printk(KERN_WARNING "%s(%s%s){%s}, at: %s\n", lead, prefix(class_id),
	       ls_class_name(class_id), kind_name(class_id), text);
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

/* A task that waits does not hold what it waits for: that entry is the owner's. */
static u64 entries_of_owner(const struct side *x)
{
	return x->s.what == LS_FINDING_LONG_HOLD ? x->s.new_mask : 0;
}

static void print_held(const struct side *x)
{
	u64 others = entries_of_owner(x);
	u32 i, nr = x->s.nr_held - hweight64(others), n = 0;
	char lead[16];

	printk(KERN_WARNING "%u lock%s held by %s/%u:\n", nr, nr == 1 ? "" : "s", x->s.comm, x->s.pid);
	for (i = 0; i < x->s.nr_held; i++) {
		if (others & (1ull << i))
			continue;
		snprintf(lead, sizeof(lead), " #%u: ", n++);
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

/* Where @x took a lock of class @class_id, and how. */
static struct ls_held_rec taken(const struct side *x, u32 class_id)
{
	const struct ls_held_rec *held = held_of(x, class_id);

	if (held && (x->s.what != LS_SIGHT_ACQUIRE || ls_worker_class(x->s.val) != class_id))
		return *held;
	return (struct ls_held_rec){ .val = x->s.val, .ip = x->s.ip };
}

/* edges[0] is that of a task which waits for something, edges[1] what completing that takes. */
static void print_scenario_wait(const struct ls_finding_edge *edges)
{
	bool queue = is_queue(edges[0].to);

	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(edges[0].from));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[1].to));
	printk(KERN_WARNING "                               %s(%s);\n", queue ? "wake_up" : "complete",
	       ls_class_name(edges[0].to));
	printk(KERN_WARNING "  %s(%s);\n", queue ? "wait_event" : "wait_for_completion",
	       ls_class_name(edges[0].to));
}

static void print_scenario_locks(const struct ls_finding_edge *edges, u32 nr)
{
	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(edges[0].from));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[0].to));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(edges[1 % nr].to));
	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(edges[0].to));
}

static void print_scenario(const struct ls_finding_edge *edges, u32 nr)
{
	printk(KERN_WARNING " Possible unsafe locking scenario:\n");
	printk(KERN_WARNING "\n");
	if (nr > 2) {
		u32 i;

		printk(KERN_WARNING "Chain exists of:\n");
		for (i = 0; i < nr; i++)
			printk(KERN_WARNING "  %s%s -->\n", prefix(edges[i].to),
			       ls_class_name(edges[i].to));
		printk(KERN_WARNING "\n");
	}
	printk(KERN_WARNING "       CPU0                    CPU1\n");
	printk(KERN_WARNING "       ----                    ----\n");
	if (is_awaited(edges[0].to))
		print_scenario_wait(edges);
	else
		print_scenario_locks(edges, nr);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
}

/* Nobody of these will ever go on. */
void ls_splat_deadlock(const struct ls_finding_edge *edges, u32 nr)
{
	struct side *x = kzalloc(sizeof(*x), GFP_KERNEL);
	u32 i;

	for (i = 0; x && i < nr; i++) {
		if (!load_side(x, edges[i].sight))
			continue;
		if (!i)
			print_head("WARNING: deadlock detected");
		printk(KERN_WARNING "%s/%u waits for what %s has:\n", x->s.comm, x->s.pid,
		       i + 1 < nr ? "the next one" : "the first one");
		print_lock("", edges[i].to, x->s.ip);
		print_backtrace(x);
		print_held(x);
		printk(KERN_WARNING "\n");
	}
	kfree(x);
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
		printk(KERN_WARNING "-> #%u (%s%s){%s}:\n", i, prefix(edges[i].to),
		       ls_class_name(edges[i].to), kind_name(edges[i].to));
		if (is_awaited(edges[i].from))
			printk(KERN_WARNING "       held by who %s (%s%s)\n",
			       is_queue(edges[i].from) ? "wakes" : "completes",
			       prefix(edges[i].from), ls_class_name(edges[i].from));
		if (load_side(old, edges[i].sight))
			print_frames("       ", old);
	}
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "-> #0 (%s%s){%s}:\n", prefix(edges[0].to),
	       ls_class_name(edges[0].to), kind_name(edges[0].to));
	print_frames("       ", now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "other info that might help us debug this:\n");
	printk(KERN_WARNING "\n");
	print_scenario(edges, nr);
	print_held(now);
	printk(KERN_WARNING "lockscope: cycle of %u locks%s\n", nr,
	       !is_awaited(edges[0].to) ? "" :
	       is_queue(edges[0].to) ? ", wait queues among them" : ", completions among them");
out:
	kfree(now);
	kfree(old);
}

/* What one CPU alone does to itself. */
static void print_scenario_alone(const char *first, const char *between, const char *second)
{
	const char *indent = between ? "  " : "";

	printk(KERN_WARNING " Possible unsafe locking scenario:\n");
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "       CPU0\n");
	printk(KERN_WARNING "       ----\n");
	printk(KERN_WARNING "  lock(%s);\n", first);
	if (between)
		printk(KERN_WARNING "  %s\n", between);
	printk(KERN_WARNING "  %slock(%s);\n", indent, second);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
}

void ls_splat_inversion(u32 class_id, bool same, u32 first, u32 second)
{
	struct side *now = kzalloc(sizeof(*now), GFP_KERNEL), *old = kzalloc(sizeof(*old), GFP_KERNEL);
	const char *name = ls_class_name(class_id);
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
	printk(KERN_WARNING "other info that might help us debug this:\n");
	print_scenario_alone(name, NULL, name);
	if (!same) {
		printk(KERN_WARNING " May be due to missing lock nesting notation\n");
		printk(KERN_WARNING "\n");
	}
	print_held(now);
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

/* One lock, taken in an interrupt and with that interrupt on. */
static void splat_irq_state(const struct side *in, const struct side *on, u32 class_id, const char *irq)
{
	struct ls_held_rec in_at = taken(in, class_id), on_at = taken(on, class_id);
	char in_state[24], on_state[24];
	/* The younger of the two brought it to light. */
	bool now_in = in->s.time_ns > on->s.time_ns;

	snprintf(in_state, sizeof(in_state), "IN-%s-%c", irq, mode(in_at.val));
	snprintf(on_state, sizeof(on_state), "%s-ON-%c", irq, mode(on_at.val));
	print_head("WARNING: inconsistent lock state");
	printk(KERN_WARNING "inconsistent {%s} -> {%s} usage.\n", now_in ? on_state : in_state,
	       now_in ? in_state : on_state);
	printk(KERN_WARNING "%s/%u takes:\n", now_in ? in->s.comm : on->s.comm,
	       now_in ? in->s.pid : on->s.pid);
	print_lock("", class_id, now_in ? in_at.ip : on_at.ip);
	print_backtrace(now_in ? in : on);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "{%s} state was registered at:\n", now_in ? on_state : in_state);
	print_frames("  ", now_in ? on : in);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "other info that might help us debug this:\n");
	print_scenario_alone(ls_class_name(class_id), "<Interrupt>", ls_class_name(class_id));
	print_held(now_in ? in : on);
}

static void print_scenario_interrupt(u32 unsafe, u32 safe, u32 next)
{
	printk(KERN_WARNING " Possible interrupt unsafe locking scenario:\n");
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "       CPU0                    CPU1\n");
	printk(KERN_WARNING "       ----                    ----\n");
	printk(KERN_WARNING "  lock(%s);\n", ls_class_name(unsafe));
	printk(KERN_WARNING "                               local_irq_disable();\n");
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(safe));
	printk(KERN_WARNING "                               lock(%s);\n", ls_class_name(next));
	printk(KERN_WARNING "  <Interrupt>\n");
	printk(KERN_WARNING "    lock(%s);\n", ls_class_name(safe));
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING " *** DEADLOCK ***\n");
	printk(KERN_WARNING "\n");
}

/*
 * A cycle through an interrupt: edges[0] leads out of it to the lock it takes,
 * the last one leads into it from the lock that is held while it may come.
 */
void ls_splat_interrupt(u32 kind, const struct ls_finding_edge *edges, u32 nr)
{
	struct side *in = kzalloc(sizeof(*in), GFP_KERNEL), *on = kzalloc(sizeof(*on), GFP_KERNEL);
	struct side *now = kzalloc(sizeof(*now), GFP_KERNEL);
	const char *irq = interrupt(edges[0].from);
	u32 safe = edges[0].to, unsafe = edges[nr - 1].from, last = 0, i;
	char head[80];

	if (!in || !on || !now || !load_side(in, edges[0].sight) || !load_side(on, edges[nr - 1].sight))
		goto out;
	if (kind == LS_FINDING_IRQ_STATE) {
		splat_irq_state(in, on, safe, irq);
		goto out;
	}
	/* The youngest brought it to light. */
	for (i = 1; i < nr; i++)
		if (edges[i].sight > edges[last].sight)
			last = i;
	if (!load_side(now, edges[last].sight))
		goto out;

	snprintf(head, sizeof(head), "WARNING: %s-safe -> %s-unsafe lock order detected", irq, irq);
	print_head(head);
	printk(KERN_WARNING "%s/%u is trying to acquire:\n", now->s.comm, now->s.pid);
	i = last < nr - 1 ? edges[last].to : unsafe;
	print_lock("", i, taken(now, i).ip);
	if (last && last < nr - 1) {
		printk(KERN_WARNING "and this task is already holding:\n");
		print_lock("", edges[last].from, taken(now, edges[last].from).ip);
	}
	print_backtrace(now);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "this dependency connects a %s-irq-safe lock:\n", irq);
	print_lock("", safe, taken(in, safe).ip);
	printk(KERN_WARNING "... which became %s-irq-safe at:\n", irq);
	print_frames("  ", in);
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING "to a %s-irq-unsafe lock:\n", irq);
	print_lock("", unsafe, taken(on, unsafe).ip);
	printk(KERN_WARNING "... which became %s-irq-unsafe at:\n", irq);
	print_frames("  ", on);
	printk(KERN_WARNING "\n");
	for (i = 1; i + 1 < nr; i++) {
		printk(KERN_WARNING "-> #%u (%s){%s} under (%s):\n", i, ls_class_name(edges[i].to),
		       kind_name(edges[i].to), ls_class_name(edges[i].from));
		if (load_side(in, edges[i].sight))
			print_frames("       ", in);
	}
	printk(KERN_WARNING "other info that might help us debug this:\n");
	print_scenario_interrupt(unsafe, safe, edges[1].to);
	print_held(now);
out:
	kfree(in);
	kfree(on);
	kfree(now);
}

/* "COMM/PID WORDS (LOCK), at: FUNCTION" on one line. */
static void print_task_lock(const struct side *x, const char *words, u32 class_id)
{
	char lead[LS_COMM_LEN + 48];

	snprintf(lead, sizeof(lead), "%s/%u %s ", x->s.comm, x->s.pid, words);
	print_lock(lead, class_id, x->s.ip);
}

/*
 * The kernel tells here whether the preempt count is 0. No sight has it; it is
 * taken for one unless interrupts that are off explain everything. So a read side
 * of RCU looks like one.
 */
static void splat_sleep(const struct side *x, u32 class_id)
{
	u32 level = (x->s.val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	bool irqs_off = x->s.val & LS_VAL_IRQ_OFF;
	bool atomic = !irqs_off || level != LS_TASK || (x->s.val & LS_VAL_BH_OFF) || x->s.new_mask;
	char text[KSYM_SYMBOL_LEN];

	symbol(text, x->s.ip);
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
static void splat_unlock(const struct side *x, u32 what, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];
	const char *offset;

	print_head("WARNING: bad unlock balance detected!");
	printk(KERN_WARNING "%s/%u is trying to release lock (%s) at:\n", x->s.comm, x->s.pid,
	       ls_class_name(class_id));
	symbol(text, x->s.ip);
	offset = strchr(text, '+');
	if (offset)
		printk(KERN_WARNING "[<%.*s>] %s\n", (int)strcspn(offset + 1, "/"), offset + 1, text);
	else
		printk(KERN_WARNING "%s\n", text);
	printk(KERN_WARNING "%s\n", what == LS_FINDING_BAD_UNLOCK ?
	       "but another task holds it!" : "but there are no more locks to release!");
}

/* Memory with a lock in it is freed, or the lock is made anew. */
static void splat_held_freed(const struct side *x, u32 what, u32 class_id)
{
	print_head("WARNING: held lock freed!");
	if (what == LS_FINDING_HELD_INIT)
		printk(KERN_WARNING "%s/%u is initialising a lock that it holds:\n", x->s.comm, x->s.pid);
	else
		printk(KERN_WARNING "%s/%u is freeing memory of (%s), with a lock still held there!\n",
		       x->s.comm, x->s.pid, ls_class_name(class_id));
	print_lock("", class_id, taken(x, class_id).ip);
}

/* The task keeps locks where it should have none: the first of them, the rest follows. */
static void splat_kept(const struct side *x, u32 what)
{
	char head[LS_COMM_LEN + 48];
	u32 i = x->s.new_mask ? __ffs64(x->s.new_mask) : 0;

	if (what == LS_FINDING_HELD_EXIT) {
		snprintf(head, sizeof(head), "WARNING: %s/%u still has locks held!", x->s.comm, x->s.pid);
		print_head(head);
	} else {
		print_head("WARNING: lock held when returning to user space!");
		printk(KERN_WARNING "%s/%u is leaving the kernel with locks still held!\n",
		       x->s.comm, x->s.pid);
	}
	if (i < x->s.nr_held)
		print_lock("", ls_worker_class(x->held[i].val), x->held[i].ip);
}

static void splat_not_held(const struct side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN];

	symbol(text, x->s.ip);
	print_head("WARNING: Nested lock was not taken");
	printk(KERN_WARNING "%s/%u relies on a lock at: %s\n", x->s.comm, x->s.pid, text);
	printk(KERN_WARNING "but this task is not holding: (%s){%s}\n", ls_class_name(class_id),
	       kind_name(class_id));
}

static void splat_long_hold(const struct side *x, u32 class_id)
{
	u64 owner = entries_of_owner(x);

	printk(KERN_WARNING "INFO: task %s:%u blocked for more than %llu seconds on a lock.\n",
	       x->s.comm, x->s.pid, div_u64(x->s.extra, NSEC_PER_SEC));
	print_task_lock(x, "waits for:", class_id);
	if (owner)
		print_lock("which its owner took: ", class_id, x->held[__ffs64(owner)].ip);
}

/* The kernel has no words for this. Scanners take the line for the title: it says where. */
static void splat_ww(const struct side *x, u32 class_id)
{
	char text[KSYM_SYMBOL_LEN], head[KSYM_SYMBOL_LEN + 40];

	function(text, x->s.ip);
	snprintf(head, sizeof(head), "WARNING: ww_mutex rules broken in %s!", text);
	print_head(head);
	print_task_lock(x, "is trying to lock:", class_id);
}

/* Faults that one sight shows, in the words of whoever in the kernel would have said it. */
void ls_splat_fault(u32 what, u32 class_id, u32 ordinal)
{
	struct side *x = kzalloc(sizeof(*x), GFP_KERNEL);

	if (!x || !load_side(x, ordinal))
		goto out;
	/* A new kind needs words of its own: see CFLAGS_splat.o. */
	switch ((enum ls_finding_kind)what) {
	case LS_FINDING_WAIT_CONTEXT:
		print_head("[ BUG: Invalid wait context ]");
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
	print_backtrace(x);
	printk(KERN_WARNING "\n");
	print_held(x);
out:
	kfree(x);
}
