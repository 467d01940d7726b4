// SPDX-License-Identifier: GPL-2.0
#include "states.h"

static ls_u32 kept(const struct ls_states *s, enum ls_state state)
{
	return s->nr[state] < LS_STATE_SIDES ? s->nr[state] : LS_STATE_SIDES;
}

bool ls_states_meet(struct ls_states *s, enum ls_state state, const struct ls_state_side *side, ls_u32 *other)
{
	enum ls_state against = state == LS_STATE_IN ? LS_STATE_ON : LS_STATE_IN;
	ls_u32 i;

	for (i = 0; i < kept(s, against); i++) {
		const struct ls_state_side *o = &s->sides[against][i];

		if (o->lock == side->lock && !(o->read && side->read)) {
			*other = o->sight;
			return true;
		}
	}
	/* A writer says more than a reader of the same instance. */
	for (i = 0; i < kept(s, state); i++) {
		struct ls_state_side *o = &s->sides[state][i];

		if (o->lock == side->lock) {
			if (o->read && !side->read)
				*o = *side;
			return false;
		}
	}
	s->sides[state][s->nr[state]++ % LS_STATE_SIDES] = *side;
	return false;
}
