/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refinements: what lockdep's keys depend on besides the structure around a lock, read from
 * the object whenever its class is looked up. Two objects with different roles are never one
 * instance, so a cycle that takes one for the other is false.
 *
 *   refinement	classes apart by			lockdep's keys (6.1)
 *   INODE	file system type; directories, quota	inode_init_always(): i_lock_key, i_mutex_key,
 *		files, inodes without a name		invalidate_lock_key; i_mutex_dir_key in
 *							lockdep_annotate_inode_mutex_key();
 *							lockdep_set_quota_inode(); xfs_setup_inode()
 *   SUPER	file system type			alloc_super(): s_umount_key, s_vfs_rename_key,
 *							s_writers_key
 *   SOCK	family, protocol, kernel sockets	af_family_slock_keys and the like, net/core/sock.c;
 *							nlk_cb_mutex_keys
 *   NETDEV	driver, levels of devices below		netdev_lockdep_set_classes(), nested_level
 *   QUEUE	driver of the queue's device		netdev_xmit_lock_key by type
 *   TTY	type of driver (pty master, slave)	tty_lock_set_subclass(), pty_common_install()
 *   TTY_PORT	the same of the port's terminal		tty_buffer_set_lock_subclass()
 *   DISK	driver					lkclass of blk_alloc_disk()
 *   EXTENT	root and level of the tree block	btrfs_lockdep_keysets, fs/btrfs/locking.c
 *   DEVICE	bus or class, type, depth		none: lockdep_set_novalidate_class(), but for
 *							the keys of drivers/cxl/
 *   SUBSYSTEM	name of the bus or class		lock_key of struct bus_type, class_register()
 */
#ifndef LOCKSCOPE_REFINE_H
#define LOCKSCOPE_REFINE_H

#include <linux/fs.h>
#include <net/sock.h>

#include "base/word.h"
#include "classes.h"

enum ls_refinement {
	LS_REFINE_NONE = 0,
	LS_REFINE_INODE,
	LS_REFINE_SUPER,
	LS_REFINE_SOCK,
	LS_REFINE_NETDEV,
	LS_REFINE_QUEUE,
	LS_REFINE_TTY,
	LS_REFINE_TTY_PORT,
	LS_REFINE_DISK,
	LS_REFINE_EXTENT,
	LS_REFINE_DEVICE,	/* devices.c, like the next one */
	LS_REFINE_SUBSYSTEM,
	LS_REFINE_ARRAY,	/* elements of an array are one class (arrays.h): no role */
};

#define LS_REFINED_BY_DRIVER \
	(1u << LS_REFINE_NETDEV | 1u << LS_REFINE_QUEUE | 1u << LS_REFINE_DISK)

#define LS_INODE_DIR 1u
#define LS_INODE_QUOTA 2u
#define LS_INODE_HIDDEN 4u	/* not hashed: internal to a file system */
#define LS_INODE_BITS 3

static __always_inline u64 ls_role_of_inode(const struct inode *inode)
{
	const struct super_block *sb = READ_ONCE(inode->i_sb);
	u64 type = sb ? ls_word_at(&sb->s_type) : 0;

	if (!type)
		return 0;
	return type << LS_INODE_BITS | (S_ISDIR(inode->i_mode) ? LS_INODE_DIR : 0) |
	       (inode->i_flags & S_NOQUOTA ? LS_INODE_QUOTA : 0) |
	       (inode->i_hash.pprev == &inode->i_hash.next ? LS_INODE_HIDDEN : 0);
}

#define LS_SOCK_KERNEL (1ull << 32)
#define LS_SOCK_KNOWN (1ull << 33)

static __always_inline u64 ls_role_of_sock(const struct sock *sk)
{
	u32 family = READ_ONCE(sk->sk_family);

	return family ? LS_SOCK_KNOWN | (sk->sk_kern_sock ? LS_SOCK_KERNEL : 0) |
			(u64)sk->sk_protocol << 16 | family : 0;
}

u64 ls_role_of_rare(u32 refinement, u64 root);

/*
 * The role of the object at @root, as a number; 0: not known yet. Any context; the object's
 * memory exists.
 */
static __always_inline u64 ls_role_of(u32 refinement, u64 root)
{
	switch (refinement) {
	case LS_REFINE_INODE:
		return ls_role_of_inode((const struct inode *)root);
	case LS_REFINE_SOCK:
		return ls_role_of_sock((const struct sock *)root);
	default:
		return ls_role_of_rare(refinement, root);
	}
}

/*
 * The refinement of a lock at @lock of @kind in the object of @cache at @object, from
 * allocation site @site (0: a named cache's), initialised at @init (0: not known). *@root:
 * bytes from the object that refines it to the lock. Any context.
 */
u32 ls_refinement_of(unsigned long lock, u32 kind, const struct kmem_cache *cache,
		     unsigned long object, u32 site, unsigned long init, s32 *root);

/*
 * Describe @role of the object at @root, for the class's name, and record the static data that
 * it was read from. Any context.
 */
void ls_role_describe(struct ls_class *proto, u32 refinement, u64 role, u64 root);

/* Process context, once. */
void ls_devices_init(void);

/* Is the mutex at @lock that of an initialised struct device? Any context. */
bool ls_is_device_mutex(unsigned long lock);

/*
 * Role of the struct device at @dev, or of the bus or class of devices with private data at
 * @subsystem: as a number, 0 while unknown, and as text, LS_ROLE_LEN bytes at most. Any
 * context. Names are read byte by byte, so this is for locks that are not acquired often.
 */
u64 ls_role_of_device(u64 dev);
void ls_describe_device(u64 dev, char *role);
u64 ls_role_of_subsystem(u64 subsystem);
void ls_describe_subsystem(u64 subsystem, char *role);

#endif /* LOCKSCOPE_REFINE_H */
