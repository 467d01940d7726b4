/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Meetings of the sides of a deadlock or of a race, see abi_confirm.h. A side waits at its
 * gate, before its first acquisition, holding no lock of the cycle. When another side arrives
 * at its last acquisition and wants the same instance, both run at the same time, and only
 * instructions of their own separate them from the deadlock. What remains is to see the waiting
 * side acquire the lock that the other one held: it is watched until then. Of a race, one side
 * waits before its access until the other one is about to access the same bytes.
 *
 * No context waits with a lock of the cycle held, so a gate cannot cause the deadlock that it
 * is about. Deadly plans are to cause it: their gates stand before the last acquisition of each
 * side. Times are in ns. All functions: any context; callers look up the lock, wait and record
 * evidence.
 */
#ifndef LOCKSCOPE_PLAN_H
#define LOCKSCOPE_PLAN_H

#include "abi.h"
#include "held.h"
#include "port.h"

#define LS_CONFIRM_HASH 2048u	/* places for acquire sites, a power of two */

enum ls_gate_state {
	LS_GATE_FREE = 0,
	LS_GATE_TAKEN,		/* a context is about to wait */
	LS_GATE_WAITING,
	LS_GATE_CLAIMED,	/* a context that arrived looks at it */
	LS_GATE_OPEN,		/* met */
	LS_GATE_WATCHED,	/* the context goes on to its last acquisition */
};

/* How a context may wait. */
enum ls_gate_how {
	LS_GATE_SLEEP,		/* it may sleep and holds no lock */
	LS_GATE_HOLD,		/* it may sleep and holds locks that no other side was seen with */
	LS_GATE_YIELD,		/* it may be preempted */
	LS_GATE_SPIN,		/* neither */
	LS_GATE_STAY,		/* on this CPU, with interrupts enabled, for one of them */
};

/* What a context is about to acquire, or to access. */
struct ls_gate_object {
	ls_u64 addr;
	/* Of an access: */
	ls_u32 size, op;	/* LS_ACC_* */
	ls_u32 lockset;
	ls_u64 held;		/* of a deadly plan: the side's first lock */
};

struct ls_gate {
	ls_u32 state;		/* enum ls_gate_state */
	ls_u32 cpu;		/* of the waiting context */
	ls_u32 fails;		/* waits in a row without a meeting */
	ls_u32 arrived;		/* side that arrived at the meeting */
	ls_u32 strange;		/* another side arrived for another instance during this wait */
	ls_u32 walks;		/* while it is watched, it acquired other locks last */
	ls_u64 task;		/* the waiting context: any number that identifies it */
	struct ls_gate_object at;	/* instance that it is about to acquire, or its access */
	ls_u64 expects;		/* instance that it has to acquire last */
	ls_u64 other;		/* the context that arrived, and the instance that it holds */
	ls_u64 holds;
	ls_u64 came;		/* instance that an interrupt of this CPU acquired meanwhile */
	ls_u64 passed;		/* instance that the other side held when it arrived for @lock */
	ls_u64 since;		/* its wait, then its watch began */
	ls_u64 not_before;	/* no further wait until then */
};

/* A plan. */
struct ls_plan {
	ls_u32 nr_sides;
	ls_u32 flags[LS_CONFIRM_SIDES];
	ls_u32 turn;		/* the side that does not wait */
	ls_u32 fails;		/* waits without a meeting since it changed, long ones several times */
	ls_u32 together;	/* sides that are still watched */
	ls_u64 since;		/* when it was set */
	struct ls_gate gates[LS_CONFIRM_SIDES];
	struct ls_confirm_state state;
};

struct ls_confirm {
	struct ls_plan *meets;
	struct ls_confirm_point *points;
	ls_u32 nr_meets, nr_points;
	/* Kept by the caller: contexts that wait, and whether they are to leave. */
	ls_u32 waiting, closing;
	ls_u16 head[LS_CONFIRM_HASH];		/* point + 1; 0 none */
	ls_u16 next[LS_CONFIRM_POINTS];		/* the same, of the same place */
};

/* Is it a plan that can be carried out? All fields in range, both ends of each side known. */
bool ls_confirm_valid(const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		      const struct ls_confirm_point *points, ls_u32 nr_points);

/* @meets: zeroed, one a plan; @points stay in use. What ls_confirm_valid() accepts. */
void ls_confirm_init(struct ls_confirm *c, struct ls_plan *meets,
		     const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		     struct ls_confirm_point *points, ls_u32 nr_points, ls_u64 now);

/* First point of @ip + 1, 0: none. Further ones: ls_confirm_next(). */
ls_u32 ls_confirm_find(const struct ls_confirm *c, ls_u64 ip);
ls_u32 ls_confirm_next(const struct ls_confirm *c, ls_u32 point);
/* Does an acquisition at @ip begin side @side of plan @plan? @side LS_CONFIRM_SIDES: any. */
bool ls_confirm_begins(const struct ls_confirm *c, ls_u32 plan, ls_u32 side, ls_u64 ip);

/* The lock that @ctx acquired first as side @side of plan @plan, 0: none. @side LS_CONFIRM_SIDES: any. */
ls_u64 ls_confirm_first(const struct ls_confirm *c, const struct ls_ctx *ctx, ls_u32 plan, ls_u32 side);

/*
 * A context is inside a side from the decision to acquire its first lock until it releases that.
 * Sides of one plan that are inside at the same time run into the deadlock, which a plan makes
 * likelier, as hooks take longer with it. Runs of one side do no harm, unless it is the only one.
 */
/* Is a context inside that acquired a lock at @ip? */
bool ls_confirm_inside(const struct ls_confirm *c, ls_u64 ip);
/* May @own not acquire at @ip now, as it would begin a side while one that began at @other is inside? */
bool ls_confirm_bars(const struct ls_confirm *c, const struct ls_ctx *own, ls_u64 ip, ls_u64 other);

LS_INLINE bool ls_plan_deadly(const struct ls_plan *m)
{
	return m->flags[0] == LS_CONFIRM_DEADLY;
}

/*
 * May @ctx, about to begin side @side, wait for long with what it holds? No other side had any of it
 * when it arrived; it may still have acquired and released one before. Those that never arrived
 * may need it. Of a race: no.
 */
bool ls_gate_spares(const struct ls_plan *m, ls_u32 side, const struct ls_ctx *ctx);

/* Longest wait at the gate, 0: not now. A sleep lasts until the others can be expected, if they come. */
ls_u64 ls_gate_patience(const struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now);
/* Begin to wait before @at. False: another context is there. */
bool ls_gate_enter(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u32 cpu,
		   const struct ls_gate_object *at, ls_u64 now);
/* Has the wait been ended by a meeting? */
bool ls_gate_opened(const struct ls_plan *m, ls_u32 side);
/* End of the wait. True: met, the context is watched from now on. */
bool ls_gate_leave(struct ls_plan *m, ls_u32 side, enum ls_gate_how how, ls_u64 now);

enum ls_gate_arrival {
	LS_GATE_NOTHING,
	LS_GATE_HALF,		/* the right one, but an interrupt must come, too */
	LS_GATE_MET,
};
/*
 * Context @task, a run of side @side, holds @first and is about to acquire @last. Unless it is
 * LS_GATE_NOTHING, the gates are claimed: record the context, then call ls_gate_open().
 */
enum ls_gate_arrival ls_gate_arrive(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				    ls_u64 last);
/* An interrupt on @cpu is about to acquire @lock, in side @side. The same, for its own gate. */
enum ls_gate_arrival ls_gate_interrupt(struct ls_plan *m, ls_u32 side, ls_u32 cpu, ls_u64 lock);
/* Does a lock of both locksets keep them apart? */
typedef bool (*ls_plan_apart)(ls_u32 a, ls_u32 b);
/*
 * Context @task is about to access @at, as side @side of a race. LS_GATE_MET: another one waits
 * at the same bytes. Then as for ls_gate_arrive(); the one that waited calls ls_gate_prove().
 */
enum ls_gate_arrival ls_gate_access(struct ls_plan *m, ls_u32 side, ls_u64 task,
				    const struct ls_gate_object *at, ls_plan_apart apart);
/*
 * Side @side of a deadly plan stands before @last with @first held. LS_GATE_MET: the others wait,
 * and with them it is a ring. Then call ls_gate_open(). Call it again while it waits itself: two
 * may have begun to wait at the same time.
 */
enum ls_gate_arrival ls_gate_ring(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				  ls_u64 last);
/* @own: after ls_gate_interrupt(). */
void ls_gate_open(struct ls_plan *m, ls_u32 side, enum ls_gate_arrival how, bool own);

enum ls_gate_watched {
	LS_GATE_UNWATCHED,
	LS_GATE_PARTED,		/* it acquires another lock, this time */
	LS_GATE_PROVEN,
};
/*
 * A watched context holds @first and is about to acquire @last. With LS_GATE_PROVEN record the
 * context, then call ls_gate_prove().
 */
enum ls_gate_watched ls_gate_watch(struct ls_plan *m, ls_u32 side, ls_u64 task, ls_u64 first,
				   ls_u64 last);
void ls_gate_prove(struct ls_plan *m, ls_u32 side);

/* Is evidence still wanted? Only the first confirmation is recorded. */
LS_INLINE bool ls_plan_records(const struct ls_plan *m)
{
	return !ls_load(&m->state.confirmed);
}

/* Place for the next arrival of a side. */
struct ls_confirm_arrival *ls_plan_arrival(struct ls_plan *m, ls_u32 side);

#endif /* LOCKSCOPE_PLAN_H */
