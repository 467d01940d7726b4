// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that existed before the module was loaded. Their allocation was not seen, but the
 * kernel's own tables lead to those whose locks are acquired most: they get the identity that
 * a later allocation of their kind would get.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/memcontrol.h>
#include <linux/mmzone.h>

#include "base/lookup.h"
#include "identity/alloc.h"
#include "identity/identity.h"

static void page_sets(void)
{
	int node, i;

	for_each_online_node(node) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			struct zone *zone = &NODE_DATA(node)->node_zones[i];

			ls_percpu_named(zone->per_cpu_pageset, sizeof(struct per_cpu_pages), "per_cpu_pages");
		}
	}
}

static void interrupts(void)
{
	typeof(irq_to_desc) *to_desc = (void *)ls_symbol("irq_to_desc");
	const char *maker = ls_symbol("alloc_desc") ? "alloc_desc" : "__irq_alloc_descs";
	unsigned int irq;

	if (!to_desc)
		return;
	for_each_irq_nr(irq)
		ls_alloc_seed(to_desc(irq), maker);
}

static void memory_groups(void)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup **root = (struct mem_cgroup **)ls_symbol("root_mem_cgroup");
	int node;

	if (!root || !*root)
		return;
	for_each_online_node(node)
		ls_alloc_seed((*root)->nodeinfo[node], "mem_cgroup_css_alloc");
#endif
}

/* Names as in alloc_super(); without one a lock is identified by its place alone. */
static const struct {
	u32 offset, kind;
	const char *name;
} super_locks[] = {
	{ offsetof(struct super_block, s_umount), LS_KIND_RWSEM, "&s->s_umount" },
	{ offsetof(struct super_block, s_sync_lock), LS_KIND_MUTEX, "&s->s_sync_lock" },
	{ offsetof(struct super_block, s_vfs_rename_mutex), LS_KIND_MUTEX, "&s->s_vfs_rename_mutex" },
	{ offsetof(struct super_block, s_dquot.dqio_sem), LS_KIND_RWSEM, "&s->s_dquot.dqio_sem" },
};

static void super_block_seen(struct super_block *sb, unsigned long maker)
{
	u32 i;

	ls_alloc_seed(sb, "alloc_super");
	for (i = 0; maker && i < ARRAY_SIZE(super_locks); i++)
		ls_identity_named((unsigned long)sb + super_locks[i].offset, super_locks[i].kind,
				  super_locks[i].name, maker + 1);
}

static void super_blocks_seen(void)
{
	struct list_head *all = (struct list_head *)ls_symbol("super_blocks");
	spinlock_t *lock = (spinlock_t *)ls_symbol("sb_lock");
	unsigned long maker = ls_symbol("alloc_super");
	struct super_block *sb;

	if (!all || !lock)
		return;
	spin_lock(lock);
	list_for_each_entry(sb, all, s_list)
		super_block_seen(sb, maker);
	spin_unlock(lock);
}

/* The driver core's private data of a bus or class of devices begin with its kset. */
static void subsystems_seen(const char *all, const char *maker)
{
	struct kset **in = (struct kset **)ls_symbol(all);
	struct kset *set;

	if (!in || !*in)
		return;
	spin_lock(&(*in)->list_lock);
	list_for_each_entry(set, &(*in)->list, kobj.entry)
		ls_alloc_seed(set, maker);
	spin_unlock(&(*in)->list_lock);
}

void ls_roots_init(void)
{
	super_blocks_seen();
	subsystems_seen("bus_kset", "bus_register");
	subsystems_seen("class_kset", ls_symbol("__class_register") ? "__class_register" : "class_register");
	page_sets();
	interrupts();
	memory_groups();
}
