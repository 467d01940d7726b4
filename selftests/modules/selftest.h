/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a seeded case is made of.
 *
 * A case is a handful of sides that, taken together, do or do not allow a
 * deadlock or break another rule of locking. A fault and its corrected twin are
 * separate cases with locks of their own, so that one boot can run all of them.
 * Sides run one strictly after the other: nothing can hang, whatever the order
 * of the locks, unless loops.h is asked for. Whatever a fault leaves behind (a
 * lock held, a counter off by one) its own code puts right, behind the back of
 * the locks' functions.
 *
 * Naming is part of the interface. Every function and, where it has a name,
 * every lock of case NAME begins with "NAME_"; the twin of NAME is NAME_ok. A
 * finding is attributed to the case with the longest name that fits.
 */
#ifndef LS_SELFTEST_H
#define LS_SELFTEST_H

#include <linux/types.h>

#include "finding_kinds.h"

#define LS_MAX_SIDES 6

/*
 * A side shows up in stacks under its own name: not inlined, not cloned, and
 * not folded into another function that happens to have the same body.
 */
#define __side noinline __attribute__((__noipa__))

enum ls_where {
	LS_THREAD = 0,		/* a kernel thread of its own */
	LS_WORK,		/* work item on the unbound workqueue */
	LS_TASKLET,		/* softirq */
	LS_TIMER,		/* softirq */
	LS_HRTIMER,		/* hardirq */
	LS_CALLER,		/* the user task that wrote the case's name */
	LS_ENDING,		/* a kernel thread, waited for until it has ended */
};

enum ls_verdict { LS_FAULT, LS_TWIN };

/* Kinds of findings in short. */
#define LS_CYCLE LS_FINDING_ORDER_CYCLE
#define LS_RECURSIVE LS_FINDING_RECURSIVE
#define LS_IRQ_STATE LS_FINDING_IRQ_STATE
#define LS_INVERSION LS_FINDING_IRQ_INVERSION
#define LS_WAIT_CONTEXT LS_FINDING_WAIT_CONTEXT
#define LS_SLEEP_ATOMIC LS_FINDING_SLEEP_ATOMIC
#define LS_BAD_UNLOCK LS_FINDING_BAD_UNLOCK
#define LS_DOUBLE_UNLOCK LS_FINDING_DOUBLE_UNLOCK
#define LS_HELD_FREED LS_FINDING_HELD_FREED
#define LS_HELD_INIT LS_FINDING_HELD_INIT
#define LS_HELD_EXIT LS_FINDING_HELD_EXIT
#define LS_HELD_USER LS_FINDING_HELD_USER
#define LS_NOT_HELD LS_FINDING_NOT_HELD
#define LS_LONG_HOLD LS_FINDING_LONG_HOLD
#define LS_WW_MISUSE LS_FINDING_WW
#define LS_RACE LS_FINDING_RACE

struct ls_side {
	void (*run)(void);
	enum ls_where where;
	const char *name;	/* of the function, where the list shows it */
};

/* Which processors the sides of a case need; only ls_races.ko binds them. */
enum ls_cpus { LS_CPUS_ANY = 0, LS_CPUS_SAME, LS_CPUS_TWO };

struct ls_case {
	const char *name;
	enum ls_verdict verdict;
	enum ls_finding_kind expect;	/* of a twin: what it would be mistaken for */
	const char *summary;
	/*
	 * Parts of class names, separated by spaces. Each of them occurs in
	 * the name of some class of the finding. "kind=KIND": some class of it
	 * is of that kind.
	 */
	const char *classes;
	int (*setup)(void);	/* before the first side; may sleep */
	void (*teardown)(void);	/* after the last side or a failed setup; may sleep */
	struct ls_side side[LS_MAX_SIDES];
	enum ls_cpus cpus;
};

/* A side that takes one lock and gives it back. */
#define LS_TAKES(function, lock, take, give) \
	static __side void function(void) \
	{ \
		take(&(lock)); \
		give(&(lock)); \
	}

/* A side that takes and leaves one lock while it holds another. */
#define LS_NESTS(function, outer, take_outer, give_outer, inner, take, give) \
	static __side void function(void) \
	{ \
		take_outer(&(outer)); \
		take(&(inner)); \
		give(&(inner)); \
		give_outer(&(outer)); \
	}

/* One array per file, ended by an entry without a name. */
extern const struct ls_case order_spin_cases[];
extern const struct ls_case order_sleeping_cases[];
extern const struct ls_case order_ww_cases[];
extern const struct ls_case order_socket_cases[];
extern const struct ls_case order_rw_cases[];
extern const struct ls_case order_recursion_cases[];
extern const struct ls_case order_chain_cases[];
extern const struct ls_case order_objects_cases[];
extern const struct ls_case order_types_cases[];
extern const struct ls_case order_try_cases[];
extern const struct ls_case order_gate_cases[];
extern const struct ls_case order_gates_cases[];
extern const struct ls_case order_passed_cases[];
extern const struct ls_case order_release_cases[];
extern const struct ls_case order_failing_cases[];
extern const struct ls_case order_failing_sem_cases[];
extern const struct ls_case order_context_cases[];
extern const struct ls_case order_memory_cases[];
extern const struct ls_case order_reuse_cases[];
extern const struct ls_case order_names_cases[];
extern const struct ls_case order_known_cases[];
extern const struct ls_case order_wrapper_cases[];
extern const struct ls_case order_work_cases[];
extern const struct ls_case verdict_irq_cases[];
extern const struct ls_case verdict_irq_object_cases[];
extern const struct ls_case verdict_inversion_cases[];
extern const struct ls_case verdict_wait_cases[];
extern const struct ls_case verdict_sleep_cases[];
extern const struct ls_case verdict_user_copy_cases[];
extern const struct ls_case count_cases[];
extern const struct ls_case verdict_unlock_cases[];
extern const struct ls_case verdict_freed_cases[];
extern const struct ls_case verdict_life_cases[];
extern const struct ls_case verdict_never_cases[];
extern const struct ls_case verdict_gone_cases[];
extern const struct ls_case verdict_annotate_cases[];
extern const struct ls_case verdict_ww_cases[];
extern const struct ls_case verdict_order_cases[];
extern const struct ls_case verdict_belief_cases[];
extern const struct ls_case verdict_handed_cases[];
extern const struct ls_case verdict_first_cases[];
extern const struct ls_case verdict_ring_cases[];
extern const struct ls_case verdict_completion_cases[];
extern const struct ls_case verdict_reference_cases[];
extern const struct ls_case verdict_refined_cases[];
extern const struct ls_case verdict_roles_cases[];
extern const struct ls_case verdict_transmit_cases[];
extern const struct ls_case verdict_bh_work_cases[];
extern const struct ls_case verdict_regmap_cases[];
extern const struct ls_case verdict_devices_cases[];
extern const struct ls_case verdict_sockets_cases[];
extern const struct ls_case verdict_terminals_cases[];
extern const struct ls_case verdict_stock_cases[];
extern const struct ls_case verdict_nested_cases[];
extern const struct ls_case verdict_users_cases[];
extern const struct ls_case verdict_reborn_cases[];
extern const struct ls_case verdict_waitqueue_cases[];
extern const struct ls_case special_hold_cases[];

/*
 * Run @run in context @where, @rounds times in a row, and wait for it. Interrupts
 * come on the caller's processor. Returns 0, -errno when it could not be started,
 * -EPROTO when it ran in another context than asked for. Sleeps.
 */
int ls_run_rounds(enum ls_where where, const char *comm, void (*run)(void), unsigned int rounds);

static inline int ls_run_in(enum ls_where where, const char *comm, void (*run)(void))
{
	return ls_run_rounds(where, comm, run, 1);
}

/*
 * Keep a lock held by another thread while a side tries to get it: @take runs
 * in a new thread, which then waits until ls_unhold() and runs @give. The
 * holder only sleeps meanwhile. Both calls sleep.
 */
struct ls_holder;
struct ls_holder *ls_hold(void (*take)(void), void (*give)(void));
void ls_unhold(struct ls_holder *holder);

/* Leave a signal pending for the calling thread, and take it back. */
void ls_raise(int sig);
void ls_lower(int sig);

/*
 * A case that could not set up what it is about proves nothing: the run fails
 * with -EPROTO instead of passing. Any context.
 */
void ls_broken(const char *function, const char *what);
#define ls_require(cond) \
	do { \
		if (!(cond)) \
			ls_broken(__func__, #cond); \
	} while (0)

/*
 * Sides that run at the same time may not meet what is required of sides that run one by one:
 * between ls_forgive(true) and ls_forgive(false) that is no matter.
 */
void ls_forgive(bool on);

/* True once per run: forget and return whether a requirement was broken. */
bool ls_was_broken(void);

/*
 * Put tasks to sleep in interruptible, killable and timed lock functions for @ms
 * milliseconds. Returns when all have been started; waits for earlier ones.
 * Callers see to it that only one is in here at a time.
 */
int ls_sleepers_start(unsigned int ms);
void ls_sleepers_wait(void);

#endif /* LS_SELFTEST_H */
