/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States: was one instance of a class acquired in an interrupt, and held while that interrupt
 * could come? A class in both states is a deadlock only where one lock was, or a reader that
 * excludes no reader: timers of two kinds share a class, and each keeps to its own rule.
 */
#ifndef LOCKSCOPE_STATES_H
#define LOCKSCOPE_STATES_H

#include "abi.h"
#include "port.h"

#define LS_STATE_SIDES 32	/* instances kept of each state; more replace the oldest */

enum ls_state { LS_STATE_IN, LS_STATE_ON };

struct ls_state_side {
	ls_u64 lock;		/* instance, see struct ls_rec_sight; not 0 */
	ls_u32 sight;		/* ordinal of the observation */
	bool read;		/* IN: as a recursive reader; ON: as a reader */
};

/* What was observed of one class and one kind of interrupt. Zeroed at first. */
struct ls_states {
	ls_u32 nr[2];		/* by enum ls_state, without a limit */
	struct ls_state_side sides[2][LS_STATE_SIDES];
};

/*
 * @side was observed in @state. True when the same instance was in the other state so that the
 * interrupt would wait for it; *@other is that observation. The caller serialises.
 */
bool ls_states_meet(struct ls_states *s, enum ls_state state, const struct ls_state_side *side, ls_u32 *other);

#endif /* LOCKSCOPE_STATES_H */
