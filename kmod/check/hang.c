// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions that cannot return: the context that is about to wait, or one that it interrupted
 * on this CPU, holds the lock itself. The worker may never run again, so this is printed here,
 * before the wait (hang_say.c). The observation is in the ring by then, in the usual form, for a
 * reader of the machine's memory.
 */
#include <linux/kernel.h>
#include <linux/sched/clock.h>
#include <linux/semaphore.h>

#include "check/check.h"
#include "check/hang.h"
#include "core/context.h"
#include "core/lockword.h"

bool ls_hang_report = true;

/* A lock that was held by another CPU only is released within this time, in ns. */
#define STAYS_HELD NSEC_PER_MSEC
#define STAYS_LOOKS 1000000	/* where the clock stands still */

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
				if (l < level && i + 1 == (int)ctx->depth && ls_held_is_to_come(h->val, level))
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

/*
 * The current context begins to wait for @lock, of which it has an entry, at @ip, with @val, in a
 * function that a signal may end: it pushes its own entry when it returns.
 */
void ls_hang_wait(struct ls_cpu *pc, struct ls_ctx *ctx, u32 level, u64 lock, u64 ip, u32 val)
{
	const struct ls_held *held;

	if (!READ_ONCE(ls_hang_report))
		return;
	held = ls_hang_find(pc, ctx, level, lock, val);
	if (!held || ls_fetch_or(&ls.classes.table[val & LS_VAL_CLASS_MASK].marks, LS_CLASS_TOLD) & LS_CLASS_TOLD)
		return;
	ctx->busy = 1;
	barrier();
	ls_chain_learn(pc, ctx, lock, ip, val, ls_chain_mix(ctx->key, val));
	ls_hang_say(ctx, lock, ip, val, held, true);
	barrier();
	ctx->busy = 0;
}
