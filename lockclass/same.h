/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses that changed nothing: a repetition under the same conditions changes nothing
 * either. Per CPU; any context, preemption off.
 */
#ifndef LOCKSCOPE_SAME_H
#define LOCKSCOPE_SAME_H

#include "port.h"
#include "shadow.h"
#include "unsharing.h"

struct ls_same {
	ls_u64 addr, ip;
	ls_u64 signature;		/* of context, locks and sections */
	ls_u64 state;			/* of the granule */
	ls_u64 last;			/* context << 16 | lockset: value for object */
	ls_u64 unit;			/* address of object */
	struct ls_object *object;
	ls_u32 how;			/* op and size */
	ls_u32 site;
};
#define LS_SAME_BITS 5

LS_INLINE ls_u32 ls_same_how(ls_u32 op, ls_u32 size)
{
	return op << 16 | (size & 0xffff);
}

/* Index of an access in the 1 << LS_SAME_BITS entries of a CPU. */
LS_INLINE ls_u32 ls_same_place(ls_u64 addr, ls_u64 ip)
{
	return (ip ^ ip >> 6 ^ addr >> 3) & ((1 << LS_SAME_BITS) - 1);
}

/* Is @q this access, under unchanged conditions? */
LS_INLINE bool ls_same_again(const struct ls_same *q, ls_u64 addr, ls_u64 ip, ls_u64 signature,
			     ls_u64 state, ls_u32 how)
{
	return q->addr == addr && q->ip == ip && q->signature == signature && q->state == state &&
	       q->how == how && state && (!q->object || ls_object_same(q->object, q->unit, q->last));
}

/* Will a repetition of this access leave a granule in @state unchanged? */
LS_INLINE bool ls_same_stays(ls_u64 addr, ls_u32 size, ls_u64 state)
{
	return (state & 3) == LS_EXCLUSIVE_TO && (addr & 7) + size <= 8;
}

#endif /* LOCKSCOPE_SAME_H */
