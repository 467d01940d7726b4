// SPDX-License-Identifier: GPL-2.0
#include "judge_gates.h"

#define SHARED_GATE 1ull	/* locks are aligned: the bit is free */

/* How @s holds instance @lock: 0: not held, else its gate word. */
static ls_u64 gate_word(const struct ls_rec_sight *s, ls_u64 lock)
{
	ls_u64 word = 0;
	ls_u32 i;

	for (i = 0; i < s->nr_held; i++) {
		if (s->held[i].lock != lock)
			continue;
		if (!(s->held[i].val & LS_VAL_READ_MASK))
			return lock;
		word = lock | SHARED_GATE;
	}
	return word;
}

static bool has_gate(const struct ls_judge_edge *e, ls_u64 lock)
{
	ls_u32 i;

	for (i = 0; i < e->nr_gates; i++)
		if (!((e->gates[i] ^ lock) & ~SHARED_GATE))
			return true;
	return false;
}

bool ls_judge_narrow(struct ls_judge_edge *e, const struct ls_rec_sight *s, ls_u64 self)
{
	ls_u32 i, kept = 0, had = e->nr_gates;
	bool narrowed = false;

	if (!e->seen) {
		e->seen = 1;
		for (i = 0; i < s->nr_held && e->nr_gates < LS_JUDGE_GATES; i++)
			if (s->held[i].lock != self && !has_gate(e, s->held[i].lock))
				e->gates[e->nr_gates++] = gate_word(s, s->held[i].lock);
		return false;
	}
	for (i = 0; i < had; i++) {
		ls_u64 word = gate_word(s, e->gates[i] & ~SHARED_GATE);

		if (!word) {
			narrowed = true;
			continue;
		}
		narrowed |= (word | e->gates[i]) != e->gates[i];
		e->gates[kept++] = word | e->gates[i];
	}
	e->nr_gates = kept;
	return narrowed;
}

bool ls_judge_exclude(const struct ls_judge_edge *a, const struct ls_judge_edge *b)
{
	ls_u32 i, k;

	for (i = 0; i < a->nr_gates; i++)
		for (k = 0; k < b->nr_gates; k++)
			if (!((a->gates[i] ^ b->gates[k]) & ~SHARED_GATE) &&
			    !(a->gates[i] & b->gates[k] & SHARED_GATE))
				return true;
	return false;
}
