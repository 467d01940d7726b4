/* SPDX-License-Identifier: GPL-2.0 */
/* Gate locks of the judge's edges: which lock instances were held at every observation of one. */
#ifndef LOCKSCOPE_JUDGE_GATES_H
#define LOCKSCOPE_JUDGE_GATES_H

#include "judge.h"

/*
 * Intersect the edge's gates with what @s holds besides @self. True when one was removed or
 * weakened.
 */
bool ls_judge_narrow(struct ls_judge_edge *e, const struct ls_rec_sight *s, ls_u64 self);

/* Do two edges exclude each other? Then they cannot occur at the same time. */
bool ls_judge_exclude(const struct ls_judge_edge *a, const struct ls_judge_edge *b);

#endif /* LOCKSCOPE_JUDGE_GATES_H */
