// SPDX-License-Identifier: GPL-2.0
/*
 * Inodes of the distribution's own file systems: two of one type are one class, those of
 * two types that have their inodes from one cache are two. /run/ls_stock has to be an ext4
 * with the files one to four and the directories a to d.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>

#include "roles.h"

static struct path *stock_path(const char *name)
{
	struct path *path = kzalloc(sizeof(*path), GFP_KERNEL);

	if (path && kern_path(name, LOOKUP_FOLLOW, path)) {
		kfree(path);
		return NULL;
	}
	return path;
}

static void stock_put(struct path *path)
{
	path_put(path);
	kfree(path);
}

#define stock_inode(path) d_inode((path)->dentry)

#define DEBUGFS(name) "/sys/kernel/debug/lockscope_selftest/" name
#define EXT4(name) "/run/ls_stock/" name

static DEFINE_MUTEX(stock_debugfs_l);
static DEFINE_MUTEX(stock_debugfs_ok_l);
ROLE_PAIR(stock_debugfs, struct path, stock_path, stock_put, DEBUGFS("list"), DEBUGFS("about"))
ROLE_PAIR(stock_debugfs_ok, struct path, stock_path, stock_put, DEBUGFS("list"), "/dev/pts/ptmx")
ROLE_SIDES(stock_debugfs, inode_lock, inode_unlock, stock_inode, mutex_lock, mutex_unlock)
ROLE_SIDES(stock_debugfs_ok, inode_lock, inode_unlock, stock_inode, mutex_lock, mutex_unlock)

static DEFINE_MUTEX(stock_dir_l);
static DEFINE_MUTEX(stock_dir_ok_l);
ROLE_PAIR(stock_dir, struct path, stock_path, stock_put, EXT4("a"), EXT4("b"))
ROLE_PAIR(stock_dir_ok, struct path, stock_path, stock_put, EXT4("a"), EXT4("one"))
ROLE_SIDES(stock_dir, inode_lock, inode_unlock, stock_inode, mutex_lock, mutex_unlock)
ROLE_SIDES(stock_dir_ok, inode_lock, inode_unlock, stock_inode, mutex_lock, mutex_unlock)

/* Two files, one in the other. */
ROLE_PAIR(stock_files, struct path, stock_path, stock_put, EXT4("one"), EXT4("two"))
ROLE_PAIR(stock_files_ok, struct path, stock_path, stock_put, EXT4("three"), EXT4("four"))

static __side void stock_files_in(struct inode *outer, struct inode *inner)
{
	inode_lock(outer);
	inode_lock(inner);
	inode_unlock(inner);
	inode_unlock(outer);
}

static __side void stock_files_forwards(void)
{
	stock_files_in(stock_inode(stock_files_of[0]), stock_inode(stock_files_of[1]));
}

static __side void stock_files_backwards(void)
{
	stock_files_in(stock_inode(stock_files_of[1]), stock_inode(stock_files_of[0]));
}

/* In whatever order they are named: the one with the lower address first. */
static __side void stock_files_ok_forwards(void)
{
	lock_two_nondirectories(stock_inode(stock_files_ok_of[0]), stock_inode(stock_files_ok_of[1]));
	unlock_two_nondirectories(stock_inode(stock_files_ok_of[0]), stock_inode(stock_files_ok_of[1]));
}

static __side void stock_files_ok_backwards(void)
{
	lock_two_nondirectories(stock_inode(stock_files_ok_of[1]), stock_inode(stock_files_ok_of[0]));
	unlock_two_nondirectories(stock_inode(stock_files_ok_of[1]), stock_inode(stock_files_ok_of[0]));
}

/*
 * Two directories, declared as the first parent (1), the second one (5) or a child (2): that
 * is their order, not the numbers'. The twin's change places; of the fault's the second
 * parent is locked under the child once. All are of one class, and the twin runs first.
 */
ROLE_PAIR(stock_order, struct path, stock_path, stock_put, EXT4("e"), EXT4("f"))
ROLE_PAIR(stock_order_ok, struct path, stock_path, stock_put, EXT4("c"), EXT4("d"))

static void stock_unlock(struct path **of)
{
	inode_unlock(stock_inode(of[0]));
	inode_unlock(stock_inode(of[1]));
}

static __side void stock_order_before(void)
{
	inode_lock_nested(stock_inode(stock_order_of[0]), I_MUTEX_PARENT);
	inode_lock_nested(stock_inode(stock_order_of[1]), I_MUTEX_PARENT2);
	stock_unlock(stock_order_of);
}

static __side void stock_order_after(void)
{
	inode_lock_nested(stock_inode(stock_order_of[1]), I_MUTEX_CHILD);
	inode_lock_nested(stock_inode(stock_order_of[0]), I_MUTEX_PARENT2);
	stock_unlock(stock_order_of);
}

static __side void stock_order_ok_before(void)
{
	inode_lock_nested(stock_inode(stock_order_ok_of[0]), I_MUTEX_PARENT);
	inode_lock_nested(stock_inode(stock_order_ok_of[1]), I_MUTEX_PARENT2);
	stock_unlock(stock_order_ok_of);
}

static __side void stock_order_ok_after(void)
{
	inode_lock_nested(stock_inode(stock_order_ok_of[1]), I_MUTEX_PARENT2);
	inode_lock_nested(stock_inode(stock_order_ok_of[0]), I_MUTEX_CHILD);
	stock_unlock(stock_order_ok_of);
}

const struct ls_case verdict_stock_cases[] = {
	ROLE_CASE(stock_debugfs, LS_FAULT, "two files of debugfs in both orders with a mutex",
		  "stock_debugfs_l debugfs"),
	ROLE_CASE(stock_debugfs_ok, LS_TWIN, "a file of debugfs outside, one of devpts inside",
		  "stock_debugfs_ok_l"),
	ROLE_CASE(stock_dir, LS_FAULT, "two directories of ext4 in both orders with a mutex",
		  "stock_dir_l ext4 dir"),
	ROLE_CASE(stock_dir_ok, LS_TWIN, "a directory of ext4 outside, a file inside", "stock_dir_ok_l"),
	{ "stock_files", LS_FAULT, LS_RECURSIVE, "two files of ext4 in both orders", "ext4 severity=error",
	  stock_files_setup, stock_files_teardown, { { stock_files_forwards }, { stock_files_backwards } } },
	{ "stock_files_ok", LS_TWIN, LS_RECURSIVE, "two files of ext4 by address", "ext4",
	  stock_files_ok_setup, stock_files_ok_teardown,
	  { { stock_files_ok_forwards }, { stock_files_ok_backwards } } },
	{ "stock_order_ok", LS_TWIN, LS_RECURSIVE, "two directories of ext4 in the order declared, changing places",
	  "ext4", stock_order_ok_setup, stock_order_ok_teardown,
	  { { stock_order_ok_before }, { stock_order_ok_after } } },
	{ "stock_order", LS_FAULT, LS_RECURSIVE, "two directories of ext4, a second parent under a child",
	  "ext4 dir severity=error", stock_order_setup, stock_order_teardown,
	  { { stock_order_before }, { stock_order_after } } },
	{ }
};
