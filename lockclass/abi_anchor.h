/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the module's data are in the memory of a machine that died. One anchor lies at the
 * start of a page of the kernel's direct mapping, so that a search through physical memory
 * finds it: lockscope recover, docs/recover.md.
 *
 * Addresses are virtual unless they say otherwise. What the anchor points to was being written
 * when the machine died; a reader validates all of it.
 */
#ifndef LOCKSCOPE_ABI_ANCHOR_H
#define LOCKSCOPE_ABI_ANCHOR_H

#define LS_ANCHOR_MAGIC_LEN 16
#define LS_ANCHOR_MAGIC \
	{ 0x9d, 0x4c, 0x53, 0xa7, 0x1e, 0xf0, 0x62, 0xcb, 0x35, 0xd8, 0x0b, 0x91, 0x7a, 0x46, 0xee, 0x13 }
/* Another one is refused: the anchor is private to one version of module and program. */
#define LS_ANCHOR_VERSION 1

/* Elements of one size, one behind the other, or @nr pointers to blocks of that size. */
struct ls_anchor_array {
	__u64 at;
	__u32 bytes;
	__u32 nr;
};

/* Offsets in struct ls_cpu, in bytes. */
struct ls_anchor_cpu_layout {
	__u32 current_task;	/* the running task, or a stale one */
	__u32 context;		/* its struct ls_ctx */
	__u32 levels;		/* struct ls_ctx of softirq, hardirq, NMI */
	__u32 ring;		/* struct ls_ring_header, and a page behind it the data */
	__u32 acquisitions;	/* by enum ls_level */
	__u32 releases;
	__u32 unknown_releases;
	__u32 losses;
};

/* Offsets in struct task_struct, in bytes. */
struct ls_anchor_task_layout {
	__u32 pid;
	__u32 tgid;
	__u32 comm;
	__u32 flags;
};

/* Offsets in struct module and struct mod_kallsyms, in bytes. */
struct ls_anchor_module_layout {
	__u32 list;
	__u32 name;
	__u32 name_bytes;
	__u32 symbols;		/* of a module: pointer to struct mod_kallsyms */
	__u32 symtab;		/* of struct mod_kallsyms: Elf64_Sym[num_symtab] */
	__u32 num_symtab;
	__u32 strtab;
	__u32 typetab;		/* one character for each symbol, as in /proc/kallsyms */
	__u32 btf;		/* of a module: its types, 0: without */
	__u32 btf_bytes;
	__u32 text;		/* of a module: address, and size, of its code, ... */
	__u32 text_bytes;
	__u32 rodata;		/* ... and of what has its build id, a note */
	__u32 rodata_bytes;
};

struct ls_anchor {
	__u8 magic[LS_ANCHOR_MAGIC_LEN];
	__u32 version;		/* LS_ANCHOR_VERSION */
	__u32 bytes;		/* of this structure */
	__u64 physical;		/* address of this structure, so that a copy is recognised */
	__u64 at;		/* the same, virtual */
	__u64 page_table;	/* physical address of the kernel's top page table */
	__u32 levels;		/* of page tables, 4 or 5 */
	__u32 cpus;		/* elements of @cpu */
	struct ls_info info;	/* as of the module's load: what never changes is valid */
	struct ls_access_info accesses;	/* of the worker's last round */

	__u64 vmcoreinfo;	/* the kernel's description of itself, text */
	__u64 vmcoreinfo_bytes;
	__u64 module;		/* struct module of this module, in the list of all modules */
	__u64 active;		/* int */
	__u64 log_length;	/* of a u64: bytes */
	struct ls_anchor_array log;	/* pointers to segments */
	__u64 chain_count;	/* of a u32 */
	struct ls_anchor_array chains;	/* pointers to segments */
	__u64 class_count;	/* of a u32 */
	struct ls_anchor_array classes;	/* struct ls_class by id */
	struct ls_anchor_array prims;	/* struct ls_prim_info */
	struct ls_anchor_array contexts;	/* struct ls_ctx of tasks */
	__u64 contexts_used;	/* a bit each */
	struct ls_anchor_array cpu;	/* addresses of struct ls_cpu, 0: no such CPU */
	struct ls_anchor_array access_counts;	/* u32 by site id */
	__u64 access_count;	/* of a u32 */
	__u64 edges;		/* of a u32, as the next one */
	__u64 findings;
	__u64 lost_edges;	/* of a u64, as the next one */
	__u64 cut_searches;
	__u32 held_bytes;	/* sizes of structures that contexts and rings consist of */
	__u32 context_bytes;
	struct ls_anchor_cpu_layout cpu_layout;
	struct ls_anchor_task_layout task_layout;
	struct ls_anchor_module_layout module_layout;
};

#endif /* LOCKSCOPE_ABI_ANCHOR_H */
