// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of an instrumented access, in time stamp counter steps: in a VM with
 * -icount shift=0 these are instructions. Loading the module measures and prints
 * one "access NAME COST" line each. Like ls_pairs.c; here the compiler puts a
 * call-out at every access of the batches.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/msr.h>

#define LS_BATCHES 60
#define LS_ROUNDS 200

struct ls_object {
	long payload[5];
	spinlock_t lock;
};

static long variable;
int counter;	/* not static: never read */
static DEFINE_SPINLOCK(outer);
static DEFINE_SPINLOCK(inner);
static struct ls_object *object;

/* What is accessed N times with locks held, so that the locks do not count. */
#define LS_BATCH(name, take, access, drop)			\
	static noinline u64 ls_batch_##name(void)		\
	{							\
		long *p __maybe_unused;				\
		u64 start;					\
		int i;						\
								\
		take;						\
		start = rdtsc();				\
		for (i = 0; i < LS_ROUNDS; i++) {		\
			access;					\
			barrier();				\
		}						\
		start = rdtsc() - start;			\
		drop;						\
		return start;					\
	}

LS_BATCH(empty, barrier(), barrier(), barrier())
LS_BATCH(read, barrier(), asm volatile("" : : "r" (variable)), barrier())
LS_BATCH(write, barrier(), variable = i, barrier())
LS_BATCH(write4, barrier(), counter = i, barrier())
LS_BATCH(read_once, barrier(), (void)READ_ONCE(variable), barrier())
LS_BATCH(locked, spin_lock(&outer), variable = i, spin_unlock(&outer))
LS_BATCH(locked2, (spin_lock(&outer), spin_lock(&inner)), variable = i,
	 (spin_unlock(&inner), spin_unlock(&outer)))
LS_BATCH(object, (p = &object->payload[1], spin_lock(&object->lock)), *p = i,
	 spin_unlock(&object->lock))

#define LS_ENTRY(name) { #name, ls_batch_##name }
static const struct {
	const char *name;
	u64 (*batch)(void);
} ls_accesses[] = {
	LS_ENTRY(read), LS_ENTRY(write), LS_ENTRY(write4), LS_ENTRY(read_once), LS_ENTRY(locked),
	LS_ENTRY(locked2), LS_ENTRY(object),
};

static u64 ls_cheapest(u64 (*batch)(void))
{
	u64 best = U64_MAX, cost;
	int i;

	for (i = 0; i < LS_BATCHES; i++) {
		cost = batch();
		if (cost < best)
			best = cost;
		cond_resched();
	}
	return best;
}

static int __init ls_accesses_init(void)
{
	u64 empty;
	int i;

	object = kzalloc(sizeof(*object), GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	spin_lock_init(&object->lock);
	empty = ls_cheapest(ls_batch_empty);
	for (i = 0; i < ARRAY_SIZE(ls_accesses); i++) {
		u64 cost = ls_cheapest(ls_accesses[i].batch) - empty;

		pr_info("access %s %llu\n", ls_accesses[i].name,
			DIV_ROUND_CLOSEST_ULL(cost, LS_ROUNDS));
	}
	kfree(object);
	return 0;
}
module_init(ls_accesses_init);

static void __exit ls_accesses_exit(void)
{
}
module_exit(ls_accesses_exit);

MODULE_DESCRIPTION("Cost of instrumented accesses");
MODULE_LICENSE("GPL");
