// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one structure, told apart by the driver or the type of their object: super
 * blocks, net devices and their queues, disks. Each pair is two objects from one place
 * of allocation; the fault's are of one type, the twin's of two.
 */
#include <linux/blkdev.h>
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pseudo_fs.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "selftest.h"

/* NAME: the lock of the first object outside NAME_l, that of the second one inside. */
#define ROLE_SIDES(name, take, give, lock, take_l, give_l)	\
static __side void name##_ol(void)				\
{								\
	take(lock(name##_of[0]));				\
	take_l(&name##_l);					\
	give_l(&name##_l);					\
	give(lock(name##_of[0]));				\
}								\
								\
static __side void name##_lo(void)				\
{								\
	take_l(&name##_l);					\
	take(lock(name##_of[1]));				\
	give(lock(name##_of[1]));				\
	give_l(&name##_l);					\
}

/* NAME_of: a pair of objects, of types FIRST and SECOND. */
#define ROLE_PAIR(name, object, make, unmake, first, second)	\
static object *name##_of[2];					\
								\
static int name##_setup(void)					\
{								\
	name##_of[0] = make(first);				\
	name##_of[1] = make(second);				\
	return name##_of[0] && name##_of[1] ? 0 : -ENOMEM;	\
}								\
								\
static void name##_teardown(void)				\
{								\
	int i;							\
								\
	for (i = 0; i < 2; i++) {				\
		if (name##_of[i])				\
			unmake(name##_of[i]);			\
		name##_of[i] = NULL;				\
	}							\
}

static int role_init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, 0x4c530002) ? 0 : -ENOMEM;
}

static struct file_system_type role_types[] = {
	{ .name = "lsrole_one", .owner = THIS_MODULE, .init_fs_context = role_init_fs_context,
	  .kill_sb = kill_anon_super },
	{ .name = "lsrole_two", .owner = THIS_MODULE, .init_fs_context = role_init_fs_context,
	  .kill_sb = kill_anon_super },
};

static struct vfsmount *role_mount(int type)
{
	struct vfsmount *mount = kern_mount(&role_types[type]);

	return IS_ERR(mount) ? NULL : mount;
}

#define role_umount(mount) (&(mount)->mnt_sb->s_umount)

static DEFINE_MUTEX(role_super_l);
static DEFINE_MUTEX(role_super_ok_l);
ROLE_PAIR(role_super, struct vfsmount, role_mount, kern_unmount, 0, 0)
ROLE_PAIR(role_super_ok, struct vfsmount, role_mount, kern_unmount, 0, 1)
ROLE_SIDES(role_super, down_write, up_write, role_umount, mutex_lock, mutex_unlock)
ROLE_SIDES(role_super_ok, down_write, up_write, role_umount, mutex_lock, mutex_unlock)

/* Devices that are never registered: only their locks are of use. */
static const struct net_device_ops role_first_driver, role_second_driver;

static noinline struct net_device *role_device_new(int type)
{
	struct net_device *dev = alloc_netdev(0, "lsrole%d", NET_NAME_UNKNOWN, ether_setup);

	if (dev)
		dev->netdev_ops = type ? &role_second_driver : &role_first_driver;
	return dev;
}

#define role_global(dev) (&(dev)->tx_global_lock)
#define role_xmit(dev) (&netdev_get_tx_queue(dev, 0)->_xmit_lock)

static DEFINE_SPINLOCK(role_device_l);
static DEFINE_SPINLOCK(role_device_ok_l);
ROLE_PAIR(role_device, struct net_device, role_device_new, free_netdev, 0, 0)
ROLE_PAIR(role_device_ok, struct net_device, role_device_new, free_netdev, 0, 1)
ROLE_SIDES(role_device, spin_lock_bh, spin_unlock_bh, role_global, spin_lock_bh, spin_unlock_bh)
ROLE_SIDES(role_device_ok, spin_lock_bh, spin_unlock_bh, role_global, spin_lock_bh, spin_unlock_bh)

static DEFINE_SPINLOCK(role_queue_l);
static DEFINE_SPINLOCK(role_queue_ok_l);
ROLE_PAIR(role_queue, struct net_device, role_device_new, free_netdev, 0, 0)
ROLE_PAIR(role_queue_ok, struct net_device, role_device_new, free_netdev, 0, 1)
ROLE_SIDES(role_queue, spin_lock_bh, spin_unlock_bh, role_xmit, spin_lock_bh, spin_unlock_bh)
ROLE_SIDES(role_queue_ok, spin_lock_bh, spin_unlock_bh, role_xmit, spin_lock_bh, spin_unlock_bh)

/* Disks that are never added. */
static const struct block_device_operations role_first_disk = { .owner = THIS_MODULE },
					    role_second_disk = { .owner = THIS_MODULE };

static struct gendisk *role_disk_new(int type)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	struct gendisk *disk = blk_alloc_disk(NULL, NUMA_NO_NODE);
#else
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);
#endif

	if (IS_ERR_OR_NULL(disk))
		return NULL;
	disk->fops = type ? &role_second_disk : &role_first_disk;
	return disk;
}

#define role_open(disk) (&(disk)->open_mutex)

static DEFINE_MUTEX(role_disk_l);
static DEFINE_MUTEX(role_disk_ok_l);
ROLE_PAIR(role_disk, struct gendisk, role_disk_new, put_disk, 0, 0)
ROLE_PAIR(role_disk_ok, struct gendisk, role_disk_new, put_disk, 0, 1)
ROLE_SIDES(role_disk, mutex_lock, mutex_unlock, role_open, mutex_lock, mutex_unlock)
ROLE_SIDES(role_disk_ok, mutex_lock, mutex_unlock, role_open, mutex_lock, mutex_unlock)

#define ROLE_CASE(name, verdict, summary, classes)			\
	{ #name, verdict, LS_CYCLE, summary, classes,			\
	  .setup = name##_setup, .teardown = name##_teardown,		\
	  .side = { { name##_ol }, { name##_lo } } }

const struct ls_case verdict_roles_cases[] = {
	ROLE_CASE(role_super, LS_FAULT, "two super blocks of one file system in both orders with a mutex",
		  "role_super_l lsrole_one"),
	ROLE_CASE(role_super_ok, LS_TWIN, "super blocks of two types of file system", "role_super_ok_l"),
	ROLE_CASE(role_device, LS_FAULT, "two net devices of one driver in both orders with a spinlock",
		  "role_device_l role_first_driver"),
	ROLE_CASE(role_device_ok, LS_TWIN, "net devices of two drivers", "role_device_ok_l"),
	ROLE_CASE(role_queue, LS_FAULT, "queues of two net devices of one driver in both orders",
		  "role_queue_l role_first_driver"),
	ROLE_CASE(role_queue_ok, LS_TWIN, "queues of net devices of two drivers", "role_queue_ok_l"),
	ROLE_CASE(role_disk, LS_FAULT, "two disks of one driver in both orders with a mutex",
		  "role_disk_l role_first_disk"),
	ROLE_CASE(role_disk_ok, LS_TWIN, "disks of two drivers", "role_disk_ok_l"),
	{ }
};
