/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Proof of findings: a plan holds contexts for a moment before the first acquisition of a
 * cycle, until the other side arrives at its last one. Included by abi.h.
 *
 * A cycle has sides: side i acquires lock i first and, with that held, lock i + 1 (the last
 * side: lock 0) last. Both acquisitions are given by acquire sites. A race has two sides, or
 * one that races with itself; they are given by access sites. A plan belongs to the open file
 * that set it, and ends with it.
 */
#ifndef LOCKSCOPE_ABI_CONFIRM_H
#define LOCKSCOPE_ABI_CONFIRM_H

#define LS_CONFIRM_PLANS 64	/* findings at a time */
#define LS_CONFIRM_SIDES 4
#define LS_CONFIRM_POINTS 1024
#define LS_CONFIRM_ARRIVALS 24	/* of a side, the last ones are kept */
#define LS_CONFIRM_HELD 12	/* held locks kept of an arrival, outermost first */

enum ls_confirm_role {
	LS_CONFIRM_FIRST = 0,
	LS_CONFIRM_LAST = 1,
};

/* One acquire site of a side, or one access site. */
struct ls_confirm_point {
	__u64 ip;		/* as in observations, or in LS_REC_ACCESS: a return address, or of an instruction */
	__u16 plan;		/* index in ls_confirm_req.plans */
	__u8 side;
	__u8 role;		/* enum ls_confirm_role */
	__u32 pad;		/* 0 */
};

/*
 * The side's last acquisition is made by an interrupt that comes while a task holds the first
 * lock. Such plans have at most two sides, of which one is so.
 */
#define LS_CONFIRM_INTERRUPTED 1u
/*
 * The side is an access of memory, and its points have the role LS_CONFIRM_FIRST. All sides of
 * the plan are such, one or two.
 */
#define LS_CONFIRM_ACCESS 2u
/*
 * The deadlock itself: a context waits before its last acquisition, its first lock held, until
 * every side stands there and each wants the lock that the next one holds. Then all go on. All
 * sides of the plan are such, two or more.
 */
#define LS_CONFIRM_DEADLY 4u

struct ls_confirm_plan {
	__u32 nr_sides;		/* 1 .. LS_CONFIRM_SIDES */
	__u32 pad;		/* 0 */
	__u32 flags[LS_CONFIRM_SIDES];	/* none, or one of the above */
};

struct ls_confirm_req {
	__u32 nr_plans;		/* 0: no plan from now on */
	__u32 nr_points;
	__u64 plans;		/* struct ls_confirm_plan[] */
	__u64 points;		/* struct ls_confirm_point[] */
};

/*
 * One execution of a side, when it arrived at its last acquisition. Of an access: when it
 * arrived; first: its address; last: the value there, of at most eight bytes.
 */
struct ls_confirm_arrival {
	__u64 time_ns;		/* local_clock() */
	__u64 first;		/* instance held: address, for comparing only */
	__u64 last;		/* instance to be acquired */
	__u32 pid;
	__u32 nr_held;		/* without @last; more than LS_CONFIRM_HELD: the rest is not kept */
	struct ls_held_rec held[LS_CONFIRM_HELD];
};

/* A context at the meeting that confirmed. */
struct ls_confirm_context {
	struct ls_confirm_arrival at;
	__u32 tgid;
	__u32 task_flags;	/* LS_TASK_* */
	__u16 cpu;
	__u8 level;		/* enum ls_level */
	__u8 waited;		/* 1: it was held there, or before its first acquisition */
	__u32 nr_stack;
	char comm[LS_COMM_LEN];
	__u64 stack[LS_STACK_FRAMES];	/* innermost first, from its last acquisition */
};

/* Counts since the plan was set. */
struct ls_confirm_side {
	__u64 firsts;		/* arrivals at its first acquisition, or at its access */
	__u64 lasts;		/* arrivals at its last one, with the first lock held; of an access: all */
	__u64 waits;		/* contexts held before the first acquisition, or the access */
	__u64 waited_ns;
	__u64 kept_ns;		/* of these, with a lock held or on a CPU that it kept */
	__u64 too_atomic;	/* of these, held for microseconds only */
	__u64 strangers;	/* waits in which another side arrived for another instance */
	__u64 met;		/* other sides arrived meanwhile, for the same one */
	__u64 parted;		/* met, but it did not acquire the others' lock afterwards */
	__u64 confirmed;	/* it did */
	struct ls_confirm_arrival arrivals[LS_CONFIRM_ARRIVALS];
};

struct ls_confirm_state {
	__u32 nr_sides;
	__u32 confirmed;	/* bit i: while side i was the one that arrived; LS_CONFIRM_DEADLY: all */
	/* Of the first confirmation. A plan of one side: [0] waited, [1] arrived. */
	struct ls_confirm_context contexts[LS_CONFIRM_SIDES];
	/* An interrupt that came to side i: LS_CONFIRM_INTERRUPTED. */
	struct ls_confirm_context interrupt;
	struct ls_confirm_side sides[LS_CONFIRM_SIDES];
};

struct ls_confirm_state_req {
	__u32 plan;
	__u32 pad;		/* 0 */
	__u64 buf;		/* struct ls_confirm_state */
};

/* Set a plan, or end it. EBUSY: another open file has one. */
#define LS_IOC_CONFIRM _IOW(LS_IOC_MAGIC, 40, struct ls_confirm_req)
#define LS_IOC_CONFIRM_STATE _IOW(LS_IOC_MAGIC, 41, struct ls_confirm_state_req)

#endif /* LOCKSCOPE_ABI_CONFIRM_H */
