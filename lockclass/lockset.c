// SPDX-License-Identifier: GPL-2.0
#include "lockset.h"

/* A cached meet: 1 + id, and whether a lock excludes the two. */
#define MEET_APART (1u << 17)
#define MEET_ID ((1u << 17) - 1)

void ls_locksets_init(struct ls_locksets *s, ls_u32 max, ls_u32 max_elements, struct ls_lockset *sets,
		      ls_u64 *elements, void *ids, void *meets, ls_u32 bits)
{
	ls_tagtab_init(&s->ids, ids, bits);
	ls_tagtab_init(&s->meets, meets, bits);
	s->sets = sets;
	s->elements = elements;
	s->max = max;
	s->max_elements = max_elements;
	s->nr = s->nr_elements = 0;
	s->sets[0] = (struct ls_lockset){ 0 };
}

static void clear_table(struct ls_tagtab *tab)
{
	ls_u32 i;

	for (i = 0; i <= tab->mask; i++)
		tab->slots[i] = 0;
}

void ls_locksets_clear(struct ls_locksets *s)
{
	clear_table(&s->ids);
	clear_table(&s->meets);
	s->nr = s->nr_elements = 0;
}

/* Sort, each lock once: held in both modes it counts as exclusive. Returns the number. */
static ls_u32 sort(ls_u64 *e, ls_u32 nr)
{
	ls_u32 i, k, out = 0;

	for (i = 1; i < nr; i++) {
		ls_u64 x = e[i];

		for (k = i; k && e[k - 1] > x; k--)
			e[k] = e[k - 1];
		e[k] = x;
	}
	for (i = 0; i < nr; i++)
		if (!out || e[out - 1] >> 1 != e[i] >> 1)
			e[out++] = e[i];
	return out;
}

/* Reserve @nr of the resource counted by *@used, up to @max; false when there are not enough. */
static bool take(ls_u32 *used, ls_u32 nr, ls_u32 max, ls_u32 *first)
{
	ls_u32 now = ls_load(used);

	do {
		if (now + nr > max)
			return false;
	} while (!ls_cmpxchg(used, &now, now + nr));
	*first = now;
	return true;
}

ls_u32 ls_lockset_intern(struct ls_locksets *s, ls_u64 *elements, ls_u32 nr, ls_u64 key)
{
	ls_u32 id = ls_lockset_find(s, key), first, i;

	if (id != LS_LOCKSET_NONE)
		return id;
	if (nr > LS_LOCKSET_LOCKS)
		return LS_LOCKSET_NONE;
	nr = sort(elements, nr);
	/* If another CPU inserts the same set first, this copy is never used. */
	if (!take(&s->nr_elements, nr, s->max_elements, &first) || !take(&s->nr, 1, s->max, &id))
		return LS_LOCKSET_NONE;
	id++;
	for (i = 0; i < nr; i++)
		s->elements[first + i] = elements[i];
	s->sets[id].first = first;
	s->sets[id].nr = nr;
	s->sets[id].writers = 0;
	id = ls_tagtab_insert(&s->ids, ls_mix(key), id);
	return id ? id : LS_LOCKSET_NONE;
}

static struct ls_meet compute(struct ls_locksets *s, ls_u32 a, ls_u32 b)
{
	LS_UNSET ls_u64 common[LS_LOCKSET_LOCKS];
	const struct ls_lockset *x = &s->sets[a], *y = &s->sets[b];
	ls_u64 key = 0;
	ls_u32 i = 0, k = 0, nr = 0;
	struct ls_meet meet = { 0 };

	while (i < x->nr && k < y->nr) {
		ls_u64 e = s->elements[x->first + i], f = s->elements[y->first + k];

		if (e >> 1 < f >> 1) {
			i++;
		} else if (e >> 1 > f >> 1) {
			k++;
		} else {
			if (!(e & f & 1))
				meet.apart = true;
			common[nr] = e | f;
			key = ls_lockset_key(key, common[nr++]);
			i++, k++;
		}
	}
	meet.id = ls_lockset_intern(s, common, nr, key);
	return meet;
}

struct ls_meet ls_lockset_meet(struct ls_locksets *s, ls_u32 a, ls_u32 b)
{
	struct ls_meet meet = { 0 };
	ls_u64 key;
	ls_u32 known;

	if (a == LS_LOCKSET_EMPTY || b == LS_LOCKSET_EMPTY)
		return meet;
	if (a == LS_LOCKSET_NONE || b == LS_LOCKSET_NONE) {
		meet.id = LS_LOCKSET_NONE;
		meet.apart = true;
		return meet;
	}
	if (a > b) {
		ls_u32 t = a;

		a = b;
		b = t;
	}
	key = ls_mix((ls_u64)a << 16 | b | 1ull << 40);
	known = ls_tagtab_find(&s->meets, key);
	if (known) {
		meet.id = (known & MEET_ID) - 1;
		meet.apart = known & MEET_APART;
		return meet;
	}
	meet = compute(s, a, b);
	if (meet.id != LS_LOCKSET_NONE)
		ls_tagtab_insert(&s->meets, key, (meet.id + 1) | (meet.apart ? MEET_APART : 0));
	return meet;
}

ls_u32 ls_lockset_writers(struct ls_locksets *s, ls_u32 a)
{
	LS_UNSET ls_u64 alone[LS_LOCKSET_LOCKS];
	ls_u64 key = 0;
	ls_u32 i, id, nr = 0;
	struct ls_lockset *set;

	if (a == LS_LOCKSET_EMPTY || a == LS_LOCKSET_NONE)
		return a;
	set = &s->sets[a];
	id = ls_load_acquire(&set->writers);
	if (id)
		return id - 1;
	for (i = 0; i < set->nr; i++) {
		ls_u64 e = s->elements[set->first + i];

		if (e & 1)
			continue;
		alone[nr++] = e;
		key = ls_lockset_key(key, e);
	}
	id = nr == set->nr ? a : ls_lockset_intern(s, alone, nr, key);
	if (id != LS_LOCKSET_NONE)
		ls_store_release(&set->writers, id + 1);
	return id;
}
