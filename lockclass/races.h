/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which races are duplicates: the same two functions, by any path, and the same member. Thread
 * only.
 */
#ifndef LOCKSCOPE_RACES_H
#define LOCKSCOPE_RACES_H

#include "abi.h"
#include "port.h"
#include "tagtab.h"

/* One side of a race, by its place. */
struct ls_race_place {
	const struct ls_rec_access *access;
	ls_u64 function;		/* start address */
};

enum ls_race_result {
	LS_RACE_KNOWN = 0,		/* nothing new */
	LS_RACE_MORE,			/* a known one, worse: caught, both write, tearing */
	LS_RACE_NEW,
	LS_RACE_NO_ROOM,		/* suppressed, or it would be reported again and again */
};

/*
 * Compare the race of @a and @b, with LS_RACE_* in @flags, to earlier ones; *@id: of its
 * finding, in: for a new one. @reported: keys of races -> finding.
 */
enum ls_race_result ls_race_take(struct ls_tagtab *reported, const struct ls_race_place *a,
				 const struct ls_race_place *b, ls_u32 flags, ls_u32 *id);

#endif /* LOCKSCOPE_RACES_H */
