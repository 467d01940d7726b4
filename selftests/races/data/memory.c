// SPDX-License-Identifier: GPL-2.0
/* Memory from everywhere, and memory that begins a new life. */
#include <linux/gfp.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "annotate.h"
#include "races.h"

struct mem_object {
	unsigned long v;
	struct mem_object *next;
};

/* A constructor keeps a cache from being merged with others of its size. */
static void mem_construct(void *p)
{
	memset(p, 0, sizeof(struct mem_object));
}

/* One object of a cache, two writers. */
static int mem_slab_setup(void)
{
	int ret = ls_keep(1, kmem_cache_create("ls_mem_slab", sizeof(struct mem_object), 0, 0,
					       mem_construct));

	return ret ?: ls_keep(0, kmem_cache_alloc(ls_kept(1), GFP_KERNEL));
}

static void mem_slab_teardown(void)
{
	if (ls_kept(0))
		kmem_cache_free(ls_kept(1), ls_kept(0));
	ls_drop(0);
	kmem_cache_destroy(ls_kept(1));
	ls_drop(1);
}

static __side void mem_slab_a(void)
{
	struct mem_object *p = ls_kept(0);

	p->v = ls_value();
}

static __side void mem_slab_b(void)
{
	struct mem_object *p = ls_kept(0);

	p->v = ls_value();
}

/* The same memory for both, one after the other: freed in between. */
static int mem_slab_ok_setup(void)
{
	return ls_keep(1, kmem_cache_create("ls_mem_slab_ok", sizeof(struct mem_object), 0, 0,
					    mem_construct));
}

static void mem_slab_ok_teardown(void)
{
	kmem_cache_destroy(ls_kept(1));
	ls_drop(1);
}

static __side void mem_slab_ok_a(void)
{
	struct mem_object *p = kmem_cache_alloc(ls_kept(1), GFP_KERNEL);

	if (!p)
		return;
	p->v = ls_value();
	kmem_cache_free(ls_kept(1), p);
}

static __side void mem_slab_ok_b(void)
{
	struct mem_object *p = kmem_cache_alloc(ls_kept(1), GFP_KERNEL);

	if (!p)
		return;
	p->v = ls_value();
	kmem_cache_free(ls_kept(1), p);
}

/* A free list of one's own. Without a lock, both may get the same object. */
#define NR_POOL 2

struct mem_pool {
	spinlock_t lock;
	struct mem_object *free;
	struct mem_object object[NR_POOL];
};

static int mem_pool_setup(void)
{
	struct mem_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	unsigned int i;

	if (!pool)
		return -ENOMEM;
	spin_lock_init(&pool->lock);
	for (i = 0; i < NR_POOL; i++) {
		pool->object[i].next = pool->free;
		pool->free = &pool->object[i];
	}
	return ls_keep(0, pool);
}

static __side void mem_pool_a(void)
{
	struct mem_pool *pool = ls_kept(0);
	struct mem_object *p;

	ls_apart_begin();
	p = pool->free;
	pool->free = p->next;
	p->v = ls_value();
	p->next = pool->free;
	pool->free = p;
	ls_apart_end();
}

static __side void mem_pool_b(void)
{
	struct mem_pool *pool = ls_kept(0);
	struct mem_object *p;

	ls_apart_begin();
	p = pool->free;
	pool->free = p->next;
	p->v = ls_value();
	p->next = pool->free;
	pool->free = p;
	ls_apart_end();
}

/* Under a lock, and the allocation marks the begin of the object's new life. */
static struct mem_object *mem_pool_ok_take(struct mem_pool *pool)
{
	struct mem_object *p;

	spin_lock(&pool->lock);
	p = pool->free;
	if (p) {
		pool->free = p->next;
		lockscope_reuse(p, sizeof(*p));
	}
	spin_unlock(&pool->lock);
	return p;
}

/* Its life with its user ends before it is linked again. */
static void mem_pool_ok_give(struct mem_pool *pool, struct mem_object *p)
{
	spin_lock(&pool->lock);
	lockscope_reuse(p, sizeof(*p));
	p->next = pool->free;
	pool->free = p;
	spin_unlock(&pool->lock);
}

static __side void mem_pool_ok_a(void)
{
	struct mem_object *p = mem_pool_ok_take(ls_kept(0));

	if (!p)
		return;
	p->v = ls_value();
	mem_pool_ok_give(ls_kept(0), p);
}

static __side void mem_pool_ok_b(void)
{
	struct mem_object *p = mem_pool_ok_take(ls_kept(0));

	if (!p)
		return;
	p->v = ls_value();
	mem_pool_ok_give(ls_kept(0), p);
}

/* Beyond the slab: memory of vmalloc and whole pages. */
static int mem_vmalloc_setup(void)
{
	return ls_keep(0, vzalloc(4 * PAGE_SIZE));
}

static void mem_vmalloc_teardown(void)
{
	vfree(ls_kept(0));
	ls_drop(0);
}

static __side void mem_vmalloc_a(void)
{
	unsigned long *p = ls_kept(0);

	p[600] = ls_value();
}

static __side void mem_vmalloc_b(void)
{
	unsigned long *p = ls_kept(0);

	p[600] = ls_value();
}

static DEFINE_MUTEX(mem_vmalloc_ok_m);

static __side void mem_vmalloc_ok_a(void)
{
	unsigned long *p = ls_kept(0);

	mutex_lock(&mem_vmalloc_ok_m);
	p[600] = ls_value();
	mutex_unlock(&mem_vmalloc_ok_m);
}

static __side void mem_vmalloc_ok_b(void)
{
	unsigned long *p = ls_kept(0);

	mutex_lock(&mem_vmalloc_ok_m);
	p[600] = ls_value();
	mutex_unlock(&mem_vmalloc_ok_m);
}

static int mem_page_setup(void)
{
	return ls_keep(0, (void *)get_zeroed_page(GFP_KERNEL));
}

static void mem_page_teardown(void)
{
	free_page((unsigned long)ls_kept(0));
	ls_drop(0);
}

static __side void mem_page_a(void)
{
	u32 *p = ls_kept(0);

	p[7] = ls_value();
}

static __side void mem_page_b(void)
{
	u32 *p = ls_kept(0);

	p[7] = ls_value();
}

/* The same page for both, one after the other. */
static __side void mem_page_ok_a(void)
{
	u32 *p = (u32 *)__get_free_page(GFP_KERNEL);

	if (!p)
		return;
	p[7] = ls_value();
	free_page((unsigned long)p);
}

static __side void mem_page_ok_b(void)
{
	u32 *p = (u32 *)__get_free_page(GFP_KERNEL);

	if (!p)
		return;
	p[7] = ls_value();
	free_page((unsigned long)p);
}

const struct ls_case race_memory_cases[] = {
	{ "mem_slab", LS_FAULT, LS_RACE, "two writers of one object of a slab cache",
	  "severity!=note", mem_slab_setup, mem_slab_teardown,
	  { SIDE(mem_slab_a), SIDE(mem_slab_b) } },
	{ "mem_slab_ok", LS_TWIN, LS_RACE, "memory of a slab cache, freed and allocated again",
	  "", mem_slab_ok_setup, mem_slab_ok_teardown,
	  { SIDE(mem_slab_ok_a), SIDE(mem_slab_ok_b) } },
	{ "mem_pool", LS_FAULT, LS_RACE, "free list of one's own without a lock",
	  "severity!=note", mem_pool_setup, ls_free_kept, { SIDE(mem_pool_a), SIDE(mem_pool_b) } },
	{ "mem_pool_ok", LS_TWIN, LS_RACE, "free list under a lock, with lockscope_reuse",
	  "", mem_pool_setup, ls_free_kept, { SIDE(mem_pool_ok_a), SIDE(mem_pool_ok_b) } },
	{ "mem_vmalloc", LS_FAULT, LS_RACE, "two writers of vmalloc memory",
	  "severity!=note", mem_vmalloc_setup, mem_vmalloc_teardown,
	  { SIDE(mem_vmalloc_a), SIDE(mem_vmalloc_b) } },
	{ "mem_vmalloc_ok", LS_TWIN, LS_RACE, "two writers of vmalloc memory under a mutex",
	  "", mem_vmalloc_setup, mem_vmalloc_teardown,
	  { SIDE(mem_vmalloc_ok_a), SIDE(mem_vmalloc_ok_b) } },
	{ "mem_page", LS_FAULT, LS_RACE, "two writers of a page",
	  "severity!=note", mem_page_setup, mem_page_teardown,
	  { SIDE(mem_page_a), SIDE(mem_page_b) } },
	{ "mem_page_ok", LS_TWIN, LS_RACE, "a page, freed and allocated again",
	  "", .side = { SIDE(mem_page_ok_a), SIDE(mem_page_ok_b) } },
	{ }
};
