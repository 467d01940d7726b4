/* SPDX-License-Identifier: GPL-2.0 */
/* vmalloc areas of the kernel. */
#ifndef LOCKSCOPE_VMAP_H
#define LOCKSCOPE_VMAP_H

#include <linux/types.h>

struct ls_vmap {
	unsigned long start, size;	/* bytes, without the guard page */
	unsigned long caller;		/* return address of the code that allocated it */
	bool stack;			/* a task's stack, which is reused */
};

/* The area of vmalloc() around @addr; false when there is none, or it is not found. Any context. */
bool ls_vmap_find(unsigned long addr, struct ls_vmap *area);

/* Process context, once, in a task that was forked. */
void ls_vmap_init(void);

#endif /* LOCKSCOPE_VMAP_H */
