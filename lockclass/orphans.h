/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Orphans: semaphores and rwsems that were released by another context than the one that
 * acquired them, and when. The acquirer still has an entry on its held-lock stack, and finds
 * here that it does not hold the lock any more.
 *
 * "When" is a count of semaphore acquisitions, of 64 bits here and the low 32 of them in an
 * entry. They are compared in full: an entry is misread only when 2^32 semaphores were
 * acquired while it stayed on its stack.
 *
 * Buckets of eight. A full one evicts an orphan, first those whose entry was dropped, then the
 * oldest; the return value shows that the evicted one may still be needed. Any context;
 * concurrent with ls_orphans_add() of the same lock, a look-up may or may not find it.
 */
#ifndef LOCKSCOPE_ORPHANS_H
#define LOCKSCOPE_ORPHANS_H

#include "hash.h"
#include "port.h"

#define LS_ORPHAN_WAYS 8

struct ls_orphan {
	ls_u64 lock;		/* 0: free */
	ls_u64 stamp;		/* clock at the release << 1 | entry was dropped */
};

struct ls_orphans {
	struct ls_orphan *table;
	ls_u32 shift;		/* 64 - log2(buckets) */
	ls_u64 clock;		/* semaphores acquired so far */
};

/* Memory for 2^@bits orphans, @bits >= 4. */
LS_INLINE ls_size ls_orphans_bytes(ls_u32 bits)
{
	return sizeof(struct ls_orphan) << bits;
}

/* @mem: zeroed. */
LS_INLINE void ls_orphans_init(struct ls_orphans *o, void *mem, ls_u32 bits)
{
	o->table = (struct ls_orphan *)mem;
	o->shift = 64 - (bits - 3);
	o->clock = 0;
}

LS_INLINE struct ls_orphan *ls_orphan_bucket(const struct ls_orphans *o, ls_u64 lock)
{
	return &o->table[(ls_mix(lock) >> o->shift) * LS_ORPHAN_WAYS];
}

LS_INLINE struct ls_orphan *ls_orphan_of(const struct ls_orphans *o, ls_u64 lock)
{
	struct ls_orphan *b = ls_orphan_bucket(o, lock);
	ls_u32 i;

	for (i = 0; i < LS_ORPHAN_WAYS; i++)
		if (ls_load(&b[i].lock) == lock)
			return &b[i];
	return (struct ls_orphan *)0;
}

/* A semaphore is acquired: returns the stamp of its entry. */
LS_INLINE ls_u32 ls_orphans_tick(struct ls_orphans *o)
{
	return (ls_u32)(ls_fetch_add(&o->clock, 1) + 1);
}

/*
 * @lock is released by another context than its acquirer, now. True when an orphan was evicted
 * whose entry was not dropped yet.
 */
LS_INLINE bool ls_orphans_add(struct ls_orphans *o, ls_u64 lock)
{
	struct ls_orphan *b = ls_orphan_bucket(o, lock), *slot = ls_orphan_of(o, lock);
	ls_u64 stamp = ls_load(&o->clock) << 1, least = ~0ull, old = 0;
	ls_u32 i;

	for (i = 0; !slot && i < LS_ORPHAN_WAYS; i++) {
		ls_u64 none = 0;

		if (!ls_load(&b[i].lock) && ls_cmpxchg(&b[i].lock, &none, lock))
			slot = &b[i];
	}
	if (slot) {
		ls_store(&slot->stamp, stamp);
		return false;
	}
	for (i = 0; i < LS_ORPHAN_WAYS; i++) {
		ls_u64 at = ls_load(&b[i].stamp);
		/* Evict orphans that are not needed any more first. */
		ls_u64 rank = at >> 1 | (at & 1 ? 0 : 1ull << 63);

		if (rank < least) {
			least = rank;
			slot = &b[i];
		}
	}
	old = ls_load(&slot->lock);
	/* Another CPU took the slot: drop the new orphan instead. */
	if (!ls_cmpxchg(&slot->lock, &old, lock))
		return true;
	ls_store(&slot->stamp, stamp);
	return least >> 63;
}

/* Is @lock an orphan, of any age? */
LS_INLINE bool ls_orphans_has(const struct ls_orphans *o, ls_u64 lock)
{
	return ls_orphan_of(o, lock);
}

/* Was @lock released by another context since it was acquired at @stamp? */
LS_INLINE bool ls_orphans_since(const struct ls_orphans *o, ls_u64 lock, ls_u32 stamp)
{
	const struct ls_orphan *at = ls_orphan_of(o, lock);
	ls_u64 now = ls_load(&o->clock);

	return at && ls_load(&at->stamp) >> 1 >= now - (ls_u32)((ls_u32)now - stamp);
}

/* The entry of @lock was dropped: its orphan, if there is one, may be evicted. */
LS_INLINE void ls_orphans_done(struct ls_orphans *o, ls_u64 lock)
{
	struct ls_orphan *at = ls_orphan_of(o, lock);

	if (at)
		ls_fetch_or(&at->stamp, 1);
}

LS_INLINE void ls_orphans_remove(struct ls_orphans *o, ls_u64 lock)
{
	struct ls_orphan *at = ls_orphan_of(o, lock);

	if (!at)
		return;
	ls_store(&at->stamp, 0);
	ls_store(&at->lock, 0);
}

#endif /* LOCKSCOPE_ORPHANS_H */
