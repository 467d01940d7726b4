/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Meetings: can the observed instances belong to one deadlock? A cycle is one of classes; a
 * deadlock needs at every class the same lock, held by one side and waited for by the next
 * one, and no lock held on two of the sides that excludes them (gate lock [DLOS D2]).
 */
#ifndef LOCKSCOPE_MEETING_H
#define LOCKSCOPE_MEETING_H

#include "abi.h"
#include "port.h"

#define LS_MEETING_EDGES 16	/* LS_CYCLE_MAX, judge.h */
#define LS_MEETING_GATES 12	/* held locks compared; with more, fewer gates are known */
#define LS_MEETING_STEPS 65536	/* observations tried before the search gives up */
#define LS_INSTANCE_GLOBAL (~0ull)	/* of a lock that has one instance */

/* One observation of one dependency of the cycle. */
struct ls_meeting_side {
	ls_u64 from, to;	/* instances, LS_INSTANCE_GLOBAL, or 0: not known */
	ls_u32 kind;		/* one LS_DEP_* bit */
	ls_u32 sight;		/* ordinal of the observation */
	ls_u32 nr_gates;
	ls_u64 gates[LS_MEETING_GATES];	/* other held instances; bit 0: shared */
};

/* The observations of a cycle of @nr_edges dependencies; edge i + 1 begins where i ends. */
struct ls_meeting {
	ls_u32 nr_edges;
	ls_u32 nr[LS_MEETING_EDGES];
	const struct ls_meeting_side *sides[LS_MEETING_EDGES];
};

enum ls_meeting_result {
	LS_MEETING_NONE,	/* no observations match */
	LS_MEETING_FOUND,
	LS_MEETING_GIVEN_UP,	/* too many combinations to try all */
};

/*
 * Find an observation of each dependency such that all instances match, the path is strong
 * (graph.h) and no gate excludes two of them. @chosen gets the index of each.
 */
enum ls_meeting_result ls_meeting_find(const struct ls_meeting *m, ls_u32 *chosen);

#endif /* LOCKSCOPE_MEETING_H */
