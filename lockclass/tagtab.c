// SPDX-License-Identifier: GPL-2.0
#include "tagtab.h"

void ls_tagtab_init(struct ls_tagtab *tab, void *mem, ls_u32 bits)
{
	tab->slots = mem;
	tab->shift = 64 - bits;
	tab->mask = (1u << bits) - 1;
}

LS_INLINE ls_u32 first_place(const struct ls_tagtab *tab, ls_u64 key)
{
	return (ls_u32)(key >> tab->shift);
}

/* Probe sequence first ^ 0, first ^ 1, ...: one cache line after the other, no slot twice. */
LS_INLINE ls_u32 probe_limit(const struct ls_tagtab *tab)
{
	return tab->mask < LS_TAG_PROBES ? tab->mask + 1 : LS_TAG_PROBES;
}

/* A live slot of @key: a removed one has id 0 whatever its tag. */
LS_INLINE bool holds(ls_u64 slot, ls_u64 key)
{
	return ls_tag_match(slot, key) && (slot & LS_TAG_ID_MASK);
}

ls_u32 ls_tagtab_find(const struct ls_tagtab *tab, ls_u64 key)
{
	ls_u32 first = first_place(tab, key), i;

	for (i = 0; i < probe_limit(tab); i++) {
		ls_u32 place = first ^ i;
		ls_u64 slot = ls_load_acquire(&tab->slots[place]);

		if (!slot)
			return 0;
		if (holds(slot, key))
			return slot & LS_TAG_ID_MASK;
	}
	return 0;
}

ls_u32 ls_tagtab_insert(struct ls_tagtab *tab, ls_u64 key, ls_u32 id)
{
	ls_u64 want = (key << LS_TAG_ID_BITS) | id;
	ls_u32 found = ls_tagtab_find(tab, key);
	ls_u32 first = first_place(tab, key), i;

	if (found)
		return found;
	for (i = 0; i < probe_limit(tab); i++) {
		ls_u32 place = first ^ i;
		ls_u64 slot = ls_load_acquire(&tab->slots[place]);

		/* A slot lost to another writer may have this key; a removed slot is reused. */
		while (!slot || slot == LS_TAG_TOMB) {
			if (ls_cmpxchg(&tab->slots[place], &slot, want))
				return id;
		}
		if (holds(slot, key))
			return slot & LS_TAG_ID_MASK;
	}
	return 0;
}

/* The live slot of @key, NULL when it has none. */
static ls_u64 *slot_of(const struct ls_tagtab *tab, ls_u64 key)
{
	ls_u32 first = first_place(tab, key), i;

	for (i = 0; i < probe_limit(tab); i++) {
		ls_u32 place = first ^ i;
		ls_u64 slot = ls_load_acquire(&tab->slots[place]);

		if (!slot)
			break;
		if (holds(slot, key))
			return &tab->slots[place];
	}
	return NULL;
}

bool ls_tagtab_change(struct ls_tagtab *tab, ls_u64 key, ls_u32 from, ls_u32 to)
{
	ls_u64 *place = slot_of(tab, key);
	ls_u64 slot = (key << LS_TAG_ID_BITS) | from;

	return place && ls_cmpxchg(place, &slot, (key << LS_TAG_ID_BITS) | to);
}

void ls_tagtab_remove(struct ls_tagtab *tab, ls_u64 key)
{
	ls_u64 *place = slot_of(tab, key), slot;

	if (!place)
		return;
	slot = ls_load(place);
	if (holds(slot, key))
		ls_cmpxchg(place, &slot, LS_TAG_TOMB);
}
