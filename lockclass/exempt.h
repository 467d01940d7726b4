/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes whose order cannot be judged, so its authors' word for it stands: what they say
 * with lockdep_set_novalidate_class(), of which nothing is left in the binary. As with
 * lockdep, they neither order other locks nor are ordered; taking one instance twice is a
 * fault all the same.
 *
 * Mutexes of devices are judged, by what the device is and where in the tree it lies
 * (kmod/identity/devices.c). Not so before either is known: a device that is in use before
 * device_add(), without bus, class and type. It has no place in the tree yet, and the locks
 * that its maker holds meanwhile are no order of devices that others know.
 *
 * Nodes of bcache's tree are not: nodes are taken from the root down, each with a class by
 * its level, were it not that "we never free struct btree itself" (mca_alloc()). A node
 * becomes one of another bucket and level while tasks wait for its lock, find that out when
 * they have it, and start over (bch_btree_node_get()). So the level that is read when a
 * lock is asked for need not be that of the node waited for, and one instance is nodes of
 * any level in turn: neither classes by level nor instances prove that two orders are of
 * the same time. write_lock is that of the same nodes, of new ones taken together.
 */
#ifndef LOCKSCOPE_EXEMPT_H
#define LOCKSCOPE_EXEMPT_H

#include "port.h"

/* Stable names, as the module makes them; one that ends in + stands for any offset behind it. */
static const char *const ls_exempt_names[] = {
	"&dev->mutex @ device_initialize",	/* what it is is not known yet */
	"&b->lock @ mca_bucket_alloc",
	"&b->write_lock @ mca_bucket_alloc",
	"mutex of mca_bucket_alloc+",		/* where mutexes have no name */
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
