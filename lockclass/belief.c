// SPDX-License-Identifier: GPL-2.0
#include "belief.h"

/*
 * Fewest errors of n that a rule which holds makes once in a hundred times at most: P(X >=
 * errors) <= 1 %, X binomial in n and 1/5. n + 1: no number is significant.
 */
static const ls_u8 too_many[LS_BELIEF_EXACT + 1] = {
	1,  2,	3,  3,	4,  4,	5,  5,	6,  6,	6,  7,	7,
	7,  8,	8,  8,	9,  9,	9,  9,	10, 10, 10, 11, 11,
	11, 12, 12, 12, 12, 13, 13, 13, 14, 14, 14, 14, 15,
	15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 18, 18, 18,
	18, 19, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21, 22,
};

/*
 * Bound of z * z. The distribution is skewed towards errors, so it is a little more than the
 * 5.4 of the normal one.
 */
#define Z_SQUARED 6ull

/* Are @errors of @n more than is likely for a rule that holds? */
static bool refuted(ls_u64 errors, ls_u64 n)
{
	ls_u64 excess;

	if (n <= LS_BELIEF_EXACT)
		return errors >= too_many[n];
	/* Prevent overflow below; for that many only the share matters. */
	while (n >> 26) {
		n >>= 1;
		errors >>= 1;
	}
	/* (errors - n/5 - 1/2)^2 >= z^2 * n * 4/25, times 100. */
	if (10 * errors < 2 * n + 5)
		return false;
	excess = 10 * errors - 2 * n - 5;
	return excess * excess >= 16 * Z_SQUARED * n;
}

enum ls_belief ls_believe(ls_u64 against, ls_u64 n)
{
	bool broken = refuted(against, n), holds = refuted(n - against, n);

	if (broken == holds)
		return LS_BELIEF_OPEN;
	return broken ? LS_BELIEF_BROKEN : LS_BELIEF_HOLDS;
}

bool ls_most(ls_u64 some, ls_u64 all)
{
	return some > all / 2 && refuted(some, all);
}

bool ls_semaphore_doubted(ls_u64 releases, ls_u64 unmatched, ls_u64 instances, ls_u64 handed)
{
	return refuted(unmatched, releases) || refuted(handed, instances);
}

enum ls_semaphore_use ls_semaphore_used(ls_u64 releases, ls_u64 unmatched, ls_u64 instances,
					ls_u64 handed)
{
	if (releases && unmatched >= releases)
		return LS_SEMAPHORE_SIGNAL;
	if (ls_believe(unmatched, releases) == LS_BELIEF_BROKEN ||
	    ls_most(unmatched, releases) || ls_most(handed, instances))
		return LS_SEMAPHORE_SIGNAL;
	/* Not by a product: it may overflow. */
	return unmatched > releases / LS_BELIEF_RARELY ||
			       (handed >= LS_BELIEF_LEAST && handed > instances / LS_BELIEF_RARELY) ?
		       LS_SEMAPHORE_MIXED : LS_SEMAPHORE_LOCK;
}
