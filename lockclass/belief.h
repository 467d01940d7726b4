/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Belief analysis [RacerX 5.1, 8.4]: does code follow a rule, given how often it was seen to
 * break it? Locks are nearly always released by the context that acquired them;
 * LS_BELIEF_ERRORS allows for noise: a fifth, as with the p0 = 0.8 of RacerX.
 *
 * Two hypotheses are tested at 1 %, each from its side: that the rule holds (at most a fifth
 * of the cases break it), and that its opposite holds (at most a fifth keep it). A rule is
 * believed when only its opposite is refuted, and rejected when only the rule itself is. Fewer
 * than three cases decide nothing, and nor do many that go either way.
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

/* Belief in a rule that @against of @n cases break. Any context. */
enum ls_belief ls_believe(ls_u64 against, ls_u64 n);

/*
 * How a class of semaphores is used. Two rules are tested: that a release comes from the
 * context that acquired the semaphore, over all releases; and that this is true of an instance
 * during its whole life, over all instances that were released. The second one detects what
 * the first one tolerates: xfs_buf.b_sema is mostly released by the context that acquired it,
 * and yet I/O completion releases nearly every buffer at some time.
 *
 *   signal  one of the rules is rejected, most releases came from elsewhere (those of the log's
 *	     buffers in xfs, but for one each when the log is freed), most instances are handed
 *	     over, or no release ever came from the context that had acquired: no order
 *	     follows, findings through the class are hidden.
 *   mixed   more than one release in LS_BELIEF_RARELY came from elsewhere, or more than
 *	     one instance in so many, and LS_BELIEF_LEAST, was handed over: whatever
 *	     was observed with it held may have been after that.
 *	     Findings through the class are warnings at most, and notes where one of the rules is
 *	     refuted (ls_semaphore_doubted()).
 *   lock    all others. Only these take part in an error.
 *
 * False negatives: a deadlock through semaphores of a class most of which are handed over
 * (hidden), or some of which are (a warning instead of an error). One instance that is handed
 * over hides no other class.
 */
#define LS_BELIEF_RARELY 50
#define LS_BELIEF_LEAST 3	/* fewer cases decide nothing */

/*
 * Are @some most of @all, with statistical significance? How many of a cache's buffers see
 * asynchronous I/O, say, differs between loads. Any context.
 */
bool ls_most(ls_u64 some, ls_u64 all);

enum ls_semaphore_use {
	LS_SEMAPHORE_LOCK = 0,
	LS_SEMAPHORE_MIXED,
	LS_SEMAPHORE_SIGNAL,
};

/*
 * Is one of the two rules refuted, whatever becomes of its opposite? Then a semaphore that is held
 * is as likely to be on its way to another context. Any context.
 */
bool ls_semaphore_doubted(ls_u64 releases, ls_u64 unmatched, ls_u64 instances, ls_u64 handed);

/*
 * @unmatched of @releases came from a context that had not acquired; @handed of @instances
 * that were released had such a release, apart from an initial one, by which the semaphore may
 * be opened. Any context.
 */
enum ls_semaphore_use ls_semaphore_used(ls_u64 releases, ls_u64 unmatched, ls_u64 instances,
					ls_u64 handed);

#endif /* LOCKSCOPE_BELIEF_H */
