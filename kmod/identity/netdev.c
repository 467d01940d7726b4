// SPDX-License-Identifier: GPL-2.0
/*
 * Net devices that do not transmit: not yet, or no longer. The core calls a driver's
 * ndo_start_xmit() only for a device that is up, with the lock of a transmit queue held
 * (Documentation/networking/netdevices.rst), and its ndo_open() and ndo_stop() only for one
 * that is not. Any context: reads the kernel's structures, takes no lock.
 */
#include <linux/if.h>
#include <linux/netdevice.h>

#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/lookup.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "primitives.h"

/* The net device that the lock at @lock of @kind lies in, NULL: none. */
static const struct net_device *device_around(unsigned long lock, u32 kind)
{
	struct kmem_cache *cache = NULL;
	unsigned long object;
	u32 offset, site;
	s32 root;

	if (!ls_slab_locate(lock, &cache, &object, &offset)) {
		cache = NULL;
		object = in_direct_map(lock) ? ls_large_object(lock) : 0;
	}
	site = object ? ls_alloc_site(object) : 0;
	if (!site || ls_refinement_of(lock, kind, cache, object, site, 0, &root) != LS_REFINE_NETDEV)
		return NULL;
	return (const struct net_device *)(lock - root);
}

/* IFF_UP is set after ndo_open() and cleared after ndo_stop(), the bit before each. */
static bool transmits(const struct net_device *dev)
{
	return READ_ONCE(dev->flags) & IFF_UP && test_bit(__LINK_STATE_START, &dev->state);
}

u64 ls_quiet_queue(u64 lock, u32 id)
{
	const struct ls_class *c = &ls.classes.table[id];
	const struct net_device *dev;
	u64 queue;

	if (likely(c->refinement != LS_REFINE_NETDEV))
		return 0;
	dev = device_around(lock, c->kind);
	if (!dev || transmits(dev))
		return 0;
	queue = (u64)READ_ONCE(dev->_tx);
	if (!in_direct_map(queue) || READ_ONCE(((struct netdev_queue *)queue)->dev) != dev)
		return 0;
	return (u64)&((struct netdev_queue *)queue)->_xmit_lock;
}

u32 ls_queue_class(u64 queue)
{
	u32 id = ls_class_known(queue, LS_KIND_SPINLOCK, true);

	return id ? id : ls_identify(queue, LS_KIND_SPINLOCK, 0);
}
