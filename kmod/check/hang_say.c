// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions that cannot return, on the console, in lockdep's words: the one place of hooks that
 * prints.
 *
 * Everything goes to the kernel's log first, which takes no lock, and to the consoles with the
 * last line: if a console cannot be written to, nothing is lost. What printing acquires is
 * ignored meanwhile. Interrupts are off, see ls_stack_save().
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>

#include "base/lookup.h"
#include "check/hang.h"
#include "console_words.h"
#include "core/context.h"
#include "core/say.h"
#include "core/stacks.h"
#include "finding_kinds.h"

static ls_vprintk *deferred;

/* Locks that printing on a console takes: nothing is written to one while these are held. */
static struct {
	const char *symbol;
	unsigned long start, size;
} console_locks[] = {
	{ "console_sem" }, { "console_owner_lock" }, { "serial8250_ports" },
};
static unsigned long runqueues;		/* offset of the per-CPU symbol */
#define RUNQUEUE_SIZE 8192		/* bytes, at most */

/* Process context. */
void ls_hang_init(void)
{
	u32 i;

	deferred = (void *)ls_symbol("vprintk_deferred");
	runqueues = ls_symbol("runqueues");
	for (i = 0; i < ARRAY_SIZE(console_locks); i++)
		ls_find_function(console_locks[i].symbol, &console_locks[i].start, &console_locks[i].size);
}

static bool of_console(u64 lock)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(console_locks); i++)
		if (lock - console_locks[i].start < console_locks[i].size)
			return true;
	return false;
}

/* Is it a lock of the scheduler, which waking a task takes? */
static bool of_scheduler(const struct ls_held *h)
{
	const char *label = ls.classes.table[h->val & LS_VAL_CLASS_MASK].label;
	int cpu;

	if (!strcmp(label, "task_struct"))
		return true;
	if (runqueues)
		for_each_possible_cpu(cpu)
			if (h->lock - (u64)per_cpu_ptr((void __percpu *)runqueues, cpu) < RUNQUEUE_SIZE)
				return true;
	return false;
}

static bool blocks_console(const struct ls_held *h)
{
	return of_console(h->lock) || of_scheduler(h);
}

/*
 * May a console be written to now? Not while this CPU holds what that takes; then the message
 * waits in the kernel's log for the next one, or for a reader of the memory.
 */
static bool may_write(struct ls_cpu *pc)
{
	u32 l, i;

	for (l = 0; l < LS_NR_LEVELS; l++) {
		const struct ls_ctx *ctx = l ? &pc->level[l - 1] : pc->task;

		for (i = 0; i < ctx->depth; i++)
			if (blocks_console(&ctx->held[i]))
				return false;
	}
	return true;
}

static void say_backtrace(ls_vprintk *out, u64 ip)
{
	u64 frames[LS_STACK_FRAMES];
	u32 nr = ls_stack_from(frames, ip), i;

	ls_say(out, KERN_ALERT LS_SAY_TRACE "\n");
	ls_say(out, KERN_ALERT LS_SAY_TASK "\n");
	for (i = 0; i < nr; i++)
		ls_say(out, KERN_ALERT "  %pS\n", (void *)(long)frames[i]);
	ls_say(out, KERN_ALERT LS_SAY_END_TASK "\n");
}

/* Entries of this CPU's contexts, from the task to the innermost interrupt. */
static u32 say_held(ls_vprintk *out, struct ls_cpu *pc, bool count)
{
	u32 l, nr = 0;

	for (l = 0; l < LS_NR_LEVELS; l++) {
		const struct ls_ctx *ctx = l ? &pc->level[l - 1] : pc->task;

		if (count)
			nr += ctx->depth;
		else
			nr = ls_say_entries(out, KERN_ALERT, ctx, ctx->depth, nr);
	}
	return nr;
}

static void say_usage(ls_vprintk *out, const struct ls_held *now, const struct ls_held *held)
{
	u32 level = (now->val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT;
	const char *irq = level == LS_SOFTIRQ ? "SOFTIRQ" : level == LS_HARDIRQ ? "HARDIRQ" : "NMI";
	char was[20], is[20];

	snprintf(was, sizeof(was), "%s-ON-%c", irq, held->val & LS_VAL_READ_MASK ? 'R' : 'W');
	snprintf(is, sizeof(is), "IN-%s-%c", irq, now->val & LS_VAL_READ_MASK ? 'R' : 'W');
	ls_say(out, KERN_ALERT LS_SAY_IRQ_USAGE "\n", was, is);
}

static void say_release(ls_vprintk *out)
{
	ls_say(out, KERN_ALERT "%s %.*s\n", init_utsname()->release,
	       (int)strcspn(init_utsname()->version, " "), init_utsname()->version);
}

static void print(ls_vprintk *out, struct ls_cpu *pc, bool interrupt, const struct ls_held *now,
		  const struct ls_held *held)
{
	char text[LS_SAY_NAME];
	const char *name = ls_say_name(text, held);
	u32 nr = say_held(out, pc, true);
	u32 kind = interrupt ? LS_FINDING_IRQ_STATE : LS_FINDING_RECURSIVE;

	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_RULER "\n");
	ls_say(out, KERN_ALERT "%s\n", ls_finding_head(kind));
	say_release(out);
	ls_say(out, KERN_ALERT LS_SAY_LINE "\n");
	if (interrupt)
		say_usage(out, now, held);
	ls_say(out, KERN_ALERT LS_SAY_WHO "\n", current->comm, current->pid, ls_finding_words(kind));
	ls_say_entry(out, KERN_ALERT, "", now);
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_HOLDING "\n");
	ls_say_entry(out, KERN_ALERT, "", held);
	say_backtrace(out, now->ip);
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_OTHER_INFO "\n");
	ls_say(out, KERN_ALERT LS_SAY_SCENARIO "\n");
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_CPU "\n");
	ls_say(out, KERN_ALERT LS_SAY_CPU_LINE "\n");
	ls_say(out, KERN_ALERT LS_SAY_FIRST_CPU "\n", "lock", name);
	if (interrupt) {
		ls_say(out, KERN_ALERT "  " LS_SAY_INTERRUPT "\n");
		ls_say(out, KERN_ALERT LS_SAY_NESTED_CALL "\n", "lock", name);
	} else {
		ls_say(out, KERN_ALERT LS_SAY_FIRST_CPU "\n", "lock", name);
	}
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_DEADLOCK "\n");
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_HELD "\n", nr, nr == 1 ? "" : "s", current->comm, current->pid);
	say_held(out, pc, false);
}

/* Print @what by @say, and a @last line; @write: to the consoles as well. @ctx is the current one. */
static void say_out(struct ls_ctx *ctx, bool write, const char *last,
		    void (*say)(ls_vprintk *out, const void *what), const void *what)
{
	ls_vprintk *out = deferred ? deferred : vprintk;
	unsigned long flags;

	if (!deferred && !write)
		return;
	raw_local_irq_save(flags);
	ctx->ignoring++;
	say(out, what);
	ls_say(write ? vprintk : out, KERN_ALERT "lockscope: %s\n", last);
	ctx->ignoring--;
	raw_local_irq_restore(flags);
}

struct hang {
	struct ls_cpu *pc;
	bool interrupt;
	const struct ls_held *now, *held;
};

static void say_hang(ls_vprintk *out, const void *what)
{
	const struct hang *h = what;

	print(out, h->pc, h->interrupt, h->now, h->held);
}

/*
 * Print that the acquisition of @lock at @ip with @val waits for ever, because of entry @held.
 * Once for a class: LS_CLASS_TOLD. @ctx is busy. @signal: a signal may end the wait.
 */
void ls_hang_say(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, const struct ls_held *held, bool signal)
{
	const struct ls_held now = { .lock = lock, .ip = ls_caller(ip), .val = val };
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	bool own = held >= ctx->held && held < ctx->held + LS_MAX_DEPTH;
	struct hang what = { pc, !own, &now, held };

	say_out(ctx, may_write(pc) && !blocks_console(&now),
		signal ? "this acquisition waits for ever, or for a signal" :
			 "this acquisition waits for ever", say_hang, &what);
}

struct ring {
	const struct ls_spin_view *view;
	const struct ls_spinner *cpus;
	u32 nr;
};

/* The headline has a location, for log scanners: the one whose name sorts first, as in order.c. */
static void say_ring_head(ls_vprintk *out, const struct ring *r)
{
	char text[LS_SAY_NAME], place[LS_SAY_NAME] = "";
	u32 i;

	for (i = 0; i < r->nr; i++) {
		snprintf(text, sizeof(text), "%ps", (void *)(long)r->cpus[i].waits.ip);
		text[strcspn(text, " ")] = '\0';
		if (!*place || strcmp(text, place) < 0)
			strscpy(place, text, sizeof(place));
	}
	ls_say(out, KERN_ALERT "\n");
	ls_say(out, KERN_ALERT LS_SAY_RULER "\n");
	ls_say(out, KERN_ALERT "%s %s!\n", ls_finding_head(LS_FINDING_DEADLOCK), place);
	say_release(out);
	ls_say(out, KERN_ALERT LS_SAY_LINE "\n");
}

static void say_spinner(ls_vprintk *out, const struct ring *r, u32 i)
{
	const struct ls_spinner *s = &r->cpus[i];
	char comm[TASK_COMM_LEN] = "?", lead[12];
	struct task_struct *task = READ_ONCE(per_cpu_ptr(&ls_cpus, s->cpu)->cur);
	struct ls_held h;
	pid_t pid = 0;
	u32 nr = 0, k;

	copy_from_kernel_nofault(comm, task->comm, sizeof(comm) - 1);
	get_kernel_nofault(pid, &task->pid);
	ls_say(out, KERN_ALERT LS_SAY_HAS "\n", comm, pid, ls_finding_words(LS_FINDING_DEADLOCK),
	       i + 1 < r->nr ? "the next one" : "the first one");
	ls_say_entry(out, KERN_ALERT, "", &s->waits);
	/* The stacks of other CPUs cannot be read. */
	if (!i)
		say_backtrace(out, s->waits.ip);
	while (ls_spinner_held(r->view, s, nr, &h))
		nr++;
	ls_say(out, KERN_ALERT LS_SAY_HELD "\n", nr, nr == 1 ? "" : "s", comm, pid);
	for (k = 0; ls_spinner_held(r->view, s, k, &h); k++) {
		snprintf(lead, sizeof(lead), " #%u: ", k);
		ls_say_entry(out, KERN_ALERT, lead, &h);
	}
	ls_say(out, KERN_ALERT "\n");
}

static void say_ring(ls_vprintk *out, const void *what)
{
	const struct ring *r = what;
	u32 i;

	say_ring_head(out, r);
	for (i = 0; i < r->nr; i++)
		say_spinner(out, r, i);
}

/* Print that the @nr CPUs of @cpus spin for each other; @ctx is that of the first one, and busy. */
void ls_hang_say_ring(struct ls_ctx *ctx, const struct ls_spin_view *view, const struct ls_spinner *cpus, u32 nr)
{
	const struct ring what = { view, cpus, nr };
	bool write = true;
	u32 i, k;

	for (i = 0; i < nr; i++) {
		struct ls_held h = cpus[i].waits;

		k = 0;
		do
			write = write && !blocks_console(&h);
		while (ls_spinner_held(view, &cpus[i], k++, &h));
	}
	say_out(ctx, write, "these CPUs wait for ever", say_ring, &what);
}
