// SPDX-License-Identifier: GPL-2.0
/* Roles of objects, see refine.h. Any context: reads the kernel's structures, takes no lock. */
#include <linux/blkdev.h>
#include <linux/netdevice.h>
#include <linux/rwsem.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/tty.h>
#include <linux/tty_driver.h>

#include "abi.h"
#include "base/word.h"
#include "identity/alloc.h"
#include "identity/refine.h"
#include "identity/slab.h"

/* The header of a btrfs tree block, in on-disk format. */
#define HEADER_BYTENR 48
#define HEADER_OWNER 88
#define HEADER_LEVEL 100
#define MAX_LEVEL 8
#define EXTENT_KNOWN (1ull << 32)

/* Trees that have lockdep keys of their own (btrfs_lockdep_keysets); all others share one. */
static const struct tree {
	s64 owner;
	const char *name;
} trees[] = {
	{ 0, "tree" }, { 1, "root" }, { 2, "extent" }, { 3, "chunk" }, { 4, "dev" }, { 7, "csum" },
	{ 8, "quota" }, { -6, "log" }, { -8, "treloc" }, { -9, "dreloc" }, { 9, "uuid" },
	{ 10, "free-space" }, { 11, "block-group" },
};

static u64 role_of_device(const struct net_device *dev)
{
	u64 ops = ls_word_at(&dev->netdev_ops);

	return ops ? ops << 8 | READ_ONCE(dev->lower_level) : 0;
}

static u64 role_of_driver(u64 driver)
{
	struct tty_driver *d = (struct tty_driver *)driver;
	s16 type, subtype;

	if ((s64)driver >= 0 || get_kernel_nofault(type, &d->type) || get_kernel_nofault(subtype, &d->subtype))
		return 0;
	return 1ull << 32 | (u16)type << 16 | (u16)subtype;
}

/* Role from the block's first page, as long as its header is consistent. */
static u64 role_of_extent(u64 lock)
{
	struct page *page = (struct page *)ls_word_at((void *)(lock + sizeof(struct rw_semaphore)));
	struct kmem_cache *cache;
	unsigned long object;
	u64 header, owner;
	u32 offset, i;
	u8 level;

	if ((u64)page - VMEMMAP_START >= 1ull << 40 || !ls_slab_locate(lock, &cache, &object, &offset))
		return 0;
	header = (u64)page_address(page);
	if (ls_word_at((void *)(header + HEADER_BYTENR)) != *(u64 *)object)
		return 0;
	owner = ls_word_at((void *)(header + HEADER_OWNER));
	level = *(u8 *)(header + HEADER_LEVEL);
	if (level >= MAX_LEVEL)
		return 0;
	for (i = ARRAY_SIZE(trees); --i > 0;)
		if ((u64)trees[i].owner == owner)
			break;
	return EXTENT_KNOWN | i << 8 | level;
}

u64 ls_role_of_rare(u32 refinement, u64 root)
{
	u64 tty;

	switch (refinement) {
	case LS_REFINE_SUPER:
		return (u64)READ_ONCE(((struct super_block *)root)->s_type);
	case LS_REFINE_NETDEV:
		return role_of_device((struct net_device *)root);
	case LS_REFINE_QUEUE:
		return role_of_device(READ_ONCE(((struct netdev_queue *)root)->dev));
	case LS_REFINE_TTY:
		return role_of_driver((u64)READ_ONCE(((struct tty_struct *)root)->driver));
	case LS_REFINE_TTY_PORT:
		tty = (u64)READ_ONCE(((struct tty_port *)root)->itty);
		return tty ? role_of_driver(ls_word_at(&((struct tty_struct *)tty)->driver)) : 0;
	case LS_REFINE_DISK:
		return (u64)READ_ONCE(((struct gendisk *)root)->fops);
	case LS_REFINE_EXTENT:
		return role_of_extent(root);
	case LS_REFINE_DEVICE:
		return ls_role_of_device(root);
	case LS_REFINE_SUBSYSTEM:
		return ls_role_of_subsystem(root);
	default:
		return 0;
	}
}

static bool is_static(u64 address)
{
	return address >= __START_KERNEL_map && address < (u64)-4096;
}

/*
 * Offset of an inode in the slab object of @size bytes at @object, -1: none. Its address space
 * has it as host, and its super block has a type.
 */
static long inode_in(unsigned long object, u32 size)
{
	u32 at;

	for (at = 0; at + sizeof(struct inode) <= size; at += sizeof(long)) {
		const struct inode *inode = (const struct inode *)(object + at);

		if (READ_ONCE(inode->i_data.host) == inode && in_direct_map((unsigned long)inode->i_sb) &&
		    is_static(ls_word_at(&inode->i_sb->s_type)))
			return at;
	}
	return -1;
}

/* Does a socket of the protocol that @cache belongs to lie at @object? */
static bool is_sock(unsigned long object, const struct kmem_cache *cache)
{
	const struct sock *sk = (const struct sock *)object;
	const struct proto *prot;

	/* Memory behind a smaller object may not be mapped. */
	if (ls_cache_object_size(cache) < sizeof(*sk))
		return false;
	prot = READ_ONCE(sk->sk_prot_creator);
	return is_static((u64)prot) && ls_word_at(&prot->slab) == (u64)cache;
}

static u32 refinement_of_named(unsigned long lock, u32 kind, const struct kmem_cache *cache,
			       unsigned long object, s32 *root)
{
	u32 size = ls_cache_object_size(cache);
	long at;

	if (size >= sizeof(struct inode)) {
		at = inode_in(object, size);
		if (at >= 0) {
			*root = lock - object - at;
			return LS_REFINE_INODE;
		}
	}
	if (is_sock(object, cache)) {
		*root = lock - object;
		return LS_REFINE_SOCK;
	}
	if (kind == LS_KIND_RWSEM && !strcmp(ls_cache_name(cache), "btrfs_extent_buffer")) {
		*root = 0;
		return LS_REFINE_EXTENT;
	}
	return LS_REFINE_NONE;
}

/* Is @lock the transmission lock of a queue in the array at @object? */
static bool is_queue_lock(unsigned long lock, unsigned long object)
{
	u32 member = offsetof(struct netdev_queue, _xmit_lock);
	const struct netdev_queue *queue = (const struct netdev_queue *)(lock - member);
	u64 dev;

	if (lock - object < member || (lock - object - member) % sizeof(*queue))
		return false;
	dev = (u64)READ_ONCE(queue->dev);
	return in_direct_map(dev) && ls_word_at(&((struct net_device *)dev)->_tx) == object;
}

/* Does a net device lie at @object, in large kmalloc memory? */
static bool is_net_device(unsigned long object)
{
	u64 queues;

	if (!in_direct_map(object))
		return false;
	queues = (u64)READ_ONCE(((const struct net_device *)object)->_tx);
	return in_direct_map(queues) &&
	       (u64)READ_ONCE(((const struct netdev_queue *)queues)->dev) == object;
}

/* Bytes from the start of the object that ls_role_of() reads. */
static u32 size_refined(u32 refinement)
{
	switch (refinement) {
	case LS_REFINE_SUPER:
		return sizeof(struct super_block);
	case LS_REFINE_SOCK:
		return sizeof(struct sock);
	case LS_REFINE_NETDEV:
		return sizeof(struct net_device);
	case LS_REFINE_TTY:
		return sizeof(struct tty_struct);
	case LS_REFINE_DISK:
		return sizeof(struct gendisk);
	case LS_REFINE_SUBSYSTEM:
		return sizeof(struct kset);
	default:
		return 0;
	}
}

u32 ls_refinement_of(unsigned long lock, u32 kind, const struct kmem_cache *cache,
		     unsigned long object, u32 site, unsigned long init, s32 *root)
{
	u32 refinement;

	if (kind == LS_KIND_MUTEX && ls_is_device_mutex(lock)) {
		*root = offsetof(struct device, mutex);
		return LS_REFINE_DEVICE;
	}
	if (!site)
		return refinement_of_named(lock, kind, cache, object, root);
	refinement = ls_site_refinement(site);
	*root = lock - object;
	if (refinement == LS_REFINE_NETDEV && is_queue_lock(lock, object)) {
		*root = offsetof(struct netdev_queue, _xmit_lock);
		return LS_REFINE_QUEUE;
	}
	/* Other memory from the same site: has no such role, and its end must not be exceeded. */
	if (refinement == LS_REFINE_NETDEV && !cache && !is_net_device(object))
		return LS_REFINE_NONE;
	if (cache && ls_cache_object_size(cache) < size_refined(refinement))
		return LS_REFINE_NONE;
	if (!refinement && init && ls_allocator_refines(init) == LS_REFINE_TTY_PORT) {
		*root = offsetof(struct tty_port, buf.lock);
		return lock - object >= *root ? LS_REFINE_TTY_PORT : LS_REFINE_NONE;
	}
	return refinement;
}

static const char *family_name(u32 family)
{
	static const char *const names[] = {
		[AF_UNIX] = "unix", [AF_INET] = "inet", [AF_INET6] = "inet6", [AF_NETLINK] = "netlink",
		[AF_PACKET] = "packet", [AF_KEY] = "key", [AF_PPPOX] = "pppox", [AF_CAN] = "can",
		[AF_TIPC] = "tipc", [AF_BLUETOOTH] = "bluetooth", [AF_VSOCK] = "vsock", [AF_ALG] = "alg",
		[AF_KCM] = "kcm", [AF_XDP] = "xdp", [AF_SMC] = "smc", [AF_RXRPC] = "rxrpc",
	};

	return family < ARRAY_SIZE(names) && names[family] ? names[family] : "family";
}

/* Append @text to the role. */
static void say(struct ls_class *proto, const char *text)
{
	size_t len = strnlen(proto->role, LS_ROLE_LEN);

	if (len < LS_ROLE_LEN)
		ls_copy_label(proto->role + len, text, LS_ROLE_LEN - len);
}

static void say_number(struct ls_class *proto, u32 number)
{
	char text[12], *p = text + sizeof(text) - 1;

	*p = 0;
	do
		*--p = '0' + number % 10;
	while (number /= 10);
	say(proto, " ");
	say(proto, p);
}

static void say_type(struct ls_class *proto, u64 type)
{
	const char *name = (const char *)ls_word_at(&((struct file_system_type *)type)->name);
	char text[16] = "";
	u32 i;

	proto->role_addr = type;
	for (i = 0; (s64)name < 0 && i + 1 < sizeof(text); i++)
		if (get_kernel_nofault(text[i], name + i) || !text[i])
			break;
	text[i] = 0;
	say(proto, text);
}

void ls_role_describe(struct ls_class *proto, u32 refinement, u64 role, u64 root)
{
	proto->refinement = refinement;
	if (!role)
		return;
	switch (refinement) {
	case LS_REFINE_INODE:
		say_type(proto, (s64)role >> LS_INODE_BITS);
		say(proto, role & LS_INODE_DIR ? " dir" : "");
		say(proto, role & LS_INODE_QUOTA ? " quota" : "");
		say(proto, role & LS_INODE_HIDDEN ? " hidden" : "");
		break;
	case LS_REFINE_SUPER:
		say_type(proto, role);
		break;
	case LS_REFINE_SOCK:
		say(proto, role & LS_SOCK_KERNEL ? "kernel " : "");
		say(proto, family_name(role & 0xffff));
		say_number(proto, role >> 16 & 0xffff);
		break;
	case LS_REFINE_NETDEV:
	case LS_REFINE_QUEUE:
		proto->role_addr = (s64)role >> 8;
		say(proto, "level");
		say_number(proto, role & 0xff);
		break;
	case LS_REFINE_TTY:
	case LS_REFINE_TTY_PORT:
		say(proto, "driver type");
		say_number(proto, role >> 16 & 0xffff);
		say_number(proto, role & 0xffff);
		break;
	case LS_REFINE_DISK:
		proto->role_addr = role;
		break;
	case LS_REFINE_EXTENT:
		say(proto, trees[role >> 8 & 0xff].name);
		say(proto, " level");
		say_number(proto, role & 0xff);
		break;
	case LS_REFINE_DEVICE:
		ls_describe_device(root, proto->role);
		break;
	case LS_REFINE_SUBSYSTEM:
		ls_describe_subsystem(root, proto->role);
		break;
	default:
		break;
	}
}
