// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that allocate for others: the caller or the size determines what the memory is
 * for. Functions whose objects are refined (refine.h). Functions that acquire an rwsem for
 * another context to release. And functions that acquire the lock of a wait queue passed by
 * their callers.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>

#include "base/lookup.h"
#include "base/wrapper/module.h"
#include "core/stacks.h"
#include "identity/alloc.h"
#include "identity/refine.h"

#define THROUGH 1	/* the allocation site is that of the caller */
#define SIZED 2		/* different sizes are different objects */
#define NON_OWNER 4	/* another context releases the rwsem that it acquires */
#define KEYED 8		/* the locks that it initialises have keys of its callers */
#define HELPER 16	/* acquires locks that its callers pass */
#define USER 32		/* an argument says for which user it allocates: ls_alloc_for() */
#define LEARNT_FRAMES 2	/* callers skipped because they were found to allocate for others */

static struct allocator {
	const char *name;
	const char *module;	/* NULL: the kernel itself */
	u8 flags;
	u8 refinement;
	unsigned long start, size;	/* 0: not present */
} allocators[] = {
	{ "kvmalloc_node", NULL, THROUGH },
	{ "__kvmalloc_node_noprof", NULL, THROUGH },
	{ "krealloc", NULL, THROUGH },
	{ "krealloc_noprof", NULL, THROUGH },
	{ "devm_kmalloc", NULL, THROUGH },
	{ "__devres_alloc_node", NULL, THROUGH },
	/* Elements: at the pool's creation the site is its creator, later the caller of mempool_alloc(). */
	{ "mempool_kmalloc", NULL, THROUGH },
	{ "mempool_init_node", NULL, THROUGH },
	{ "mempool_init", NULL, THROUGH },
	{ "mempool_init_noprof", NULL, THROUGH },
	{ "mempool_create", NULL, THROUGH },
	{ "mempool_create_node", NULL, THROUGH },
	{ "mempool_create_node_noprof", NULL, THROUGH },
	{ "mempool_resize", NULL, THROUGH },
	{ "mempool_alloc", NULL, THROUGH },
	{ "mempool_alloc_noprof", NULL, THROUGH },
	{ "bpf_map_kmalloc_node", NULL, THROUGH },
	{ "__bpf_map_area_alloc", NULL, THROUGH },
	{ "bpf_map_area_alloc", NULL, THROUGH },
	/* net: private data behind struct net_device; one type for each namespace's subsystem */
	{ "alloc_netdev_mqs", NULL, THROUGH, LS_REFINE_NETDEV },
	{ "alloc_etherdev_mqs", NULL, THROUGH },
	{ "devm_alloc_etherdev_mqs", NULL, THROUGH },
	{ "rtnl_create_link", NULL, SIZED },
	{ "ops_init", NULL, SIZED | USER },
	{ "sk_prot_alloc", NULL, SIZED, LS_REFINE_SOCK },
	{ "alloc_candev_mqs", "can_dev", THROUGH },
	{ "wiphy_new_nm", "cfg80211", THROUGH },
	{ "ieee80211_alloc_hw_nm", "mac80211", THROUGH },
	/* devices with private data */
	{ "scsi_host_alloc", "scsi_mod", THROUGH },
	{ "__usb_create_hcd", "usbcore", THROUGH },
	{ "usb_create_hcd", "usbcore", THROUGH },
	{ "usb_create_shared_hcd", "usbcore", THROUGH },
	{ "__spi_alloc_controller", NULL, THROUGH },
	{ "iio_device_alloc", "industrialio", THROUGH },
	{ "snd_card_new", "snd", THROUGH },
	{ "snd_devm_card_new", "snd", THROUGH },
	{ "drmm_kmalloc", "drm", THROUGH },
	{ "__devm_drm_dev_alloc", "drm", THROUGH },
	{ "__regmap_init", NULL, THROUGH | KEYED },
	{ "__devm_regmap_init", NULL, THROUGH },
	{ "__regmap_init_mmio_clk", NULL, THROUGH },
	{ "__devm_regmap_init_mmio_clk", NULL, THROUGH },
	{ "__regmap_init_i2c", "regmap_i2c", THROUGH },
	{ "__devm_regmap_init_i2c", "regmap_i2c", THROUGH },
	{ "__regmap_init_spi", "regmap_spi", THROUGH },
	{ "__devm_regmap_init_spi", "regmap_spi", THROUGH },
	{ "crypto_create_tfm_node", NULL, SIZED | USER },
	{ "crypto_alloc_tfmmem", NULL, SIZED | USER },
	{ "__crypto_alloc_tfm", NULL, SIZED | USER },
	{ "__crypto_alloc_tfmgfp", NULL, SIZED | USER },
	{ "v4l2_ctrl_handler_init_class", "videodev", KEYED },
	/* file systems */
	{ "kmem_alloc", "xfs", THROUGH },
	{ "kmem_alloc_large", "xfs", THROUGH },
	{ "kmem_zalloc", "xfs", THROUGH },
	{ "f2fs_kmalloc", "f2fs", THROUGH },
	{ "f2fs_kvmalloc", "f2fs", THROUGH },
	/* refined only */
	{ "alloc_super", NULL, 0, LS_REFINE_SUPER },
	{ "alloc_tty_struct", NULL, 0, LS_REFINE_TTY },
	{ "__alloc_disk_node", NULL, 0, LS_REFINE_DISK },
	{ "bus_register", NULL, 0, LS_REFINE_SUBSYSTEM },
	{ "class_register", NULL, 0, LS_REFINE_SUBSYSTEM },
	{ "__class_register", NULL, 0, LS_REFINE_SUBSYSTEM },
	{ "tty_buffer_init", NULL, 0, LS_REFINE_TTY_PORT },	/* does not allocate, but initialises */
	{ "__wake_up_common_lock", NULL, HELPER },
	{ "__wake_up", NULL, HELPER },
	{ "__wake_up_sync", NULL, HELPER },
	{ "__wake_up_sync_key", NULL, HELPER },
	{ "__wake_up_on_current_cpu", NULL, HELPER },
	{ "__wake_up_pollfree", NULL, HELPER },
	{ "add_wait_queue", NULL, HELPER },
	{ "add_wait_queue_exclusive", NULL, HELPER },
	{ "add_wait_queue_priority", NULL, HELPER },
	{ "remove_wait_queue", NULL, HELPER },
	{ "prepare_to_wait", NULL, HELPER },
	{ "prepare_to_wait_exclusive", NULL, HELPER },
	{ "prepare_to_wait_event", NULL, HELPER },
	{ "finish_wait", NULL, HELPER },
	{ "__pollwait", NULL, HELPER },
	{ "ep_ptable_queue_proc", NULL, HELPER },
	/*
	 * Callers of down_read_non_owner(), here the same as down_read(), and of rwsems under
	 * lockdep_off(). Static functions are inlined into these.
	 */
	{ "nfs_complete_unlink", "nfs", NON_OWNER },
	{ "cached_dev_submit_bio", "bcache", NON_OWNER },
	{ "cache_ctr", "dm_cache", NON_OWNER },
	{ "cache_postsuspend", "dm_cache", NON_OWNER },
	{ "mg_start", "dm_cache", NON_OWNER },
	{ "map_bio", "dm_cache", NON_OWNER },
};

static const struct allocator *allocator_at(unsigned long ip)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		if (ip - READ_ONCE(allocators[i].start) < READ_ONCE(allocators[i].size))
			return &allocators[i];
	return NULL;
}

/* enum ls_refinement of what the function around @ip allocates or initialises. Any context. */
u32 ls_allocator_refines(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a ? a->refinement : LS_REFINE_NONE;
}

/* Does the function around @ip allocate for others? Any context. */
bool ls_allocator_for_others(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a && a->flags & (THROUGH | SIZED);
}

/* Does the function around @ip allocate for the user that its argument names? Any context. */
bool ls_allocator_for_user(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a && a->flags & USER;
}

/* Do locks that the function around @ip initialises have keys of its callers? Any context. */
bool ls_allocator_keyed(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a && a->flags & KEYED;
}

/* Does the function around @ip acquire an rwsem that another context releases? Any context. */
bool ls_non_owner(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a && a->flags & NON_OWNER;
}

/* Does the function around @ip acquire locks that its callers pass? Any context. */
bool ls_lock_helper(unsigned long ip)
{
	const struct allocator *a = allocator_at(ip);

	return a && a->flags & HELPER;
}

/*
 * The code that uses the lock which is acquired at @ip: @ip itself, or the caller of a helper.
 * Preemption off.
 */
unsigned long ls_lock_user(unsigned long ip)
{
	unsigned long frames[24];
	u32 nr, i;

	if (!ls_lock_helper(ip))
		return ip;
	nr = ls_stack_save(frames, ARRAY_SIZE(frames));
	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	for (; i < nr; i++)
		if (!ls_lock_helper(frames[i]))
			return frames[i];
	return ip;
}

/*
 * The code at @ip, which allocates for others, allocates *@bytes: find the caller that uses
 * the memory. *@bytes is kept where the size is part of the identity, else cleared.
 * *@refinement is that of the object. Preemption off.
 */
unsigned long ls_allocator_caller_of(unsigned long ip, u32 *bytes, u32 *refinement)
{
	unsigned long frames[24];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i;
	const struct allocator *a = NULL;
	u32 size = *bytes, learnt = 0;

	*bytes = 0;
	*refinement = LS_REFINE_NONE;
	for (i = 0; i < nr && frames[i] != ip; i++)
		;
	for (; i < nr; i++) {
		a = allocator_at(frames[i]);
		if (a && !*refinement)
			*refinement = a->refinement;
		if (a && a->flags & THROUGH)
			continue;
		/*
		 * A caller that reinitialises memory looks the same: do not go up to the
		 * system call.
		 */
		if (learnt == LEARNT_FRAMES || !ls_site_serves_others(frames[i]))
			break;
		learnt++;
	}
	if (a && a->flags & SIZED)
		*bytes = size;
	return i < nr ? frames[i] : ip;
}

static void find(struct allocator *a, unsigned long start)
{
	unsigned long size, offset;

	if (!start || !ls_size_offset(start, &size, &offset))
		return;
	WRITE_ONCE(a->start, start);
	/* No reader sees the size without its start. */
	smp_wmb();
	WRITE_ONCE(a->size, size);
}

void ls_allocators_init(void)
{
	char clone[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(allocators); i++) {
		unsigned long start = ls_symbol(allocators[i].name);

		/* A static function whose arguments the compiler has changed. */
		if (!start && !allocators[i].module) {
			snprintf(clone, sizeof(clone), "%s.isra.0", allocators[i].name);
			start = ls_symbol(clone);
		}
		find(&allocators[i], start);
	}
}

/* Module @mod is loaded, with its symbols, or unloaded. Process context. */
void ls_allocators_module(struct module *mod, bool coming)
{
	static typeof(kallsyms_lookup_name) *in_module;
	u32 i;

	if (!in_module)
		in_module = (void *)ls_symbol("module_kallsyms_lookup_name");
	for (i = 0; i < ARRAY_SIZE(allocators); i++) {
		struct allocator *a = &allocators[i];
		char name[MODULE_NAME_LEN + 48];

		if (!a->module || strcmp(a->module, module_name(mod)))
			continue;
		WRITE_ONCE(a->size, 0);
		/* As above: nothing lies in an allocator without size. */
		smp_wmb();
		WRITE_ONCE(a->start, 0);
		snprintf(name, sizeof(name), "%s:%s", a->module, a->name);
		if (coming && in_module)
			find(a, in_module(name));
	}
}
