// SPDX-License-Identifier: GPL-2.0
/*
 * One spinlock in every kind of memory against a static one. Where the memory
 * gives a type (slab, per-CPU), the sides use different instances of it; where
 * only the acquire sites name the lock, they use the same.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "selftest.h"

/* Static per-CPU: this CPU's on one side, the last CPU's on the other. */
static DEFINE_PER_CPU(spinlock_t, mem_percpu_p) = __SPIN_LOCK_UNLOCKED(mem_percpu_p);
static DEFINE_SPINLOCK(mem_percpu_s);

static __side void mem_percpu_ps(void)
{
	spinlock_t *lock = per_cpu_ptr(&mem_percpu_p, cpumask_first(cpu_online_mask));

	spin_lock(lock);
	spin_lock(&mem_percpu_s);
	spin_unlock(&mem_percpu_s);
	spin_unlock(lock);
}

static __side void mem_percpu_sp(void)
{
	spinlock_t *lock = per_cpu_ptr(&mem_percpu_p, cpumask_last(cpu_online_mask));

	spin_lock(&mem_percpu_s);
	spin_lock(lock);
	spin_unlock(lock);
	spin_unlock(&mem_percpu_s);
}

/* All CPUs' locks at once, in the order of CPUs, is a rule and no fault. */
static DEFINE_PER_CPU(spinlock_t, mem_percpu_ok_p) = __SPIN_LOCK_UNLOCKED(mem_percpu_ok_p);
static DEFINE_SPINLOCK(mem_percpu_ok_s);

static __side void mem_percpu_ok_ps(void)
{
	spinlock_t *lock = per_cpu_ptr(&mem_percpu_ok_p, cpumask_last(cpu_online_mask));

	spin_lock(lock);
	spin_lock(&mem_percpu_ok_s);
	spin_unlock(&mem_percpu_ok_s);
	spin_unlock(lock);
}

static __side void mem_percpu_ok_all(void)
{
	int first = cpumask_first(cpu_online_mask), last = cpumask_last(cpu_online_mask);

	spin_lock(per_cpu_ptr(&mem_percpu_ok_p, first));
	if (last != first)
		spin_lock_nested(per_cpu_ptr(&mem_percpu_ok_p, last), SINGLE_DEPTH_NESTING);
	spin_lock(&mem_percpu_ok_s);
	spin_unlock(&mem_percpu_ok_s);
	if (last != first)
		spin_unlock(per_cpu_ptr(&mem_percpu_ok_p, last));
	spin_unlock(per_cpu_ptr(&mem_percpu_ok_p, first));
}

static spinlock_t __percpu *mem_allocpcpu_p;
static DEFINE_SPINLOCK(mem_allocpcpu_s);

static __side int mem_allocpcpu_setup(void)
{
	int cpu;

	mem_allocpcpu_p = alloc_percpu(spinlock_t);
	if (!mem_allocpcpu_p)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(per_cpu_ptr(mem_allocpcpu_p, cpu));
	return 0;
}

static void mem_allocpcpu_teardown(void)
{
	free_percpu(mem_allocpcpu_p);
}

static __side void mem_allocpcpu_ps(void)
{
	spinlock_t *lock = per_cpu_ptr(mem_allocpcpu_p, 0);

	spin_lock(lock);
	spin_lock(&mem_allocpcpu_s);
	spin_unlock(&mem_allocpcpu_s);
	spin_unlock(lock);
}

static __side void mem_allocpcpu_sp(void)
{
	spinlock_t *lock = per_cpu_ptr(mem_allocpcpu_p, 0);

	spin_lock(&mem_allocpcpu_s);
	spin_lock(lock);
	spin_unlock(lock);
	spin_unlock(&mem_allocpcpu_s);
}

struct ls_block {
	unsigned long head[4];
	spinlock_t lock;
	unsigned long tail[3];
};

static void ls_block_ctor(void *object)
{
	struct ls_block *block = object;

	spin_lock_init(&block->lock);
}

static struct kmem_cache *mem_slab_cache;
static struct ls_block *mem_slab_block[2];
static DEFINE_SPINLOCK(mem_slab_s);

static int mem_slab_setup(void)
{
	mem_slab_cache = kmem_cache_create("mem_slab_block", sizeof(struct ls_block), 0, 0,
					   ls_block_ctor);
	if (!mem_slab_cache)
		return -ENOMEM;
	mem_slab_block[0] = kmem_cache_alloc(mem_slab_cache, GFP_KERNEL | __GFP_NOFAIL);
	mem_slab_block[1] = kmem_cache_alloc(mem_slab_cache, GFP_KERNEL | __GFP_NOFAIL);
	return 0;
}

static void mem_slab_teardown(void)
{
	if (!mem_slab_cache)
		return;
	kmem_cache_free(mem_slab_cache, mem_slab_block[0]);
	kmem_cache_free(mem_slab_cache, mem_slab_block[1]);
	kmem_cache_destroy(mem_slab_cache);
}

static __side void mem_slab_bs(void)
{
	spin_lock(&mem_slab_block[0]->lock);
	spin_lock(&mem_slab_s);
	spin_unlock(&mem_slab_s);
	spin_unlock(&mem_slab_block[0]->lock);
}

static __side void mem_slab_sb(void)
{
	spin_lock(&mem_slab_s);
	spin_lock(&mem_slab_block[1]->lock);
	spin_unlock(&mem_slab_block[1]->lock);
	spin_unlock(&mem_slab_s);
}

static struct ls_block *mem_kmalloc_block[2];
static DEFINE_SPINLOCK(mem_kmalloc_s);

static __side struct ls_block *mem_kmalloc_new(void)
{
	struct ls_block *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (block)
		spin_lock_init(&block->lock);
	return block;
}

static int mem_kmalloc_setup(void)
{
	mem_kmalloc_block[0] = mem_kmalloc_new();
	mem_kmalloc_block[1] = mem_kmalloc_new();
	return mem_kmalloc_block[0] && mem_kmalloc_block[1] ? 0 : -ENOMEM;
}

static void mem_kmalloc_teardown(void)
{
	kfree(mem_kmalloc_block[0]);
	kfree(mem_kmalloc_block[1]);
}

static __side void mem_kmalloc_bs(void)
{
	spin_lock(&mem_kmalloc_block[0]->lock);
	spin_lock(&mem_kmalloc_s);
	spin_unlock(&mem_kmalloc_s);
	spin_unlock(&mem_kmalloc_block[0]->lock);
}

static __side void mem_kmalloc_sb(void)
{
	spin_lock(&mem_kmalloc_s);
	spin_lock(&mem_kmalloc_block[1]->lock);
	spin_unlock(&mem_kmalloc_block[1]->lock);
	spin_unlock(&mem_kmalloc_s);
}

/*
 * Two allocation sites, one size, so one kmalloc cache and one offset: still
 * two types, each with an order of its own.
 */
static struct ls_block *mem_kmalloc_ok_outer, *mem_kmalloc_ok_inner;
static DEFINE_SPINLOCK(mem_kmalloc_ok_s);

static __side struct ls_block *mem_kmalloc_ok_new_outer(void)
{
	struct ls_block *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (block)
		spin_lock_init(&block->lock);
	return block;
}

static __side struct ls_block *mem_kmalloc_ok_new_inner(void)
{
	struct ls_block *block = kzalloc(sizeof(*block), GFP_KERNEL);

	if (block)
		spin_lock_init(&block->lock);
	return block;
}

static int mem_kmalloc_ok_setup(void)
{
	mem_kmalloc_ok_outer = mem_kmalloc_ok_new_outer();
	mem_kmalloc_ok_inner = mem_kmalloc_ok_new_inner();
	return mem_kmalloc_ok_outer && mem_kmalloc_ok_inner ? 0 : -ENOMEM;
}

static void mem_kmalloc_ok_teardown(void)
{
	kfree(mem_kmalloc_ok_outer);
	kfree(mem_kmalloc_ok_inner);
}

static __side void mem_kmalloc_ok_outer_s(void)
{
	spin_lock(&mem_kmalloc_ok_outer->lock);
	spin_lock(&mem_kmalloc_ok_s);
	spin_unlock(&mem_kmalloc_ok_s);
	spin_unlock(&mem_kmalloc_ok_outer->lock);
}

static __side void mem_kmalloc_ok_s_inner(void)
{
	spin_lock(&mem_kmalloc_ok_s);
	spin_lock(&mem_kmalloc_ok_inner->lock);
	spin_unlock(&mem_kmalloc_ok_inner->lock);
	spin_unlock(&mem_kmalloc_ok_s);
}

static struct ls_block *mem_vmalloc_block;
static DEFINE_SPINLOCK(mem_vmalloc_s);

static __side int mem_vmalloc_setup(void)
{
	mem_vmalloc_block = vmalloc(sizeof(*mem_vmalloc_block));
	if (!mem_vmalloc_block)
		return -ENOMEM;
	spin_lock_init(&mem_vmalloc_block->lock);
	return 0;
}

static void mem_vmalloc_teardown(void)
{
	vfree(mem_vmalloc_block);
}

static __side void mem_vmalloc_bs(void)
{
	spin_lock(&mem_vmalloc_block->lock);
	spin_lock(&mem_vmalloc_s);
	spin_unlock(&mem_vmalloc_s);
	spin_unlock(&mem_vmalloc_block->lock);
}

static __side void mem_vmalloc_sb(void)
{
	spin_lock(&mem_vmalloc_s);
	spin_lock(&mem_vmalloc_block->lock);
	spin_unlock(&mem_vmalloc_block->lock);
	spin_unlock(&mem_vmalloc_s);
}

static struct ls_block *mem_page_block;
static DEFINE_SPINLOCK(mem_page_s);

static __side int mem_page_setup(void)
{
	mem_page_block = (struct ls_block *)__get_free_page(GFP_KERNEL);
	if (!mem_page_block)
		return -ENOMEM;
	spin_lock_init(&mem_page_block->lock);
	return 0;
}

static void mem_page_teardown(void)
{
	free_page((unsigned long)mem_page_block);
}

static __side void mem_page_bs(void)
{
	spin_lock(&mem_page_block->lock);
	spin_lock(&mem_page_s);
	spin_unlock(&mem_page_s);
	spin_unlock(&mem_page_block->lock);
}

static __side void mem_page_sb(void)
{
	spin_lock(&mem_page_s);
	spin_lock(&mem_page_block->lock);
	spin_unlock(&mem_page_block->lock);
	spin_unlock(&mem_page_s);
}

/* The lock lies on the first side's stack; the second runs while it is there. */
static struct ls_block *mem_stack_block;
static DEFINE_SPINLOCK(mem_stack_s);

static __side void mem_stack_sb(void)
{
	spin_lock(&mem_stack_s);
	spin_lock(&mem_stack_block->lock);
	spin_unlock(&mem_stack_block->lock);
	spin_unlock(&mem_stack_s);
}

static __side void mem_stack_bs(void)
{
	struct ls_block block;

	spin_lock_init(&block.lock);
	spin_lock(&block.lock);
	spin_lock(&mem_stack_s);
	spin_unlock(&mem_stack_s);
	spin_unlock(&block.lock);

	mem_stack_block = &block;
	ls_require(!ls_run_in(LS_THREAD, "lst_stack", mem_stack_sb));
	mem_stack_block = NULL;
}

const struct ls_case order_memory_cases[] = {
	{ "mem_percpu", LS_FAULT, LS_CYCLE, "static per-CPU lock, another CPU's on each side",
	  "mem_percpu_p mem_percpu_s",
	  .side = { { mem_percpu_ps }, { mem_percpu_sp } } },
	{ "mem_percpu_ok", LS_TWIN, LS_CYCLE, "static per-CPU locks in the order of CPUs",
	  "mem_percpu_ok_p mem_percpu_ok_s",
	  .side = { { mem_percpu_ok_ps }, { mem_percpu_ok_all } } },
	{ "mem_allocpcpu", LS_FAULT, LS_CYCLE, "lock in memory from alloc_percpu",
	  "mem_allocpcpu_s",
	  .setup = mem_allocpcpu_setup, .teardown = mem_allocpcpu_teardown,
	  .side = { { mem_allocpcpu_ps }, { mem_allocpcpu_sp } } },
	{ "mem_slab", LS_FAULT, LS_CYCLE, "lock in objects of a named slab cache",
	  "mem_slab_block mem_slab_s",
	  .setup = mem_slab_setup, .teardown = mem_slab_teardown,
	  .side = { { mem_slab_bs }, { mem_slab_sb } } },
	{ "mem_kmalloc", LS_FAULT, LS_CYCLE, "lock in kmalloc memory, one allocation site",
	  "mem_kmalloc_new mem_kmalloc_s",
	  .setup = mem_kmalloc_setup, .teardown = mem_kmalloc_teardown,
	  .side = { { mem_kmalloc_bs }, { mem_kmalloc_sb } } },
	{ "mem_kmalloc_ok", LS_TWIN, LS_CYCLE, "two allocation sites of one size are two types",
	  "mem_kmalloc_ok_s",
	  .setup = mem_kmalloc_ok_setup, .teardown = mem_kmalloc_ok_teardown,
	  .side = { { mem_kmalloc_ok_outer_s }, { mem_kmalloc_ok_s_inner } } },
	{ "mem_vmalloc", LS_FAULT, LS_CYCLE, "lock in vmalloc memory",
	  "mem_vmalloc_s",
	  .setup = mem_vmalloc_setup, .teardown = mem_vmalloc_teardown,
	  .side = { { mem_vmalloc_bs }, { mem_vmalloc_sb } } },
	{ "mem_page", LS_FAULT, LS_CYCLE, "lock in a page of its own",
	  "mem_page_s",
	  .setup = mem_page_setup, .teardown = mem_page_teardown,
	  .side = { { mem_page_bs }, { mem_page_sb } } },
	{ "mem_stack", LS_FAULT, LS_CYCLE, "lock on a thread's stack",
	  "mem_stack_s",
	  .side = { { mem_stack_bs } } },
	{ }
};
