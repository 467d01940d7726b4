/* SPDX-License-Identifier: GPL-2.0 */
/* The class of a lock that was acquired before: the fast path of nearly all acquisitions. */
#ifndef LOCKSCOPE_CLASS_LOOKUP_H
#define LOCKSCOPE_CLASS_LOOKUP_H

#include "classes.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "tagtab.h"

/*
 * Class of @lock without access to per-object state, 0 when it cannot be found that way:
 * static locks by address, locks in slab objects by cache and offset (the address of the
 * page's cache and one reciprocal division), locks in kmalloc memory by the object's
 * allocation site as well. Where a marker requires it, the role of the object is part of the
 * key; @rare: even where that takes a call. A lock of another kind at that place is another
 * one: @kind is part of the keys in memory that is reused (ls_key_kind()).
 */
static __always_inline u32 ls_class_known(u64 lock, u32 kind, bool rare)
{
	const struct ls_class *marker;
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, site;
	u64 key, id;

	if (lock >= __START_KERNEL_map || !ls_slab_locate(lock, &cache, &object, &offset))
		return ls_classes_fast(&ls.classes, ls_key_address(lock));
	key = ls_key_slab((u64)cache, offset, kind);
	id = ls_classes_first(&ls.classes, key);
	if (likely(ls_class_answers(id)))
		return id;
	if (unlikely(id - 1 >= LS_TAG_ID_MASK))
		return 0;
	marker = &ls.classes.table[id & LS_VAL_CLASS_MASK];
	if (marker->marks & LS_CLASS_KMALLOC) {
		site = ls_alloc_site(object);
		if (unlikely(!site))
			return 0;
		key = ls_key_alloc((u64)cache, offset, kind, site);
		id = ls_classes_first(&ls.classes, key);
		if (likely(ls_class_answers(id)))
			return id;
		if (unlikely(id - 1 >= LS_TAG_ID_MASK))
			return 0;
		marker = &ls.classes.table[id & LS_VAL_CLASS_MASK];
	}
	if (!(marker->marks & LS_CLASS_REFINE))
		return 0;
	if (marker->refinement == LS_REFINE_INODE)
		key = ls_key_refined(key, ls_role_of_inode((struct inode *)(lock - marker->root)));
	else if (marker->refinement == LS_REFINE_SOCK)
		key = ls_key_refined(key, ls_role_of_sock((struct sock *)(lock - marker->root)));
	else if (rare)
		key = ls_key_refined(key, ls_role_of_rare(marker->refinement, lock - marker->root));
	else
		return 0;
	return ls_classes_fast(&ls.classes, key);
}

#endif /* LOCKSCOPE_CLASS_LOOKUP_H */
