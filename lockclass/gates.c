// SPDX-License-Identifier: GPL-2.0
#include "gates.h"

#define PROBES 32
#define LANE_BITS 16
#define LANE_MASK ((1u << LANE_BITS) - 1)
#define SHARED 1u

/*
 * State in the first lane. An entry under construction has neither; marks added then may get
 * lost.
 */
#define STATE_ASKED 1u
#define STATE_OBSERVED 2u

void ls_gates_init(struct ls_gates *g, void *mem, ls_u32 bits)
{
	g->slots = mem;
	g->shift = 64 - bits;
	g->mask = (1u << bits) - 1;
	g->nr = 0;
}

void ls_gates_clear(struct ls_gates *g)
{
	ls_u32 i;

	for (i = 0; i <= g->mask; i++)
		g->slots[i] = (struct ls_gate_set){ 0 };
	g->nr = 0;
}

/* Entry @key, NULL when there is none; then *@free is a slot for it, NULL: none. */
static struct ls_gate_set *find(const struct ls_gates *g, ls_u64 key, struct ls_gate_set **free)
{
	ls_u32 place = (ls_u32)(ls_mix(key) >> g->shift), i;

	for (i = 0; i < PROBES && i <= g->mask; i++, place = (place + 1) & g->mask) {
		ls_u64 there = ls_load_acquire(&g->slots[place].key);

		if (there == key)
			return &g->slots[place];
		if (!there) {
			*free = &g->slots[place];
			return (struct ls_gate_set *)0;
		}
	}
	*free = (struct ls_gate_set *)0;
	return (struct ls_gate_set *)0;
}

/* @tag after an observation with @held: 0 when it was not held. */
static ls_u32 keep(ls_u32 tag, const ls_u16 *held, ls_u32 nr)
{
	ls_u32 i, kept = 0;

	for (i = 0; i < nr; i++) {
		if ((held[i] ^ tag) & ~SHARED)
			continue;
		if (!(held[i] & SHARED))
			return tag;
		kept = tag | SHARED;
	}
	return kept;
}

/* Word @i of an entry after an observation with @held. */
static ls_u64 keep_word(ls_u64 word, ls_u32 i, const ls_u16 *held, ls_u32 nr)
{
	ls_u32 lane;

	for (lane = i ? 0 : 1; lane < LS_GATES_LANES; lane++) {
		ls_u32 shift = lane * LANE_BITS, tag = (ls_u32)(word >> shift) & LANE_MASK;

		if (tag)
			word ^= (ls_u64)(tag ^ keep(tag, held, nr)) << shift;
	}
	return word;
}

enum ls_gates_result ls_gates_peek(const struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr)
{
	struct ls_gate_set *free;
	const struct ls_gate_set *s = find(g, key, &free);
	ls_u32 state = s ? (ls_u32)ls_load_acquire(&s->tags[0]) & LANE_MASK : 0, i;

	if (!state)
		return LS_GATES_UNKNOWN;
	if (state == STATE_ASKED)
		return LS_GATES_ASKED;
	for (i = 0; i < LS_GATES_WORDS; i++) {
		ls_u64 word = ls_load(&s->tags[i]);

		if (keep_word(word, i, held, nr) != word)
			return LS_GATES_FEWER;
	}
	return LS_GATES_KNOWN;
}

bool ls_gates_cover(const struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr)
{
	struct ls_gate_set *free;
	const struct ls_gate_set *s = find(g, key, &free);
	ls_u32 i, lane;

	if (!s || (ls_load_acquire(&s->tags[0]) & LANE_MASK) != STATE_OBSERVED)
		return false;
	for (i = 0; i < nr; i++) {
		for (lane = 1; held[i] && lane <= LS_GATES_KEPT; lane++) {
			ls_u64 word = ls_load(&s->tags[lane / LS_GATES_LANES]);
			ls_u16 tag = (ls_u16)(word >> lane % LS_GATES_LANES * LANE_BITS);

			if (tag && keep(tag, &held[i], 1) == (tag | (held[i] & SHARED)))
				break;
		}
		if (lane > LS_GATES_KEPT)
			return false;
	}
	return true;
}

bool ls_gates_left(const struct ls_gates *g, ls_u64 key)
{
	struct ls_gate_set *free;
	const struct ls_gate_set *s = find(g, key, &free);
	ls_u64 first = s ? ls_load_acquire(&s->tags[0]) : STATE_OBSERVED;

	return first != STATE_OBSERVED || (s && ls_load(&s->tags[1]));
}

/* A new entry's tags, @state in the first lane. */
static void fill(struct ls_gate_set *s, ls_u32 state, const ls_u16 *held, ls_u32 nr)
{
	ls_u64 words[LS_GATES_WORDS] = { state };
	ls_u32 i, lane = 1;

	for (i = 0; i < nr && lane <= LS_GATES_KEPT; i++) {
		if (!held[i])
			continue;
		words[lane / LS_GATES_LANES] |= (ls_u64)held[i] << (lane % LS_GATES_LANES * LANE_BITS);
		lane++;
	}
	ls_store(&s->tags[1], words[1]);
	ls_store_release(&s->tags[0], words[0]);
}

static bool make(struct ls_gates *g, struct ls_gate_set *free, ls_u64 key, ls_u32 state,
		 const ls_u16 *held, ls_u32 nr)
{
	ls_u64 none = 0;

	/* Taken by another CPU: it will be observed again. */
	if (!free || !ls_cmpxchg(&free->key, &none, key))
		return free;
	ls_fetch_add(&g->nr, 1);
	fill(free, state, held, nr);
	return true;
}

bool ls_gates_mark(struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr, bool may_make)
{
	struct ls_gate_set *free, *s = find(g, key, &free);
	ls_u32 i;

	if (!s)
		return may_make ? make(g, free, key, STATE_OBSERVED, held, nr) : true;
	if ((ls_load_acquire(&s->tags[0]) & LANE_MASK) == STATE_ASKED) {
		fill(s, STATE_OBSERVED, held, nr);
		return true;
	}
	for (i = 0; i < LS_GATES_WORDS; i++) {
		ls_u64 word = ls_load(&s->tags[i]);

		while (!ls_cmpxchg(&s->tags[i], &word, keep_word(word, i, held, nr)))
			;
	}
	return true;
}

bool ls_gates_ask(struct ls_gates *g, ls_u64 key)
{
	struct ls_gate_set *free;

	return find(g, key, &free) || make(g, free, key, STATE_ASKED, (const ls_u16 *)0, 0);
}
