/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seen: a set of keys, in buckets of eight. A full bucket evicts a key, which then counts as
 * new again. Any context.
 */
#ifndef LOCKSCOPE_SEEN_H
#define LOCKSCOPE_SEEN_H

#include "hash.h"
#include "port.h"

#define LS_SEEN_WAYS 8

struct ls_seen {
	ls_u64 *slots;
	ls_u32 shift;
};

LS_INLINE ls_size ls_seen_bytes(ls_u32 bits)
{
	return sizeof(ls_u64) << bits;
}

/* @mem: zeroed; 2^@bits entries, @bits >= 4. */
LS_INLINE void ls_seen_init(struct ls_seen *s, void *mem, ls_u32 bits)
{
	s->slots = (ls_u64 *)mem;
	s->shift = 64 - (bits - 3);
}

/* Only while it is not in use. */
LS_INLINE void ls_seen_clear(struct ls_seen *s)
{
	ls_size i;

	for (i = 0; i < (ls_size)LS_SEEN_WAYS << (64 - s->shift); i++)
		s->slots[i] = 0;
}

LS_INLINE ls_u64 *ls_seen_bucket(const struct ls_seen *s, ls_u64 key)
{
	return &s->slots[(key >> s->shift) * LS_SEEN_WAYS];
}

/* @key is well mixed and not 0. */
LS_INLINE bool ls_seen_has(const struct ls_seen *s, ls_u64 key)
{
	const ls_u64 *b = ls_seen_bucket(s, key);
	ls_u32 i;

	for (i = 0; i < LS_SEEN_WAYS; i++)
		if (ls_load(&b[i]) == key)
			return true;
	return false;
}

LS_INLINE void ls_seen_add(struct ls_seen *s, ls_u64 key)
{
	ls_u64 *b = ls_seen_bucket(s, key);
	ls_u32 i;

	for (i = 0; i < LS_SEEN_WAYS; i++)
		if (!ls_load(&b[i])) {
			ls_store(&b[i], key);
			return;
		}
	ls_store(&b[key & (LS_SEEN_WAYS - 1)], key);
}

#endif /* LOCKSCOPE_SEEN_H */
