// SPDX-License-Identifier: GPL-2.0
/*
 * The anchor: where log, chains, rings and held-lock stacks are, for whatever reads the memory
 * of a dead machine (abi_anchor.h). Written at load, and by the worker; hooks do not know it.
 */
#include <linux/elf.h>
#include <linux/gfp.h>
#include <linux/init_task.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/special_insns.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "base/wrapper/module.h"
#include "check/access/access.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/state.h"
#include "out/out.h"

static struct ls_anchor *anchor;
static struct ls_prim_info *prims;
static u64 *cpus;

static const struct ls_anchor_cpu_layout cpu_layout = {
	.current_task = offsetof(struct ls_cpu, cur),
	.context = offsetof(struct ls_cpu, task),
	.levels = offsetof(struct ls_cpu, level),
	.ring = offsetof(struct ls_cpu, ring.hdr),
	.acquisitions = offsetof(struct ls_cpu, acquisitions),
	.releases = offsetof(struct ls_cpu, releases),
	.unknown_releases = offsetof(struct ls_cpu, unknown_releases),
	.losses = offsetof(struct ls_cpu, losses),
};

static const struct ls_anchor_task_layout task_layout = {
	.pid = offsetof(struct task_struct, pid),
	.tgid = offsetof(struct task_struct, tgid),
	.comm = offsetof(struct task_struct, comm),
	.flags = offsetof(struct task_struct, flags),
};

static const struct ls_anchor_module_layout module_layout = {
	.list = offsetof(struct module, list),
	.name = offsetof(struct module, name),
	.name_bytes = MODULE_NAME_LEN,
	.symbols = offsetof(struct module, kallsyms),
	.symtab = offsetof(struct mod_kallsyms, symtab),
	.num_symtab = offsetof(struct mod_kallsyms, num_symtab),
	.strtab = offsetof(struct mod_kallsyms, strtab),
	.typetab = offsetof(struct mod_kallsyms, typetab),
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	.btf = offsetof(struct module, btf_data),
	.btf_bytes = offsetof(struct module, btf_data_size),
#endif
	.text = offsetof(struct module, LS_MODULE_TEXT.base),
	.text_bytes = offsetof(struct module, LS_MODULE_TEXT.size),
	.rodata = offsetof(struct module, LS_MODULE_RODATA.base),
	.rodata_bytes = offsetof(struct module, LS_MODULE_RODATA.size),
};

/* Address of the data that the kernel's pointer @name points to, 0: there is no such symbol. */
static u64 pointed_to(const char *name)
{
	u64 *at = (u64 *)ls_symbol(name);

	return at ? *at : 0;
}

static void fill_tables(struct ls_anchor *a)
{
	a->active = (u64)&ls_active;
	ls_log_anchor(a);
	ls_context_anchor(a);
	ls_findings_anchor(a);
	a->chain_count = (u64)&ls.chains.nr;
	a->chains = (struct ls_anchor_array){
		(u64)ls.chains.segs, LS_CHAIN_SEG * sizeof(struct ls_chain), LS_CHAIN_MAX_SEGS,
	};
	a->class_count = (u64)&ls.classes.nr;
	a->classes = (struct ls_anchor_array){
		(u64)ls.classes.table, sizeof(struct ls_class), ls.classes.max + 1,
	};
	a->prims = (struct ls_anchor_array){ (u64)prims, sizeof(*prims), LS_NR_PRIMS };
	a->cpu = (struct ls_anchor_array){ (u64)cpus, sizeof(*cpus), nr_cpu_ids };
	a->access_count = (u64)&ls_acc->nr_sites;
	a->access_counts = (struct ls_anchor_array){ (u64)ls_acc->counts, sizeof(u32), LS_MAX_SITES };
	a->held_bytes = sizeof(struct ls_held);
	a->context_bytes = sizeof(struct ls_ctx);
	a->cpu_layout = cpu_layout;
	a->task_layout = task_layout;
	a->module_layout = module_layout;
}

/* The worker's view of accesses. */
void ls_anchor_accesses(const struct ls_access_info *info)
{
	if (anchor)
		anchor->accesses = *info;
}

/* @info: as at load. The lock functions are attached. Process context. */
int ls_anchor_init(const struct ls_info *info)
{
	static const u8 magic[] = LS_ANCHOR_MAGIC;
	const struct mm_struct *mm = (void *)ls_symbol("init_mm");
	struct ls_anchor *a;
	int cpu;
	u32 i;

	BUILD_BUG_ON(sizeof(*a) > PAGE_SIZE);
	a = (void *)get_zeroed_page(GFP_KERNEL);
	prims = ls_zalloc(array_size(LS_NR_PRIMS, sizeof(*prims)));
	cpus = ls_zalloc(array_size(nr_cpu_ids, sizeof(*cpus)));
	if (!a || !prims || !cpus) {
		free_page((unsigned long)a);
		return -ENOMEM;
	}
	for (i = 0; i < LS_NR_PRIMS; i++)
		ls_prims_info(i, &prims[i]);
	for_each_possible_cpu(cpu)
		cpus[cpu] = (u64)per_cpu_ptr(&ls_cpus, cpu);
	a->version = LS_ANCHOR_VERSION;
	a->bytes = sizeof(*a);
	a->physical = virt_to_phys(a);
	a->at = (u64)a;
	/* Without it nothing can be found: a search sees that it is 0. */
	a->page_table = mm ? virt_to_phys(mm->pgd) : 0;
	a->levels = native_read_cr4() & X86_CR4_LA57 ? 5 : 4;
	a->info = *info;
	a->vmcoreinfo = pointed_to("vmcoreinfo_data");
	a->vmcoreinfo_bytes = pointed_to("vmcoreinfo_size");
	a->module = (u64)THIS_MODULE;
	fill_tables(a);
	/* What has the magic is complete. */
	smp_wmb();
	memcpy(a->magic, magic, sizeof(magic));
	anchor = a;
	return 0;
}

/* The worker is stopped. */
void ls_anchor_exit(void)
{
	if (anchor) {
		/* A page that is free keeps its content: this one is not to be found. */
		memzero_explicit(anchor, sizeof(*anchor));
		free_page((unsigned long)anchor);
	}
	anchor = NULL;
	ls_free(prims);
	ls_free(cpus);
}
