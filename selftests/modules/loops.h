/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases whose sides run in loops, each on a thread of its own and all at the same time, so
 * that an outside tool can make them meet:
 *
 *   run     "loops=MS": from that word on in a write, each case runs for MS milliseconds,
 *           its sides at random moments; "loops=0" takes that back. A case that cannot run
 *           so is -EINVAL, and one of several that a word names is left out.
 *   loops   the cases that can, as list has them. "meet=never" at the end: a fault that is
 *           one by its classes, while its own sides never wait for each other in a ring.
 *   rounds  of the case that ran last: NAME SIDE ROUNDS, over all threads of a side
 *
 * A fault that meets by itself stays deadlocked, and the write with it.
 */
#ifndef LS_LOOPS_H
#define LS_LOOPS_H

#include "selftest.h"

struct dentry;

/* In the directory of the driver's files. */
void ls_loops_start(struct dentry *dir);

/* As in struct ls_driver. */
void ls_loops_begin(void);
int ls_loops_option(char *word);
bool ls_loops_refuse(const struct ls_case *c);

/* Has a word asked for loops? */
bool ls_loops_wanted(void);
int ls_loops_run(const struct ls_case *c, unsigned int nr_sides, unsigned int only);

/* NULL when a case cannot run in loops, else what its line says beside the list's. */
const char *ls_loops_mark(const struct ls_case *c);

#endif /* LS_LOOPS_H */
