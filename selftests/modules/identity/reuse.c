// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that changes hands. A lock at an address seen before is another lock
 * once the memory has been freed and given to another type: what was learned
 * about the address is void. Each case makes sure that the address is the same.
 */
#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "selftest.h"

#define REUSE_TRIES 200

/*
 * Of a size (kmalloc-192) that little else uses. The owner is set after the
 * allocation, so that no call to the allocator is a jump: the allocation's call
 * site lies in the function that names the type.
 */
struct ls_big {
	spinlock_t lock;
	struct task_struct *owner;
	unsigned char rest[168];
};

static struct ls_big *reuse_kmalloc_object;
static DEFINE_SPINLOCK(reuse_kmalloc_s);

static __side struct ls_big *reuse_kmalloc_first(void)
{
	struct ls_big *big = kmalloc(sizeof(*big), GFP_ATOMIC);

	if (big)
		big->owner = current;
	return big;
}

static __side struct ls_big *reuse_kmalloc_second(void)
{
	struct ls_big *big = kmalloc(sizeof(*big), GFP_ATOMIC);

	if (big)
		big->owner = current;
	return big;
}

static void reuse_kmalloc_teardown(void)
{
	kfree(reuse_kmalloc_object);
	reuse_kmalloc_object = NULL;
}

/*
 * The first type is seen at the address, then the second one: s is taken inside
 * the second type's lock here and around it on the other side.
 */
static __side void reuse_kmalloc_second_then_s(void)
{
	struct ls_big *old, *new = NULL;
	unsigned int tries;

	for (tries = 0; tries < REUSE_TRIES; tries++) {
		preempt_disable();
		old = reuse_kmalloc_first();
		if (old) {
			spin_lock_init(&old->lock);
			spin_lock(&old->lock);
			spin_unlock(&old->lock);
			kfree(old);
		}
		new = reuse_kmalloc_second();
		preempt_enable();
		if (new && new == old)
			break;
		kfree(new);
		new = NULL;
	}
	reuse_kmalloc_object = new;
	ls_require(new);
	if (!new)
		return;
	spin_lock_init(&new->lock);
	spin_lock(&new->lock);
	spin_lock(&reuse_kmalloc_s);
	spin_unlock(&reuse_kmalloc_s);
	spin_unlock(&new->lock);
}

static __side void reuse_kmalloc_s_then_second(void)
{
	if (!reuse_kmalloc_object)
		return;
	spin_lock(&reuse_kmalloc_s);
	spin_lock(&reuse_kmalloc_object->lock);
	spin_unlock(&reuse_kmalloc_object->lock);
	spin_unlock(&reuse_kmalloc_s);
}

static struct ls_big *reuse_kmalloc_ok_object;
static DEFINE_SPINLOCK(reuse_kmalloc_ok_s);

static __side struct ls_big *reuse_kmalloc_ok_first(void)
{
	struct ls_big *big = kmalloc(sizeof(*big), GFP_ATOMIC);

	if (big)
		big->owner = current;
	return big;
}

static __side struct ls_big *reuse_kmalloc_ok_second(void)
{
	struct ls_big *big = kmalloc(sizeof(*big), GFP_ATOMIC);

	if (big)
		big->owner = current;
	return big;
}

static void reuse_kmalloc_ok_teardown(void)
{
	kfree(reuse_kmalloc_ok_object);
	reuse_kmalloc_ok_object = NULL;
}

/* s inside the first type's lock; then the memory becomes the second type's. */
static __side void reuse_kmalloc_ok_first_then_s(void)
{
	struct ls_big *old, *new = NULL;
	unsigned int tries;

	for (tries = 0; tries < REUSE_TRIES; tries++) {
		preempt_disable();
		old = reuse_kmalloc_ok_first();
		if (old) {
			spin_lock_init(&old->lock);
			spin_lock(&old->lock);
			spin_lock(&reuse_kmalloc_ok_s);
			spin_unlock(&reuse_kmalloc_ok_s);
			spin_unlock(&old->lock);
			kfree(old);
		}
		new = reuse_kmalloc_ok_second();
		preempt_enable();
		if (new && new == old)
			break;
		kfree(new);
		new = NULL;
	}
	reuse_kmalloc_ok_object = new;
	ls_require(new);
	if (new)
		spin_lock_init(&new->lock);
}

static __side void reuse_kmalloc_ok_s_then_second(void)
{
	if (!reuse_kmalloc_ok_object)
		return;
	spin_lock(&reuse_kmalloc_ok_s);
	spin_lock(&reuse_kmalloc_ok_object->lock);
	spin_unlock(&reuse_kmalloc_ok_object->lock);
	spin_unlock(&reuse_kmalloc_ok_s);
}

/* The same with whole pages, which no allocation site names. */
static spinlock_t *reuse_page_ok_lock;
static DEFINE_SPINLOCK(reuse_page_ok_s);

static void reuse_page_ok_teardown(void)
{
	free_page((unsigned long)reuse_page_ok_lock);
	reuse_page_ok_lock = NULL;
}

static __side void reuse_page_ok_first_then_s(void)
{
	spinlock_t *old, *new = NULL;
	unsigned int tries;

	for (tries = 0; tries < REUSE_TRIES; tries++) {
		preempt_disable();
		old = (spinlock_t *)__get_free_page(GFP_ATOMIC);
		if (old) {
			spin_lock_init(old);
			spin_lock(old);
			spin_lock(&reuse_page_ok_s);
			spin_unlock(&reuse_page_ok_s);
			spin_unlock(old);
			free_page((unsigned long)old);
		}
		new = (spinlock_t *)__get_free_page(GFP_ATOMIC);
		preempt_enable();
		if (new && new == old)
			break;
		free_page((unsigned long)new);
		new = NULL;
	}
	reuse_page_ok_lock = new;
	ls_require(new);
	if (new)
		spin_lock_init(new);
}

static __side void reuse_page_ok_s_then_second(void)
{
	if (!reuse_page_ok_lock)
		return;
	spin_lock(&reuse_page_ok_s);
	spin_lock(reuse_page_ok_lock);
	spin_unlock(reuse_page_ok_lock);
	spin_unlock(&reuse_page_ok_s);
}

/*
 * The same with large kmalloc memory from one site: one class, but another instance of it. The
 * orders are those of the class, and no instance has both. In reuse_large_one one has.
 */
#define REUSE_LARGE 12000

#define REUSE_CASE(name, allocate, free)					\
static spinlock_t *name##_lock;							\
static DEFINE_SPINLOCK(name##_s);						\
										\
static __side spinlock_t *name##_new(void)					\
{										\
	spinlock_t *lock = allocate;						\
										\
	if (lock)								\
		spin_lock_init(lock);						\
	return lock;								\
}										\
										\
static void name##_teardown(void)						\
{										\
	if (name##_lock)							\
		free(name##_lock);						\
	name##_lock = NULL;							\
}										\
										\
static __side void name##_then_s(spinlock_t *lock)				\
{										\
	spin_lock(lock);							\
	spin_lock(&name##_s);							\
	spin_unlock(&name##_s);							\
	spin_unlock(lock);							\
}										\
										\
static __side void name##_first_then_s(void)					\
{										\
	spinlock_t *old, *new = NULL;						\
	unsigned int tries;							\
										\
	for (tries = 0; tries < REUSE_TRIES; tries++) {				\
		preempt_disable();						\
		old = name##_new();						\
		if (old) {							\
			name##_then_s(old);					\
			free(old);						\
		}								\
		new = name##_new();						\
		preempt_enable();						\
		if (new && new == old)						\
			break;							\
		if (new)							\
			free(new);						\
		new = NULL;							\
	}									\
	name##_lock = new;							\
	ls_require(new);							\
}										\
										\
static __maybe_unused __side void name##_s_then_second(void)			\
{										\
	if (!name##_lock)							\
		return;								\
	spin_lock(&name##_s);							\
	spin_lock(name##_lock);							\
	spin_unlock(name##_lock);						\
	spin_unlock(&name##_s);							\
}

REUSE_CASE(reuse_large, kmalloc(REUSE_LARGE, GFP_ATOMIC), kfree)
REUSE_CASE(reuse_large_one, kmalloc(REUSE_LARGE, GFP_ATOMIC), kfree)

static __side void reuse_large_one_second_then_s(void)
{
	if (reuse_large_one_lock)
		reuse_large_one_then_s(reuse_large_one_lock);
}

/*
 * Objects of a cache that are freed in bulk, which no tracepoint shows. In reuse_bulk_ok the second
 * lock has the order of the first.
 */
static struct kmem_cache *reuse_bulk_cache;

static int reuse_bulk_setup(void)
{
	reuse_bulk_cache = kmem_cache_create("lst_reuse_bulk", 200, 0, 0, NULL);
	return reuse_bulk_cache ? 0 : -ENOMEM;
}

static void reuse_bulk_free(void *object)
{
	kmem_cache_free_bulk(reuse_bulk_cache, 1, &object);
}

#define REUSE_BULK_CASE(name)							\
REUSE_CASE(name, kmem_cache_alloc(reuse_bulk_cache, GFP_ATOMIC), reuse_bulk_free)	\
										\
static __maybe_unused __side void name##_second_then_s(void)			\
{										\
	if (name##_lock)							\
		name##_then_s(name##_lock);					\
}										\
										\
static void name##_end(void)							\
{										\
	name##_teardown();							\
	kmem_cache_destroy(reuse_bulk_cache);					\
	reuse_bulk_cache = NULL;						\
}

REUSE_BULK_CASE(reuse_bulk)
REUSE_BULK_CASE(reuse_bulk_one)
REUSE_BULK_CASE(reuse_bulk_ok)

/*
 * Two functions called one after the other from the same frame: their locals
 * share an address. Nothing is freed in between, and a spinlock's initialiser
 * leaves no call to be seen.
 */
static DEFINE_SPINLOCK(reuse_stack_ok_s);

static __side unsigned long reuse_stack_ok_local_then_s(void)
{
	spinlock_t local;

	spin_lock_init(&local);
	spin_lock(&local);
	spin_lock(&reuse_stack_ok_s);
	spin_unlock(&reuse_stack_ok_s);
	spin_unlock(&local);
	return (unsigned long)&local;
}

static __side unsigned long reuse_stack_ok_s_then_local(void)
{
	spinlock_t local;

	spin_lock_init(&local);
	spin_lock(&reuse_stack_ok_s);
	spin_lock(&local);
	spin_unlock(&local);
	spin_unlock(&reuse_stack_ok_s);
	return (unsigned long)&local;
}

static __side void reuse_stack_ok_both(void)
{
	unsigned long first = reuse_stack_ok_local_then_s();

	ls_require(first == reuse_stack_ok_s_then_local());
}

const struct ls_case order_reuse_cases[] = {
	{ "reuse_kmalloc", LS_FAULT, LS_CYCLE, "reused kmalloc memory whose new type has a circle",
	  "reuse_kmalloc_s reuse_kmalloc_second",
	  .teardown = reuse_kmalloc_teardown,
	  .side = { { reuse_kmalloc_second_then_s }, { reuse_kmalloc_s_then_second } } },
	{ "reuse_kmalloc_ok", LS_TWIN, LS_CYCLE, "reused kmalloc memory: the old type's order is void",
	  "reuse_kmalloc_ok_s",
	  .teardown = reuse_kmalloc_ok_teardown,
	  .side = { { reuse_kmalloc_ok_first_then_s }, { reuse_kmalloc_ok_s_then_second } } },
	{ "reuse_page_ok", LS_TWIN, LS_CYCLE, "reused page: the old lock's order is void",
	  "reuse_page_ok_s",
	  .teardown = reuse_page_ok_teardown,
	  .side = { { reuse_page_ok_first_then_s }, { reuse_page_ok_s_then_second } } },
	{ "reuse_large", LS_FAULT, LS_CYCLE, "reused large memory: no lock in both orders",
	  "reuse_large_s reuse_large_new severity=warning",
	  .teardown = reuse_large_teardown,
	  .side = { { reuse_large_first_then_s }, { reuse_large_s_then_second } } },
	{ "reuse_large_one", LS_FAULT, LS_CYCLE, "reused large memory: the second lock in both orders",
	  "reuse_large_one_s reuse_large_one_new severity=error",
	  .teardown = reuse_large_one_teardown,
	  .side = { { reuse_large_one_first_then_s }, { reuse_large_one_s_then_second },
		    { reuse_large_one_second_then_s } } },
	{ "reuse_bulk", LS_FAULT, LS_CYCLE, "objects freed in bulk: no lock in both orders",
	  "reuse_bulk_s lst_reuse_bulk severity=warning",
	  .setup = reuse_bulk_setup, .teardown = reuse_bulk_end,
	  .side = { { reuse_bulk_first_then_s }, { reuse_bulk_s_then_second } } },
	{ "reuse_bulk_one", LS_FAULT, LS_CYCLE, "objects freed in bulk: the second lock in both orders",
	  "reuse_bulk_one_s lst_reuse_bulk severity=error",
	  .setup = reuse_bulk_setup, .teardown = reuse_bulk_one_end,
	  .side = { { reuse_bulk_one_first_then_s }, { reuse_bulk_one_s_then_second },
		    { reuse_bulk_one_second_then_s } } },
	{ "reuse_bulk_ok", LS_TWIN, LS_CYCLE, "objects freed in bulk: both locks in one order",
	  "reuse_bulk_ok_s",
	  .setup = reuse_bulk_setup, .teardown = reuse_bulk_ok_end,
	  .side = { { reuse_bulk_ok_first_then_s }, { reuse_bulk_ok_second_then_s } } },
	{ "reuse_stack_ok", LS_TWIN, LS_CYCLE, "reused stack: another function's local",
	  "reuse_stack_ok_s",
	  .side = { { reuse_stack_ok_both } } },
	{ }
};
