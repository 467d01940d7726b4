// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel keeps its vmalloc areas in red-black trees under spinlocks that a hook must not
 * take. A lock in a live area keeps the area's node in its tree; concurrent changes may
 * misdirect the search, which then finds nothing, or a node that fails the checks. Since 6.9
 * there is a tree for each of several nodes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "base/lookup.h"
#include "base/word.h"
#include "btf.h"
#include "identity/slab.h"
#include "identity/vmap.h"

#define MAX_DEPTH 64		/* of a tree */
#define TRIES 3

static unsigned long trees __ro_after_init;	/* the first root, 0: not known */
static u32 tree_size __ro_after_init;		/* bytes from one root to the next */
static const u32 *nr_trees __ro_after_init;	/* number of trees; NULL: one */
static unsigned long stack_caller __ro_after_init, percpu_caller __ro_after_init;

/* Word of a structure of the kernel at @at, 0 when it cannot be one. */
static u64 word_at(const void *at)
{
	unsigned long addr = (unsigned long)at;

	return in_direct_map(addr) || addr >= __START_KERNEL_map ? ls_word_at(at) : 0;
}

static bool describe(u64 vm, unsigned long start, unsigned long end, struct ls_vmap *area)
{
	const struct vm_struct *v = (const struct vm_struct *)vm;
	unsigned long size = word_at(&v->size), flags = word_at(&v->flags);

	if (word_at(&v->addr) != start || !size || size > end - start || !(flags & VM_ALLOC))
		return false;
	area->start = start;
	area->size = flags & VM_NO_GUARD ? size : size - PAGE_SIZE;
	area->caller = word_at(&v->caller);
	area->stack = area->caller == stack_caller && stack_caller;
	/* Chunks of per-CPU memory are not objects. */
	return area->caller >= __START_KERNEL_map && area->caller != percpu_caller;
}

static bool find_in(unsigned long root, unsigned long addr, struct ls_vmap *area)
{
	u64 node = word_at((void *)root);
	u32 depth;

	for (depth = 0; node && depth < MAX_DEPTH; depth++) {
		const struct vmap_area *va = rb_entry((struct rb_node *)node, struct vmap_area, rb_node);
		unsigned long start = word_at(&va->va_start), end = word_at(&va->va_end);

		if (addr < start)
			node = word_at(&va->rb_node.rb_left);
		else if (addr >= end)
			node = word_at(&va->rb_node.rb_right);
		else
			return describe(word_at(&va->vm), start, end, area);
	}
	return false;
}

bool ls_vmap_find(unsigned long addr, struct ls_vmap *area)
{
	u32 nr = nr_trees ? READ_ONCE(*nr_trees) : 1, try, i;

	if (!trees || addr < VMALLOC_START || addr >= VMEMMAP_START)
		return false;
	for (try = 0; try < TRIES; try++)
		for (i = 0; i < nr; i++)
			if (find_in(trees + i * tree_size, addr, area))
				return true;
	return false;
}

static void find_nodes(void)
{
	unsigned long nodes = ls_symbol("vmap_nodes"), btf = ls_symbol("__start_BTF");
	unsigned long bytes = ls_symbol("__stop_BTF") - btf;
	u32 busy;

	nr_trees = (const u32 *)ls_symbol("nr_vmap_nodes");
	if (!nodes || !nr_trees || !btf)
		return;
	busy = ls_btf_offset((void *)btf, bytes, "vmap_node", "busy");
	tree_size = ls_btf_size((void *)btf, bytes, "vmap_node");
	/* Its first member is the root. */
	if (busy != LS_BTF_NONE && tree_size != LS_BTF_NONE)
		trees = *(unsigned long *)nodes + busy;
}

void ls_vmap_init(void)
{
	struct ls_vmap area;

	percpu_caller = ls_symbol("pcpu_get_vm_areas");
	trees = ls_symbol("vmap_area_root");
	if (!trees)
		find_nodes();
	/* All stacks have one allocation site. */
	if (trees && ls_vmap_find((unsigned long)current->stack, &area))
		stack_caller = area.caller;
	else if (IS_ENABLED(CONFIG_VMAP_STACK))
		trees = 0;
	if (!trees)
		pr_warn("vmalloc areas are not found: locks in them will be named by acquire site\n");
}
