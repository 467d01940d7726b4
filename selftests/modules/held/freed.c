// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that ends while a lock in it is held. The freed lock is not touched
 * again: a spinning one leaves preemption off, which is put right on its own.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "selftest.h"

struct ls_doomed {
	unsigned long serial;
	union {
		struct mutex mutex;
		struct rw_semaphore rwsem;
		spinlock_t spin;
		rwlock_t rw;
	};
};

static __side void freed_mutex_task(void)
{
	struct ls_doomed *doomed = kzalloc(sizeof(*doomed), GFP_KERNEL | __GFP_NOFAIL);

	mutex_init(&doomed->mutex);
	mutex_lock(&doomed->mutex);
	kfree(doomed);
}

static __side void freed_mutex_ok_task(void)
{
	struct ls_doomed *doomed = kzalloc(sizeof(*doomed), GFP_KERNEL | __GFP_NOFAIL);

	mutex_init(&doomed->mutex);
	mutex_lock(&doomed->mutex);
	mutex_unlock(&doomed->mutex);
	kfree(doomed);
}

/*
 * The constructor keeps the cache from being merged with another. No object is
 * taken from the cache after the one that went back locked.
 */
static void ls_doomed_ctor(void *memory)
{
	struct ls_doomed *doomed = memory;

	spin_lock_init(&doomed->spin);
}

static struct kmem_cache *freed_cache_doomed;

static int freed_cache_setup(void)
{
	freed_cache_doomed = kmem_cache_create("freed_cache_doomed", sizeof(struct ls_doomed),
					       0, 0, ls_doomed_ctor);
	return freed_cache_doomed ? 0 : -ENOMEM;
}

static void freed_cache_teardown(void)
{
	kmem_cache_destroy(freed_cache_doomed);
}

static __side void freed_cache_task(void)
{
	struct ls_doomed *doomed = kmem_cache_alloc(freed_cache_doomed,
						    GFP_KERNEL | __GFP_NOFAIL);

	spin_lock(&doomed->spin);
	kmem_cache_free(freed_cache_doomed, doomed);
	preempt_enable();
}

static struct kmem_cache *freed_cache_ok_doomed;

static int freed_cache_ok_setup(void)
{
	freed_cache_ok_doomed = kmem_cache_create("freed_cache_ok_doomed",
						  sizeof(struct ls_doomed), 0, 0, ls_doomed_ctor);
	return freed_cache_ok_doomed ? 0 : -ENOMEM;
}

static void freed_cache_ok_teardown(void)
{
	kmem_cache_destroy(freed_cache_ok_doomed);
}

static __side void freed_cache_ok_task(void)
{
	struct ls_doomed *doomed = kmem_cache_alloc(freed_cache_ok_doomed,
						    GFP_KERNEL | __GFP_NOFAIL);

	spin_lock(&doomed->spin);
	spin_unlock(&doomed->spin);
	kmem_cache_free(freed_cache_ok_doomed, doomed);
}

static __side void freed_page_task(void)
{
	struct ls_doomed *doomed;

	doomed = (void *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	init_rwsem(&doomed->rwsem);
	down_read(&doomed->rwsem);
	free_page((unsigned long)doomed);
}

static __side void freed_page_ok_task(void)
{
	struct ls_doomed *doomed;

	doomed = (void *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	init_rwsem(&doomed->rwsem);
	down_read(&doomed->rwsem);
	up_read(&doomed->rwsem);
	free_page((unsigned long)doomed);
}

static __side void freed_vmalloc_task(void)
{
	struct ls_doomed *doomed = vmalloc(3 * PAGE_SIZE);

	ls_require(doomed);
	if (!doomed)
		return;
	mutex_init(&doomed->mutex);
	mutex_lock(&doomed->mutex);
	vfree(doomed);
}

static __side void freed_vmalloc_ok_task(void)
{
	struct ls_doomed *doomed = vmalloc(3 * PAGE_SIZE);

	ls_require(doomed);
	if (!doomed)
		return;
	mutex_init(&doomed->mutex);
	mutex_lock(&doomed->mutex);
	mutex_unlock(&doomed->mutex);
	vfree(doomed);
}

/* One lock of several: the second of an array, read, among others that stay. */
static DEFINE_MUTEX(freed_reader_m);

static __side void freed_reader_task(void)
{
	struct ls_doomed *doomed = kcalloc(4, sizeof(*doomed), GFP_KERNEL | __GFP_NOFAIL);

	rwlock_init(&doomed[1].rw);
	mutex_lock(&freed_reader_m);
	read_lock(&doomed[1].rw);
	kfree(doomed);
	preempt_enable();
	mutex_unlock(&freed_reader_m);
}

static DEFINE_MUTEX(freed_reader_ok_m);

static __side void freed_reader_ok_task(void)
{
	struct ls_doomed *doomed = kcalloc(4, sizeof(*doomed), GFP_KERNEL | __GFP_NOFAIL);

	rwlock_init(&doomed[1].rw);
	mutex_lock(&freed_reader_ok_m);
	read_lock(&doomed[1].rw);
	read_unlock(&doomed[1].rw);
	kfree(doomed);
	mutex_unlock(&freed_reader_ok_m);
}

/* A lock at the far end of what is freed, and one in between what is freed. */
static __side void freed_large_task(void)
{
	struct ls_doomed *doomed = kvzalloc(64 * PAGE_SIZE, GFP_KERNEL | __GFP_NOFAIL);
	struct ls_doomed *last = (void *)doomed + 64 * PAGE_SIZE - sizeof(*last);

	mutex_init(&last->mutex);
	mutex_lock(&last->mutex);
	kvfree(doomed);
}

static __side void freed_large_ok_task(void)
{
	struct ls_doomed *doomed = kzalloc(sizeof(*doomed), GFP_KERNEL | __GFP_NOFAIL);
	struct ls_doomed *next = kzalloc(sizeof(*next), GFP_KERNEL | __GFP_NOFAIL);
	struct ls_doomed *last = kzalloc(sizeof(*last), GFP_KERNEL | __GFP_NOFAIL);

	mutex_init(&next->mutex);
	mutex_lock(&next->mutex);
	kfree(doomed);
	kfree(last);
	mutex_unlock(&next->mutex);
	kfree(next);
}

/* The stack of a function that has returned; the next lock notices. */
static __side void freed_stack_leave(void)
{
	struct mutex on_stack;

	mutex_init(&on_stack);
	mutex_lock(&on_stack);
}

static DEFINE_MUTEX(freed_stack_next);

static __side void freed_stack_task(void)
{
	freed_stack_leave();
	mutex_lock(&freed_stack_next);
	mutex_unlock(&freed_stack_next);
}

static __side void freed_stack_ok_leave(void)
{
	struct mutex on_stack;

	mutex_init(&on_stack);
	mutex_lock(&on_stack);
	mutex_unlock(&on_stack);
}

static DEFINE_MUTEX(freed_stack_ok_next);

/* Its own frame is still there. */
static __side void freed_stack_ok_task(void)
{
	struct mutex on_stack;

	mutex_init(&on_stack);
	mutex_lock(&on_stack);
	freed_stack_ok_leave();
	mutex_lock(&freed_stack_ok_next);
	mutex_unlock(&freed_stack_ok_next);
	mutex_unlock(&on_stack);
}

const struct ls_case verdict_freed_cases[] = {
	{ "freed_mutex", LS_FAULT, LS_HELD_FREED, "kfree of an object with its mutex held",
	  "freed_mutex_task", .side = { { freed_mutex_task } } },
	{ "freed_mutex_ok", LS_TWIN, LS_HELD_FREED, "kfree after mutex_unlock",
	  "freed_mutex_ok_task", .side = { { freed_mutex_ok_task } } },
	{ "freed_cache", LS_FAULT, LS_HELD_FREED, "kmem_cache_free of an object with its spinlock held",
	  "freed_cache_doomed",
	  .setup = freed_cache_setup, .teardown = freed_cache_teardown,
	  .side = { { freed_cache_task } } },
	{ "freed_cache_ok", LS_TWIN, LS_HELD_FREED, "kmem_cache_free after spin_unlock",
	  "freed_cache_ok_doomed",
	  .setup = freed_cache_ok_setup, .teardown = freed_cache_ok_teardown,
	  .side = { { freed_cache_ok_task } } },
	{ "freed_page", LS_FAULT, LS_HELD_FREED, "free_page with an rwsem in it read",
	  "freed_page_task", .side = { { freed_page_task } } },
	{ "freed_page_ok", LS_TWIN, LS_HELD_FREED, "free_page after up_read",
	  "freed_page_ok_task", .side = { { freed_page_ok_task } } },
	{ "freed_vmalloc", LS_FAULT, LS_HELD_FREED, "vfree with a mutex in it held",
	  "freed_vmalloc_task", .side = { { freed_vmalloc_task } } },
	{ "freed_vmalloc_ok", LS_TWIN, LS_HELD_FREED, "vfree after mutex_unlock",
	  "freed_vmalloc_ok_task", .side = { { freed_vmalloc_ok_task } } },
	{ "freed_reader", LS_FAULT, LS_HELD_FREED, "kfree of an array, one lock in it read",
	  "freed_reader_task", .side = { { freed_reader_task } } },
	{ "freed_reader_ok", LS_TWIN, LS_HELD_FREED, "kfree of an array after read_unlock",
	  "freed_reader_ok_task", .side = { { freed_reader_ok_task } } },
	{ "freed_large", LS_FAULT, LS_HELD_FREED, "kvfree of many pages with a mutex in the last",
	  "freed_large_task", .side = { { freed_large_task } } },
	{ "freed_large_ok", LS_TWIN, LS_HELD_FREED, "kfree of an object's neighbours",
	  "freed_large_ok_task", .side = { { freed_large_ok_task } } },
	{ "freed_stack", LS_FAULT, LS_HELD_FREED, "a function returns with a mutex on its stack held",
	  "freed_stack_leave", .side = { { freed_stack_task } } },
	{ "freed_stack_ok", LS_TWIN, LS_HELD_FREED, "a mutex on the stack of a function that runs",
	  "freed_stack_ok_task", .side = { { freed_stack_ok_task } } },
	{ }
};
