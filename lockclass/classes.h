/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock-class table: identity key -> class. A class is created in the hook that
 * first meets it and named later by the thread; what the name will need is
 * copied at once, since caches and modules may be gone by then.
 *
 * Keys (well apart by construction, see the makers below):
 *   address of a static or per-CPU lock,
 *   slab cache and offset, kmalloc cache and allocation site and offset,
 *   initialiser's string and caller, acquire site.
 */
#ifndef LOCKSCOPE_CLASSES_H
#define LOCKSCOPE_CLASSES_H

#include "abi.h"
#include "belief.h"
#include "hash.h"
#include "port.h"
#include "tagtab.h"

#define LS_LABEL_LEN 48
#define LS_ROLE_LEN 56
#define LS_CLASS_NONE 0		/* no class could be had; counted */

enum ls_class_state {
	LS_CLASS_EMPTY = 0,
	LS_CLASS_READY = 1,
	LS_CLASS_HOLE = 2,	/* lost a race; never used */
};

/*
 * In the key table, beside the id: the key alone does not tell the class. What has
 * to be looked at besides is said by the marks of the class that the id names.
 */
#define LS_KEY_ASK (1u << 23)

/* Marks of a class. */
#define LS_CLASS_KMALLOC 1u	/* no class, a marker: the allocation site is part of the key */
#define LS_CLASS_SAME 2u	/* same instance taken twice: told */
#define LS_CLASS_SIGNAL 8u	/* semaphore that counts events: no order follows from it */
#define LS_CLASS_ASK 16u	/* some lock of this key may have another class */
#define LS_CLASS_HANDED 32u	/* semaphores most of which are handed over: the same as a signal */
#define LS_CLASS_CONFIRMED 64u	/* completion that another context than the waiter completed: told */
#define LS_CLASS_REFINE 128u	/* no class, a marker: what the object is used for is part of the key */
#define LS_CLASS_UNREFINED 256u	/* that was not known yet when the class was made */
#define LS_CLASS_FLEETING 512u	/* of a lock on a stack, by address alone: soon another one lies there */
#define LS_CLASS_MARKER (LS_CLASS_KMALLOC | LS_CLASS_REFINE)
#define LS_CLASS_KEY_ASKS (LS_CLASS_MARKER | LS_CLASS_ASK)	/* its key carries LS_KEY_ASK */
#define LS_CLASS_UNORDERED (LS_CLASS_SIGNAL | LS_CLASS_HANDED)
#define LS_CLASS_TOLD (LS_CLASS_SAME | LS_CLASS_CONFIRMED)

struct ls_class {
	ls_u8 state;		/* written last */
	ls_u8 kind;		/* enum ls_kind */
	ls_u8 origin;		/* enum ls_origin */
	ls_u8 refinement;	/* what refines it (enum ls_refinement of the module), and markers of it */
	ls_u16 marks;
	ls_u16 inversions;	/* instances taken in both orders, reported to the thread so far */
	ls_u32 offset;
	ls_u32 object_size;
	ls_u32 canonical;	/* 0 until the thread has named it */
	ls_u64 addr;		/* symbol address, allocation, initialiser or acquire site */
	ls_u64 key;
	ls_u64 cache;		/* slab cache, for invalidation only */
	ls_u32 pairs;		/* instance pairs told to the thread so far */
	ls_u32 usage;		/* LS_USE_* that the thread was told of */
	ls_u32 absent[2];	/* gates (edges.h) that some holder with hardirqs, softirqs on did not have;
				 * completions: what some completer did not have (ls_need_bits()), halves */
	ls_u32 absent_in[2];	/* the same of hardirqs, softirqs that took it */
	char label[LS_LABEL_LEN];	/* cache name or initialiser's string */
	ls_s32 root;			/* markers: from the object refined by to the lock; arrays: stride; bytes */
	ls_u32 bytes;			/* size asked for where it tells what the memory is for, else 0 */
	ls_u64 role_addr;		/* static data that the role was read from, or 0 */
	char role[LS_ROLE_LEN];		/* of the object, as in the class's name; empty: none */
	/* Semaphores, as in struct ls_class_counts. */
	ls_u64 acquires;
	ls_u64 releases;
	ls_u64 unmatched_releases;
	ls_u64 unmatched_acquires;
	ls_u32 instances;
	ls_u32 handed;
	ls_u32 nested[LS_NR_NESTINGS];
};

struct ls_classes {
	struct ls_tagtab keys;
	struct ls_class *table;
	ls_u32 max;
	ls_u32 nr;		/* ids 1 .. nr were handed out */
};

/* @keys: zeroed memory for 2^@bits slots; @table: @max + 1 zeroed entries. */
void ls_classes_init(struct ls_classes *c, void *keys, ls_u32 bits, struct ls_class *table,
		     ls_u32 max);

/* One multiplication on the hot path: it is a bijection. */
LS_INLINE ls_u64 ls_key_address(ls_u64 addr)
{
	return addr * LS_GOLDEN;
}

/* Kernel pointers differ in their low 48 bits; @offset is below 64 KiB. */
LS_INLINE ls_u64 ls_key_slab(ls_u64 cache, ls_u32 offset)
{
	return (cache << 16 ^ offset) * LS_GOLDEN;
}

LS_INLINE ls_u64 ls_key_alloc(ls_u64 cache, ls_u32 offset, ls_u32 site)
{
	return ((cache << 16 ^ offset) * LS_GOLDEN + site) * LS_GOLDEN;
}

/* What @key stands for, where objects of @role are apart from others. */
LS_INLINE ls_u64 ls_key_refined(ls_u64 key, ls_u64 role)
{
	return (key + role) * LS_GOLDEN;
}

LS_INLINE ls_u64 ls_key_site(ls_u64 ip)
{
	return ls_mix(ip ^ 0x5173ull << 48);
}

LS_INLINE ls_u64 ls_key_init(ls_u64 name, ls_u64 caller)
{
	return ls_mix(ls_mix(name) + caller);
}

/* Class of @key, LS_CLASS_NONE when there is none yet. Any context. */
LS_INLINE ls_u32 ls_classes_find(const struct ls_classes *c, ls_u64 key)
{
	ls_u64 slot = ls_tagtab_first(&c->keys, key);

	if (ls_likely(ls_tag_match(slot, key) && (slot & LS_TAG_ID_MASK)))
		return slot & LS_VAL_CLASS_MASK;
	return ls_tagtab_find(&c->keys, key) & LS_VAL_CLASS_MASK;
}

/* A class that needs no more asking, of what ls_classes_first() returns. */
LS_INLINE bool ls_class_answers(ls_u64 id)
{
	return id - 1 < LS_KEY_ASK - 1;
}

/*
 * What one of the key's first two places has for it, LS_KEY_ASK included; 0, or more than
 * LS_TAG_ID_MASK: neither has the key. Without the key's tag a slot is an id, and more than
 * any where it is another key's: one comparison is enough for nearly all.
 */
LS_INLINE ls_u64 ls_classes_first(const struct ls_classes *c, ls_u64 key)
{
	const ls_u64 *slots = c->keys.slots, tag = key << LS_TAG_ID_BITS;
	ls_u64 place = key >> c->keys.shift, id = ls_load(&slots[place]) ^ tag;

	if (ls_likely(ls_class_answers(id)))
		return id;
	return id > LS_TAG_ID_MASK ? ls_load(&slots[place ^ 1]) ^ tag : id;
}

/* The class there that needs no more asking, else 0. */
LS_INLINE ls_u32 ls_classes_fast(const struct ls_classes *c, ls_u64 key)
{
	ls_u64 id = ls_classes_first(c, key);

	return ls_likely(ls_class_answers(id)) ? id : 0;
}

/*
 * Make a class like @proto (key and identity filled in) unless the key has one.
 * Returns the id, LS_CLASS_NONE when the table is full. *created tells which.
 * Any context.
 */
ls_u32 ls_classes_add(struct ls_classes *c, const struct ls_class *proto, bool *created);

/* Let @key lead to class @id too. */
void ls_classes_alias(struct ls_classes *c, ls_u64 key, ls_u32 id);

/*
 * Forget the keys and aliases of locks that are named by, or refined through, what lies
 * in [start, end) (module unload), or of everything in slab cache @cache. The classes
 * stay, their keys go.
 * One caller at a time; hooks may run.
 */
void ls_classes_forget_range(struct ls_classes *c, ls_u64 start, ls_u64 end);
void ls_classes_forget_cache(struct ls_classes *c, ls_u64 cache);

/*
 * Lock or signal? Whoever uses a semaphore as a lock gives it back himself; events
 * are told by somebody who never waits for them [RacerX 5.1]. @own: the releaser had
 * acquired it. True when the class became a signal, or is none any more. Unmatched
 * acquisitions are the same handing over seen from the other side: they are counted
 * for people, but no event speaks twice. Any context.
 */
LS_INLINE bool ls_semaphore_released(struct ls_class *c, bool own)
{
	ls_u64 n = ls_fetch_add(&c->releases, 1) + 1;
	ls_u64 unmatched = own ? ls_load(&c->unmatched_releases)
			       : ls_fetch_add(&c->unmatched_releases, 1) + 1;
	bool signal = ls_load(&c->marks) & LS_CLASS_SIGNAL;

	/* Another release may have come in between the two. */
	if ((ls_believe(unmatched < n ? unmatched : n, n) == LS_BELIEF_BROKEN) == signal)
		return false;
	if (signal)
		ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_SIGNAL);
	else
		ls_fetch_or(&c->marks, LS_CLASS_SIGNAL);
	return true;
}

/*
 * An instance of class @c in its present life is released for the first time (@fresh),
 * or for the first time by a context that had not acquired it (@handed). True when that
 * changes what the class is taken for. Any context.
 */
LS_INLINE bool ls_semaphore_instance(struct ls_class *c, bool fresh, bool handed)
{
	ls_u32 n = ls_fetch_add(&c->instances, fresh) + fresh;
	ls_u32 moved = ls_fetch_add(&c->handed, handed) + handed;
	bool was = ls_load(&c->marks) & LS_CLASS_HANDED;

	if (ls_most_handed_over(moved < n ? moved : n, n) == was)
		return false;
	if (was)
		ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_HANDED);
	else
		ls_fetch_or(&c->marks, LS_CLASS_HANDED);
	return true;
}

/* What was counted of class @id; false when it is nothing. Any context. */
bool ls_classes_counts(const struct ls_classes *c, ls_u32 id, struct ls_class_counts *out);

/* Forget what was counted, and what was concluded from it. No hook runs. */
void ls_class_counts_clear(struct ls_class *c);

/* Copy at most @size - 1 characters and a zero. No libc here. */
void ls_copy_label(char *to, const char *from, ls_size size);

#endif /* LOCKSCOPE_CLASSES_H */
