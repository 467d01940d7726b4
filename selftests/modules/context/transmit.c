// SPDX-License-Identifier: GPL-2.0
/*
 * A lock of a net device's driver, acquired in softirq to transmit, and with softirqs on where
 * the device is opened: then nothing transmits through it. The faults acquire it with softirqs
 * on while the device is up as well, or in a softirq that does not transmit. Of each there is
 * one whose device lies in large kmalloc memory, as those with much private data do.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "selftest.h"

struct transmit_private {
	spinlock_t lock;
	char data[];
};

#define transmit_lock(dev) (&((struct transmit_private *)netdev_priv(dev))->lock)

static netdev_tx_t transmit_done(struct sk_buff *skb)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static void transmit_send(struct net_device *dev)
{
	struct sk_buff *skb = netdev_alloc_skb(dev, ETH_ZLEN);

	if (!skb)
		return;
	skb_put_zero(skb, ETH_ZLEN);
	skb_reset_mac_header(skb);
	skb->protocol = htons(ETH_P_802_3);
	dev_queue_xmit(skb);
}

/* NAME: a device with SIZE bytes of private data. ndo_open() is the first that acquires. */
#define TRANSMIT(name, size, take_open, give_open, take_up, give_up)			\
static struct net_device *name##_device;						\
											\
static __side int name##_open(struct net_device *dev)					\
{											\
	take_open(transmit_lock(dev));							\
	give_open(transmit_lock(dev));							\
	netif_start_queue(dev);								\
	return 0;									\
}											\
											\
static __side int name##_stop(struct net_device *dev)					\
{											\
	netif_stop_queue(dev);								\
	take_open(transmit_lock(dev));							\
	give_open(transmit_lock(dev));							\
	return 0;									\
}											\
											\
static __side netdev_tx_t name##_start_xmit(struct sk_buff *skb, struct net_device *dev)	\
{											\
	spin_lock(transmit_lock(dev));							\
	spin_unlock(transmit_lock(dev));						\
	return transmit_done(skb);							\
}											\
											\
static __side int name##_change_mtu(struct net_device *dev, int mtu)			\
{											\
	take_up(transmit_lock(dev));							\
	give_up(transmit_lock(dev));							\
	dev->mtu = mtu;									\
	return 0;									\
}											\
											\
static const struct net_device_ops name##_ops = {					\
	.ndo_open = name##_open, .ndo_stop = name##_stop,				\
	.ndo_start_xmit = name##_start_xmit, .ndo_change_mtu = name##_change_mtu,	\
};											\
											\
static __side int name##_setup(void)							\
{											\
	struct net_device *dev = alloc_netdev(sizeof(struct transmit_private) + (size),	\
					      "lsxmit%d", NET_NAME_UNKNOWN, ether_setup);	\
											\
	if (!dev)									\
		return -ENOMEM;								\
	dev->netdev_ops = &name##_ops;							\
	spin_lock_init(transmit_lock(dev));						\
	eth_hw_addr_random(dev);							\
	if (register_netdev(dev)) {							\
		free_netdev(dev);							\
		return -EINVAL;								\
	}										\
	name##_device = dev;								\
	return 0;									\
}											\
											\
static void name##_teardown(void)							\
{											\
	if (!name##_device)								\
		return;									\
	unregister_netdev(name##_device);						\
	free_netdev(name##_device);							\
	name##_device = NULL;								\
}											\
											\
static __side void name##_up(void)							\
{											\
	rtnl_lock();									\
	dev_open(name##_device, NULL);							\
	rtnl_unlock();									\
}											\
											\
static __side void name##_send(void)							\
{											\
	transmit_send(name##_device);							\
}											\
											\
static __side void name##_mtu(void)							\
{											\
	rtnl_lock();									\
	dev_set_mtu(name##_device, 1400);						\
	rtnl_unlock();									\
}											\
											\
/* A softirq of the driver's own. */							\
static __side __maybe_unused void name##_poll(void)					\
{											\
	spin_lock(transmit_lock(name##_device));					\
	spin_unlock(transmit_lock(name##_device));					\
}

#define LARGE 12000

TRANSMIT(xmit_up, 0, spin_lock, spin_unlock, spin_lock, spin_unlock)
TRANSMIT(xmit_large, LARGE, spin_lock, spin_unlock, spin_lock, spin_unlock)
TRANSMIT(xmit_poll, 0, spin_lock, spin_unlock, spin_lock_bh, spin_unlock_bh)
TRANSMIT(xmit_down, 0, spin_lock, spin_unlock, spin_lock_bh, spin_unlock_bh)
TRANSMIT(xmit_down_large, LARGE, spin_lock, spin_unlock, spin_lock_bh, spin_unlock_bh)
TRANSMIT(xmit_ok, 0, spin_lock_bh, spin_unlock_bh, spin_lock_bh, spin_unlock_bh)

#define TRANSMIT_CASE(name, verdict, summary, classes, last, where)			\
	{ #name, verdict, LS_IRQ_STATE, summary, classes,				\
	  .setup = name##_setup, .teardown = name##_teardown,				\
	  .side = { { name##_up }, { name##_send, LS_TASKLET }, { name##_mtu },		\
		    { name##_send, LS_TASKLET }, { last, where } } }

const struct ls_case verdict_transmit_cases[] = {
	TRANSMIT_CASE(xmit_up, LS_FAULT, "acquired to transmit, and with softirqs on while the device is up",
		      "xmit_up_setup xmit_up_ops severity=error", xmit_up_mtu, LS_THREAD),
	TRANSMIT_CASE(xmit_large, LS_FAULT, "the same, of a device with much private data",
		      "xmit_large_setup xmit_large_ops severity=error", xmit_large_mtu, LS_THREAD),
	TRANSMIT_CASE(xmit_poll, LS_FAULT, "acquired in another softirq, and with softirqs on to open the device",
		      "xmit_poll_setup xmit_poll_ops severity=error", xmit_poll_poll, LS_TASKLET),
	TRANSMIT_CASE(xmit_down, LS_FAULT, "acquired to transmit, and with softirqs on to open the device: not at a time",
		      "xmit_down_setup xmit_down_ops severity=note", xmit_down_mtu, LS_THREAD),
	TRANSMIT_CASE(xmit_down_large, LS_FAULT, "the same, of a device with much private data",
		      "xmit_down_large_setup xmit_down_large_ops severity=note", xmit_down_large_mtu, LS_THREAD),
	TRANSMIT_CASE(xmit_ok, LS_TWIN, "always acquired with softirqs off",
		      "xmit_ok_setup", xmit_ok_mtu, LS_THREAD),
	{ }
};
