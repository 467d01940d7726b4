// SPDX-License-Identifier: GPL-2.0
#include "classes.h"

void ls_classes_init(struct ls_classes *c, void *keys, ls_u32 bits, struct ls_class *table, ls_u32 max)
{
	ls_tagtab_init(&c->keys, keys, bits);
	c->table = table;
	c->max = max < LS_VAL_CLASS_MASK ? max : LS_VAL_CLASS_MASK;
	c->nr = 0;
}

void ls_copy_label(char *to, const char *from, ls_size size)
{
	ls_size i;

	for (i = 0; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	for (; i < size; i++)
		to[i] = 0;
}

ls_u32 ls_classes_add(struct ls_classes *c, const struct ls_class *proto, bool *created)
{
	ls_u32 id = ls_load(&c->nr), found, entry;
	struct ls_class *cls;

	*created = false;
	found = ls_tagtab_find(&c->keys, proto->key);
	if (found)
		return found & LS_VAL_CLASS_MASK;
	do {
		if (id >= c->max)
			return LS_CLASS_NONE;
	} while (!ls_cmpxchg(&c->nr, &id, id + 1));
	id++;

	cls = &c->table[id];
	*cls = *proto;
	cls->canonical = 0;
	cls->state = LS_CLASS_EMPTY;
	entry = id | (proto->marks & LS_CLASS_KEY_ASKS ? LS_KEY_ASK : 0);
	found = ls_tagtab_insert(&c->keys, proto->key, entry);
	if (found == entry) {
		*created = true;
		ls_store_release(&cls->state, LS_CLASS_READY);
		return id;
	}
	ls_store_release(&cls->state, LS_CLASS_HOLE);
	return found & LS_VAL_CLASS_MASK;
}

void ls_classes_alias(struct ls_classes *c, ls_u64 key, ls_u32 id)
{
	ls_tagtab_insert(&c->keys, key, id);
}

/* If the key of a class is removed, its aliases must be as well: all slots are scanned. */
static void forget(struct ls_classes *c, bool (*gone)(const struct ls_class *, ls_u64, ls_u64),
		   ls_u64 start, ls_u64 end)
{
	ls_u32 place;

	for (place = 0; place <= c->keys.mask; place++) {
		ls_u64 slot = ls_load(&c->keys.slots[place]);
		const struct ls_class *cls = &c->table[slot & LS_VAL_CLASS_MASK];

		if ((slot & LS_VAL_CLASS_MASK) && ls_load_acquire(&cls->state) == LS_CLASS_READY &&
		    gone(cls, start, end))
			ls_cmpxchg(&c->keys.slots[place], &slot, LS_TAG_TOMB);
	}
}

static bool in_range(const struct ls_class *cls, ls_u64 start, ls_u64 end)
{
	return (cls->addr >= start && cls->addr < end) ||
	       (cls->role_addr >= start && cls->role_addr < end);
}

static bool of_cache(const struct ls_class *cls, ls_u64 cache, ls_u64 unused)
{
	(void)unused;
	return cls->cache == cache;
}

void ls_classes_forget_range(struct ls_classes *c, ls_u64 start, ls_u64 end)
{
	forget(c, in_range, start, end);
}

void ls_classes_forget_cache(struct ls_classes *c, ls_u64 cache)
{
	forget(c, of_cache, cache, 0);
}

bool ls_classes_counts(const struct ls_classes *c, ls_u32 id, struct ls_class_counts *out)
{
	const struct ls_class *cls = &c->table[id];
	ls_u32 instances, handed, i;
	ls_u64 any;

	if (ls_load_acquire(&cls->state) != LS_CLASS_READY)
		return false;
	out->id = id;
	out->acquires = ls_load(&cls->acquires);
	out->releases = ls_load(&cls->releases);
	out->unmatched_releases = ls_load(&cls->unmatched_releases);
	out->unmatched_acquires = ls_load(&cls->unmatched_acquires);
	/* Scale both by what the larger one needs. */
	instances = ls_load(&cls->instances);
	handed = ls_load(&cls->handed);
	while (instances >> 16) {
		instances >>= 1;
		handed >>= 1;
	}
	out->instances = (ls_u16)instances;
	out->handed = (ls_u16)(handed < instances ? handed : instances);
	any = out->acquires | out->releases;
	for (i = 0; i < LS_NR_NESTINGS; i++)
		any |= out->nested[i] = ls_load(&cls->nested[i]);
	return any;
}

void ls_class_counts_clear(struct ls_class *c)
{
	ls_u32 i;

	c->acquires = c->releases = 0;
	c->unmatched_releases = c->unmatched_acquires = 0;
	c->instances = c->handed = 0;
	for (i = 0; i < LS_NR_NESTINGS; i++)
		c->nested[i] = 0;
	ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_UNORDERED);
}
