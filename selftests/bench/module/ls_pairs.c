// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of uncontended lock and unlock pairs, in time stamp counter steps: in a
 * VM with -icount shift=0 these are instructions. Loading the module measures
 * and prints one "pair NAME COST" line each.
 *
 * Interrupts stay on, as mutexes need them; each batch is short against the
 * timer tick, and the minimum over many batches has none in it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/msr.h>

#define LS_BATCHES 60
#define LS_ROUNDS 500

struct ls_object {
	long payload[5];
	spinlock_t lock;
};

static DEFINE_SPINLOCK(outer);
static DEFINE_SPINLOCK(second);
static DEFINE_SPINLOCK(third);
static DEFINE_SPINLOCK(inner);
static DEFINE_RAW_SPINLOCK(raw);
static DEFINE_RWLOCK(rwlock);
static DEFINE_MUTEX(mutex);
static DECLARE_RWSEM(rwsem);
static struct semaphore semaphore = __SEMAPHORE_INITIALIZER(semaphore, 1);
static struct ls_object *from_cache, *from_kmalloc;

/* A function with one batch in it, so that every pair runs the same loop. */
#define LS_PAIR(name, take, drop)                               \
	static noinline u64 ls_batch_##name(void)               \
	{                                                       \
		unsigned long flags __maybe_unused;             \
		u64 start = rdtsc();                            \
		int i;                                          \
								\
		for (i = 0; i < LS_ROUNDS; i++) {               \
			take;                                   \
			drop;                                   \
		}                                               \
		return rdtsc() - start;                         \
	}

LS_PAIR(empty, barrier(), barrier())
LS_PAIR(spin, spin_lock(&outer), spin_unlock(&outer))
LS_PAIR(spin_irqsave, spin_lock_irqsave(&outer, flags), spin_unlock_irqrestore(&outer, flags))
LS_PAIR(spin_irq, spin_lock_irq(&outer), spin_unlock_irq(&outer))
LS_PAIR(spin_bh, spin_lock_bh(&outer), spin_unlock_bh(&outer))
LS_PAIR(raw_spin, raw_spin_lock(&raw), raw_spin_unlock(&raw))
LS_PAIR(spin_slab, spin_lock(&from_cache->lock), spin_unlock(&from_cache->lock))
LS_PAIR(spin_kmalloc, spin_lock(&from_kmalloc->lock), spin_unlock(&from_kmalloc->lock))
LS_PAIR(spin_trylock, (void)spin_trylock(&outer), spin_unlock(&outer))
LS_PAIR(read_lock, read_lock(&rwlock), read_unlock(&rwlock))
LS_PAIR(write_lock, write_lock(&rwlock), write_unlock(&rwlock))
LS_PAIR(mutex, mutex_lock(&mutex), mutex_unlock(&mutex))
LS_PAIR(mutex_interruptible, (void)!mutex_lock_interruptible(&mutex), mutex_unlock(&mutex))
LS_PAIR(down_read, down_read(&rwsem), up_read(&rwsem))
LS_PAIR(down_write, down_write(&rwsem), up_write(&rwsem))
LS_PAIR(semaphore, down(&semaphore), up(&semaphore))
LS_PAIR(nest4,
	(spin_lock(&outer), spin_lock(&second), spin_lock(&third), spin_lock(&inner)),
	(spin_unlock(&inner), spin_unlock(&third), spin_unlock(&second), spin_unlock(&outer)))

#define LS_ENTRY(name) { #name, ls_batch_##name }
static const struct {
	const char *name;
	u64 (*batch)(void);
} ls_pairs[] = {
	LS_ENTRY(spin), LS_ENTRY(spin_irqsave), LS_ENTRY(read_lock), LS_ENTRY(mutex),
	LS_ENTRY(nest4), LS_ENTRY(spin_irq), LS_ENTRY(spin_bh), LS_ENTRY(raw_spin),
	LS_ENTRY(spin_slab), LS_ENTRY(spin_kmalloc), LS_ENTRY(spin_trylock), LS_ENTRY(write_lock),
	LS_ENTRY(mutex_interruptible), LS_ENTRY(down_read), LS_ENTRY(down_write),
	LS_ENTRY(semaphore),
};

static u64 ls_cheapest(u64 (*batch)(void))
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < LS_BATCHES; i++) {
		best = min(best, batch());
		cond_resched();
	}
	return best;
}

static int __init ls_pairs_init(void)
{
	struct kmem_cache *cache;
	u64 empty;
	int i, rc = -ENOMEM;

	cache = KMEM_CACHE(ls_object, 0);
	if (!cache)
		return -ENOMEM;
	from_cache = kmem_cache_zalloc(cache, GFP_KERNEL);
	from_kmalloc = kzalloc(sizeof(*from_kmalloc), GFP_KERNEL);
	if (!from_cache || !from_kmalloc)
		goto out;
	spin_lock_init(&from_cache->lock);
	spin_lock_init(&from_kmalloc->lock);

	empty = ls_cheapest(ls_batch_empty);
	for (i = 0; i < ARRAY_SIZE(ls_pairs); i++) {
		u64 cost = ls_cheapest(ls_pairs[i].batch) - empty;

		pr_info("pair %s %llu\n", ls_pairs[i].name,
			DIV_ROUND_CLOSEST_ULL(cost, LS_ROUNDS));
	}
	rc = 0;
out:
	kfree(from_kmalloc);
	if (from_cache)
		kmem_cache_free(cache, from_cache);
	kmem_cache_destroy(cache);
	return rc;
}
module_init(ls_pairs_init);

static void __exit ls_pairs_exit(void)
{
}
module_exit(ls_pairs_exit);

MODULE_DESCRIPTION("Cost of uncontended lock pairs");
MODULE_LICENSE("GPL");
