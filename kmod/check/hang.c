// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions that cannot return: the context that is about to wait, or one that it interrupted
 * on this CPU, holds the lock itself. The worker may never run again, so this is printed here,
 * before the wait: the one place of hooks that prints. The observation is in the ring by then,
 * in the usual form, for a reader of the machine's memory.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/sched/clock.h>
#include <linux/semaphore.h>
#include <linux/utsname.h>

#include "base/lookup.h"
#include "check/hang.h"
#include "console_words.h"
#include "core/context.h"
#include "core/lockword.h"
#include "core/say.h"
#include "core/stacks.h"
#include "finding_kinds.h"

bool ls_hang_report = true;

/* A lock that was held by another CPU only is released within this time, in ns. */
#define STAYS_HELD NSEC_PER_MSEC
#define STAYS_LOOKS 1000000	/* where the clock stands still */

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

/* Does the lock word still show that @val has to wait for the holder @h? */
static bool must_wait(const struct ls_held *h, u32 val)
{
	u32 kind = ls_kind_of(h->val);
	bool reads = val & LS_VAL_READ_MASK, held_read = h->val & LS_VAL_READ_MASK;
	unsigned long owner;

	/* Readers wait for each other only behind a writer. */
	if (reads && held_read)
		return false;
	switch ((enum ls_kind)kind) {
	case LS_KIND_SPINLOCK:
	case LS_KIND_RWLOCK:
	case LS_KIND_SOCKET:
		return ls_lock_word(h->lock, kind, held_read) == LS_WORD_HELD;
	case LS_KIND_MUTEX:
	case LS_KIND_RT_MUTEX:
		return ls_lock_word(h->lock, kind, false) == LS_WORD_MINE;
	case LS_KIND_RWSEM:
		if (!held_read)
			return ls_lock_word(h->lock, kind, false) == LS_WORD_MINE;
		/* Of several readers the last one is known. */
		return ls_lock_word(h->lock, kind, true) == LS_WORD_HELD &&
		       ls_owner_word(h->lock, kind, &owner) && owner & LS_OWNER_READER &&
		       ls_owner_is(owner) == LS_WORD_MINE;
	/*
	 * ww_mutexes back off or fail, any context may release a semaphore, and per-CPU rwsems are
	 * handed from one task to another.
	 */
	case LS_KIND_WW_MUTEX:
	case LS_KIND_SEMAPHORE:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_NONE:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		break;
	}
	return false;
}

static bool spins(const struct ls_held *h)
{
	return LS_SPINNING_KINDS >> ls_kind_of(h->val) & 1;
}

/*
 * Is @lock held by another CPU, which acquired more locks since? Then an entry here is stale:
 * its release was not seen. One that waits for it has it on top.
 */
static bool held_elsewhere(u64 lock)
{
	u32 i, k;
	int cpu;

	for_each_online_cpu(cpu) {
		const struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		if (cpu == raw_smp_processor_id())
			continue;
		for (i = 0; i < LS_NR_LEVELS; i++) {
			const struct ls_ctx *ctx = i ? &pc->level[i - 1] : READ_ONCE(pc->task);

			for (k = 0; k + 1 < READ_ONCE(ctx->depth) && k < LS_MAX_DEPTH; k++)
				if (READ_ONCE(ctx->held[k].lock) == lock)
					return true;
		}
	}
	return false;
}

/*
 * Does the lock of @h stay as it is? While its holder waits here nothing can release it, but an
 * entry may be stale, or only about to be acquired by the interrupted context.
 */
static bool stays(const struct ls_held *h, u32 val)
{
	u64 start = local_clock();
	u32 looks;

	if (held_elsewhere(h->lock))
		return false;
	for (looks = 0; looks < STAYS_LOOKS && local_clock() - start < STAYS_HELD; looks++) {
		if (!must_wait(h, val))
			return false;
		cpu_relax();
	}
	return true;
}

/*
 * The entry because of which an acquisition of @lock with @val cannot return, NULL: it can.
 * @ctx, of @level, is the current one, and busy.
 */
const struct ls_held *ls_hang_find(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u32 val)
{
	const struct ls_held *h;
	u32 l = level;
	int i;

	if (val & (LS_VAL_TRY | LS_VAL_WAIT))
		return NULL;
	for (;;) {
		if (!ls_held_distrusted(ctx)) {
			for (i = ctx->depth; i-- > 0;) {
				h = &ctx->held[i];
				if (h->lock != lock || h->val & LS_VAL_QUIET || (h->val ^ val) & LS_VAL_CLASS_MASK)
					continue;
				/* Of what it interrupted an interrupt only waits for spinning locks. */
				if ((l == level || spins(h)) && must_wait(h, val) &&
				    (!spins(h) || stays(h, val)))
					return h;
			}
		}
		if (!l)
			return NULL;
		l--;
		ctx = l ? &pc->level[l - 1] : pc->task;
		if (!l && pc->cur != current)
			return NULL;
	}
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
			if (of_console(ctx->held[i].lock) || of_scheduler(&ctx->held[i]))
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
	ls_say(out, KERN_ALERT "%s %.*s\n", init_utsname()->release,
	       (int)strcspn(init_utsname()->version, " "), init_utsname()->version);
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

/*
 * Print that the acquisition of @lock at @ip with @val waits for ever, because of entry @held.
 * Once for a class: LS_CLASS_TOLD. @ctx is busy.
 *
 * Everything goes to the kernel's log first, which takes no lock, and to the consoles with the
 * last line: if a console cannot be written to, nothing is lost. What printing acquires is
 * ignored meanwhile. Interrupts are off, see ls_stack_save().
 */
void ls_hang_say(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, const struct ls_held *held)
{
	const struct ls_held now = { .lock = lock, .ip = ls_caller(ip), .val = val };
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	bool own = held >= ctx->held && held < ctx->held + LS_MAX_DEPTH;
	bool write = may_write(pc) && !of_console(lock) && !of_scheduler(&now);
	ls_vprintk *out = deferred ? deferred : vprintk;
	unsigned long flags;

	if (!deferred && !write)
		return;
	raw_local_irq_save(flags);
	ctx->ignoring++;
	print(out, pc, !own, &now, held);
	ls_say(write ? vprintk : out, KERN_ALERT "lockscope: this acquisition waits for ever\n");
	ctx->ignoring--;
	raw_local_irq_restore(flags);
}
