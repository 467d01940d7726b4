// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of one structure, distinguished by the role of its objects, as by lockdep's keys:
 * inodes of two file systems, directories and files, quota files, a file system's own inodes.
 * Of one use they are one class. And many locks of one kind in one structure, each of them its
 * own class, unless they are elements of one array.
 */
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

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

/* Beside the mode: what file systems make of some inodes. */
#define REF_QUOTA (1u << 16)
#define REF_HIDDEN (1u << 17)

/* An inode of type @first, of mode and flags @how, and one of type @second, of @other. */
static int ref_pair_setup(struct ref_pair *p, int first, unsigned int how, int second, unsigned int other)
{
	unsigned int hows[2] = { how, other };
	int type[2] = { first, second }, i;

	for (i = 0; i < 2; i++) {
		p->mount[i] = kern_mount(&ref_types[type[i]]);
		if (IS_ERR(p->mount[i]))
			return PTR_ERR(p->mount[i]);
		p->inode[i] = new_inode(p->mount[i]->mnt_sb);
		if (!p->inode[i])
			return -ENOMEM;
		p->inode[i]->i_mode = hows[i];
		if (hows[i] & REF_QUOTA)
			p->inode[i]->i_flags |= S_NOQUOTA;
		/* The memory may be that of a hidden inode: nothing resets this when it is freed. */
		INIT_HLIST_NODE(&p->inode[i]->i_hash);
		if (hows[i] & REF_HIDDEN)
			inode_fake_hash(p->inode[i]);
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
REF_INODES(ref_quota, 0, S_IFREG | REF_QUOTA, 0, S_IFREG | REF_QUOTA)
REF_INODES(ref_quota_ok, 0, S_IFREG, 0, S_IFREG | REF_QUOTA)
REF_INODES(ref_hidden, 0, S_IFREG | REF_HIDDEN, 0, S_IFREG | REF_HIDDEN)
REF_INODES(ref_hidden_ok, 0, S_IFREG, 0, S_IFREG | REF_HIDDEN)

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

/* Two arrays of locks in one structure, each handled by code of its own. */
#define ELEMENTS 40

struct ref_rings {
	struct {
		spinlock_t lock;
		unsigned long other[7];
	} rx[ELEMENTS];
	struct {
		spinlock_t lock;
		unsigned long other[2];
	} tx[ELEMENTS];
};

static __side void ref_rings_start_rx(struct ref_rings *rings)
{
	unsigned int i;

	for (i = 0; i < ELEMENTS; i++) {
		spin_lock(&rings->rx[i].lock);
		spin_unlock(&rings->rx[i].lock);
	}
}

static __side void ref_rings_start_tx(struct ref_rings *rings)
{
	unsigned int i;

	for (i = 0; i < ELEMENTS; i++) {
		spin_lock(&rings->tx[i].lock);
		spin_unlock(&rings->tx[i].lock);
	}
}

static struct ref_rings *ref_array_of, *ref_array_ok_of;
static DEFINE_SPINLOCK(ref_array_s);
static DEFINE_SPINLOCK(ref_array_ok_s);

static int ref_rings_start(struct ref_rings *rings)
{
	unsigned int i;

	if (!rings)
		return -ENOMEM;
	for (i = 0; i < ELEMENTS; i++) {
		spin_lock_init(&rings->rx[i].lock);
		spin_lock_init(&rings->tx[i].lock);
	}
	ref_rings_start_rx(rings);
	ref_rings_start_tx(rings);
	return 0;
}

static __side int ref_array_setup(void)
{
	ref_array_of = kzalloc(sizeof(*ref_array_of), GFP_KERNEL);
	return ref_rings_start(ref_array_of);
}

static void ref_array_teardown(void)
{
	kfree(ref_array_of);
}

static __side int ref_array_ok_setup(void)
{
	ref_array_ok_of = kzalloc(sizeof(*ref_array_ok_of), GFP_KERNEL);
	return ref_rings_start(ref_array_ok_of);
}

static void ref_array_ok_teardown(void)
{
	kfree(ref_array_ok_of);
}

/* One element outside, another one inside. */
static __side void ref_array_es(void)
{
	spin_lock(&ref_array_of->rx[30].lock);
	spin_lock(&ref_array_s);
	spin_unlock(&ref_array_s);
	spin_unlock(&ref_array_of->rx[30].lock);
}

static __side void ref_array_se(void)
{
	spin_lock(&ref_array_s);
	spin_lock(&ref_array_of->rx[35].lock);
	spin_unlock(&ref_array_of->rx[35].lock);
	spin_unlock(&ref_array_s);
}

/* One element outside, one of the other array inside. */
static __side void ref_array_ok_es(void)
{
	spin_lock(&ref_array_ok_of->rx[30].lock);
	spin_lock(&ref_array_ok_s);
	spin_unlock(&ref_array_ok_s);
	spin_unlock(&ref_array_ok_of->rx[30].lock);
}

static __side void ref_array_ok_se(void)
{
	spin_lock(&ref_array_ok_s);
	spin_lock(&ref_array_ok_of->tx[35].lock);
	spin_unlock(&ref_array_ok_of->tx[35].lock);
	spin_unlock(&ref_array_ok_s);
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
	{ "ref_quota", LS_FAULT, LS_CYCLE, "two quota files of one file system",
	  "ref_quota_m lsref_one quota",
	  .setup = ref_quota_setup, .teardown = ref_quota_teardown,
	  .side = { { ref_quota_im }, { ref_quota_mi } } },
	{ "ref_quota_ok", LS_TWIN, LS_CYCLE, "a file outside, a quota file inside",
	  "ref_quota_ok_m",
	  .setup = ref_quota_ok_setup, .teardown = ref_quota_ok_teardown,
	  .side = { { ref_quota_ok_im }, { ref_quota_ok_mi } } },
	{ "ref_hidden", LS_FAULT, LS_CYCLE, "two of a file system's own inodes",
	  "ref_hidden_m lsref_one hidden",
	  .setup = ref_hidden_setup, .teardown = ref_hidden_teardown,
	  .side = { { ref_hidden_im }, { ref_hidden_mi } } },
	{ "ref_hidden_ok", LS_TWIN, LS_CYCLE, "a file outside, one of a file system's own inodes inside",
	  "ref_hidden_ok_m",
	  .setup = ref_hidden_ok_setup, .teardown = ref_hidden_ok_teardown,
	  .side = { { ref_hidden_ok_im }, { ref_hidden_ok_mi } } },
	{ "ref_many", LS_FAULT, LS_CYCLE, "one of many locks in one structure in both orders",
	  "ref_many_s ref_many_setup severity=error",
	  .setup = ref_many_setup, .teardown = ref_many_teardown,
	  .side = { { ref_many_ls }, { ref_many_sl } } },
	{ "ref_many_ok", LS_TWIN, LS_CYCLE, "two of many locks in one structure",
	  "ref_many_ok_s",
	  .setup = ref_many_ok_setup, .teardown = ref_many_ok_teardown,
	  .side = { { ref_many_ok_ls }, { ref_many_ok_sl } } },
	{ "ref_array", LS_FAULT, LS_CYCLE, "two elements of one array in both orders",
	  "ref_array_s ref_array_setup",
	  .setup = ref_array_setup, .teardown = ref_array_teardown,
	  .side = { { ref_array_es }, { ref_array_se } } },
	{ "ref_array_ok", LS_TWIN, LS_CYCLE, "elements of two arrays in one structure",
	  "ref_array_ok_s",
	  .setup = ref_array_ok_setup, .teardown = ref_array_ok_teardown,
	  .side = { { ref_array_ok_es }, { ref_array_ok_se } } },
	{ }
};
