// SPDX-License-Identifier: GPL-2.0
#include "races.h"

#include "hash.h"

/* The function and how it accesses, as one number. */
static ls_u64 side_key(const struct ls_race_place *s)
{
	return ls_mix(s->function + (s->access->op & (LS_ACC_MARKED | LS_ACC_ATOMIC) ? 1 : 0));
}

/*
 * What the race is about. The wider access says which member: bytes of it that the
 * other side looks at one by one are one race.
 */
static ls_u64 member_key(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	ls_u32 offset = a->offset;

	/* Of memory that is not known, each side has an idea of its own. */
	if (a->data != b->data)
		return ls_mix(a->data) + ls_mix(b->data);
	if (a->size < b->size || (a->size == b->size && b->offset < a->offset))
		offset = b->offset;
	return (ls_u64)b->data << 32 | offset;
}

/* Two instructions at several places of an object: elements of an array. */
static ls_u64 element_key(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	return ls_mix(ls_mix(a->ip) + ls_mix(b->ip) + ls_mix(a->data) + ls_mix(b->data));
}

/* What makes one race of two functions worse than another. Behind LS_RACE_*. */
static ls_u32 how_bad(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	ls_u32 bad = a->op & b->op & LS_ACC_WRITE ? 1u << 8 : 0;

	if (a->size != b->size || a->offset != b->offset)
		bad |= 1u << 9;
	return bad;
}

enum ls_race_news ls_race_take(struct ls_tagtab *reported, const struct ls_race_place *a,
			       const struct ls_race_place *b, ls_u32 flags, ls_u32 *id)
{
	ls_u64 key = ls_mix(side_key(a) + side_key(b) + member_key(a->access, b->access));
	ls_u64 element = element_key(a->access, b->access);
	ls_u32 known = ls_tagtab_find(reported, key), more = flags;

	/* Of elements each is as bad as the first one. */
	if (known)
		more |= how_bad(a->access, b->access);
	else
		known = ls_tagtab_find(reported, element);
	if (known) {
		*id = known;
		key = ls_mix(key + more);
		if (!more || ls_tagtab_find(reported, key))
			return LS_RACE_KNOWN;
		return ls_tagtab_insert(reported, key, known) ? LS_RACE_MORE : LS_RACE_NO_ROOM;
	}
	if (!ls_tagtab_insert(reported, key, *id))
		return LS_RACE_NO_ROOM;
	ls_tagtab_insert(reported, element, *id);
	more = how_bad(a->access, b->access);
	if (more)
		ls_tagtab_insert(reported, ls_mix(key + more), *id);
	return LS_RACE_NEW;
}
