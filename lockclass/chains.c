// SPDX-License-Identifier: GPL-2.0
#include "chains.h"

void ls_chains_init(struct ls_chains *c, void *slots, ls_u32 bits, ls_u32 max)
{
	ls_u32 limit = (LS_CHAIN_MAX_SEGS << LS_CHAIN_SEG_BITS) - 2;

	ls_tagtab_init(&c->tab, slots, bits);
	c->max = max < limit ? max : limit;
	c->nr = 0;
}

int ls_chains_want(const struct ls_chains *c)
{
	/* Half a segment ahead: the thread may be late, hooks do not wait. */
	ls_u32 ahead = ls_load(&c->nr) + LS_CHAIN_SEG / 2 + 1;
	ls_u32 seg, last;

	if (ahead > c->max)
		ahead = c->max;
	last = ahead >> LS_CHAIN_SEG_BITS;
	for (seg = 0; seg <= last; seg++)
		if (!ls_load(&c->segs[seg]))
			return (int)seg;
	return -1;
}

void ls_chains_provide(struct ls_chains *c, int seg, struct ls_chain *mem)
{
	ls_store_release(&c->segs[seg], mem);
}

/* @looks: LS_LOOKS_* of a chain that is acquired itself. */
static enum ls_chain_result add_one(struct ls_chains *c, ls_u64 key, ls_u32 parent, ls_u32 val,
				    ls_u64 ip, bool derived, ls_u32 looks, ls_u32 *index)
{
	ls_u32 marks = derived ? LS_CHAIN_DERIVED : looks ? LS_CHAIN_LOOK : 0;
	ls_u32 nr = ls_load(&c->nr), id, found = ls_tagtab_find(&c->tab, key);
	struct ls_chain *data;

	if (found & LS_CHAIN_DERIVED) {
		*index = found & LS_CHAIN_INDEX;
		data = ls_chains_get(c, *index);
		if (data)
			ls_store(&data->looks, looks);
		if (!ls_tagtab_change(&c->tab, key, found, *index | marks))
			return LS_CHAIN_KNOWN;
		if (data) {
			ls_store(&data->ip, ip);
			ls_fetch_add(&data->count, 1);
			return LS_CHAIN_NEW;
		}
		*index = 0;
		return LS_CHAIN_FULL;
	}
	if (found) {
		*index = found & LS_CHAIN_INDEX;
		return LS_CHAIN_KNOWN;
	}
	do {
		if (nr >= c->max) {
			/*
			 * Known from now on, which keeps it off the slow path. A chain that
			 * nests a class in itself is checked every time anyway.
			 */
			marks = derived || looks & LS_LOOKS_SELF ? marks : 0;
			if (!ls_tagtab_insert(&c->tab, key, LS_CHAIN_LOST | marks) && !marks)
				ls_store(&c->refused[key >> (64 - LS_CHAIN_REFUSED_BITS)], key);
			*index = 0;
			return LS_CHAIN_FULL;
		}
		if (!ls_chains_get(c, nr + 1))
			return LS_CHAIN_DEFER;
	} while (!ls_cmpxchg(&c->nr, &nr, nr + 1));

	*index = nr + 1;
	data = ls_chains_get(c, *index);
	data->parent = parent;
	data->val = val;
	data->ip = ip;
	data->count = derived ? 0 : 1;
	data->looks = looks;
	id = *index | marks;
	found = ls_tagtab_insert(&c->tab, key, id);
	if (found == id)
		return LS_CHAIN_NEW;
	/* Lost a race (or the probe run is full): the entry becomes a hole. */
	ls_store(&data->val, 0);
	ls_store(&data->count, 0);
	*index = found & LS_CHAIN_INDEX;
	return found ? LS_CHAIN_KNOWN : LS_CHAIN_FULL;
}

/* Index of the chain that ends with entry @depth - 1 of @ctx. */
static enum ls_chain_result below(struct ls_chains *c, const struct ls_ctx *ctx, ls_u32 *index)
{
	ls_u32 i, parent = 0;

	*index = 0;
	if (!ctx->depth)
		return LS_CHAIN_KNOWN;
	*index = ls_tagtab_find(&c->tab, ctx->key) & LS_CHAIN_INDEX;
	if (*index)
		return LS_CHAIN_KNOWN;
	for (i = 0; i < ctx->depth; i++) {
		ls_u64 key = i + 1 < ctx->depth ? ctx->held[i + 1].below : ctx->key;
		enum ls_chain_result r;

		*index = ls_tagtab_find(&c->tab, key) & LS_CHAIN_INDEX;
		if (!*index) {
			r = add_one(c, key, parent, ctx->held[i].val, ctx->held[i].ip,
				    true, 0, index);
			if (r == LS_CHAIN_DEFER || r == LS_CHAIN_FULL)
				return r;
		}
		parent = *index;
	}
	return LS_CHAIN_KNOWN;
}

enum ls_chain_result ls_chains_add(struct ls_chains *c, const struct ls_ctx *ctx, ls_u64 key,
				   ls_u32 val, ls_u64 ip, ls_u32 looks, ls_u32 *index)
{
	ls_u32 parent;
	enum ls_chain_result r = below(c, ctx, &parent);

	*index = 0;
	if (r == LS_CHAIN_DEFER)
		return r;
	return add_one(c, key, parent, val, ip, false, looks, index);
}

void ls_chains_looked(struct ls_chains *c, ls_u64 key, struct ls_chain *data)
{
	ls_u32 looks = ls_load(&data->looks), id;

	while (looks & LS_LOOKS_NOW && !ls_cmpxchg(&data->looks, &looks, looks - 1))
		;
	if (ls_load(&data->looks) & (LS_LOOKS_NOW | LS_LOOKS_ALWAYS))
		return;
	id = ls_tagtab_find(&c->tab, key);
	if (id & LS_CHAIN_LOOK)
		ls_tagtab_change(&c->tab, key, id, id & ~LS_CHAIN_LOOK);
}

void ls_chains_counted(struct ls_chains *c, ls_u64 key, ls_u32 id, struct ls_chain *data)
{
	ls_u32 looks = ls_load(&data->looks);

	if (!(looks & LS_LOOKS_LATER) || looks & LS_LOOKS_NOW || id & LS_CHAIN_DERIVED)
		return;
	if (ls_cmpxchg(&data->looks, &looks, looks - (1u << LS_LOOKS_LATER_SHIFT) + 1))
		ls_tagtab_change(&c->tab, key, id, id | LS_CHAIN_LOOK);
}

void ls_chains_look(struct ls_chains *c, ls_u64 key, struct ls_chain *data, bool gated)
{
	ls_u32 id = ls_tagtab_find(&c->tab, key);

	/* Not acquired itself yet. */
	if (!id || id & LS_CHAIN_DERIVED)
		return;
	ls_store(&data->looks, (ls_load(&data->looks) & LS_LOOKS_ALWAYS) | LS_LOOKS_CYCLE |
				       (gated ? LS_LOOKS_GATED : 0));
	ls_tagtab_change(&c->tab, key, id, id | LS_CHAIN_LOOK);
}

void ls_chains_ungate(struct ls_chain *data)
{
	ls_fetch_and(&data->looks, ~LS_LOOKS_GATED);
}

void ls_chains_clear(struct ls_chains *c)
{
	ls_u32 i, seg;

	for (i = 0; i <= c->tab.mask; i++)
		ls_store(&c->tab.slots[i], 0);
	for (seg = 0; seg < LS_CHAIN_MAX_SEGS; seg++) {
		struct ls_chain *s = c->segs[seg];

		for (i = 0; s && i < LS_CHAIN_SEG; i++)
			s[i] = (struct ls_chain){ 0 };
	}
	for (i = 0; i < 1u << LS_CHAIN_REFUSED_BITS; i++)
		ls_store(&c->refused[i], 0);
	ls_store_release(&c->nr, 0);
}
