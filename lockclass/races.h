/* SPDX-License-Identifier: GPL-2.0 */
/* Which races are one: two functions, however they come by, and a member. Thread only. */
#ifndef LOCKSCOPE_RACES_H
#define LOCKSCOPE_RACES_H

#include "abi.h"
#include "port.h"
#include "tagtab.h"

/* One side of a race, by where it is. */
struct ls_race_place {
	const struct ls_rec_access *access;
	ls_u64 function;		/* address where it begins */
};

enum ls_race_news {
	LS_RACE_KNOWN = 0,		/* nothing new */
	LS_RACE_MORE,			/* of a finding that is known, but worse: caught, both write, a value tears */
	LS_RACE_NEW,
	LS_RACE_NO_ROOM,		/* it would be new again and again */
};

/*
 * What the race of @a and @b, with LS_RACE_* in @flags, is to those before; *@id: of its
 * finding, in: what a new one would get. @reported: keys of races -> finding.
 */
enum ls_race_news ls_race_take(struct ls_tagtab *reported, const struct ls_race_place *a,
			       const struct ls_race_place *b, ls_u32 flags, ls_u32 *id);

#endif /* LOCKSCOPE_RACES_H */
