// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one structure, distinguished by the driver or the type of their object: super
 * blocks, net devices, with the levels of devices below, and their queues, disks, tree blocks
 * of btrfs. Each pair is two objects from one place of allocation; the fault's are of one
 * type, the twin's of two. Some objects are older than LockScope, or than their role.
 */
#include <linux/blkdev.h>
#include <linux/etherdevice.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/netdevice.h>
#include <linux/pseudo_fs.h>
#include <linux/rwsem.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "roles.h"

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

/*
 * Super blocks that were there before LockScope: of shared memory, which is a tmpfs that
 * the kernel mounts for itself, and of sysfs. A tmpfs that is mounted now is of the first one's type.
 */
enum { ROLE_SHMEM, ROLE_SYSFS, ROLE_TMPFS };

static struct super_block *role_sb_of(struct super_block *sb)
{
	atomic_inc(&sb->s_active);
	return sb;
}

static struct super_block *role_sb(int which)
{
	struct file_system_type *type;
	struct super_block *sb = NULL;
	struct vfsmount *mount;
	struct path path;
	struct file *file;

	switch (which) {
	case ROLE_SHMEM:
		file = shmem_file_setup("lsrole", 0, 0);
		if (!IS_ERR(file)) {
			sb = role_sb_of(file_inode(file)->i_sb);
			fput(file);
		}
		break;
	case ROLE_SYSFS:
		if (!kern_path("/sys", LOOKUP_FOLLOW, &path)) {
			sb = role_sb_of(path.mnt->mnt_sb);
			path_put(&path);
		}
		break;
	case ROLE_TMPFS:
		type = get_fs_type("tmpfs");
		mount = type ? kern_mount(type) : ERR_PTR(-ENODEV);
		if (!IS_ERR(mount)) {
			sb = role_sb_of(mount->mnt_sb);
			kern_unmount(mount);
		}
		break;
	}
	return sb;
}

#define role_sb_umount(sb) (&(sb)->s_umount)

static DEFINE_MUTEX(role_old_l);
static DEFINE_MUTEX(role_old_ok_l);
ROLE_PAIR(role_old, struct super_block, role_sb, deactivate_super, ROLE_SHMEM, ROLE_TMPFS)
ROLE_PAIR(role_old_ok, struct super_block, role_sb, deactivate_super, ROLE_SHMEM, ROLE_SYSFS)
ROLE_SIDES(role_old, down_write, up_write, role_sb_umount, mutex_lock, mutex_unlock)
ROLE_SIDES(role_old_ok, down_write, up_write, role_sb_umount, mutex_lock, mutex_unlock)

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

/* The same driver, above no other device and above one. */
static noinline struct net_device *role_stacked_new(int level)
{
	struct net_device *dev = role_device_new(0);

	if (dev)
		dev->lower_level = level;
	return dev;
}

static DEFINE_SPINLOCK(role_level_l);
static DEFINE_SPINLOCK(role_level_ok_l);
ROLE_PAIR(role_level, struct net_device, role_stacked_new, free_netdev, 2, 2)
ROLE_PAIR(role_level_ok, struct net_device, role_stacked_new, free_netdev, 1, 2)
ROLE_SIDES(role_level, spin_lock_bh, spin_unlock_bh, role_global, spin_lock_bh, spin_unlock_bh)
ROLE_SIDES(role_level_ok, spin_lock_bh, spin_unlock_bh, role_global, spin_lock_bh, spin_unlock_bh)

/* Acquired before the first one's driver is known, which is set with the lock held. */
static noinline struct net_device *role_early_new(int type)
{
	struct net_device *dev = role_device_new(type > 0);

	if (dev && type < 0)
		dev->netdev_ops = NULL;
	return dev;
}

#define ROLE_EARLY(name, second)							\
static DEFINE_SPINLOCK(name##_l);							\
ROLE_PAIR(name, struct net_device, role_early_new, free_netdev, -1, second)		\
											\
static __side void name##_ol(void)							\
{											\
	spin_lock_bh(role_global(name##_of[0]));					\
	name##_of[0]->netdev_ops = &role_first_driver;					\
	spin_lock_bh(&name##_l);							\
	spin_unlock_bh(&name##_l);							\
	spin_unlock_bh(role_global(name##_of[0]));					\
}											\
											\
static __side void name##_lo(void)							\
{											\
	spin_lock_bh(&name##_l);							\
	spin_lock_bh(role_global(name##_of[1]));					\
	spin_unlock_bh(role_global(name##_of[1]));					\
	spin_unlock_bh(&name##_l);							\
}

ROLE_EARLY(role_early, 0)
ROLE_EARLY(role_early_ok, 1)

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

/*
 * Tree blocks, in a cache with the name of btrfs's: what LockScope knows of an extent
 * buffer is where its start and its lock lie, that its first page is named behind the
 * lock, and the header in that page. btrfs.ko is not loaded here.
 */
struct role_block {
	u64 start;
	u64 other[11];
	struct rw_semaphore lock;
	struct page *pages[16];
};

/* As on disk. */
struct role_header {
	u8 csum[32], fsid[16];
	__le64 bytenr, flags;
	u8 chunk_tree_uuid[16];
	__le64 generation, owner;
	__le32 nritems;
	u8 level;
} __packed;

/* The tree's number in thousands, and the level. */
#define ROLE_BLOCK(tree, level) ((tree) * 1000 + (level))
#define TREE_EXTENT 2
#define TREE_DEV 4
#define TREE_CSUM 7
#define TREE_UUID 9

static struct kmem_cache *role_blocks;
static unsigned int role_nr_blocks;

static noinline struct role_block *role_block_new(int what)
{
	struct role_block *block = NULL;
	struct role_header *header;
	struct page *page;

	if (!role_nr_blocks)
		role_blocks = kmem_cache_create("btrfs_extent_buffer", sizeof(*block), 0,
						SLAB_RECLAIM_ACCOUNT, NULL);
	page = role_blocks ? alloc_page(GFP_KERNEL | __GFP_ZERO) : NULL;
	if (page)
		block = kmem_cache_zalloc(role_blocks, GFP_KERNEL);
	if (!block)
		goto no_block;
	role_nr_blocks++;
	block->start = (u64)(what + role_nr_blocks) << 14;
	init_rwsem(&block->lock);
	block->pages[0] = page;
	header = page_address(page);
	header->bytenr = cpu_to_le64(block->start);
	header->owner = cpu_to_le64(what / 1000);
	header->level = what % 1000;
	return block;
no_block:
	if (page)
		__free_page(page);
	if (!role_nr_blocks)
		kmem_cache_destroy(role_blocks);
	return NULL;
}

static void role_block_free(struct role_block *block)
{
	__free_page(block->pages[0]);
	kmem_cache_free(role_blocks, block);
	if (!--role_nr_blocks)
		kmem_cache_destroy(role_blocks);
}

#define role_tree_lock(block) (&(block)->lock)

static DEFINE_MUTEX(role_leaf_l);
static DEFINE_MUTEX(role_leaf_ok_l);
ROLE_PAIR(role_leaf, struct role_block, role_block_new, role_block_free,
	  ROLE_BLOCK(TREE_CSUM, 0), ROLE_BLOCK(TREE_CSUM, 0))
ROLE_PAIR(role_leaf_ok, struct role_block, role_block_new, role_block_free,
	  ROLE_BLOCK(TREE_DEV, 1), ROLE_BLOCK(TREE_DEV, 0))
ROLE_SIDES(role_leaf, down_write, up_write, role_tree_lock, mutex_lock, mutex_unlock)
ROLE_SIDES(role_leaf_ok, down_write, up_write, role_tree_lock, mutex_lock, mutex_unlock)

static DEFINE_MUTEX(role_tree_l);
static DEFINE_MUTEX(role_tree_ok_l);
ROLE_PAIR(role_tree, struct role_block, role_block_new, role_block_free,
	  ROLE_BLOCK(TREE_UUID, 1), ROLE_BLOCK(TREE_UUID, 1))
ROLE_PAIR(role_tree_ok, struct role_block, role_block_new, role_block_free,
	  ROLE_BLOCK(TREE_EXTENT, 2), ROLE_BLOCK(TREE_CSUM, 2))
ROLE_SIDES(role_tree, down_write, up_write, role_tree_lock, mutex_lock, mutex_unlock)
ROLE_SIDES(role_tree_ok, down_write, up_write, role_tree_lock, mutex_lock, mutex_unlock)

const struct ls_case verdict_roles_cases[] = {
	ROLE_CASE(role_super, LS_FAULT, "two super blocks of one file system in both orders with a mutex",
		  "role_super_l lsrole_one"),
	ROLE_CASE(role_super_ok, LS_TWIN, "super blocks of two types of file system", "role_super_ok_l"),
	ROLE_CASE(role_old, LS_FAULT, "two super blocks of tmpfs in both orders with a mutex, one of before",
		  "role_old_l tmpfs"),
	ROLE_CASE(role_old_ok, LS_TWIN, "super blocks of tmpfs and sysfs, both of before", "role_old_ok_l"),
	ROLE_CASE(role_device, LS_FAULT, "two net devices of one driver in both orders with a spinlock",
		  "role_device_l role_first_driver"),
	ROLE_CASE(role_device_ok, LS_TWIN, "net devices of two drivers", "role_device_ok_l"),
	ROLE_CASE(role_queue, LS_FAULT, "queues of two net devices of one driver in both orders",
		  "role_queue_l role_first_driver"),
	ROLE_CASE(role_queue_ok, LS_TWIN, "queues of net devices of two drivers", "role_queue_ok_l"),
	ROLE_CASE(role_level, LS_FAULT, "two net devices of one driver and level in both orders with a spinlock",
		  "role_level_l role_first_driver level"),
	ROLE_CASE(role_level_ok, LS_TWIN, "net devices of one driver at two levels", "role_level_ok_l"),
	ROLE_CASE(role_early, LS_FAULT, "two net devices of one driver, one acquired before its driver is known",
		  "role_early_l role_first_driver"),
	ROLE_CASE(role_early_ok, LS_TWIN, "net devices of two drivers, one acquired before its driver is known",
		  "role_early_ok_l"),
	ROLE_CASE(role_disk, LS_FAULT, "two disks of one driver in both orders with a mutex",
		  "role_disk_l role_first_disk"),
	ROLE_CASE(role_disk_ok, LS_TWIN, "disks of two drivers", "role_disk_ok_l"),
	ROLE_CASE(role_leaf, LS_FAULT, "two leaves of one tree in both orders with a mutex",
		  "role_leaf_l csum"),
	ROLE_CASE(role_leaf_ok, LS_TWIN, "a node outside, a leaf of the same tree inside", "role_leaf_ok_l"),
	ROLE_CASE(role_tree, LS_FAULT, "two nodes of one tree and level in both orders with a mutex",
		  "role_tree_l uuid"),
	ROLE_CASE(role_tree_ok, LS_TWIN, "nodes of two trees", "role_tree_ok_l"),
	{ }
};
