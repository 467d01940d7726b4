/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes that are not validated. Their authors use lockdep_set_novalidate_class(), of which
 * nothing is left in the binary. As with lockdep, they add no dependencies in either
 * direction; acquiring one instance twice is still a fault.
 *
 * Mutexes of devices are validated, by type and depth of the device (kmod/identity/devices.c).
 * Only before either is known they are not: a device may be used before device_add(), without
 * bus, class and type. It is not in the tree yet, and locks held meanwhile are not ordered
 * with those of registered devices.
 *
 * Nodes of bcache's tree are not validated. They are acquired from the root down and could
 * have a class per level, but "we never free struct btree itself" (mca_alloc()). A node may be
 * reused for another bucket and level while tasks wait for its lock; they notice when they
 * have acquired it, and start over (bch_btree_node_get()). So the level read at the acquire
 * may not be that of the node waited for, and one instance has different levels over time:
 * neither classes by level nor instances prove that two dependencies existed at one time.
 * write_lock belongs to the same nodes, and is acquired for several new ones together.
 */
#ifndef LOCKSCOPE_EXEMPT_H
#define LOCKSCOPE_EXEMPT_H

#include "port.h"

/* Stable names, as the module makes them; a final + matches any offset. */
static const char *const ls_exempt_names[] = {
	"&dev->mutex @ device_initialize",	/* bus, class and type are not known yet */
	"&b->lock @ mca_bucket_alloc",
	"&b->write_lock @ mca_bucket_alloc",
	"mutex of mca_bucket_alloc+",		/* for kernels where mutexes have no name */
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
