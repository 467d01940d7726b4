/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address map: live address -> id in buckets of eight (one cache line), for short-lived
 * entries in large numbers: kmalloc objects and their allocation sites, locks on stacks. One
 * 64-bit word per entry:
 *
 *   address >> 3 (44 bits) << 20 | id (20 bits, 0 = free)
 *
 * A full bucket evicts an entry or refuses the new one, and reports it. A spread map has a
 * second bucket for each address, used when the first one is nearly full; it is not searched
 * until it has an entry. Any context.
 */
#ifndef LOCKSCOPE_ADDRMAP_H
#define LOCKSCOPE_ADDRMAP_H

#include "hash.h"
#include "port.h"

#define LS_ADDR_ID_BITS 20
#define LS_ADDR_ID_MASK ((1u << LS_ADDR_ID_BITS) - 1)
#define LS_ADDR_WAYS 8
#define LS_ADDR_WAYS_FIRST 6	/* entries before the second bucket is used */

struct ls_addrmap {
	ls_u64 *slots;
	ls_u32 shift;		/* 64 - log2(buckets) */
	ls_u32 buckets;
	bool spread;
	ls_u32 spilled;		/* entries in second buckets */
};

/* Memory for 2^@bits entries, @bits >= 4. */
LS_INLINE ls_size ls_addrmap_bytes(ls_u32 bits)
{
	return sizeof(ls_u64) << bits;
}

/* @mem: zeroed, 64-byte aligned. */
LS_INLINE void ls_addrmap_init(struct ls_addrmap *m, void *mem, ls_u32 bits)
{
	m->slots = (ls_u64 *)mem;
	m->shift = 64 - (bits - 3);
	m->buckets = 1u << (bits - 3);
	m->spread = false;
	m->spilled = 0;
}

/* The same for a spread map. */
LS_INLINE void ls_addrmap_init_spread(struct ls_addrmap *m, void *mem, ls_u32 bits)
{
	ls_addrmap_init(m, mem, bits);
	m->spread = true;
}

/*
 * Key of the lock at @lock. Spinlocks have four bytes, words of the map eight: a lock in the
 * upper half of a word gets a distant key.
 */
#define LS_ADDR_HALF 0x0b3759d56a3ull
LS_INLINE ls_u64 ls_addr_of_lock(ls_u64 lock)
{
	return lock ^ (lock & 4) * LS_ADDR_HALF;
}

LS_INLINE ls_u64 ls_addr_word(ls_u64 addr)
{
	return (addr >> 3) << LS_ADDR_ID_BITS;
}

LS_INLINE ls_u64 *ls_addr_bucket(const struct ls_addrmap *m, ls_u64 word)
{
	return &m->slots[(word * LS_GOLDEN >> m->shift) * LS_ADDR_WAYS];
}

/* The second bucket, from an independent hash. */
LS_INLINE ls_u64 *ls_addr_second(const struct ls_addrmap *m, ls_u64 word)
{
	return &m->slots[(ls_mix(word) * LS_GOLDEN >> m->shift) * LS_ADDR_WAYS];
}

/* Slot of @word in bucket @b, NULL: none. */
LS_INLINE ls_u64 *ls_addr_slot(ls_u64 *b, ls_u64 word)
{
	ls_u32 i;

	for (i = 0; i < LS_ADDR_WAYS; i++)
		if ((ls_load(&b[i]) ^ word) <= LS_ADDR_ID_MASK)
			return &b[i];
	return NULL;
}

/* Put @entry into a free slot of bucket @b in [@slot, @end), if there is one. */
LS_INLINE bool ls_addr_put(ls_u64 *b, ls_u32 slot, ls_u32 end, ls_u64 entry)
{
	for (; slot < end; slot++) {
		ls_u64 old = ls_load(&b[slot]);

		while (!old)
			if (ls_cmpxchg(&b[slot], &old, entry))
				return true;
	}
	return false;
}

/* Id of @addr, 0 when it is not there. */
LS_INLINE ls_u32 ls_addrmap_find(const struct ls_addrmap *m, ls_u64 addr)
{
	ls_u64 word = ls_addr_word(addr);
	const ls_u64 *slot = ls_addr_slot(ls_addr_bucket(m, word), word);

	if (!slot && ls_load(&m->spilled))
		slot = ls_addr_slot(ls_addr_second(m, word), word);
	return slot ? ls_load(slot) & LS_ADDR_ID_MASK : 0;
}

/* Remove @addr; returns its id, 0 when it was not there. */
LS_INLINE ls_u32 ls_addrmap_remove(struct ls_addrmap *m, ls_u64 addr)
{
	ls_u64 word = ls_addr_word(addr), *slot = ls_addr_slot(ls_addr_bucket(m, word), word);
	ls_u32 id;

	if (!slot && ls_load(&m->spilled)) {
		slot = ls_addr_slot(ls_addr_second(m, word), word);
		if (slot)
			ls_fetch_add(&m->spilled, -1u);
	}
	if (!slot)
		return 0;
	id = ls_load(slot) & LS_ADDR_ID_MASK;
	ls_store(slot, 0);
	return id;
}

/* Give the entry of @word the id @id, if there is one. */
LS_INLINE bool ls_addr_change(struct ls_addrmap *m, ls_u64 *first, ls_u64 word, ls_u32 id)
{
	ls_u64 *slot = ls_addr_slot(first, word);

	if (!slot && ls_load(&m->spilled))
		slot = ls_addr_slot(ls_addr_second(m, word), word);
	if (!slot || !ls_load(slot))
		return false;
	ls_store(slot, word | id);
	return true;
}

/* Map @addr to @id (1 .. LS_ADDR_ID_MASK). False, and nothing changed, when it has no room. */
LS_MUST_CHECK LS_INLINE bool ls_addrmap_add(struct ls_addrmap *m, ls_u64 addr, ls_u32 id)
{
	ls_u64 word = ls_addr_word(addr), *first = ls_addr_bucket(m, word), *second;

	if (ls_addr_change(m, first, word, id))
		return true;
	if (!m->spread)
		return ls_addr_put(first, 0, LS_ADDR_WAYS, word | id);
	if (ls_addr_put(first, 0, LS_ADDR_WAYS_FIRST, word | id))
		return true;
	second = ls_addr_second(m, word);
	/* The last slots of the first bucket are used when the second one is as full. */
	if (!ls_addr_put(second, 0, LS_ADDR_WAYS_FIRST, word | id)) {
		if (ls_addr_put(first, LS_ADDR_WAYS_FIRST, LS_ADDR_WAYS, word | id))
			return true;
		if (!ls_addr_put(second, LS_ADDR_WAYS_FIRST, LS_ADDR_WAYS, word | id))
			return false;
	}
	ls_fetch_add(&m->spilled, 1);
	return true;
}

/*
 * The same of an id that can be found out again: a new entry takes only the first half of a
 * bucket, which leaves room for those that cannot.
 */
LS_MUST_CHECK LS_INLINE bool ls_addrmap_offer(struct ls_addrmap *m, ls_u64 addr, ls_u32 id)
{
	ls_u64 word = ls_addr_word(addr), *first = ls_addr_bucket(m, word);

	return ls_addr_change(m, first, word, id) || ls_addr_put(first, 0, LS_ADDR_WAYS / 2, word | id);
}

/*
 * Map @addr to @id where the newest entry matters most. Returns true when a live entry of its first
 * bucket was evicted, which the caller counts.
 */
LS_MUST_CHECK LS_INLINE bool ls_addrmap_set(struct ls_addrmap *m, ls_u64 addr, ls_u32 id)
{
	ls_u64 word = ls_addr_word(addr);

	if (ls_addrmap_add(m, addr, id))
		return false;
	/* Evict any entry; the address decides. */
	ls_store(&ls_addr_bucket(m, word)[(addr >> 6) & (LS_ADDR_WAYS - 1)], word | id);
	return true;
}

/*
 * Remove entries from the first bucket of @addr for which @gone returns true; it is called for
 * kernel addresses. Any context.
 */
LS_INLINE void ls_addrmap_clean(struct ls_addrmap *m, ls_u64 addr, bool (*gone)(ls_u64 addr, ls_u32 id))
{
	ls_u64 *b = ls_addr_bucket(m, ls_addr_word(addr));
	ls_u32 i;

	for (i = 0; i < LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&b[i]);

		if (slot && gone(slot >> LS_ADDR_ID_BITS << 3 | 0x1ffffull << 47, slot & LS_ADDR_ID_MASK))
			ls_cmpxchg(&b[i], &slot, 0);
	}
}

/*
 * Remove all locks in [@start, @start + @size) that were added under ls_addr_of_lock(). Looks
 * each address up where that is cheaper than a scan of the whole map. Any context.
 */
LS_INLINE void ls_addrmap_forget_locks(struct ls_addrmap *m, ls_u64 start, ls_u64 size)
{
	const ls_u64 words = (size + (start & 7) + 7) >> 3, mask = ~0ull >> LS_ADDR_ID_BITS;
	ls_u64 lock = start & ~7ull;
	ls_u32 i;

	if (words * 2 <= m->buckets) {
		for (i = 0; i < words * 2; i++, lock += 4)
			ls_addrmap_remove(m, ls_addr_of_lock(lock));
		return;
	}
	for (i = 0; i < m->buckets * LS_ADDR_WAYS; i++) {
		ls_u64 slot = ls_load(&m->slots[i]), at = (slot >> LS_ADDR_ID_BITS) - (start >> 3);
		ls_u64 half = (slot >> LS_ADDR_ID_BITS ^ LS_ADDR_HALF >> 1) - (start >> 3);

		if (!slot || ((at & mask) >= words && (half & mask) >= words))
			continue;
		/* An entry added concurrently stays. */
		if (ls_cmpxchg(&m->slots[i], &slot, 0) &&
		    ls_addr_bucket(m, slot & ~(ls_u64)LS_ADDR_ID_MASK) != &m->slots[i & -LS_ADDR_WAYS])
			ls_fetch_add(&m->spilled, -1u);
	}
}

#endif /* LOCKSCOPE_ADDRMAP_H */
