// SPDX-License-Identifier: GPL-2.0
/*
 * A table of routes with a deadlock that Linux had: the two orders of locks in net/netrom that
 * "netrom: fix possible dead-lock in nr_rt_ioctl()" mended (6.10, 6.1.93). See docs/tutorial.md.
 *
 *	echo add 7 > /dev/routes	a node
 *	echo drop 7 > /dev/routes	it goes
 *	echo age > /dev/routes		all nodes get older, as a timer would do it
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

static bool fixed;
module_param(fixed, bool, 0444);
MODULE_PARM_DESC(fixed, "one order of locks everywhere, as upstream has it now");

struct node {
	struct list_head list;
	struct kref ref;
	spinlock_t lock;	/* quality */
	unsigned int id;
	unsigned int quality;
};

static LIST_HEAD(nodes);
static DEFINE_SPINLOCK(nodes_lock);	/* the list, and that each node on it has a reference */

static void node_free(struct kref *ref)
{
	kfree(container_of(ref, struct node, ref));
}

static void node_put(struct node *node)
{
	kref_put(&node->ref, node_free);
}

static struct node *node_get(unsigned int id)
{
	struct node *node, *found = NULL;

	spin_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, list) {
		if (node->id != id)
			continue;
		kref_get(&node->ref);
		found = node;
		break;
	}
	spin_unlock(&nodes_lock);
	return found;
}

static int routes_add(unsigned int id)
{
	struct node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return -ENOMEM;
	kref_init(&node->ref);
	spin_lock_init(&node->lock);
	node->id = id;
	node->quality = 255;
	spin_lock(&nodes_lock);
	list_add_tail(&node->list, &nodes);
	spin_unlock(&nodes_lock);
	return 0;
}

/* Below: not inlined, for a report names the functions that the code has. */

static void node_unlink(struct node *node)
{
	if (list_empty(&node->list))
		return;
	list_del_init(&node->list);
	node_put(node);
}

/* Node, then list: the order of nr_del_node() at that time. */
static noinline int routes_drop(unsigned int id)
{
	struct node *node = node_get(id);

	if (!node)
		return -ENOENT;
	if (fixed)
		spin_lock(&nodes_lock);
	spin_lock(&node->lock);
	node->quality = 0;
	if (!fixed)
		spin_lock(&nodes_lock);
	node_unlink(node);
	if (!fixed)
		spin_unlock(&nodes_lock);
	spin_unlock(&node->lock);
	if (fixed)
		spin_unlock(&nodes_lock);
	node_put(node);
	return 0;
}

/* List, then node: the order of nr_dec_obs(). */
static noinline int routes_age(void)
{
	struct node *node;

	spin_lock(&nodes_lock);
	list_for_each_entry(node, &nodes, list) {
		spin_lock(&node->lock);
		if (node->quality)
			node->quality--;
		spin_unlock(&node->lock);
	}
	spin_unlock(&nodes_lock);
	return 0;
}

static ssize_t routes_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	char line[32];
	unsigned int id;
	int rc = -EINVAL;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	if (sscanf(line, "add %u", &id) == 1)
		rc = routes_add(id);
	else if (sscanf(line, "drop %u", &id) == 1)
		rc = routes_drop(id);
	else if (!strncmp(line, "age", 3))
		rc = routes_age();
	return rc ? rc : len;
}

static const struct file_operations routes_fops = {
	.owner = THIS_MODULE, .write = routes_write, .llseek = noop_llseek,
};

static struct miscdevice routes_device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "routes", .fops = &routes_fops, .mode = 0600,
};

static int __init routes_init(void)
{
	return misc_register(&routes_device);
}

static void __exit routes_exit(void)
{
	struct node *node, *next;

	misc_deregister(&routes_device);
	list_for_each_entry_safe(node, next, &nodes, list)
		node_unlink(node);
}

module_init(routes_init);
module_exit(routes_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sample driver of the LockScope tutorial");
