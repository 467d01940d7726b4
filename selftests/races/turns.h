/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the sides of a case come to run.
 *
 * Each has a thread of its own for as long as the case runs, bound to one
 * processor. Where a side belongs into an interrupt or a work item, its thread
 * only starts that and waits for it.
 */
#ifndef LS_TURNS_H
#define LS_TURNS_H

#include "selftest.h"

struct ls_turns {
	/*
	 * In turns: one side after the other, all on one processor, @turns
	 * times around. Nothing of two sides ever happens at the same time.
	 * Otherwise all at once, each on another processor, for @ms milliseconds.
	 */
	bool serial;
	unsigned int turns;
	unsigned int ms;
};

/* Sleeps. Returns 0, or the first error. */
int ls_run_turns(const struct ls_turns *how, const struct ls_case *c, unsigned int nr_sides,
		 unsigned int only);

#endif /* LS_TURNS_H */
