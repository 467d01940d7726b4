/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes whose order the kernel's authors vouch for: what
 * lockdep_set_novalidate_class() is for in a kernel that has lockdep, and of
 * which nothing is left in one that has not. As with lockdep, they neither order
 * other locks nor are ordered; taking one instance twice is a fault all the same.
 */
#ifndef LOCKSCOPE_EXEMPT_H
#define LOCKSCOPE_EXEMPT_H

#include "port.h"

/* Stable names, as the module makes them; one that ends in + stands for any offset behind it. */
static const char *const ls_exempt_names[] = {
	"&dev->mutex @ device_initialize",	/* devices are a tree; the driver core keeps its order */
	"mutex of device_initialize+",		/* where mutexes have no name */
	"&b->lock @ mca_bucket_alloc",		/* nodes of bcache's tree, from the root down */
	"&b->write_lock @ mca_bucket_alloc",
	"mutex of mca_bucket_alloc+",
};

LS_INLINE bool ls_exempt(const char *name)
{
	ls_u32 i, k;

	for (i = 0; i < sizeof(ls_exempt_names) / sizeof(ls_exempt_names[0]); i++) {
		const char *exempt = ls_exempt_names[i];

		for (k = 0; exempt[k] && exempt[k] == name[k]; k++)
			;
		if (!exempt[k] && (!name[k] || exempt[k - 1] == '+'))
			return true;
	}
	return false;
}

#endif /* LOCKSCOPE_EXEMPT_H */
