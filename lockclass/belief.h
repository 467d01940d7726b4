/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Belief analysis [RacerX 5.1, 8.4]: does code follow a rule, given how often it
 * was seen to break it? Known locks are given back by who took them nearly always;
 * LS_BELIEF_ERRORS leaves room for noise: a fifth, as with the p0 = 0.8 of RacerX.
 *
 * Two hypotheses are tested at 1 %, each from its side: that the rule holds (at
 * most a fifth of the cases break it), and that its opposite holds (at most a
 * fifth keep it). A rule is believed when only its opposite is refuted, and given
 * up when only it is refuted itself. Fewer than three cases decide nothing, and
 * nor do many that go either way.
 *
 * Up to LS_BELIEF_EXACT cases the bound is that of the binomial distribution,
 * beyond it of z = (against - n / 5) / sqrt(n * 4 / 25), corrected for continuity.
 */
#ifndef LOCKSCOPE_BELIEF_H
#define LOCKSCOPE_BELIEF_H

#include "port.h"

#define LS_BELIEF_EXACT 64
#define LS_BELIEF_ERRORS 5	/* one case in so many may break a rule that holds */

enum ls_belief {
	LS_BELIEF_OPEN = 0,
	LS_BELIEF_HOLDS,
	LS_BELIEF_BROKEN,
};

/* What to think of a rule that @against of @n cases break. Any context. */
enum ls_belief ls_believe(ls_u64 against, ls_u64 n);

#endif /* LOCKSCOPE_BELIEF_H */
