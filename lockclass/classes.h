/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock-class table: identity key -> class. A class is created in the hook that first observes
 * it and named later by the thread; what the name needs is copied at once, since caches and
 * modules may be gone by then.
 *
 * Keys (distinct by construction, see the functions below):
 *   address of a static or per-CPU lock,
 *   slab cache, offset and kind, the same and the allocation site,
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
#define LS_CLASS_NONE 0		/* no room for a class; counted */

enum ls_class_state {
	LS_CLASS_EMPTY = 0,
	LS_CLASS_READY = 1,
	LS_CLASS_HOLE = 2,	/* lost a race; never used */
};

/*
 * In the key table, with the id: the key alone does not determine the class. The marks of the
 * class with that id show what else has to be looked up.
 */
#define LS_KEY_ASK (1u << 23)

#define LS_KEY_KIND_SHIFT 28	/* where a primitive's word in the hooks has it, too */

/* Marks of a class. */
#define LS_CLASS_KMALLOC 1u	/* a marker, not a class: the allocation site is part of the key */
#define LS_CLASS_SAME 2u	/* same instance acquired twice: reported */
#define LS_CLASS_SIGNAL 8u	/* semaphore that counts events: adds no dependencies */
#define LS_CLASS_ASK 16u	/* some lock of this key may have another class */
#define LS_CLASS_HANDED 32u	/* most of these semaphores are handed over: like a signal */
#define LS_CLASS_CONFIRMED 64u	/* completed by another than the waiter: reported */
#define LS_CLASS_REFINE 128u	/* a marker, not a class: the role is part of the key */
#define LS_CLASS_UNREFINED 256u	/* the role was not known when the class was created */
#define LS_CLASS_FLEETING 512u	/* lock on a stack, by address: soon reused */
#define LS_CLASS_PASSED 1024u	/* each acquisition counts, see kmod/out/claims.c */
#define LS_CLASS_TOLD 2048u	/* an acquisition that cannot return was printed, see kmod/check/hang.c */
#define LS_CLASS_SPUN 4096u	/* CPUs that spin for each other were printed, see kmod/check/spinners.c */
#define LS_CLASS_USES 8192u	/* instances used in interrupts are compared, see uses.h */
#define LS_CLASS_MARKER (LS_CLASS_KMALLOC | LS_CLASS_REFINE)
#define LS_CLASS_KEY_ASKS (LS_CLASS_MARKER | LS_CLASS_ASK)	/* its key has LS_KEY_ASK */
#define LS_CLASS_UNORDERED (LS_CLASS_SIGNAL | LS_CLASS_HANDED)
#define LS_CLASS_REPORTED \
	(LS_CLASS_SAME | LS_CLASS_CONFIRMED | LS_CLASS_PASSED | LS_CLASS_TOLD | LS_CLASS_SPUN |	\
	 LS_CLASS_USES)

struct ls_class {
	ls_u8 state;		/* written last */
	ls_u8 kind;		/* enum ls_kind */
	ls_u8 origin;		/* enum ls_origin */
	ls_u8 refinement;	/* enum ls_refinement of the module, of a class and of markers */
	ls_u16 marks;
	ls_u8 inversions;	/* acquired in both orders, reported to the thread */
	ls_u8 uses;		/* instances reported for uses.h */
	ls_u32 offset;
	ls_u32 object_size;
	ls_u32 canonical;	/* 0 until the thread has named it */
	ls_u64 addr;		/* symbol address, allocation, initialiser or acquire site */
	ls_u64 key;
	ls_u64 cache;		/* slab cache, for invalidation only */
	ls_u16 pairs;		/* instance pairs reported to the thread so far */
	ls_u16 use_looks;	/* acquisitions compared for uses.h */
	ls_u32 usage;		/* LS_USE_* reported to the thread */
	/*
	 * Gates (edges.h) that some holder with hardirqs, softirqs on did not have; completions:
	 * what some completer did not have (ls_need_bits()), halves.
	 */
	ls_u32 absent[2];
	ls_u32 absent_in[2];	/* the same for hardirqs, softirqs that acquired it */
	char label[LS_LABEL_LEN];	/* cache name or initialiser's string */
	ls_s32 root;			/* bytes from role's object to lock; arrays: stride */
	ls_u32 bytes;			/* allocation size where it identifies the type, else 0 */
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
	ls_u32 nr;		/* ids 1 .. nr are in use */
};

/* @keys: zeroed memory for 2^@bits slots; @table: @max + 1 zeroed entries. */
void ls_classes_init(struct ls_classes *c, void *keys, ls_u32 bits, struct ls_class *table,
		     ls_u32 max);

/* One multiplication on the hot path: it is a bijection. */
LS_INLINE ls_u64 ls_key_address(ls_u64 addr)
{
	return addr * LS_GOLDEN;
}

/*
 * Kernel pointers differ in their low 48 bits; @offset is below 64 KiB. Memory may have one kind
 * of lock now and another one later at the same place, and those are never one class. A
 * ww_mutex has the kind of the mutex in it. The product is what tells two caches apart: there
 * the kind costs one addition.
 */
LS_INLINE ls_u64 ls_key_slab(ls_u64 cache, ls_u32 offset, ls_u32 kind)
{
	return (cache << 16 ^ offset) * LS_GOLDEN + ((ls_u64)kind << LS_KEY_KIND_SHIFT);
}

LS_INLINE ls_u64 ls_key_alloc(ls_u64 cache, ls_u32 offset, ls_u32 kind, ls_u32 site)
{
	return (ls_key_slab(cache, offset, kind) + site) * LS_GOLDEN;
}

LS_INLINE ls_u32 ls_key_kind(ls_u32 kind)
{
	return kind == LS_KIND_WW_MUTEX ? (ls_u32)LS_KIND_MUTEX : kind;
}

/* Key of @key for objects of @role, where roles are separate classes. */
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

/* Is @id, from ls_classes_first(), a class that needs no further look-up? */
LS_INLINE bool ls_class_answers(ls_u64 id)
{
	return id - 1 < LS_KEY_ASK - 1;
}

/*
 * Entry of the key in its first two slots, including LS_KEY_ASK; 0, or more than
 * LS_TAG_ID_MASK: in neither. A slot without the key's tag is an id, or larger than any id for
 * another key: one comparison is enough in nearly all cases.
 */
LS_INLINE ls_u64 ls_classes_first(const struct ls_classes *c, ls_u64 key)
{
	const ls_u64 *slots = c->keys.slots, tag = key << LS_TAG_ID_BITS;
	ls_u64 place = key >> c->keys.shift, id = ls_load(&slots[place]) ^ tag;

	if (ls_likely(ls_class_answers(id)))
		return id;
	return id > LS_TAG_ID_MASK ? ls_load(&slots[place ^ 1]) ^ tag : id;
}

/* The class there if it needs no further look-up, else 0. */
LS_INLINE ls_u32 ls_classes_fast(const struct ls_classes *c, ls_u64 key)
{
	ls_u64 id = ls_classes_first(c, key);

	return ls_likely(ls_class_answers(id)) ? id : 0;
}

/*
 * Create a class from @proto (key and identity filled in) unless the key has one. Returns the
 * id, LS_CLASS_NONE when the table is full. *created: whether it is new. Any context.
 */
ls_u32 ls_classes_add(struct ls_classes *c, const struct ls_class *proto, bool *created);

/* Map @key to class @id, too. */
void ls_classes_alias(struct ls_classes *c, ls_u64 key, ls_u32 id);

/*
 * Remove the keys and aliases of locks whose name or role comes from [start, end) (module
 * unload), or of everything in slab cache @cache. The classes stay, their keys go. One caller
 * at a time; hooks may run.
 */
void ls_classes_forget_range(struct ls_classes *c, ls_u64 start, ls_u64 end);
void ls_classes_forget_cache(struct ls_classes *c, ls_u64 cache);

/*
 * Lock or signal? A semaphore used as a lock is released by the context that acquired it; an
 * event is signalled by a context that never waits for it [RacerX 5.1]. @own: the releaser had
 * acquired it. True when the class becomes a signal, or stops being one. Unmatched
 * acquisitions are the other side of the same hand-overs: they are counted for statistics
 * only, so that no event counts twice. Any context.
 */
LS_INLINE bool ls_semaphore_released(struct ls_class *c, bool own)
{
	ls_u64 n = ls_fetch_add(&c->releases, 1) + 1;
	ls_u64 unmatched = own ? ls_load(&c->unmatched_releases)
			       : ls_fetch_add(&c->unmatched_releases, 1) + 1;
	bool signal = ls_load(&c->marks) & LS_CLASS_SIGNAL;

	/* Another release may come between the two. */
	if ((ls_believe(unmatched < n ? unmatched : n, n) == LS_BELIEF_BROKEN) == signal)
		return false;
	if (signal)
		ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_SIGNAL);
	else
		ls_fetch_or(&c->marks, LS_CLASS_SIGNAL);
	return true;
}

/*
 * An instance of class @c in its present life is released for the first time (@fresh), or for
 * the first time by a context that had not acquired it (@handed). True when the belief about
 * the class changes. Any context.
 */
LS_INLINE bool ls_semaphore_instance(struct ls_class *c, bool fresh, bool handed)
{
	ls_u32 n = ls_fetch_add(&c->instances, fresh) + fresh;
	ls_u32 moved = ls_fetch_add(&c->handed, handed) + handed;
	bool was = ls_load(&c->marks) & LS_CLASS_HANDED;

	if (ls_most(moved < n ? moved : n, n) == was)
		return false;
	if (was)
		ls_fetch_and(&c->marks, (ls_u16)~LS_CLASS_HANDED);
	else
		ls_fetch_or(&c->marks, LS_CLASS_HANDED);
	return true;
}

/* Counts of class @id; false when there are none. Any context. */
bool ls_classes_counts(const struct ls_classes *c, ls_u32 id, struct ls_class_counts *out);

/* Reset counts and beliefs. No hook runs. */
void ls_class_counts_clear(struct ls_class *c);

/* Copy at most @size - 1 characters and a zero. No libc here. */
void ls_copy_label(char *to, const char *from, ls_size size);

#endif /* LOCKSCOPE_CLASSES_H */
