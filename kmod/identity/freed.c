// SPDX-License-Identifier: GPL-2.0
/*
 * Locks in freed memory: of the allocation sites whose memory has locks, kfree() leaves a note until
 * the memory is allocated again. What is acquired there meanwhile is a use after free. Objects of
 * caches of their own have no such state, see docs/limits.md.
 */
#include <linux/string.h>

#include "core/state.h"
#include "features.h"
#include "identity/alloc.h"
#include "identity/slab.h"

struct ls_freed ls_freed[1 << LS_FREED_BITS];

/*
 * The object at @object, from @site, was freed by the code at @ip. Any context. Where memory may be
 * allocated unseen, none is known to be free.
 */
void ls_freed_object(unsigned long object, u32 site, unsigned long ip)
{
#ifndef LS_HAVE_KMALLOC_NOLOCK
	ls_freed_note(ls_freed, object, site, ip);
#endif
}

/* Where the free object at @object was allocated, 0: it is not known to be free. Any context. */
u32 ls_freed_site(unsigned long object)
{
	ls_u64 code;

	return ls_freed_find(ls_freed, object, &code);
}

/* The code that freed the memory of the lock at @lock, 0: it is not free. Any context. */
unsigned long ls_freed_by(unsigned long lock)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset;
	ls_u64 code;

	if (!ls_slab_locate(lock, &cache, &object, &offset) || ls_alloc_site(object) ||
	    !ls_freed_find(ls_freed, object, &code))
		return 0;
	return code;
}

/* Allocations were not seen for a while. */
void ls_freed_clear(void)
{
	memset(ls_freed, 0, sizeof(ls_freed));
}
