// SPDX-License-Identifier: GPL-2.0
#include "races.h"

#include "hash.h"

/* Hash of the function and the access mode. */
static ls_u64 side_key(const struct ls_race_place *s)
{
	return ls_mix(s->function + (s->access->op & (LS_ACC_MARKED | LS_ACC_ATOMIC) ? 1 : 0));
}

/*
 * Key of the accessed member. The wider access determines it: single bytes of it that the
 * other side accesses are one race.
 */
static ls_u64 member_key(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	ls_u32 offset = a->offset;

	/* For unknown memory each side has its own data id. */
	if (a->data != b->data)
		return ls_mix(a->data) + ls_mix(b->data);
	if (a->size < b->size || (a->size == b->size && b->offset < a->offset))
		offset = b->offset;
	return (ls_u64)b->data << 32 | offset;
}

/* Two instructions at several offsets of an object: elements of an array. */
static ls_u64 element_key(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	return ls_mix(ls_mix(a->ip) + ls_mix(b->ip) + ls_mix(a->data) + ls_mix(b->data));
}

/* Severity of a race among those of two functions. Shifted above LS_RACE_*. */
static ls_u32 how_bad(const struct ls_rec_access *a, const struct ls_rec_access *b)
{
	ls_u32 bad = a->op & b->op & LS_ACC_WRITE ? 1u << 8 : 0;

	if (a->size != b->size || a->offset != b->offset)
		bad |= 1u << 9;
	return bad;
}

enum ls_race_result ls_race_take(struct ls_tagtab *reported, const struct ls_race_place *a,
				 const struct ls_race_place *b, ls_u32 flags, ls_u32 *id)
{
	ls_u64 key = ls_mix(side_key(a) + side_key(b) + member_key(a->access, b->access));
	ls_u64 element = element_key(a->access, b->access);
	ls_u32 known = ls_tagtab_find(reported, key), more = flags;

	/* All elements share the severity of the first one. */
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
