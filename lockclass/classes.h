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
#include "hash.h"
#include "port.h"
#include "tagtab.h"

#define LS_LABEL_LEN 48
#define LS_CLASS_NONE 0		/* no class could be had; counted */

enum ls_class_state {
	LS_CLASS_EMPTY = 0,
	LS_CLASS_READY = 1,
	LS_CLASS_HOLE = 2,	/* lost a race; never used */
};

/*
 * In the key table, beside the id: the class stands for (kmalloc cache, offset)
 * and the allocation site has to be asked for.
 */
#define LS_KEY_KMALLOC (1u << 23)

/* Marks of a class. */
#define LS_CLASS_KMALLOC 1u	/* its key carries LS_KEY_KMALLOC */
#define LS_CLASS_SAME 2u	/* same instance taken twice: told */
#define LS_CLASS_INVERTED 4u	/* instances taken in both orders: told */
#define LS_CLASS_SIGNAL 8u	/* semaphore that counts events: no order follows from it */
#define LS_CLASS_ASK 16u	/* its key carries LS_KEY_KMALLOC: some instance may have another class */
#define LS_CLASS_TOLD (LS_CLASS_SAME | LS_CLASS_INVERTED)

struct ls_class {
	ls_u8 state;		/* written last */
	ls_u8 kind;		/* enum ls_kind */
	ls_u8 origin;		/* enum ls_origin */
	ls_u8 marks;
	ls_u32 offset;
	ls_u32 object_size;
	ls_u32 canonical;	/* 0 until the thread has named it */
	ls_u64 addr;		/* symbol address, allocation, initialiser or acquire site */
	ls_u64 key;
	ls_u64 cache;		/* slab cache, for invalidation only */
	ls_u32 pairs;		/* instance pairs told to the thread so far */
	int balance;		/* semaphores: acquisitions less releases */
	ls_u32 early;		/* semaphores: releases of what nobody had acquired */
	ls_u32 usage;		/* LS_USE_* that the thread was told of */
	ls_u32 absent[2];	/* gates (edges.h) that some holder with hardirqs, softirqs on did not have */
	char label[LS_LABEL_LEN];	/* cache name or initialiser's string */
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

/* The same when the key's first place holds a class that needs no more asking, else 0. */
LS_INLINE ls_u32 ls_classes_fast(const struct ls_classes *c, ls_u64 key)
{
	ls_u64 slot = ls_tagtab_first(&c->keys, key);
	ls_u32 id = slot & LS_TAG_ID_MASK;

	return ls_likely(ls_tag_match(slot, key) && id < LS_KEY_KMALLOC) ? id : 0;
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
 * Forget the keys of static locks in [start, end) (module unload) or, with
 * @cache, of everything in that slab cache. The classes stay, their keys go.
 * One caller at a time; hooks may run.
 */
void ls_classes_forget_range(struct ls_classes *c, ls_u64 start, ls_u64 end);
void ls_classes_forget_cache(struct ls_classes *c, ls_u64 cache);

/*
 * Lock or signal? Whoever uses a semaphore as a lock acquires it first; events
 * are released before they are waited for, by somebody who never waits [the
 * asymmetry of RacerX 5.1, without its statistics]. A few releases that match no
 * acquisition, neither the releaser's own nor anybody's, make the class a signal.
 * Any context.
 */
#define LS_EARLY_RELEASES 3
LS_INLINE void ls_semaphore_acquired(struct ls_class *c)
{
	ls_fetch_add(&c->balance, 1);
}

/* @own: the releaser had acquired it. */
LS_INLINE void ls_semaphore_released(struct ls_class *c, bool own)
{
	int before = ls_fetch_add(&c->balance, -1);

	if (!own && before <= 0 && ls_fetch_add(&c->early, 1) + 1 == LS_EARLY_RELEASES)
		ls_fetch_or(&c->marks, LS_CLASS_SIGNAL);
}

/* Copy at most @size - 1 characters and a zero. No libc here. */
void ls_copy_label(char *to, const char *from, ls_size size);

#endif /* LOCKSCOPE_CLASSES_H */
