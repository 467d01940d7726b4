// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes that a file system brings back to life in memory that was never freed, as xfs does:
 * what was seen before is of another inode. Until it is published the new one belongs to the
 * task that makes it, whose order of locks then is none.
 */
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/pseudo_fs.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "selftest.h"

static int reborn_init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, 0x4c530003) ? 0 : -ENOMEM;
}

static struct file_system_type reborn_type = {
	.name = "lsreborn", .owner = THIS_MODULE, .init_fs_context = reborn_init_fs_context,
	.kill_sb = kill_anon_super,
};

/* Its lock outlives the inode in it. */
struct reborn_inode {
	struct rw_semaphore lock;
	struct inode vfs;
};

static int reborn_begin(struct reborn_inode *r, struct vfsmount *mount)
{
	int rc = inode_init_always(mount->mnt_sb, &r->vfs);

	r->vfs.i_state = I_NEW;
	return rc;
}

static void reborn_again(struct reborn_inode *r, struct vfsmount *mount)
{
	__destroy_inode(&r->vfs);
	ls_require(!reborn_begin(r, mount));
}

/*
 * NAME: an inode's lock outside NAME_m. It is brought back to life under NAME_m, and its lock is
 * taken there once more: EARLY, before it is published, or afterwards. In its new life its lock
 * is outside NAME_m, too.
 */
#define REBORN(name, early)						\
static DEFINE_MUTEX(name##_m);						\
static struct vfsmount *name##_mount;					\
static struct reborn_inode *name##_inode;				\
									\
static int name##_setup(void)						\
{									\
	struct reborn_inode *r = kzalloc(sizeof(*r), GFP_KERNEL);	\
									\
	name##_mount = kern_mount(&reborn_type);			\
	if (!r || IS_ERR(name##_mount)) {				\
		kfree(r);						\
		return -ENOMEM;						\
	}								\
	init_rwsem(&r->lock);						\
	inode_init_once(&r->vfs);					\
	if (reborn_begin(r, name##_mount)) {				\
		kfree(r);						\
		return -ENOMEM;						\
	}								\
	unlock_new_inode(&r->vfs);					\
	name##_inode = r;						\
	return 0;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	if (name##_inode)						\
		__destroy_inode(&name##_inode->vfs);			\
	kfree(name##_inode);						\
	name##_inode = NULL;						\
	if (!IS_ERR_OR_NULL(name##_mount))				\
		kern_unmount(name##_mount);				\
	name##_mount = NULL;						\
}									\
									\
static __side void name##_before(void)					\
{									\
	down_write(&name##_inode->lock);				\
	mutex_lock(&name##_m);						\
	mutex_unlock(&name##_m);					\
	up_write(&name##_inode->lock);					\
}									\
									\
static __side void name##_makes(void)					\
{									\
	mutex_lock(&name##_m);						\
	reborn_again(name##_inode, name##_mount);			\
	if (!(early))							\
		unlock_new_inode(&name##_inode->vfs);			\
	down_write(&name##_inode->lock);				\
	up_write(&name##_inode->lock);					\
	mutex_unlock(&name##_m);					\
	if (early)							\
		unlock_new_inode(&name##_inode->vfs);			\
}									\
									\
static __side void name##_after(void)					\
{									\
	down_write(&name##_inode->lock);				\
	mutex_lock(&name##_m);						\
	mutex_unlock(&name##_m);					\
	up_write(&name##_inode->lock);					\
}

REBORN(reborn, false)
REBORN(reborn_new, true)

const struct ls_case verdict_reborn_cases[] = {
	{ "reborn", LS_FAULT, LS_CYCLE, "an inode's lock in both orders after it was published",
	  "reborn_setup reborn_m severity=error", reborn_setup, reborn_teardown,
	  { { reborn_before }, { reborn_makes }, { reborn_after } } },
	{ "reborn_new", LS_FAULT, LS_CYCLE, "an inode's lock in the other order before it is published only",
	  "reborn_new_setup reborn_new_m severity!=error", reborn_new_setup, reborn_new_teardown,
	  { { reborn_new_before }, { reborn_new_makes }, { reborn_new_after } } },
	{ }
};
