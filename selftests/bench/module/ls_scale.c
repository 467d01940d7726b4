// SPDX-License-Identifier: GPL-2.0
/*
 * Fills LockScope's tables: @classes static locks, each taken alone, then @chains
 * chains of three nested locks among the first few of them. Sleeps in between, so that
 * LockScope's thread can follow. Loading the module takes them all, and prints
 * "took N classes, N chains"; loading it again takes the locks of another module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#define MOST_CLASSES (1u << 17)
#define NESTED 256u	/* locks that nest: chains of three for 2763520 */
#define BATCH 4096	/* locks or chains between two naps: a quarter of a segment of chains */

static uint classes = 1u << 16;
module_param(classes, uint, 0444);
MODULE_PARM_DESC(classes, "locks to take, 256 .. 131072");
static uint chains = 1u << 20;
module_param(chains, uint, 0444);
MODULE_PARM_DESC(chains, "chains of three locks to take, at most 2763520");

static spinlock_t locks[MOST_CLASSES];

static noinline void take_one(u32 a)
{
	spin_lock(&locks[a]);
	spin_unlock(&locks[a]);
}

/* Inner locks lie higher: no order ever closes a cycle. */
static noinline void take_three(u32 a, u32 b, u32 c)
{
	spin_lock(&locks[a]);
	spin_lock(&locks[b]);
	spin_lock(&locks[c]);
	spin_unlock(&locks[c]);
	spin_unlock(&locks[b]);
	spin_unlock(&locks[a]);
}

/* New observations go through a buffer of some hundred slots. */
static void nap(u32 done, u32 every)
{
	if (!(done % every))
		msleep(40);
}

static int __init ls_scale_init(void)
{
	u32 a, b, c, done = 0;

	classes = clamp(classes, NESTED, MOST_CLASSES);
	for (a = 0; a < MOST_CLASSES; a++)
		spin_lock_init(&locks[a]);
	for (a = 0; a < classes; a++) {
		take_one(a);
		nap(a, 128);
	}
	for (c = 2; c < NESTED; c++)
		for (b = 1; b < c; b++)
			for (a = 0; a < b && done < chains; a++) {
				take_three(a, b, c);
				/* The first with this c brings an order that is new. */
				nap(++done, b < 2 || a < 1 ? 64 : BATCH);
			}
	pr_info("took %u classes, %u chains\n", classes, done);
	return 0;
}
module_init(ls_scale_init);

static void __exit ls_scale_exit(void)
{
}
module_exit(ls_scale_exit);

MODULE_DESCRIPTION("Fills LockScope's tables");
MODULE_LICENSE("GPL");
