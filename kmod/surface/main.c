// SPDX-License-Identifier: GPL-2.0
/*
 * lockscope.ko: a lock validator for the kernel it is loaded into. Loading it attaches the
 * hooks and validates from then on.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "check/check.h"
#include "check/confirm.h"
#include "check/hang.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "core/state.h"
#include "hook/hook.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/wrappers.h"
#include "out/out.h"
#include "out/races/accesses.h"
#include "surface/surface.h"

static uint max_classes = 16384;
module_param(max_classes, uint, 0444);
MODULE_PARM_DESC(max_classes, "lock classes kept, 1024 .. 524288");
static uint max_edges = 131072;
module_param(max_edges, uint, 0444);
MODULE_PARM_DESC(max_edges, "class -> class edges kept, 4096 .. 4194304");
static uint max_chains = 262144;
module_param(max_chains, uint, 0444);
MODULE_PARM_DESC(max_chains, "lock chains kept, 16384 .. 4000000");
static uint max_sleepers = 1024;
module_param(max_sleepers, uint, 0444);
MODULE_PARM_DESC(max_sleepers, "tasks that may sleep with locks held at one time, 64 .. 65536");
static uint ring_kb = 512;
module_param(ring_kb, uint, 0444);
MODULE_PARM_DESC(ring_kb, "event ring of one CPU in KiB, a power of two, 64 .. 65536");
static uint log_mb = 64;
module_param(log_mb, uint, 0444);
MODULE_PARM_DESC(log_mb, "bound of the log in MiB, 1 .. 4096; memory is taken as needed");

u32 ls_ring_bytes;
static u64 instance;

/* Sum of what the CPUs counted. Any sleepable context. */
void ls_info_fill(struct ls_info *info)
{
	u32 i;
	int cpu;

	info->abi_major = LS_ABI_MAJOR;
	info->abi_minor = LS_ABI_MINOR;
	info->active = READ_ONCE(ls_active);
	info->instance = instance;
	info->log_bytes = ls_log_len();
	for_each_possible_cpu(cpu) {
		struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);

		for (i = 0; i < LS_NR_LEVELS; i++) {
			info->level_acquisitions[i] += READ_ONCE(pc->acquisitions[i]);
			info->acquisitions += READ_ONCE(pc->acquisitions[i]);
		}
		info->releases += READ_ONCE(pc->releases);
		info->unknown_releases += READ_ONCE(pc->unknown_releases);
		for (i = 0; i < LS_NR_LOSSES; i++)
			info->losses[i] += READ_ONCE(pc->losses[i]);
		if (pc->ring.hdr)
			info->deferred += READ_ONCE(pc->ring.hdr->deferred);
	}
	info->classes = READ_ONCE(ls.classes.nr);
	info->chains = READ_ONCE(ls.chains.nr);
	info->max_classes = ls.classes.max;
	info->max_edges = ls.edges.max;
	info->max_chains = ls.chains.max;
	info->nr_prims = LS_NR_PRIMS;
	info->ring_bytes = ls_ring_bytes;
	info->nr_cpus = nr_cpu_ids;
	strscpy(info->release, init_utsname()->release, sizeof(info->release));
	ls_worker_info(info);
}

static int init_rings(void)
{
	u32 data = roundup_pow_of_two(clamp(ring_kb, 64u, 65536u)) * 1024;
	int cpu;

	ls_ring_bytes = PAGE_SIZE + data;
	for_each_possible_cpu(cpu) {
		struct ls_cpu *pc = per_cpu_ptr(&ls_cpus, cpu);
		u8 *mem = vmalloc_user(ls_ring_bytes);

		if (!mem)
			return -ENOMEM;
		ls_memory_count(ls_ring_bytes);
		ls_ring_init(&pc->ring, (struct ls_ring_header *)mem, mem + PAGE_SIZE, data, cpu);
		pc->sample = pc->sample_weight = LS_SAMPLE;
		pc->random = cpu + 1;
	}
	return 0;
}

#define SEEN_BITS 15
#define GATES_BITS 14

static int init_tables(void)
{
	u32 class_bits, edge_bits, chain_bits;
	void *keys, *edges, *chains, *pairs, *seen, *gates;
	struct ls_class *classes;

	max_classes = clamp(max_classes, 1024u, LS_VAL_CLASS_MASK / 2);
	max_edges = clamp(max_edges, 4096u, 4194304u);
	max_chains = clamp(max_chains, 16384u, 4000000u);
	/*
	 * Keys outnumber classes (aliases, a key for each kmalloc cache and offset), and the
	 * fast path probes two slots only.
	 */
	class_bits = order_base_2(max_classes) + 3;
	edge_bits = order_base_2(max_edges) + 1;
	chain_bits = order_base_2(max_chains) + 1;
	keys = ls_zalloc(ls_tagtab_bytes(class_bits));
	classes = ls_zalloc(array_size(max_classes + 1, sizeof(*classes)));
	edges = ls_zalloc(ls_edges_bytes(edge_bits));
	chains = ls_zalloc(ls_tagtab_bytes(chain_bits));
	pairs = ls_zalloc(ls_pairs_bytes(14));
	seen = ls_zalloc(ls_seen_bytes(SEEN_BITS));
	gates = ls_zalloc(ls_gates_bytes(GATES_BITS));
	ls_classes_init(&ls.classes, keys, class_bits, classes, max_classes);
	ls_edges_init(&ls.edges, edges, edge_bits, max_edges);
	ls_chains_init(&ls.chains, chains, chain_bits, max_chains);
	ls_pairs_init(&ls.pairs, pairs, 14);
	ls_seen_init(&ls.seen, seen, SEEN_BITS);
	ls_gates_init(&ls.gates, gates, GATES_BITS);
	return keys && classes && edges && chains && pairs && seen && gates ? 0 : -ENOMEM;
}

static void free_all(void)
{
	int cpu;

	ls_worker_exit();
	ls_anchor_exit();
	for_each_possible_cpu(cpu) {
		struct ls_ring_header *ring = per_cpu_ptr(&ls_cpus, cpu)->ring.hdr;

		/* Mapped to user space: whole pages of their own. */
		if (ring)
			ls_memory_count(-(long)ls_ring_bytes);
		vfree(ring);
	}
	ls_free(ls.classes.keys.slots);
	ls_free(ls.classes.table);
	ls_free(ls.edges.slots);
	ls_free(ls.chains.tab.slots);
	ls_free(ls.pairs.slots);
	ls_free(ls.seen.slots);
	ls_free(ls.gates.slots);
	ls_context_exit();
	ls_waits_exit();
	ls_sites_exit();
	ls_lives_exit();
	ls_identity_exit();
	ls_semaphores_exit();
	ls_names_exit();
	ls_races_exit();
	ls_percpu_exit();
	ls_log_exit();
	ls_memory_exit();
}

static void detach(void)
{
	ls_last_words_detach();
	WRITE_ONCE(ls_active, 0);
	ls_confirm_end(NULL);
	ls_races_stop();
	ls_preempt_unhook();
	ls_prims_detach();
	ls_preempt_detach();
	ls_deferred_detach();
	ls_contention_detach();
	ls_spins_detach();
	ls_queues_detach();
	ls_task_detach();
	ls_sched_detach();
	ls_modules_exit();
	ls_annotations_detach();
	ls_memory_detach();
	ls_percpu_detach();
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

static int init_anchor(void)
{
	struct ls_info info = { };

	ls_info_fill(&info);
	return ls_anchor_init(&info);
}

static int __init lockscope_init(void)
{
	int rc;

	instance = get_random_u64() | 1;
	rc = ls_lookup_init();
	rc = rc ? rc : ls_prims_init();
	rc = rc ? rc : init_rings();
	rc = rc ? rc : init_tables();
	rc = rc ? rc : ls_context_init(clamp(max_sleepers, 64u, 65536u));
	rc = rc ? rc : ls_waits_init(ls_context_count());
	rc = rc ? rc : ls_sites_init();
	rc = rc ? rc : ls_lives_init();
	rc = rc ? rc : ls_identity_init();
	rc = rc ? rc : ls_semaphores_init();
	rc = rc ? rc : ls_names_init(max_classes);
	rc = rc ? rc : ls_percpu_init();
	rc = rc ? rc : ls_log_init(log_mb);
	rc = rc ? rc : ls_races_init();
	rc = rc ? rc : ls_worker_init(max_classes, max_edges);
	if (rc)
		goto out_free;
	ls_stacks_init();
	ls_allocators_init();
	ls_wrappers_init();
	ls_roots_init();
	ls_special_init();
	ls_hang_init();
	ls_spinners_init();
	rc = ls_sched_attach();
	rc = rc ? rc : ls_modules_init();
	rc = rc ? rc : ls_memory_attach();
	rc = rc ? rc : ls_task_attach();
	rc = rc ? rc : ls_deferred_attach();
	rc = rc ? rc : ls_queues_attach();
	rc = rc ? rc : ls_contention_attach();
	ls_percpu_attach();
	ls_preempt_attach();
	ls_spins_attach();
	rc = rc ? rc : ls_prims_attach();
	rc = rc ? rc : init_anchor();
	if (rc)
		goto out_detach;
	rc = ls_worker_control(LS_CTL_START);
	rc = rc ? rc : ls_races_start();
	if (!rc)
		ls_last_words_attach();
	/* Last: an open file could not be revoked if loading failed later. */
	rc = rc ? rc : ls_chardev_init();
	if (rc)
		goto out_detach;
	ls_debugfs_init();
	return 0;

out_detach:
	detach();
out_free:
	free_all();
	pr_err("not loaded (%d)\n", rc);
	return rc;
}

static void __exit lockscope_exit(void)
{
	ls_debugfs_exit();
	ls_chardev_exit();
	detach();
	free_all();
}

module_init(lockscope_init);
module_exit(lockscope_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Lock validator for unmodified kernels");
MODULE_VERSION("0.1");
