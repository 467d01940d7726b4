// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one structure, told apart by what its objects are used for, as lockdep's keys
 * tell them apart: inodes of two file systems, directories and files, the kernel's own
 * sockets and those of tasks. Of one use they are one class. And many locks of one kind
 * in one structure, each of them its own class.
 */
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/in.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "selftest.h"

static int ref_init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, 0x4c530001) ? 0 : -ENOMEM;
}

/* File systems that are mounted for the kernel alone, so they need not be registered. */
static struct file_system_type ref_types[] = {
	{ .name = "lsref_one", .owner = THIS_MODULE, .init_fs_context = ref_init_fs_context,
	  .kill_sb = kill_anon_super },
	{ .name = "lsref_two", .owner = THIS_MODULE, .init_fs_context = ref_init_fs_context,
	  .kill_sb = kill_anon_super },
};

struct ref_pair {
	struct vfsmount *mount[2];
	struct inode *inode[2];
};

static void ref_pair_teardown(struct ref_pair *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		iput(p->inode[i]);
		p->inode[i] = NULL;
	}
	for (i = 0; i < 2; i++) {
		if (!IS_ERR_OR_NULL(p->mount[i]))
			kern_unmount(p->mount[i]);
		p->mount[i] = NULL;
	}
}

/* An inode of type @first, of @mode, and one of type @second. */
static int ref_pair_setup(struct ref_pair *p, int first, umode_t mode, int second, umode_t other)
{
	int type[2] = { first, second }, i;
	umode_t modes[2] = { mode, other };

	for (i = 0; i < 2; i++) {
		p->mount[i] = kern_mount(&ref_types[type[i]]);
		if (IS_ERR(p->mount[i]))
			return PTR_ERR(p->mount[i]);
		p->inode[i] = new_inode(p->mount[i]->mnt_sb);
		if (!p->inode[i])
			return -ENOMEM;
		p->inode[i]->i_mode = modes[i];
	}
	return 0;
}

/* NAME: inodes of the two types and modes, the first one outside a mutex, the second one inside. */
#define REF_INODES(name, first, mode, second, other)				\
static struct ref_pair name##_pair;						\
static DEFINE_MUTEX(name##_m);							\
										\
static int name##_setup(void)							\
{										\
	return ref_pair_setup(&name##_pair, first, mode, second, other);	\
}										\
										\
static void name##_teardown(void)						\
{										\
	ref_pair_teardown(&name##_pair);					\
}										\
										\
static __side void name##_im(void)						\
{										\
	inode_lock(name##_pair.inode[0]);					\
	mutex_lock(&name##_m);							\
	mutex_unlock(&name##_m);						\
	inode_unlock(name##_pair.inode[0]);					\
}										\
										\
static __side void name##_mi(void)						\
{										\
	mutex_lock(&name##_m);							\
	inode_lock(name##_pair.inode[1]);					\
	inode_unlock(name##_pair.inode[1]);					\
	mutex_unlock(&name##_m);						\
}

REF_INODES(ref_inode, 0, S_IFREG, 0, S_IFREG)
REF_INODES(ref_inode_ok, 0, S_IFREG, 1, S_IFREG)
REF_INODES(ref_dir, 0, S_IFDIR, 0, S_IFDIR)
REF_INODES(ref_dir_ok, 0, S_IFDIR, 0, S_IFREG)

static struct socket *ref_sock_of[2], *ref_sock_ok_of[2];
static DEFINE_MUTEX(ref_sock_m);
static DEFINE_MUTEX(ref_sock_ok_m);

static int ref_sockets(struct socket **of, bool kernel_first, bool kernel_second)
{
	bool kernel[2] = { kernel_first, kernel_second };
	int i, rc;

	for (i = 0; i < 2; i++) {
		rc = kernel[i] ? sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &of[i]) :
				 sock_create(AF_INET, SOCK_DGRAM, IPPROTO_UDP, &of[i]);
		if (rc)
			return rc;
	}
	return 0;
}

static void ref_sockets_release(struct socket **of)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (of[i])
			sock_release(of[i]);
		of[i] = NULL;
	}
}

static int ref_sock_setup(void)
{
	return ref_sockets(ref_sock_of, true, true);
}

static void ref_sock_teardown(void)
{
	ref_sockets_release(ref_sock_of);
}

static __side void ref_sock_sm(void)
{
	lock_sock(ref_sock_of[0]->sk);
	mutex_lock(&ref_sock_m);
	mutex_unlock(&ref_sock_m);
	release_sock(ref_sock_of[0]->sk);
}

static __side void ref_sock_ms(void)
{
	mutex_lock(&ref_sock_m);
	lock_sock(ref_sock_of[1]->sk);
	release_sock(ref_sock_of[1]->sk);
	mutex_unlock(&ref_sock_m);
}

static int ref_sock_ok_setup(void)
{
	return ref_sockets(ref_sock_ok_of, true, false);
}

static void ref_sock_ok_teardown(void)
{
	ref_sockets_release(ref_sock_ok_of);
}

static __side void ref_sock_ok_sm(void)
{
	lock_sock(ref_sock_ok_of[0]->sk);
	mutex_lock(&ref_sock_ok_m);
	mutex_unlock(&ref_sock_ok_m);
	release_sock(ref_sock_ok_of[0]->sk);
}

static __side void ref_sock_ok_ms(void)
{
	mutex_lock(&ref_sock_ok_m);
	lock_sock(ref_sock_ok_of[1]->sk);
	release_sock(ref_sock_ok_of[1]->sk);
	mutex_unlock(&ref_sock_ok_m);
}

/* More locks of one kind than any array needs, at irregular distances. */
#define MANY 48

struct ref_many {
	unsigned char room[MANY * 72];
};

static spinlock_t *ref_many_lock(struct ref_many *many, unsigned int i)
{
	return (spinlock_t *)(many->room + i * 64 + i * i % 7 * 8);
}

static __side void ref_many_take(struct ref_many *many, unsigned int i)
{
	spin_lock(ref_many_lock(many, i));
	spin_unlock(ref_many_lock(many, i));
}

static struct ref_many *ref_many_of, *ref_many_ok_of;
static DEFINE_SPINLOCK(ref_many_s);
static DEFINE_SPINLOCK(ref_many_ok_s);

static void ref_many_init(struct ref_many *many)
{
	unsigned int i;

	for (i = 0; many && i < MANY; i++) {
		spin_lock_init(ref_many_lock(many, i));
		ref_many_take(many, i);
	}
}

static __side int ref_many_setup(void)
{
	ref_many_of = kzalloc(sizeof(*ref_many_of), GFP_KERNEL);
	ref_many_init(ref_many_of);
	return ref_many_of ? 0 : -ENOMEM;
}

static void ref_many_teardown(void)
{
	kfree(ref_many_of);
}

static __side int ref_many_ok_setup(void)
{
	ref_many_ok_of = kzalloc(sizeof(*ref_many_ok_of), GFP_KERNEL);
	ref_many_init(ref_many_ok_of);
	return ref_many_ok_of ? 0 : -ENOMEM;
}

static void ref_many_ok_teardown(void)
{
	kfree(ref_many_ok_of);
}

/* The 41st against a static one, both ways round. */
static __side void ref_many_ls(void)
{
	spin_lock(ref_many_lock(ref_many_of, 40));
	spin_lock(&ref_many_s);
	spin_unlock(&ref_many_s);
	spin_unlock(ref_many_lock(ref_many_of, 40));
}

static __side void ref_many_sl(void)
{
	spin_lock(&ref_many_s);
	spin_lock(ref_many_lock(ref_many_of, 40));
	spin_unlock(ref_many_lock(ref_many_of, 40));
	spin_unlock(&ref_many_s);
}

/* The 41st outside, the 46th inside. */
static __side void ref_many_ok_ls(void)
{
	spin_lock(ref_many_lock(ref_many_ok_of, 40));
	spin_lock(&ref_many_ok_s);
	spin_unlock(&ref_many_ok_s);
	spin_unlock(ref_many_lock(ref_many_ok_of, 40));
}

static __side void ref_many_ok_sl(void)
{
	spin_lock(&ref_many_ok_s);
	spin_lock(ref_many_lock(ref_many_ok_of, 45));
	spin_unlock(ref_many_lock(ref_many_ok_of, 45));
	spin_unlock(&ref_many_ok_s);
}

const struct ls_case verdict_refined_cases[] = {
	{ "ref_inode", LS_FAULT, LS_CYCLE, "two inodes of one file system in both orders with a mutex",
	  "ref_inode_m lsref_one",
	  .setup = ref_inode_setup, .teardown = ref_inode_teardown,
	  .side = { { ref_inode_im }, { ref_inode_mi } } },
	{ "ref_inode_ok", LS_TWIN, LS_CYCLE, "inodes of two types of file system",
	  "ref_inode_ok_m",
	  .setup = ref_inode_ok_setup, .teardown = ref_inode_ok_teardown,
	  .side = { { ref_inode_ok_im }, { ref_inode_ok_mi } } },
	{ "ref_dir", LS_FAULT, LS_CYCLE, "two directories of one file system",
	  "ref_dir_m lsref_one",
	  .setup = ref_dir_setup, .teardown = ref_dir_teardown,
	  .side = { { ref_dir_im }, { ref_dir_mi } } },
	{ "ref_dir_ok", LS_TWIN, LS_CYCLE, "a directory outside, a file inside",
	  "ref_dir_ok_m",
	  .setup = ref_dir_ok_setup, .teardown = ref_dir_ok_teardown,
	  .side = { { ref_dir_ok_im }, { ref_dir_ok_mi } } },
	{ "ref_sock", LS_FAULT, LS_CYCLE, "two of the kernel's own sockets in both orders with a mutex",
	  "ref_sock_m kernel",
	  .setup = ref_sock_setup, .teardown = ref_sock_teardown,
	  .side = { { ref_sock_sm }, { ref_sock_ms } } },
	{ "ref_sock_ok", LS_TWIN, LS_CYCLE, "one of the kernel's own, one of a task's",
	  "ref_sock_ok_m",
	  .setup = ref_sock_ok_setup, .teardown = ref_sock_ok_teardown,
	  .side = { { ref_sock_ok_sm }, { ref_sock_ok_ms } } },
	{ "ref_many", LS_FAULT, LS_CYCLE, "one of many locks in one structure in both orders",
	  "ref_many_s ref_many_setup severity=error",
	  .setup = ref_many_setup, .teardown = ref_many_teardown,
	  .side = { { ref_many_ls }, { ref_many_sl } } },
	{ "ref_many_ok", LS_TWIN, LS_CYCLE, "two of many locks in one structure",
	  "ref_many_ok_s",
	  .setup = ref_many_ok_setup, .teardown = ref_many_ok_teardown,
	  .side = { { ref_many_ok_ls }, { ref_many_ok_sl } } },
	{ }
};
