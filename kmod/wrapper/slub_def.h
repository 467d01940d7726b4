/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct kmem_cache comes with the headers, struct slab does not (since 5.17 it
 * is private to mm/). slub_def.h only needs these two to parse; nothing here
 * uses them.
 */
#ifndef LOCKSCOPE_WRAPPER_SLUB_DEF_H
#define LOCKSCOPE_WRAPPER_SLUB_DEF_H

#include <linux/mm.h>
#include <linux/reciprocal_div.h>
#include <linux/slab.h>

struct slab {
	unsigned int objects;
};

static inline void *slab_address(const struct slab *slab)
{
	return page_address((const struct page *)slab);
}

#include <linux/slub_def.h>

#endif
